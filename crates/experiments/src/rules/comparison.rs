//! A base model beside the same model under rules.

use std::time::Instant;

use bethe_tagging::data::Sequence;
use bethe_tagging::labels::States;
use bethe_tagging::rules::{Occurrences, Pruning, Rule, generate};
use bethe_tagging::score::{Score, paired_bootstrap};
use bethe_tagging::train::{Base, Labelled, LearnedRules, TrainSettings};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use rayon::prelude::*;

use super::{Event, RulesSettings};
use crate::citation::ExperimentError;

/// Draws of the paired bootstrap.
const RESAMPLES: usize = 2000;
/// Share of the training sequences that keep a rule that is as good as certain.
const NEARLY_ALL: f64 = 0.99;

/// Trains both models.
#[derive(Clone)]
pub(super) struct Trainer<'a> {
    pub settings: &'a RulesSettings,
    training: TrainSettings,
}

/// What came out for one test set.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The base model alone, and under rules.
    pub scores: [Score; 2],
    /// Sequences whose labels break a rule that nearly all training sequences keep.
    pub broken: [usize; 2],
    /// Labels that a sequence has more than once, and should not.
    pub repeated: [usize; 2],
    /// How many rules each model has.
    pub rules: Vec<usize>,
    /// Seconds to train the base model, and to train it with rules.
    pub seconds: [f64; 2],
}

impl<'a> Trainer<'a> {
    pub fn new(settings: &'a RulesSettings) -> Self {
        let mut training = TrainSettings { seed: settings.seed, ..TrainSettings::default() };
        training.interrupt = settings.interrupt.clone();
        if let Some(most) = settings.max_iterations {
            training.base.max_iterations = most;
        }
        Self { settings, training }
    }

    /// The same with other features.
    pub fn with_features(&self, features: &str) -> Self {
        let simple = include_str!("../citation/simple.template");
        let simple = || simple.parse().expect("the template is well formed");
        let template = (features == "simple").then(simple);
        Self { training: TrainSettings { template, ..self.training.clone() }, ..self.clone() }
    }

    /// Trains on one set of sequences and compares on others.
    pub fn compare(
        &self,
        train: &[Sequence],
        tests: &[Vec<Sequence>],
        observe: &mut dyn FnMut(Event),
    ) -> Result<Vec<Comparison>, ExperimentError> {
        let mut training = |event| observe(Event::Training(event));
        let begun = Instant::now();
        let labelled = Labelled { sequences: train, scores: None };
        let mut base = Base::train(labelled, None, &self.training, &mut training)?;
        let of_base = begun.elapsed().as_secs_f64();
        let held_out = base.hold_out(&mut training)?;
        let learned = base.choose(&held_out, &self.training.rules, &mut training)?;
        let seconds = [of_base, begun.elapsed().as_secs_f64()];
        let truths = held_out.known().map(|one| &one.truth);
        let certain = generate(base.states(), truths, NEARLY_ALL).rules;
        let certain = held_out.worthwhile(&certain, base.states(), &Pruning::default());
        let taggers = [base.tagger(LearnedRules::default())?, base.tagger(learned)?];
        let compare = |test: &Vec<Sequence>| {
            let rules = vec![taggers[1].rules().len()];
            let [plain, ruled] =
                [judge(&taggers[0], test, &certain)?, judge(&taggers[1], test, &certain)?];
            Ok(Comparison {
                scores: [plain.score, ruled.score],
                broken: [plain.broken, ruled.broken],
                repeated: [plain.repeated, ruled.repeated],
                rules,
                seconds,
            })
        };
        tests.iter().map(compare).collect()
    }
}

/// What a model's labels are like.
struct Judged {
    score: Score,
    broken: usize,
    repeated: usize,
}

fn judge(tagger: &Tagger, test: &[Sequence], certain: &[Rule]) -> Result<Judged, ExperimentError> {
    let states = tagger.states();
    let tag = |tagging: &mut Tagging, sequence: &Sequence| {
        let mut tagged = tagging.tag(sequence, &TagOptions::default())?;
        Ok(tagged.best.swap_remove(0).0)
    };
    let paths: Result<Vec<Vec<usize>>, ExperimentError> =
        test.par_iter().map_init(|| Tagging::new(tagger), tag).collect();
    let mut judged = Judged { score: Score::new(states.scheme()), broken: 0, repeated: 0 };
    for (sequence, path) in test.iter().zip(&paths?) {
        let last = sequence.columns(0) - 1;
        let truth: Vec<&str> =
            (0..sequence.len()).map(|t| sequence.cell(t, last).unwrap_or_default()).collect();
        let found: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
        judged.score.add(&truth, &found);
        let occurrences = Occurrences::of(states, path);
        judged.broken += usize::from(certain.iter().any(|rule| !rule.holds(&occurrences)));
        judged.repeated += repeated(states, &occurrences, &Occurrences::of_labels(states, &truth));
    }
    Ok(judged)
}

/// Kinds of which there are several segments and should be at most one.
fn repeated(states: &States, found: &Occurrences, truth: &Occurrences) -> usize {
    let is_repeated = |&kind: &usize| found.count(kind) > 1 && truth.count(kind) <= 1;
    (0..states.kinds().len()).filter(is_repeated).count()
}

impl Comparison {
    /// Adds those of another training set.
    pub fn extend(&mut self, other: Self) {
        self.scores.iter_mut().zip(other.scores).for_each(|(sum, own)| sum.extend(own));
        for at in 0..2 {
            self.broken[at] += other.broken[at];
            self.repeated[at] += other.repeated[at];
            self.seconds[at] += other.seconds[at];
        }
        self.rules.extend(other.rules);
    }

    /// All-level F1 of both, in percent.
    pub fn f1(&self) -> [f64; 2] {
        [0, 1].map(|at| 100.0 * self.scores[at].all().f1())
    }

    /// The 95 % interval of the gain in all-level F1, in points.
    pub fn interval(&self) -> [f64; 2] {
        let [a, b] = [0, 1].map(|at| self.scores[at].all_per_sequence());
        let (low, high) = paired_bootstrap(a, b, RESAMPLES, 0);
        [low, high]
    }

    /// Sequences without a mistake, in percent.
    pub fn whole(&self) -> [f64; 2] {
        [0, 1].map(|at| 100.0 * self.scores[at].sequence_accuracy())
    }
}
