use pulp::Simd;

use super::rows::{AHEAD, Placed, padded};
use super::structure::{Borders, Structure};
use crate::corpus::Observations;

/// Node scores of sequences, with the memory to compute them.
#[derive(Clone, Debug, Default)]
pub struct Scorer {
    /// One position, padded. `[padded states]`
    row: Vec<f64>,
    /// `[positions][states]`
    scores: Vec<f64>,
    /// Places of the sequence's attributes.
    places: Vec<u32>,
}

impl Scorer {
    /// The scores of a sequence (`[positions][states]`): `Σ_a x_a w_a` plus given scores; `-∞` if a
    /// state may not start or end a sequence.
    pub fn scores(
        &mut self,
        structure: &Structure,
        weights: &[f64],
        observations: Observations,
    ) -> &mut [f64] {
        let mut places = std::mem::take(&mut self.places);
        structure.rows().write_places(observations.all_attributes(), &mut places);
        self.scores_placed(structure, weights, Placed { observations, places: &places });
        self.places = places;
        &mut self.scores
    }

    /// As [`scores`](Self::scores), with known places.
    pub(super) fn scores_placed(
        &mut self,
        structure: &Structure,
        weights: &[f64],
        placed: Placed,
    ) -> &mut [f64] {
        self.row.resize(padded(structure.states()), 0.0);
        let Self { row, scores, .. } = self;
        pulp::Arch::new().dispatch(Sum { row, scores, structure, weights, placed });
        &mut self.scores
    }
}

struct Sum<'a> {
    row: &'a mut [f64],
    scores: &'a mut Vec<f64>,
    structure: &'a Structure,
    weights: &'a [f64],
    placed: Placed<'a>,
}

impl pulp::WithSimd for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { row, scores, structure, weights, placed } = self;
        let (states, rows) = (structure.states(), structure.rows());
        let observations = placed.observations;
        scores.clear();
        let mut touched = 0;
        for t in 0..observations.len() {
            match observations.scores {
                [] => row.fill(0.0),
                given => row[..states].copy_from_slice(&given[t * states..][..states]),
            }
            if t % AHEAD == 0 {
                touched ^= rows.touch(placed.run(t, AHEAD), weights);
            }
            // A closure here would not be compiled for the detected instruction set.
            let values = observations.values(t);
            for (at, &place) in placed.run(t, 1).iter().enumerate() {
                let value = values.get(at).map_or(1.0, |&value| f64::from(value));
                rows.add(simd, place, value, weights, row);
            }
            scores.extend_from_slice(&row[..states]);
        }
        std::hint::black_box(touched);
        let Borders { not_first, not_last } = structure.borders();
        if !scores.is_empty() {
            let last = scores.len() - states;
            forbid(not_first, &mut scores[..states]);
            forbid(not_last, &mut scores[last..]);
        }
    }
}

fn forbid(forbidden: &[bool], scores: &mut [f64]) {
    for (score, _) in scores.iter_mut().zip(forbidden).filter(|(_, forbidden)| **forbidden) {
        *score = f64::NEG_INFINITY;
    }
}
