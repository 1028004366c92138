//! What becomes of one line.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bethe_core::Request;
use bethe_core::memory::TooLarge;
use bethe_core::solve::{SolveError, Status};

use super::super::config::Config;
use super::super::problems::{Additions, NamedProblem};
use super::super::solve;
use crate::input::Source;

/// What all lines of a batch share.
pub struct Work {
    pub config: Arc<Config>,
    /// With a share of the memory, as several problems are worked on at once.
    pub request: Request,
    pub additions: Arc<Additions>,
}

/// A line with all that it gets.
pub struct Reply {
    /// Which line it was, from 0, blank ones not counted.
    pub index: usize,
    pub source: Source,
    /// One for each sample of evidence; a panic is passed on.
    pub results: Result<Vec<Reached>, Box<dyn Any + Send>>,
}

/// How a problem ended.
pub enum Reached {
    Answer {
        /// As JSON.
        text: String,
        infeasible: bool,
        /// The problem's name, if it is too wide for exact inference.
        wide: Option<String>,
    },
    /// A mistake in the line.
    Mistake(String),
    /// Stopped before there was an answer.
    Stopped(SolveError),
}

impl Work {
    /// Solves the problems of a line.
    pub fn reply(&self, index: usize, source: Source) -> Reply {
        let results = catch_unwind(AssertUnwindSafe(|| self.results(&source)));
        Reply { index, source, results }
    }

    /// The reply to a line that is too long to be read.
    pub fn refusal(&self, index: usize, name: String, error: &TooLarge) -> Reply {
        let results = Ok(self.mistakes(&format!("{name}: {error}")));
        Reply { index, source: Source::unread(name), results }
    }

    fn results(&self, source: &Source) -> Vec<Reached> {
        match self.additions.problems(source, true) {
            Ok(problems) => problems.iter().map(|named| self.result(named)).collect(),
            Err(error) => self.mistakes(&error.to_string()),
        }
    }

    /// A mistake in the place of every answer.
    fn mistakes(&self, what: &str) -> Vec<Reached> {
        (0..self.additions.answers()).map(|_| Reached::Mistake(what.to_string())).collect()
    }

    fn result(&self, named: &NamedProblem) -> Reached {
        match solve(named, &self.config, &self.request, &mut |_| {}) {
            Ok(Ok(answer)) => Reached::Answer {
                text: answer.to_json(named.problem.model()),
                infeasible: answer.status == Status::Infeasible,
                wide: (answer.entropy != "exact").then(|| named.source.clone()),
            },
            Ok(Err(stop)) => Reached::Stopped(stop),
            Err(error) => Reached::Mistake(error.to_string()),
        }
    }
}
