//! What a law expects of individuals that leave their cells: one sweep over the moves of a table
//! serves many steps, whose numbers lie side by side as the lanes of vectors.

use bethe_core::oracle::chain::Transitions;

use super::design::{Design, Parameters};
use super::pulls::AXES;

/// Steps side by side.
const LANES: usize = 16;

/// The moves of a table at some parameters.
pub(super) struct Table<'a> {
    transitions: &'a Transitions,
    /// Weighted sums of features. `[moves]`
    pub scores: Vec<f64>,
    /// How scores change with what is learned. `[moves][unknowns]`
    pub slopes: Vec<f64>,
    /// The highest score of each row. `[cells]`
    tops: Vec<f64>,
    /// Exponentials of scores, less the highest of the row. `[moves]`
    weights: Vec<f64>,
}

impl<'a> Table<'a> {
    pub fn new(design: &'a Design, table: usize, parameters: &Parameters) -> Self {
        let (scores, slopes) = design.terms(table, parameters);
        let transitions = &design.moves.tables[table];
        let (mut tops, mut weights) = (Vec::new(), Vec::with_capacity(scores.len()));
        for from in 0..transitions.shape().0 {
            let own = &scores[weights.len()..][..transitions.row(from).0.len()];
            let top = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weights.extend(own.iter().map(|score| (score - top).exp()));
            tops.push(top);
        }
        Self { transitions, scores, slopes, tops, weights }
    }
}

/// Steps with the same law, as one.
pub(super) struct Group {
    pub table: usize,
    /// The pulls of these steps.
    pub block: usize,
    /// Individuals before and after. `[cells]`
    pub leaving: Vec<f64>,
    pub arriving: Vec<f64>,
}

/// Groups whose moves are those of one table, side by side.
pub(super) struct Strip {
    pub table: usize,
    /// The pulls of each lane; empty lanes have none.
    pub blocks: Vec<usize>,
    /// `[cells][lanes]`
    leaving: Vec<f64>,
    pub arriving: Vec<f64>,
    lanes: usize,
}

/// What a law expects in the steps of a strip.
pub(super) struct Swept {
    /// Minus the logarithm of the likelihood, without the scores of moves that were made.
    pub value: f64,
    /// How that changes with what is learned. `[unknowns]`
    pub mean: Vec<f64>,
    /// `[unknowns][unknowns]`
    pub curvature: Vec<f64>,
    /// Expected arrivals. `[cells][lanes]`
    arrivals: Vec<f64>,
    /// Variances of where moves lead, times individuals. `[axes][lanes]`
    spreads: Vec<f64>,
}

impl Strip {
    /// Groups side by side, as many as there are lanes.
    pub fn all(groups: &[Group], tables: usize) -> Vec<Self> {
        let of_table = |table: usize| {
            let own: Vec<&Group> = groups.iter().filter(|group| group.table == table).collect();
            own.chunks(LANES).map(Self::new).collect::<Vec<_>>()
        };
        (0..tables).flat_map(of_table).collect()
    }

    fn new(groups: &[&Group]) -> Self {
        let (cells, lanes) = (groups[0].leaving.len(), if groups.len() > 1 { LANES } else { 1 });
        let beside = |numbers: fn(&Group) -> &[f64]| {
            let mut all = vec![0.0; cells * lanes];
            for (lane, group) in groups.iter().enumerate() {
                let own = all.iter_mut().skip(lane).step_by(lanes);
                own.zip(numbers(group)).for_each(|(place, number)| *place = *number);
            }
            all
        };
        Self {
            table: groups[0].table,
            blocks: groups.iter().map(|group| group.block).collect(),
            leaving: beside(|group| &group.leaving),
            arriving: beside(|group| &group.arriving),
            lanes,
        }
    }

    /// What is expected under the moves of a table and pulls, `[blocks][cells]`; curvature and
    /// spreads on demand.
    pub fn sweep(&self, design: &Design, table: &Table, pulls: &[f64], is_curved: bool) -> Swept {
        match self.lanes {
            1 => Sweep::<1>::new(self, pulls).over(design, table, is_curved),
            _ => Sweep::<LANES>::new(self, pulls).over(design, table, is_curved),
        }
    }

    /// Numbers of a lane. `[cells]`
    pub fn lane<'a>(&self, numbers: &'a [f64], lane: usize) -> impl Iterator<Item = &'a f64> {
        numbers.iter().skip(lane).step_by(self.lanes)
    }

    /// Expected arrivals in a lane, and the variances of where its moves lead.
    pub fn of_lane<'a>(
        &self,
        swept: &'a Swept,
        lane: usize,
    ) -> (impl Iterator<Item = &'a f64>, impl Iterator<Item = &'a f64>) {
        (self.lane(&swept.arrivals, lane), self.lane(&swept.spreads, lane))
    }
}

