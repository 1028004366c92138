//! Inference under an energy, one word at a time.
//!
//! The two energies in the L1 norm have special solvers (`letters`, `counts`) that take a few
//! oracle calls per word; everything else goes to the core's solvers.

mod counts;
mod letters;

use std::sync::Arc;

use bethe_core::energy::Energies;
use bethe_core::oracle::{Chain, Oracle, Tables};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::support::Support;
use bethe_core::{Method, Norm, Settings};

use super::data::LETTERS;
use super::energy::{Energy, Search, Statistic, support};
use super::lexicon::Lexicon;
use super::model::Model;

/// What inference found for a word.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// `F` at the answer.
    pub objective: f64,
    /// `A(θ + δ)` there.
    pub log_partition: f64,
    /// The distance of its marginals from the nearest word, cap included.
    pub distance: f64,
    /// What was added to scores. `[positions][letters]`
    pub tilt: Vec<f64>,
    /// `[positions][letters]`
    pub marginals: Vec<f64>,
    /// Iterations of the solver.
    pub iterations: usize,
}

/// How a word is solved unless told otherwise, and when that stops: the gap of a piece is at most
/// the tolerance, in nats. With `Auto` each energy has the solver that suits it best.
pub fn settings() -> Settings {
    Settings { tolerance: 1e-2, max_iterations: 1000, ..Settings::default() }
}

/// Reads words with one model, and perhaps under an energy; memory is kept from word to word.
pub struct Reader {
    chain: Chain,
    /// Log-potentials of transitions. `[letters][letters]`
    table: Arc<Vec<f64>>,
    energy: Option<Arc<Energy>>,
    limits: Settings,
    /// What each length needs.
    bound: Vec<Option<Bound>>,
    assignment: Vec<usize>,
}

struct Bound {
    support: Support,
    /// The energies, for the core's solvers.
    energies: Option<Energies>,
}

impl Reader {
    /// A reader with a model; under an energy, its states must be letters.
    pub fn new(model: &Model, energy: Option<Arc<Energy>>, limits: Settings) -> Self {
        assert!(energy.is_none() || model.field.histories.are_letters(), "states that are letters");
        let chain = Chain::new(model.chain.clone(), &[], Support::new());
        Self {
            chain: chain.expect("an empty chain"),
            table: model.table.clone(),
            energy,
            limits,
            bound: Vec::new(),
            assignment: Vec::new(),
        }
    }

    /// The chain, at the tilt of the latest answer.
    pub fn chain(&mut self) -> &mut Chain {
        &mut self.chain
    }

    /// Plain inference: the log-partition. `scores` are `[positions][states]`.
    pub fn infer_base(&mut self, scores: &[f64]) -> f64 {
        self.load(scores, Support::new());
        self.chain.tilted(&[], &mut [])
    }

    /// Inference under the energy with weight `ψ`, at least 0. `scores` are `[positions][letters]`.
    pub fn infer(&mut self, scores: &[f64], weight: f64) -> Found {
        let energy = self.energy.clone().expect("an energy to infer under");
        let length = scores.len() / LETTERS;
        let support = self.bind(length).support.clone();
        self.load(scores, support);
        if weight <= 0.0 || energy.candidates(length).next().is_none() {
            let mut found = self.at_base(length);
            found.distance = energy.distance(&found.marginals);
            found.objective += weight * found.distance;
            return found;
        }
        match (self.limits.method, energy.statistic, energy.norm) {
            (Method::Auto, Statistic::Letters, Norm::L1) => {
                self.infer_letters(&energy, scores, weight)
            }
            (Method::Auto, Statistic::Counts { .. }, _) => {
                self.infer_counts(&energy, length, weight)
            }
            _ => self.solve(&energy, length, weight),
        }
    }

    /// The base model's answer, without the energy.
    fn at_base(&mut self, length: usize) -> Found {
        let tilt = vec![0.0; length * LETTERS];
        let mut marginals = tilt.clone();
        let log_partition = self.chain.tilted(&tilt, &mut marginals);
        Found { objective: -log_partition, log_partition, tilt, marginals, ..Found::default() }
    }

    /// The answer of the core's solvers.
    fn solve(&mut self, energy: &Energy, length: usize, weight: f64) -> Found {
        let Self { chain, bound, limits, .. } = self;
        let bound = bound[length].as_mut().expect("bound before");
        let energies = bound
            .energies
            .get_or_insert_with(|| energy.bind(length).expect("there are words to compare with"));
        energy.weigh(energies, weight);
        let settings = Settings {
            method: match limits.method {
                Method::Auto if energy.search == Search::Exact => Method::Global,
                method => method,
            },
            ..limits.clone()
        };
        let task = Task { marginals: Tables::None, ..Task::new(chain, energies) };
        let solution = solve(task, &settings, &mut Ignore).expect("finite scores and a distance");
        Found {
            objective: solution.objective,
            log_partition: solution.log_partition,
            distance: energy.distance(&solution.marginals),
            tilt: solution.tilt,
            marginals: solution.marginals,
            iterations: solution.iterations,
        }
    }

    /// The most probable letters at an answer's tilt: not at that of a fresh gradient, which for a
    /// norm with kinks is another one.
    pub fn decode(&mut self, found: &Found) -> Vec<u8> {
        self.assignment.resize(self.chain.length(), 0);
        self.chain.decode(&found.tilt, &mut self.assignment);
        self.assignment.iter().map(|&letter| letter as u8).collect()
    }

    /// The best states without an energy; `None` where all paths are forbidden.
    pub fn decode_base(&mut self, scores: &[f64]) -> Option<&[usize]> {
        self.load(scores, Support::new());
        self.assignment.resize(self.chain.length(), 0);
        let score = self.chain.decode(&[], &mut self.assignment);
        (score > f64::NEG_INFINITY).then_some(&self.assignment)
    }

    /// The best word of a lexicon that has the right length, if there is one.
    pub fn best_of(&self, lexicon: &Lexicon, scores: &[f64]) -> Option<Vec<u8>> {
        let words =
            lexicon.of_length(scores.len() / LETTERS).iter().map(|&word| &lexicon.words()[word]);
        let scored = words.map(|word| (self.score(scores, word), word));
        // Of equals the first.
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)));
        best.map(|(_, word)| word.clone())
    }

    /// The score of a word, given scores of letters.
    pub fn score(&self, scores: &[f64], word: &[u8]) -> f64 {
        let nodes = scores.chunks(LETTERS).zip(word).map(|(row, &letter)| row[usize::from(letter)]);
        let cells =
            word.windows(2).map(|pair| usize::from(pair[0]) * LETTERS + usize::from(pair[1]));
        nodes.sum::<f64>() + cells.map(|cell| self.table[cell]).sum::<f64>()
    }

    fn load(&mut self, scores: &[f64], support: Support) {
        self.chain.load(scores, support).expect("scores are finite, or forbidden");
    }

    fn bind(&mut self, length: usize) -> &Bound {
        if self.bound.len() <= length {
            self.bound.resize_with(length + 1, || None);
        }
        self.bound[length].get_or_insert_with(|| Bound { support: support(length), energies: None })
    }
}
