//! What was asked and what was inferred, for the command and for Python.

use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use bethe_core::solve::SolveError;
use bethe_core::{Cancel, Status};
use bethe_flows::data::{Cells, Observations};
use bethe_flows::infer::{FlowError, Flows};
use bethe_flows::output::{Move, Movements, Picture, Summary, stream};
use bethe_flows::uncertainty::StandardErrors;
use bethe_terminal::{Outcome, say};

use super::config::Config;
use super::flags::Flags;
use super::input::Input;
use super::output::{Answer, Output, expected, picture, words};
use super::{errors, learn, learning, solve, summarise, tune, tuned, validated};
use crate::alone;

/// Flags that were checked, and files that were read.
pub struct Asked {
    pub(super) config: Config,
    pub(super) input: Input,
    begun: Instant,
}

/// What long work reports; the text is only formatted if somebody reads it.
pub type Watch<'a> = &'a mut dyn FnMut(&dyn Display);

/// What was inferred.
pub struct Inferred {
    /// The movement.
    pub flows: Flows,
    /// Individuals. `[times][cells]`
    pub counts: Vec<f64>,
    /// How they were found, and how well they fit.
    pub summary: Summary,
    /// Standard errors, if they were asked for or are cheap.
    pub errors: Option<StandardErrors>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// It was cancelled.
    Interrupted,
    /// The time limit passed first.
    OutOfTime(String),
    /// No movement explains the counts.
    Infeasible(String),
    /// What was asked cannot be answered.
    Failed(anyhow::Error),
}

impl Asked {
    /// Reads flags and the files that they name.
    ///
    /// # Errors
    /// In one line, about the flag or the file.
    pub fn from_arguments(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        Self::read(alone::flags(arguments)?)
    }

    /// The long names of all flags.
    pub fn flags() -> Vec<String> {
        alone::names::<Flags>()
    }

    pub(super) fn read(flags: Flags) -> Result<Self> {
        let begun = Instant::now();
        let config = Config::try_from(flags)?;
        let input = Input::read(&config)?;
        tune::check(&config, &input)?;
        learning::check(&config, &input)?;
        Ok(Self { config, input, begun })
    }

    /// The folder that was asked for.
    pub(super) fn output(&self) -> Result<Option<Output>> {
        self.config.out.as_deref().map(|out| self.folder(out)).transpose()
    }

    fn folder(&self, folder: &Path) -> Result<Output> {
        Output::create(folder, &self.config, self.input.observations.times().len())
    }

    /// Infers the movement, and tells `watch` what is being done.
    ///
    /// # Errors
    /// If there is no answer, or it was cancelled.
    pub fn infer(&mut self, cancel: &Cancel, watch: Watch) -> Result<Inferred, Unanswered> {
        self.inferred(cancel, watch).map_err(|error| self.unanswered(error))?
    }

    fn inferred(
        &mut self,
        cancel: &Cancel,
        watch: Watch,
    ) -> Result<Result<Inferred, Unanswered>, FlowError> {
        let Self { config, input, begun } = self;
        // The limit is for tables of moves too, not only for iterations.
        let limit = config.settings.time_limit;
        let left = || limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        config.settings.time_limit = left();
        let tuning = tuned(config, input, cancel, watch)?;
        config.settings.time_limit = left();
        let learned = learn(config, input, cancel.child(), watch)?;
        config.settings.time_limit = left();
        let mut flows = solve(config, input, cancel.child(), watch)?;
        if flows.solution.status == Status::Infeasible {
            return Err(FlowError::Unexplained);
        }
        let counts = flows.counts();
        let loss = config.birdflow.map(|own| own.loss(&input.cells, &input.counts, &mut flows));
        let validation = validated(config, input, &flows);
        let summary = summarise(config, input, &flows, &counts);
        let (learning, choice) = learned.unzip();
        config.settings.time_limit = left();
        let known = (choice.as_ref(), cancel);
        let (found, errors) = match errors::bootstrap(config, input, &mut flows, known, watch)? {
            Some(found) => found,
            None => match errors::by_curvature(config, input, &mut flows, choice.as_ref()) {
                Ok(found) => found,
                Err(error) => return Ok(Err(Unanswered::Failed(error))),
            },
        };
        let warnings = input.warnings.clone();
        let summary =
            Summary { learning, birdflow: loss, validation, tuning, errors, warnings, ..summary };
        let errors = (!found.counts.is_empty()).then_some(found);
        Ok(Ok(Inferred { flows, counts, summary, errors }))
    }