/// A strip under pulls.
struct Sweep<'a, const N: usize> {
    /// `[cells]`
    leaving: &'a [[f64; N]],
    /// Exponentials of pulls, less the highest of the lane. `[cells]`
    factors: Vec<[f64; N]>,
    highest: [f64; N],
    /// What pulls add to the value.
    value: f64,
}

impl<'a, const N: usize> Sweep<'a, N> {
    fn new(strip: &'a Strip, pulls: &[f64]) -> Self {
        let leaving = strip.leaving.as_chunks().0;
        let cells = leaving.len();
        let mut sweep =
            Self { leaving, factors: vec![[1.0; N]; cells], highest: [0.0; N], value: 0.0 };
        for (lane, block) in strip.blocks.iter().enumerate() {
            let Some(own) = pulls.get(block * cells..(block + 1) * cells) else { continue };
            let highest = own.iter().copied().fold(f64::MIN, f64::max);
            sweep.highest[lane] = highest;
            for (factors, pull) in sweep.factors.iter_mut().zip(own) {
                factors[lane] = (pull - highest).exp().max(1e-300);
            }
            let arriving = strip.lane(&strip.arriving, lane);
            sweep.value -= own.iter().zip(arriving).map(|(pull, n)| pull * n).sum::<f64>();
        }
        sweep
    }

    fn over(self, design: &Design, table: &Table, is_curved: bool) -> Swept {
        let (unknowns, cells) = (design.unknowns(), self.leaving.len());
        let Self { leaving, factors, highest, value } = self;
        let mut swept = Swept {
            value,
            mean: vec![0.0; unknowns],
            curvature: vec![0.0; if is_curved { unknowns * unknowns } else { 0 }],
            arrivals: Vec::new(),
            spreads: Vec::new(),
        };
        let mut arrivals = vec![[0.0; N]; cells];
        let mut spreads = [[0.0; N]; AXES];
        let (mut first, mut means) = (0, vec![[0.0; N]; unknowns]);
        for (from, leaving) in leaving.iter().enumerate() {
            let to = table.transitions.row(from).0;
            let weights = &table.weights[first..first + to.len()];
            let slopes = &table.slopes[first * unknowns..(first + to.len()) * unknowns];
            first += to.len();
            if to.is_empty() || leaving.iter().all(|&number| number <= 0.0) {
                continue;
            }
            let mut sums = [0.0; N];
            for (weight, &to) in weights.iter().zip(to) {
                add(&mut sums, *weight, &factors[to as usize]);
            }
            // Individuals for every unit of weight.
            let mut shares = [0.0; N];
            for lane in (0..N).filter(|&lane| leaving[lane] > 0.0) {
                let log_sum = table.tops[from] + highest[lane] + sums[lane].ln();
                swept.value += leaving[lane] * log_sum;
                shares[lane] = leaving[lane] / sums[lane];
            }
            means.fill([0.0; N]);
            let mut moments = [[[0.0; N]; AXES]; 2];
            for (at, (weight, &to)) in weights.iter().zip(to).enumerate() {
                let factors = &factors[to as usize];
                let moved: [f64; N] = std::array::from_fn(|l| weight * shares[l] * factors[l]);
                add(&mut arrivals[to as usize], 1.0, &moved);
                let slopes = &slopes[at * unknowns..][..unknowns];
                for (mean, slope) in means.iter_mut().zip(slopes) {
                    add(mean, *slope, &moved);
                }
                if is_curved {
                    let total: f64 = moved.iter().sum();
                    for (row, a) in swept.curvature.chunks_mut(unknowns.max(1)).zip(slopes) {
                        row.iter_mut().zip(slopes).for_each(|(sum, b)| *sum += total * a * b);
                    }
                    for (axis, place) in design.positions[to as usize].iter().enumerate() {
                        add(&mut moments[0][axis], *place, &moved);
                        add(&mut moments[1][axis], place * place, &moved);
                    }
                }
            }
            for (sum, mean) in swept.mean.iter_mut().zip(&means) {
                *sum += mean.iter().sum::<f64>();
            }
            if is_curved {
                for lane in (0..N).filter(|&lane| leaving[lane] > 0.0) {
                    for (row, a) in swept.curvature.chunks_mut(unknowns.max(1)).zip(&means) {
                        let own = a[lane] / leaving[lane];
                        row.iter_mut().zip(&means).for_each(|(sum, b)| *sum -= own * b[lane]);
                    }
                    for (axis, spreads) in spreads.iter_mut().enumerate() {
                        let [sum, squares] = [moments[0][axis][lane], moments[1][axis][lane]];
                        spreads[lane] += (squares - sum * sum / leaving[lane]).max(0.0);
                    }
                }
            }
        }
        Swept {
            arrivals: arrivals.into_flattened(),
            spreads: spreads.as_flattened().to_vec(),
            ..swept
        }
    }
}

/// Adds a multiple of a vector to another.
#[inline(always)]
fn add<const N: usize>(sums: &mut [f64; N], factor: f64, numbers: &[f64; N]) {
    for lane in 0..N {
        sums[lane] += factor * numbers[lane];
    }
}
