use std::sync::Arc;

use bethe_core::derivative::{Derivative, DerivativeError, Place};
use bethe_core::energy::{Energies, Measurements};
use bethe_core::oracle::{Chain, ChainModel, Oracle, Tables};
use bethe_core::solve::{Base, Ignore, SolveError, Task, solve_from};
use bethe_core::support::Support;
use bethe_core::{Settings, Status};

use super::rules::CountRules;

/// What inference found for a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// How it ended.
    pub status: Status,
    /// Iterations; 0 if the base model keeps all rules.
    pub iterations: usize,
    /// Oracle calls, including the one for the base model.
    pub oracle_calls: usize,
    /// `F` at the answer.
    pub objective: f64,
    /// Log-partition at the answer's tilt.
    pub log_partition: f64,
    /// A bound on the distance of `F` from its minimum.
    pub gap: Option<f64>,
    /// The tilt of each state of the chain. `[states]`
    pub tilt: Vec<f64>,
    /// Expected counts of the chain's states at the answer. `[states]`
    pub counts: Vec<f64>,
    /// The multiplier of each rule that has a weight, then of each hard rule.
    pub multipliers: Vec<f64>,
    /// The answer without rules; its marginals are expected counts. `[states]`
    pub base: Base,
}

/// Measurements allow for at least this many positions, so that most sequences share them.
const LEAST_LONGEST: usize = 256;

/// Inference under rules, one sequence at a time, with its scratch memory.
pub struct Inference {
    rules: Arc<CountRules>,
    weights: Vec<f64>,
    chain: Chain,
    measurements: Measurements,
    /// The length that the ranges of the measurements allow for.
    longest: usize,
}

impl Inference {
    /// How sequences are inferred while weights are learned, unless told otherwise.
    pub fn default_settings() -> Settings {
        Settings { tolerance: 1e-5, max_iterations: 100, ..Settings::default() }
    }

    /// Inference with a chain's shared tables, rules and their weights.
    pub fn new(model: Arc<ChainModel>, rules: Arc<CountRules>, weights: Vec<f64>) -> Self {
        let chain = Chain::new(model, &[], Support::new()).expect("an empty chain");
        let longest = LEAST_LONGEST;
        let measurements = rules.measurements(&weights, longest);
        Self { rules, weights, chain, measurements, longest }
    }

    /// Switches to other weights.
    pub fn set_weights(&mut self, weights: Vec<f64>) {
        if weights != self.weights {
            self.measurements = self.rules.measurements(&weights, self.longest);
            self.weights = weights;
        }
    }

    /// Switches to the tables of another model with the same states.
    pub fn set_model(&mut self, model: &Arc<ChainModel>) {
        if !Arc::ptr_eq(self.chain.model(), model) {
            let fresh = Chain::new(model.clone(), &[], Support::new());
            self.chain = fresh.expect("an empty chain");
        }
    }

    /// The chain, left at the tilt of the latest answer.
    pub fn chain(&mut self) -> &mut Chain {
        &mut self.chain
    }

    /// How the counts of the answer that was found last change with potentials and rules.
    ///
    /// # Errors
    /// If the answer is not proved.
    pub fn derivative(&mut self, found: &Inferred) -> Result<Derivative, DerivativeError> {
        let gap = match (found.status, found.gap) {
            (Status::Converged | Status::RoundingLimit, Some(gap)) => gap,
            (status, _) => return Err(DerivativeError::Uncertified { status: status.name() }),
        };
        let support = self.chain.support().clone();
        let energies = Energies::of_measurements(support, self.measurements.clone());
        let Inferred { tilt, counts: marginals, multipliers, .. } = found;
        Derivative::at(&mut self.chain, &energies, Place { tilt, marginals, multipliers, gap })
    }

    /// Infers under the rules; `scores` are `[positions][states of the chain]`, at least one
    /// position. `None` where the scores forbid every assignment; an error where the solver cannot
    /// serve the rules, see [`CountRules::check`].
    pub fn run(
        &mut self,
        scores: &[f64],
        settings: &Settings,
    ) -> Result<Option<Inferred>, SolveError> {
        let Self { rules, weights, chain, .. } = self;
        rules.check(settings)?;
        let states = rules.states;
        let length = scores.len() / states;
        let mut support = Support::new();
        support.add((0..length).collect(), states);
        chain.load(scores, support).expect("scores are numbers or -∞");
        let tilt = vec![0.0; states];
        let mut counts = vec![0.0; states];
        let log_partition = chain.tilted(&tilt, &mut counts);
        if log_partition == f64::NEG_INFINITY {
            return Ok(None);
        }
        let base = Base { log_partition, marginals: counts };
        if rules.is_content(weights, &base.marginals) {
            return Ok(Some(Inferred {
                status: Status::Converged,
                iterations: 0,
                oracle_calls: 1,
                objective: rules.energy(weights, &base.marginals) - log_partition,
                log_partition,
                gap: Some(0.0),
                tilt,
                counts: base.marginals.clone(),
                multipliers: vec![0.0; self.measurements.len()],
                base,
            }));
        }
        self.solve(length, settings, base).map(Some)
    }

    fn solve(
        &mut self,
        length: usize,
        settings: &Settings,
        base: Base,
    ) -> Result<Inferred, SolveError> {
        // It depends on this sequence only: earlier ones must not change the answer.
        let longest = length.next_power_of_two().max(LEAST_LONGEST);
        if longest != self.longest {
            self.longest = longest;
            self.measurements = self.rules.measurements(&self.weights, self.longest);
        }
        let support = self.chain.support().clone();
        let mut energies =
            Energies::of_measurements(support, std::mem::take(&mut self.measurements));
        let task = Task { marginals: Tables::None, ..Task::new(&mut self.chain, &mut energies) };
        let solved = solve_from(task, base.clone(), settings, &mut Ignore);
        self.measurements = std::mem::take(&mut energies.measurements);
        let solution = solved?;
        Ok(Inferred {
            status: solution.status,
            iterations: solution.iterations,
            oracle_calls: solution.oracle_calls,
            objective: solution.objective,
            log_partition: solution.log_partition,
            gap: solution.gap,
            tilt: solution.tilt,
            counts: solution.marginals,
            multipliers: solution.multipliers,
            base,
        })
    }
}
