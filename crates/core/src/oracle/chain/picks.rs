//! Sparse storage in which every lane picks a row of its own.
//!
//! A [`Pick`] names two vectors of rows. Each column of a vector of columns takes up to two of its
//! entries from there, so that two vectors of entries are stored, however differently the columns'
//! rows are scattered over the two. AVX-512 has one instruction for it, a permutation of two
//! registers. (Gathers need no pairs, but made products eight times slower where we measured.)
//!
//! The first vector of rows of a pick is the first that is not yet stored, its partner the one that
//! fills most lanes: 55 % of them hold an entry where a tenth of the transitions is allowed at
//! random, 85 % where a tenth is within reach on a grid.

use pulp::Simd;
use pulp::bytemuck::cast_slice_mut;

/// Lanes of the widest vectors, for which a pick has room.
pub(super) const MOST_LANES: usize = 8;

/// Vectors of rows that are looked through for a partner: more would not fill picks better, and
/// make the time to lay out a table quadratic in its rows.
const LOOKAHEAD: usize = 64;

/// Two vectors of stored entries, and where their rows are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    /// Places of the lanes' rows within the two vectors of rows, 4 bits each. `[STEPS][MOST_LANES]`
    places: u64,
    /// The two vectors of rows, the same one twice where one is enough.
    pub(super) rows: [u16; 2],
    /// Whether the lanes hold an entry, 1 bit each. `[STEPS][MOST_LANES]`
    used: u16,
}

/// The rows in which a vector of columns has entries: for each column 1 bit for each row of a
/// vector of rows. `[vectors of rows][MOST_LANES]`
pub(super) type Pattern = Vec<[u8; MOST_LANES]>;

impl Pick {
    /// Vectors of entries in a pick.
    pub(super) const STEPS: usize = 2;
    /// Vectors of rows that 16 bits tell apart.
    pub(super) const MOST_VECTORS: usize = 1 << 16;

    /// Visits the entries: `visit(step, lane, row)`.
    pub(super) fn for_each_entry(self, lanes: usize, mut visit: impl FnMut(usize, usize, usize)) {
        for step in 0..Self::STEPS {
            for lane in 0..lanes {
                if let Some(row) = self.row(lanes, step, lane) {
                    visit(step, lane, row);
                }
            }
        }
    }

    /// The row of the entry that a lane has in a step, if it has one.
    #[inline(always)]
    pub(super) fn row(self, lanes: usize, step: usize, lane: usize) -> Option<usize> {
        let place = self.place(step, lane);
        let vector = self.rows[usize::from(place >= lanes)];
        let is_used = self.used >> (MOST_LANES * step + lane) & 1 == 1;
        is_used.then_some(usize::from(vector) * lanes + place % lanes)
    }

    fn place(self, step: usize, lane: usize) -> usize {
        (self.places >> (4 * (MOST_LANES * step + lane))) as usize & 15
    }

    fn put(&mut self, step: usize, lane: usize, place: usize) {
        self.places |= (place as u64) << (4 * (MOST_LANES * step + lane));
        self.used |= 1 << (MOST_LANES * step + lane);
    }

    /// The entries of `x`, given by the two vectors of rows, that the lanes pick in each step;
    /// lanes without an entry pick the first.
    #[inline(always)]
    pub(super) fn select<S: Simd>(self, simd: S, x: [S::f64s; 2]) -> [S::f64s; Self::STEPS] {
        #[cfg(target_arch = "x86_64")]
        if let Some(&simd) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>() {
            return self.permute(simd, x.map(pulp::bytemuck::cast)).map(pulp::bytemuck::cast);
        }
        let x: &[f64] = pulp::bytemuck::cast_slice(&x);
        let mut picked = [simd.splat_f64s(0.0); Self::STEPS];
        for (step, picked) in picked.iter_mut().enumerate() {
            let lanes: &mut [f64] = cast_slice_mut(std::slice::from_mut(picked));
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = x[self.place(step, lane)];
            }
        }
        picked
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn permute(self, simd: pulp::x86::V4, [first, second]: [pulp::f64x8; 2]) -> [pulp::f64x8; 2] {
        // The permutation reads the lowest 4 bits of each lane.
        const SHIFTS: [[u64; MOST_LANES]; Pick::STEPS] =
            [[0, 4, 8, 12, 16, 20, 24, 28], [32, 36, 40, 44, 48, 52, 56, 60]];
        let avx = simd.avx512f;
        let places = avx._mm512_set1_epi64(self.places as i64);
        SHIFTS.map(|shifts| {
            let places = avx._mm512_srlv_epi64(places, pulp::cast(shifts));
            pulp::cast(avx._mm512_permutex2var_pd(pulp::cast(first), places, pulp::cast(second)))
        })
    }
}

/// Picks that hold every entry of a pattern once.
pub(super) fn schedule(lanes: usize, mut pattern: Pattern) -> Vec<Pick> {
    let mut remaining = [0; MOST_LANES];
    for rows in &pattern {
        for (remaining, rows) in remaining.iter_mut().zip(rows) {
            *remaining += rows.count_ones();
        }
    }
    let mut picks = Vec::new();
    for first in 0..pattern.len() {
        while pattern[first] != [0; MOST_LANES] {
            let second = partner(&pattern, first, remaining);
            let mut pick = Pick { places: 0, rows: [first as u16, second as u16], used: 0 };
            for step in 0..Pick::STEPS {
                for lane in 0..lanes {
                    let side = usize::from(pattern[first][lane] == 0);
                    let rows = &mut pattern[[first, second][side]][lane];
                    if *rows > 0 {
                        pick.put(step, lane, side * lanes + rows.trailing_zeros() as usize);
                        *rows &= *rows - 1;
                        remaining[lane] -= 1;
                    }
                }
            }
            picks.push(pick);
        }
    }
    picks
}

/// The vector of rows that fills most lanes that `first` leaves idle. Lanes of long columns count
/// more, as these decide in the end how many picks there are.
fn partner(pattern: &Pattern, first: usize, remaining: [u32; MOST_LANES]) -> usize {
    let idle = pattern[first].map(|rows| (Pick::STEPS as u32).saturating_sub(rows.count_ones()));
    let gain = |&second: &usize| -> u32 {
        let lanes = pattern[second].iter().zip(idle).zip(remaining);
        lanes.map(|((rows, idle), remaining)| rows.count_ones().min(idle) * remaining).sum()
    };
    let candidates = first + 1..pattern.len().min(first + 1 + LOOKAHEAD);
    candidates.rev().max_by_key(gain).filter(|second| gain(second) > 0).unwrap_or(first)
}
