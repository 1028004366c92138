use pulp::Simd;

use super::rows::{AHEAD, padded};
use super::structure::Structure;
use crate::corpus::Observations;

/// Node scores of sequences, with the memory to compute them.
#[derive(Clone, Debug, Default)]
pub struct Scorer {
    /// One position, padded. `[padded states]`
    row: Vec<f64>,
    /// `[positions][states]`
    scores: Vec<f64>,
}

impl Scorer {
    /// The scores of a sequence (`[positions][states]`): `Σ_a x_a w_a`, added to those that come from
    /// elsewhere; `-∞` where a state may not start or end a sequence.
    pub fn scores(
        &mut self,
        structure: &Structure,
        weights: &[f64],
        observations: Observations,
    ) -> &mut [f64] {
        self.row.resize(padded(structure.states()), 0.0);
        pulp::Arch::new().dispatch(Sum { scorer: self, structure, weights, observations });
        &mut self.scores
    }
}

struct Sum<'a> {
    scorer: &'a mut Scorer,
    structure: &'a Structure,
    weights: &'a [f64],
    observations: Observations<'a>,
}

impl pulp::WithSimd for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { scorer: Scorer { row, scores }, structure, weights, observations } = self;
        let states = structure.states();
        scores.clear();
        let mut touched = 0;
        for t in 0..observations.len() {
            match observations.scores {
                [] => row.fill(0.0),
                given => row[..states].copy_from_slice(&given[t * states..][..states]),
            }
            // A closure here would not be compiled for the instructions at hand.
            let (attributes, values) = (observations.attributes(t), observations.values(t));
            if t % AHEAD == 0 {
                let ahead = observations.run(t, AHEAD);
                touched ^= structure.rows().touch(ahead, weights);
            }
            for (at, &attribute) in attributes.iter().enumerate() {
                let value = values.get(at).map_or(1.0, |&value| f64::from(value));
                structure.rows().add(simd, (attribute, value), weights, row);
            }
            scores.extend_from_slice(&row[..states]);
        }
        std::hint::black_box(touched);
        let (not_first, not_last) = structure.ends();
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
