//! `L^u`, piece by piece, each by its dual in 26 unknowns.
//!
//! ```text
//! maximise D(δ) = ⟨δ, u⟩ − A(θ + δ) − c‖δ‖²/2      |δ_k| ≤ ψ,  one δ_k for letter k at all positions
//! ```
//!
//! with `c = 0` for the L1 norm and `c = d/ψ` where it is smoothed by `huber_d(z)/d`. The gradient
//! is `u − U(μ) − cδ`; the Hessian is the covariance of counts, of which the part within positions,
//! `Σ_t (diag μ_t − μ_t μ_tᵀ)`, is nearly all: letters mostly compete for their place. Newton steps
//! with it, cut off at the box, take a handful of oracle calls where a quasi-Newton method takes
//! twenty.
//!
//! It starts where most words end: at `ψ` for the word's letters and `−ψ` for all others, which
//! stay there in the L1 norm since a count is never below zero. `D` is a lower bound on the piece,
//! so a word whose bound reaches the best value so far is closed.

use bethe_core::oracle::Oracle;
use bethe_core::{Norm, solve_positive};

use super::{Found, Reader};
use crate::ocr::data::LETTERS;
use crate::ocr::energy::{Energy, Search, sums};
use crate::ocr::lexicon::counts;

/// A step is halved at most this often.
const HALVINGS: usize = 20;
/// Iterations of a piece, at most: rounding has the last word long before.
const MOST_ITERATIONS: usize = 100;
/// A word whose distance is less by no more than this is no nearer.
const TIE: f64 = 1e-9;
/// Keeps the Hessian from being singular where letters are certain.
const LEAST_CURVATURE: f64 = 1e-6;

/// Multipliers of counts, and all that follows from them.
#[derive(Clone)]
struct Iterate {
    /// `[letters]`
    tilt: [f64; LETTERS],
    /// `[positions][letters]`
    marginals: Vec<f64>,
    /// `U(μ)`
    counts: Vec<f64>,
    /// `D`
    value: f64,
}

/// The piece of one word.
struct Piece<'a> {
    /// `u`
    point: Vec<f64>,
    weight: f64,
    /// `c`
    smoothness: f64,
    energy: &'a Energy,
    length: usize,
}

impl Reader {
    /// Inference of a loaded word that has candidates, under a positive weight.
    pub(super) fn infer_counts(&mut self, energy: &Energy, length: usize, weight: f64) -> Found {
        let base = self.at_base(length);
        let points: Vec<Vec<f64>> = energy.candidates(length).map(counts).collect();
        let mut found = match energy.search {
            Search::Local => self.nearest_counts(energy, &points, base, weight),
            Search::Exact => self.best_counts(energy, &points, base, weight),
        };
        found.distance = energy.distance(&found.marginals);
        let moved: f64 = found.tilt.iter().zip(&found.marginals).map(|(t, m)| t * m).sum();
        found.objective = moved - found.log_partition + weight * found.distance;
        found
    }

    fn nearest_counts(
        &mut self,
        energy: &Energy,
        points: &[Vec<f64>],
        base: Found,
        weight: f64,
    ) -> Found {
        let length = base.marginals.len() / LETTERS;
        let (mut at, distance) = nearest(energy, points, &sums(&base.marginals));
        if energy.cap.is_some_and(|cap| distance >= cap) {
            return base;
        }
        let mut iterations = 0;
        // Every change of the piece lowers `F` by what the tie leaves, so this ends.
        loop {
            let piece = Piece::new(energy, &points[at], length, weight);
            let (solved, taken) = self.solve_piece(&piece, f64::INFINITY);
            iterations += taken;
            let (next, there) = nearest(energy, points, &solved.counts);
            let here = energy.apart(&solved.counts, &points[at]);
            let give_up = iterations >= self.limits.max_iterations;
            if next == at || there >= here - TIE - self.limits.tolerance / weight || give_up {
                return self.answer(solved, length, iterations);
            }
            at = next;
        }
    }

    fn best_counts(
        &mut self,
        energy: &Energy,
        points: &[Vec<f64>],
        base: Found,
        weight: f64,
    ) -> Found {
        let length = base.marginals.len() / LETTERS;
        let measured = sums(&base.marginals);
        let mut order: Vec<(f64, usize)> = points
            .iter()
            .enumerate()
            .map(|(at, point)| (energy.apart(&measured, point), at))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let capped = energy.cap.map(|cap| weight * cap - base.log_partition);
        let mut best: (f64, Option<Iterate>) = (capped.unwrap_or(f64::INFINITY), None);
        let mut iterations = 0;
        for (_, at) in order {
            let piece = Piece::new(energy, &points[at], length, weight);
            let (solved, taken) = self.solve_piece(&piece, best.0);
            iterations += taken;
            let value = solved.value + piece.gap(&solved);
            if value < best.0 {
                best = (value, Some(solved));
            }
        }
        match best.1 {
            Some(solved) => self.answer(solved, length, iterations),
            None => base,
        }
    }

