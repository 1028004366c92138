//! What one sequence adds to the gradient: marginals minus the truth.

use std::sync::Arc;

use bethe_core::oracle::chain::TransitionCounts;
use bethe_core::oracle::{Chain, ChainModel, Oracle};
use bethe_core::support::Support;
use pulp::Simd;

use super::rows::{AHEAD, Placed, padded};
use super::scores::Scorer;
use super::structure::Structure;
use crate::corpus::Observations;
use crate::energy::Space;

/// The point at which a likelihood is evaluated.
pub(super) struct Point<'a> {
    pub(super) structure: &'a Structure,
    pub(super) weights: &'a [f64],
    /// Log-potentials of transitions. `[states][states]`
    table: Vec<f64>,
    pub(super) model: Arc<ChainModel>,
}

impl<'a> Point<'a> {
    pub(super) fn new(structure: &'a Structure, weights: &'a [f64]) -> Self {
        let table = structure.transition_table(weights);
        let model = Arc::new(structure.chain_model(weights));
        Self { structure, weights, table, model }
    }

    /// The score of one assignment.
    fn score(&self, scores: &[f64], assignment: &[u16]) -> f64 {
        let states = self.structure.states();
        let rows = scores.chunks(states).zip(assignment);
        let nodes: f64 = rows.map(|(row, &state)| row[usize::from(state)]).sum();
        let cells = assignment.windows(2);
        let cells = cells.map(|pair| usize::from(pair[0]) * states + usize::from(pair[1]));
        nodes + cells.map(|cell| self.table[cell]).sum::<f64>()
    }
}

/// Processes sequences one by one.
#[derive(Default)]
pub(super) struct Worker {
    scorer: Scorer,
    chain: Option<Chain>,
    residual: Residual,
}

/// `μ_t − 1[y_t]` of a sequence: the gradient of its node scores.
#[derive(Clone, Debug, Default)]
pub struct Residual {
    /// `[positions][states]`
    values: Vec<f64>,
    /// One position of it, padded. `[padded states]`
    row: Vec<f64>,
    /// Places of the sequence's attributes.
    places: Vec<u32>,
}

impl Worker {
    /// `−log p(y | x)` of one sequence; adds its expected transitions to `counts`.
    pub(super) fn infer(
        &mut self,
        point: &Point,
        placed: Placed,
        truth: &[u16],
        counts: &mut TransitionCounts,
    ) -> f64 {
        let states = point.structure.states();
        let scores = self.scorer.scores_placed(point.structure, point.weights, placed);
        let stale =
            self.chain.as_ref().is_none_or(|chain| !Arc::ptr_eq(chain.model(), &point.model));
        if stale {
            let fresh = Chain::new(point.model.clone(), &[], Support::new());
            self.chain = Some(fresh.expect("an empty chain"));
        }
        let chain = self.chain.as_mut().expect("a chain was just made");
        chain.load(scores, Support::new()).expect("finite weights make finite scores");
        let log_partition = chain.tilted(&[], &mut []);
        self.residual.values.resize(scores.len(), 0.0);
        chain.accumulate(&mut self.residual.values, counts);
        self.residual.subtract(truth, states);
        log_partition - point.score(scores, truth)
    }

    /// Adds the latest sequence's gradient of its attributes' weights.
    pub(super) fn add_gradient(
        &mut self,
        structure: &Structure,
        placed: Placed,
        gradient: &mut [f64],
    ) {
        self.residual.add_placed(structure, placed, gradient);
    }
}

impl Residual {
    /// Sets the slopes of all node scores. `[positions][states]`
    pub fn assign(&mut self, slopes: &[f64]) {
        self.values.clear();
        self.values.extend_from_slice(slopes);
    }

    /// Sets them from the marginals of a chain with memory (`[positions][states of the chain]`) and
    /// the truth.
    pub(crate) fn load(&mut self, space: &Space, nodes: &[f64], truth: &[u16], states: usize) {
        self.values.clear();
        self.values.resize(truth.len() * states, 0.0);
        for (row, wide) in self.values.chunks_mut(states).zip(nodes.chunks(space.len())) {
            for (state, marginal) in wide.iter().enumerate() {
                row[space.state(state)] += marginal;
            }
        }
        self.subtract(truth, states);
    }

    fn subtract(&mut self, truth: &[u16], states: usize) {
        for (row, &state) in self.values.chunks_mut(states).zip(truth) {
            row[usize::from(state)] -= 1.0;
        }
    }

    /// Adds the sequence's gradient of its attributes' weights.
    pub fn add_gradient(
        &mut self,
        structure: &Structure,
        observations: Observations,
        gradient: &mut [f64],
    ) {
        let mut places = std::mem::take(&mut self.places);
        structure.rows().write_places(observations.all_attributes(), &mut places);
        self.add_placed(structure, Placed { observations, places: &places }, gradient);
        self.places = places;
    }

    /// As [`add_gradient`](Self::add_gradient), with known places.
    fn add_placed(&mut self, structure: &Structure, placed: Placed, gradient: &mut [f64]) {
        let Self { values: residual, row, .. } = self;
        row.resize(padded(structure.states()), 0.0);
        pulp::Arch::new().dispatch(Add { structure, placed, residual, row, gradient });
    }
}

/// `∂/∂w_a += x_a (μ_t − 1[y_t])`
struct Add<'a> {
    structure: &'a Structure,
    placed: Placed<'a>,
    residual: &'a [f64],
    row: &'a mut [f64],
    gradient: &'a mut [f64],
}

impl pulp::WithSimd for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { structure, placed, residual, row, gradient } = self;
        let (states, rows, mut touched) = (structure.states(), structure.rows(), 0);
        for (t, residual) in residual.chunks(states).enumerate() {
            row[..states].copy_from_slice(residual);
            if t % AHEAD == 0 {
                touched ^= rows.touch(placed.run(t, AHEAD), gradient);
            }
            let values = placed.observations.values(t);
            for (at, &place) in placed.run(t, 1).iter().enumerate() {
                let value = values.get(at).map_or(1.0, |&value| f64::from(value));
                rows.add_gradient(simd, place, value, row, gradient);
            }
        }
        std::hint::black_box(touched);
    }
}