    fn unanswered(&self, error: FlowError) -> Unanswered {
        let file = self.config.observations.display();
        match error {
            FlowError::Solve(SolveError::Cancelled) => Unanswered::Interrupted,
            FlowError::Solve(SolveError::OutOfTime) => Unanswered::OutOfTime(format!(
                "{file}: the time limit passed before there was an answer; give a longer \
                 --time-limit"
            )),
            FlowError::Unexplained => Unanswered::Infeasible(format!(
                "{file}: no movement explains the counts; try another --reach or --start"
            )),
            error => Unanswered::Failed(self.input.mistake(&self.config, error)),
        }
    }

    /// Where individuals are.
    pub fn cells(&self) -> &Cells {
        &self.input.cells
    }

    /// What was counted, as the noise takes it: shares for squared errors.
    pub fn observed(&self) -> &Observations {
        &self.input.counts
    }

    /// What each count was expected to be. `[times][cells]`
    pub fn expected(&self, inferred: &Inferred) -> Vec<f64> {
        expected(&self.config, &self.input, &inferred.counts)
    }

    /// The times after the last one that a forecast was asked for, and its individuals.
    /// `[times][cells]`
    pub fn forecast(&self, inferred: &mut Inferred) -> (Vec<String>, Vec<f64>) {
        let steps = self.config.forecast;
        let forecast = inferred.flows.forecast(&self.input.moves, steps);
        (self.input.observations.following(steps), forecast)
    }

    /// Visits the moves of each step that are above the threshold, with their standard errors where
    /// they are known.
    pub fn moves(
        &self,
        inferred: &mut Inferred,
        mut visit: impl FnMut(usize, &[Move], &[f64]),
    ) -> Movements {
        let steps = self.input.observations.times().len() - 1;
        let kept = Picture::kept(steps, &self.input.cells, self.config.threshold);
        let errors = inferred.errors.as_ref().map_or(&[][..], |errors| &errors.flows);
        let mut seen = 0;
        let mut each = |step: usize, moves: &[Move]| {
            visit(step, moves, errors.get(seen..seen + moves.len()).unwrap_or(&[]));
            seen += moves.len();
            Ok(())
        };
        let movements = stream(&mut inferred.flows, self.input.cells.len(), &kept, &mut each);
        movements.expect("visiting does not fail")
    }

    /// The map, as a self-contained page.
    pub fn page(&self, inferred: &mut Inferred) -> String {
        let movements = self.moves(inferred, |_, _, _| ());
        let Inferred { counts, summary, errors, .. } = inferred;
        let answer = Answer { counts, summary, errors: errors.as_ref() };
        let seen = self.input.observed_individuals(&self.config);
        let words = words(&self.config, &self.input);
        picture(&words, &self.input, &seen, answer, &movements).page()
    }

    /// Writes the files of `--out`. Returns their names.
    ///
    /// # Errors
    /// If the folder cannot be written, or holds somebody's files.
    pub fn save(&self, inferred: &mut Inferred, folder: &Path) -> Result<Vec<String>> {
        Ok(self.fill(self.folder(folder)?, inferred)?.0)
    }

    pub(super) fn fill(
        &self,
        mut output: Output,
        inferred: &mut Inferred,
    ) -> Result<(Vec<String>, Movements)> {
        let Inferred { flows, counts, summary, errors } = inferred;
        let answer = Answer { counts, summary, errors: errors.as_ref() };
        let movements = output.write(&self.config, &self.input, flows, answer)?;
        Ok((output.publish()?, movements))
    }
}

impl Unanswered {
    /// Says why, and how the command ends.
    pub(super) fn told(self) -> Result<Outcome> {
        let (message, outcome) = match self {
            Self::Interrupted => return Ok(Outcome::Interrupted),
            Self::OutOfTime(message) => (message, Outcome::OutOfTime),
            Self::Infeasible(message) => (message, Outcome::Infeasible),
            Self::Failed(error) => return Err(error),
        };
        say(&format!("error: {message}"));
        Ok(outcome)
    }
}