    /// Climbs the dual of a piece until its gap is small, or its value reaches `enough`.
    fn solve_piece(&mut self, piece: &Piece, enough: f64) -> (Iterate, usize) {
        let mut current = self.evaluate(piece, piece.start());
        for iteration in 1..MOST_ITERATIONS {
            if current.value >= enough || piece.gap(&current) <= self.limits.tolerance {
                return (current, iteration);
            }
            let Some(next) = self.climb(piece, &current) else { return (current, iteration) };
            current = next;
        }
        (current, MOST_ITERATIONS)
    }

    /// One Newton step, as long as it has to be to climb.
    fn climb(&mut self, piece: &Piece, current: &Iterate) -> Option<Iterate> {
        let gradient = piece.gradient(current);
        let direction = piece.direction(current, &gradient);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            let mut tilt = current.tilt;
            let mut promised = 0.0;
            for ((tilt, direction), slope) in tilt.iter_mut().zip(&direction).zip(&gradient) {
                let to = (*tilt + step * direction).clamp(-piece.weight, piece.weight);
                promised += slope * (to - *tilt);
                *tilt = to;
            }
            if promised <= 0.0 {
                return None;
            }
            let next = self.evaluate(piece, tilt);
            if next.value >= current.value + 1e-4 * promised {
                return Some(next);
            }
            step *= 0.5;
        }
        None
    }

    fn evaluate(&mut self, piece: &Piece, tilt: [f64; LETTERS]) -> Iterate {
        let wide = tilt.repeat(piece.length);
        let mut marginals = vec![0.0; wide.len()];
        let log_partition = self.chain.tilted(&wide, &mut marginals);
        let counts = sums(&marginals);
        let dot: f64 = tilt.iter().zip(&piece.point).map(|(t, u)| t * u).sum();
        let size: f64 = tilt.iter().map(|t| t * t).sum();
        let value = dot - log_partition - 0.5 * piece.smoothness * size;
        Iterate { tilt, marginals, counts, value }
    }

    /// Takes the chain to an iterate, if it is elsewhere, and everything off it.
    fn answer(&mut self, solved: Iterate, length: usize, iterations: usize) -> Found {
        let tilt = solved.tilt.repeat(length);
        let mut marginals = solved.marginals;
        let log_partition = self.chain.tilted(&tilt, &mut marginals);
        Found { log_partition, tilt, marginals, iterations, ..Found::default() }
    }
}

impl<'a> Piece<'a> {
    fn new(energy: &'a Energy, point: &[f64], length: usize, weight: f64) -> Self {
        let smoothness = match energy.norm {
            Norm::L1 => 0.0,
            Norm::Huber(delta) => delta / weight,
        };
        Self { point: point.to_vec(), weight, smoothness, energy, length }
    }

    fn start(&self) -> [f64; LETTERS] {
        std::array::from_fn(|k| if self.point[k] > 0.0 { self.weight } else { -self.weight })
    }

    /// `∇D = u − U − cδ`
    fn gradient(&self, at: &Iterate) -> [f64; LETTERS] {
        std::array::from_fn(|k| self.point[k] - at.counts[k] - self.smoothness * at.tilt[k])
    }

    /// What the piece's value is above `D`: `Σ_k ψ|z_k|_d + δ_k z_k + cδ_k²/2` for `z = U − u`.
    fn gap(&self, at: &Iterate) -> f64 {
        let distance = self.energy.apart(&at.counts, &self.point);
        let paired: f64 = (0..LETTERS)
            .map(|k| {
                let tilt = at.tilt[k];
                tilt * (at.counts[k] - self.point[k]) + 0.5 * self.smoothness * tilt * tilt
            })
            .sum();
        self.weight * distance + paired
    }

    /// `H⁻¹∇D` among the letters that are not held at a bound.
    fn direction(&self, at: &Iterate, gradient: &[f64; LETTERS]) -> [f64; LETTERS] {
        let held = |k: usize| {
            let outwards = gradient[k] * at.tilt[k] >= 0.0;
            at.tilt[k].abs() >= self.weight && outwards
        };
        let free: Vec<usize> = (0..LETTERS).filter(|&k| !held(k)).collect();
        let n = free.len();
        // [free][free]
        let mut hessian = vec![0.0; n * n];
        for (i, &k) in free.iter().enumerate() {
            hessian[i * n + i] = at.counts[k] + self.smoothness + LEAST_CURVATURE;
        }
        for row in at.marginals.chunks(LETTERS) {
            for (i, &k) in free.iter().enumerate() {
                for (j, &l) in free[..=i].iter().enumerate() {
                    hessian[i * n + j] -= row[k] * row[l];
                }
            }
        }
        let mut step: Vec<f64> = free.iter().map(|&k| gradient[k]).collect();
        solve_positive(&mut hessian, &mut step, LEAST_CURVATURE);
        let mut direction = [0.0; LETTERS];
        free.iter().zip(step).for_each(|(&k, step)| direction[k] = step);
        direction
    }
}

/// The point that is nearest to counts, and its distance.
fn nearest(energy: &Energy, points: &[Vec<f64>], counts: &[f64]) -> (usize, f64) {
    let mut nearest = (0, f64::INFINITY);
    for (at, point) in points.iter().enumerate() {
        let distance = energy.apart(counts, point);
        if distance < nearest.1 {
            nearest = (at, distance);
        }
    }
    nearest
}
