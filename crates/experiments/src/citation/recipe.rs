//! How the models of the table are trained. Numbers were chosen by cross-validation inside train
//! and dev.

use std::path::Path;

use bethe_learn::energy::Learner;

use super::error::ExperimentError;
use super::{Event, ExperimentSettings};
use bethe_tagging::Decoding;
use bethe_tagging::features::Lexicons;
use bethe_tagging::rules::{Pruning, RulePenalty};
use bethe_tagging::train::{AllowedTransitions, BaseSettings, RuleSettings, TrainSettings};

/// The L1 penalty on weights under the hinge, and under the smoothed one.
const HINGE_L1: f64 = 0.3;
const SMOOTHED_L1: f64 = 0.3;
/// Passes of Algorithm 3 over the references.
const STOCHASTIC_PASSES: usize = 15;
/// Passes of the perceptron.
const PERCEPTRON_PASSES: usize = 10;
/// References per step of it, inferred in parallel.
const BATCH: usize = 8;

/// Everything that models of the table need to be trained.
pub(super) struct Recipe {
    pub seed: u64,
    simple: TrainSettings,
    rich: TrainSettings,
}

impl Recipe {
    /// The recipe with the word lists of a folder; without them where there is none.
    pub fn new(
        lexicons: &Path,
        settings: &ExperimentSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, ExperimentError> {
        let lists: &[&Path] = if lexicons.exists() {
            &[lexicons]
        } else {
            let missing = lexicons.display();
            observe(Event::Skipped(format!(
                "{missing} is missing; only cue words are used as lists"
            )));
            &[]
        };
        let shared = TrainSettings {
            observe: Some(vec![1]),
            seed: settings.seed,
            interrupt: settings.interrupt.clone(),
            ..TrainSettings::default()
        };
        let simple = include_str!("simple.template").parse().expect("the template is well formed");
        let simple = TrainSettings {
            template: Some(simple),
            lexicons: Lexicons::default(),
            transitions: AllowedTransitions::Seen,
            base: BaseSettings {
                max_iterations: settings.max_iterations.unwrap_or(100),
                ..BaseSettings::default()
            },
            ..shared.clone()
        };
        let base = bethe_cite::base_settings();
        let rich = TrainSettings {
            template: Some(bethe_cite::template()),
            lexicons: bethe_cite::lexicons(lists)?,
            transitions: AllowedTransitions::Weighted,
            base: BaseSettings {
                max_iterations: settings.max_iterations.unwrap_or(base.max_iterations),
                ..base
            },
            rules: RuleSettings { folds: Some(5), batch: BATCH, ..RuleSettings::default() },
            ..shared
        };
        Ok(Self { seed: settings.seed, simple, rich })
    }

    /// Simple attributes, no transition that training references do not have.
    pub fn simple(&self) -> &TrainSettings {
        &self.simple
    }

    /// All attributes, a weight for every transition.
    pub fn rich(&self) -> &TrainSettings {
        &self.rich
    }

    /// The paper's: Algorithm 3, the penalty on weights chosen on the development data, the best
    /// labels of the chain as rules tilt it.
    pub fn paper_rules(&self) -> RuleSettings {
        let (passes, decoding) = (STOCHASTIC_PASSES, Some(Decoding::Tilted));
        RuleSettings {
            learner: Learner::Surrogate,
            penalty: RulePenalty::SmoothedHinge,
            l1: None,
            passes,
            batch: BATCH,
            decoding,
            ..self.simple.rules
        }
    }

    /// Ours. Algorithm 3 follows slopes, so it has the smoothed hinge, as in the paper; the convex
    /// loss takes the hinge itself, under which a rule has its whole force until it is kept. Labels
    /// are the paper's too.
    pub fn rules(&self, learner: Learner) -> RuleSettings {
        let (penalty, l1, passes) = match learner {
            Learner::FenchelYoung => (RulePenalty::Hinge, HINGE_L1, self.rich.rules.passes),
            _ => (RulePenalty::SmoothedHinge, SMOOTHED_L1, STOCHASTIC_PASSES),
        };
        let decoding = Some(Decoding::Tilted);
        RuleSettings { learner, penalty, l1: Some(l1), passes, decoding, ..self.rich.rules }
    }

    /// Those of Anzaroot et al.: costs by a perceptron without a penalty, labels by dual decomposition.
    pub fn soft_dd(&self) -> RuleSettings {
        RuleSettings {
            learner: Learner::Perceptron,
            penalty: RulePenalty::Hinge,
            l1: Some(0.0),
            passes: PERCEPTRON_PASSES,
            decoding: Some(Decoding::SoftDual),
            ..self.rich.rules
        }
    }

    /// Which constraints the paper keeps (Anzaroot et al.: importance of at least 2.75).
    pub fn paper_pruning(&self) -> Pruning {
        Pruning { threshold: 2.75, least: 1 }
    }

    /// Which constraints we keep.
    pub fn pruning(&self) -> Pruning {
        let RuleSettings { importance, least_violations, .. } = self.rich.rules;
        Pruning { threshold: importance, least: least_violations }
    }
}
