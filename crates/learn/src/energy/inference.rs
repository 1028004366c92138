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
    /// The multiplier of each soft rule, which pulls by as much as it is below zero, at most by its
    /// weight; then of each hard rule. `[soft and hard rules]`
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
        Settings { tolerance: 1e-5, max_iterations: 100, polish: false, ..Settings::default() }
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

    /// The weights. `[soft rules]`
    pub fn weights(&self) -> &[f64] {
        &self.weights
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
        let Inferred { tilt, counts: marginals, .. } = found;
        let multipliers = &self.of_rows(&found.multipliers);
        Derivative::at(&mut self.chain, &energies, Place { tilt, marginals, multipliers, gap })
    }

    /// Infers under the rules; `scores` are `[positions][states of the chain]`, at least one
    /// position. `None` where the scores forbid every assignment; an error where the solver does
    /// not support the rules, see [`CountRules::check`].
    pub fn run(
        &mut self,
        scores: &[f64],
        settings: &Settings,
    ) -> Result<Option<Inferred>, SolveError> {
        self.rules.check(settings)?;
        let Some(base) = self.base(scores) else { return Ok(None) };
        match self.content(&base) {
            Some(found) => Ok(Some(found)),
            None => self.solve(scores.len() / self.rules.states, settings, base, None).map(Some),
        }
    }

    /// As [`run`](Self::run) for a sequence whose answer without rules is known, which saves an
    /// oracle call, and perhaps about its multipliers, which saves more. If that answer keeps all rules,
    /// or breaks them so little that it is within the tolerance, it is the answer, and the chain is left
    /// as it was: no energy is below zero, so `F` exceeds its minimum by at most what the rules cost
    /// there.
    pub fn run_from(
        &mut self,
        scores: &[f64],
        base: &Base,
        multipliers: Option<&[f64]>,
        settings: &Settings,
    ) -> Result<Inferred, SolveError> {
        self.rules.check(settings)?;
        let cost = self.rules.energy(&self.weights, &base.marginals);
        let near = settings.tolerance * (cost - base.log_partition).abs().max(1.0);
        if self.rules.hard.is_empty() && cost <= near {
            return Ok(Inferred { gap: Some(cost), ..self.base_answer(base) });
        }
        if let Some(found) = self.content(base) {
            return Ok(found);
        }
        self.load(scores);
        self.solve(scores.len() / self.rules.states, settings, base.clone(), multipliers)
    }

    /// The answer without rules; `None` where the scores forbid every assignment.
    pub fn base(&mut self, scores: &[f64]) -> Option<Base> {
        self.load(scores);
        let states = self.rules.states;
        let mut counts = vec![0.0; states];
        let log_partition = self.chain.tilted(&vec![0.0; states], &mut counts);
        let base = Base { log_partition, marginals: counts };
        (log_partition > f64::NEG_INFINITY).then_some(base)
    }

    /// Loads the chain with a sequence's scores. `[positions][states of the chain]`
    pub fn load(&mut self, scores: &[f64]) {
        let states = self.rules.states;
        let mut support = Support::new();
        support.add((0..scores.len() / states).collect(), states);
        self.chain.load(scores, support).expect("scores are numbers or -∞");
    }

    /// The answer without rules where it keeps all of them.
    fn content(&self, base: &Base) -> Option<Inferred> {
        let is_content = self.rules.is_content(&self.weights, &base.marginals);
        is_content.then(|| self.base_answer(base))
    }

    fn base_answer(&self, base: &Base) -> Inferred {
        let Self { rules, weights, .. } = self;
        let counts = &base.marginals;
        Inferred {
            status: Status::Converged,
            iterations: 0,
            oracle_calls: 1,
            objective: rules.energy(weights, counts) - base.log_partition,
            log_partition: base.log_partition,
            gap: Some(0.0),
            tilt: vec![0.0; rules.states],
            counts: counts.clone(),
            multipliers: vec![0.0; rules.soft.len() + rules.hard.len()],
            base: base.clone(),
        }
    }

    /// Which rules have a row among the measurements: not soft ones without weight.
    fn has_row(&self) -> impl Iterator<Item = bool> + '_ {
        let hard = self.rules.hard.iter().map(|_| true);
        self.weights.iter().map(|&weight| weight > 0.0).chain(hard)
    }

    /// The multipliers of rows, from those of rules.
    fn of_rows(&self, multipliers: &[f64]) -> Vec<f64> {
        let rows = multipliers.iter().zip(self.has_row()).filter(|(_, has_row)| *has_row);
        rows.map(|(multiplier, _)| *multiplier).collect()
    }

    /// The multipliers of rules, from those of rows.
    fn of_rules(&self, multipliers: &[f64]) -> Vec<f64> {
        let mut rows = multipliers.iter();
        let mut next = || rows.next().copied().unwrap_or(0.0);
        self.has_row().map(|has_row| if has_row { next() } else { 0.0 }).collect()
    }

    fn solve(
        &mut self,
        length: usize,
        settings: &Settings,
        base: Base,
        start: Option<&[f64]>,
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
        let start = start.map(|multipliers| self.of_rows(multipliers));
        let task = Task::new(&mut self.chain, &mut energies);
        let task = Task { marginals: Tables::None, start: start.as_deref(), ..task };
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
            multipliers: self.of_rules(&solution.multipliers),
            tilt: solution.tilt,
            counts: solution.marginals,
            base,
        })
    }
}
