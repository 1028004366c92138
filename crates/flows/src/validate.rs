//! How well flows predict marked individuals that were seen twice.
//!
//! The score is the mean log-probability of the second cell, given the first. As an individual may
//! be where no model expects it, every prediction is mixed with a hundredth of the uniform
//! distribution.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::{Cells, Observations, Pair};
use crate::infer::Flows;

/// Share of the uniform distribution in every prediction.
const MIXED: f64 = 0.01;
/// Costs of distance, by the spacing of cells, that persistence tries.
const COSTS: [f64; 11] = [0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0, 8.0];

/// Mean log-probabilities of second sightings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// The score of the flows.
    pub flows: f64,
    /// The score of what was counted at the time of the second sighting, wherever the first was.
    pub counts_alone: f64,
    /// The score of a probability that falls with the distance from the first sighting, at any time.
    pub persistence: f64,
    /// How many individuals were scored.
    pub individuals: usize,
}

/// Scores of all individuals and of those that were seen elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// The scores of all individuals.
    pub all: Scores,
    /// Of those whose second cell is another one; `None` if there are none.
    pub elsewhere: Option<Scores>,
}

/// Scores marked individuals. What persistence has to choose, it chooses on `choosing`.
pub fn validate(
    flows: &Flows,
    (cells, counts): (&Cells, &Observations),
    pairs: &[Pair],
    choosing: &[Pair],
) -> Validation {
    let of_flows = predictions(flows, pairs, cells.len());
    let of_counts: Vec<f64> = pairs.iter().map(|pair| counted(counts, pair)).collect();
    let persistence = |cost: f64, pairs: &[Pair]| -> Vec<f64> {
        pairs.par_iter().map(|pair| persists(cells, cost, pair)).collect()
    };
    let best = COSTS
        .into_iter()
        .map(|cost| (mean(&persistence(cost, choosing)), cost))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .expect("costs are listed");
    let of_persistence = persistence(best.1, pairs);
    let scores = |chosen: &[usize]| {
        let of = |scores: &[f64]| mean(&chosen.iter().map(|&at| scores[at]).collect::<Vec<_>>());
        Scores {
            flows: of(&of_flows),
            counts_alone: of(&of_counts),
            persistence: of(&of_persistence),
            individuals: chosen.len(),
        }
    };
    let all: Vec<usize> = (0..pairs.len()).collect();
    let moved: Vec<usize> =
        all.iter().copied().filter(|&at| pairs[at].from.1 != pairs[at].to.1).collect();
    Validation { all: scores(&all), elsewhere: (!moved.is_empty()).then(|| scores(&moved)) }
}

/// The log-probability of each individual's second cell, given its first.
pub fn predictions(flows: &Flows, pairs: &[Pair], cells: usize) -> Vec<f64> {
    let mut of_sighting: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        of_sighting.entry(pair.from).or_default().push(at);
    }
    let own = |(&(time, cell), own): (&(usize, usize), &Vec<usize>)| -> Vec<(usize, f64)> {
        let shares = flows.given(time, cell);
        let share = |at: usize| {
            let (time, cell) = pairs[at].to;
            shares.as_ref().map_or(0.0, |shares| shares[time * cells + cell])
        };
        own.iter().map(|&at| (at, mixed(share(at), cells))).collect()
    };
    let found: Vec<(usize, f64)> = of_sighting.par_iter().flat_map_iter(own).collect();
    let mut scores = vec![0.0; pairs.len()];
    found.into_iter().for_each(|(at, score)| scores[at] = score);
    scores
}

/// The mean log-probability of second cells, given the first.
pub fn score(flows: &Flows, pairs: &[Pair], cells: usize) -> f64 {
    mean(&predictions(flows, pairs, cells))
}

/// By the counts of the second time. Open cells without one have the mean of the others; a time
/// without any is uniform.
fn counted(counts: &Observations, pair: &Pair) -> f64 {
    let (time, cell) = pair.to;
    let seen: Vec<f64> = counts.at(time).iter().flatten().copied().collect();
    let mean = mean(&seen);
    let number = |cell: usize| match counts.at(time)[cell] {
        Some(count) => count,
        None if counts.is_open(time, cell) => mean,
        None => 0.0,
    };
    let total: f64 = (0..counts.cells()).map(number).sum();
    let share = if total > 0.0 { number(cell) / total } else { 1.0 / counts.cells() as f64 };
    mixed(share, counts.cells())
}

fn persists(cells: &Cells, cost: f64, pair: &Pair) -> f64 {
    let scale = cost / cells.spacing();
    let weight = |to: usize| (-scale * cells.distance(pair.from.1, to)).exp();
    let total: f64 = (0..cells.len()).map(weight).sum();
    mixed(weight(pair.to.1) / total, cells.len())
}

fn mixed(share: f64, cells: usize) -> f64 {
    ((1.0 - MIXED) * share + MIXED / cells as f64).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_without_a_count_have_the_mean_of_the_others() {
        let mut counts = Observations::new(4);
        counts.push("1", [Some(6.0), Some(2.0), None, None]);
        counts.push("2", [None; 4]);
        counts.close(0, 3);
        let score =
            |time: usize, cell: usize| counted(&counts, &Pair { from: (0, 0), to: (time, cell) });
        for (cell, share) in [0.5, 1.0 / 6.0, 1.0 / 3.0, 0.0].into_iter().enumerate() {
            assert!((score(0, cell) - mixed(share, 4)).abs() < 1e-12);
            assert!((score(1, cell) - 0.25f64.ln()).abs() < 1e-12);
        }
    }
}
