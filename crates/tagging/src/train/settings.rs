use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bethe_core::MemoryLimit;
use bethe_learn::energy::Learner;

use super::super::data::Format;
use super::super::features::{Lexicons, Template};
use super::super::labels::Scheme;
use super::super::model::WeightFeatures;
use super::super::rules::RulePenalty;
use super::super::tag::decode::Decoding;

/// How to train a tagger.
#[derive(Clone, Debug)]
pub struct TrainSettings {
    /// The file format.
    pub format: Format,
    /// The label's column, from 1; `None` for the last.
    pub column: Option<usize>,
    /// Columns to observe, from 1; `None` for all but the label's and those that repeat it.
    pub observe: Option<Vec<usize>>,
    /// How labels mark segments; `None` to recognise it.
    pub scheme: Option<Scheme>,
    /// The template; `None` for the default one.
    pub template: Option<Template>,
    /// Word lists.
    pub lexicons: Lexicons,
    /// Attributes that occur less often are left out.
    pub min_count: u32,
    /// Which transitions are allowed.
    pub transitions: AllowedTransitions,
    /// How the base model is trained.
    pub base: BaseSettings,
    /// Where rules come from.
    pub rule_source: RuleSource,
    /// How their weights are learned.
    pub rules: RuleSettings,
    /// Seed for all random choices.
    pub seed: u64,
    /// Where to save the state of training, to continue after an interruption.
    pub checkpoint: Option<PathBuf>,
    /// Time between two writes of that state.
    pub checkpoint_interval: Duration,
    /// For the file of rules and for the checkpoint, each.
    pub memory_limit: MemoryLimit,
    /// Training stops soon after this is set, and saves its state.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Which transitions between labels are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedTransitions {
    /// Those of the scheme for up to 64 states, those seen beyond.
    Auto,
    /// Those seen in training.
    Seen,
    /// All that the scheme allows; those not seen have the score 0.
    Valid,
    /// All that the scheme allows; unseen ones have weights too, and learn to be avoided.
    Weighted,
}

/// How the base model is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseSettings {
    /// The method.
    pub optimiser: Optimiser,
    /// Adds `l1 ‖w‖₁` to the loss; quasi-Newton only.
    pub l1: f64,
    /// Adds `l2 ‖w‖²` to the loss (CRFsuite's `c2`).
    pub l2: f64,
    /// Most iterations, or passes over the data.
    pub max_iterations: usize,
    /// Stops when the loss fell by less than this fraction over ten iterations.
    pub least_decrease: f64,
    /// Evaluations on development data without a better F1 that end training.
    pub patience: usize,
    /// Size of the first stochastic step.
    pub rate: f64,
    /// Parts of the attributes: the base model is the mean of a model with all attributes and of
    /// models that each lack one part. 1 for a single model.
    pub pool: usize,
    /// Whether labels with tags in common share weights; quasi-Newton only.
    pub share_weights: bool,
}

/// A method to train the base model with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimiser {
    /// Limited-memory quasi-Newton, orthant-wise with an L1 norm.
    QuasiNewton,
    /// Averaged stochastic gradients.
    AdaGrad,
}

/// Where rules come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleSource {
    /// There are none.
    None,
    /// Generated from the training labels.
    Auto,
    /// Declared in a file.
    File(PathBuf),
}

/// How weights of rules are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleSettings {
    /// The learner.
    pub learner: Learner,
    /// The cost of a broken rule, times its weight. A penalty that is not smooth needs the
    /// Fenchel–Young learner.
    pub penalty: RulePenalty,
    /// The L1 penalty; `None` to choose it by cross-validation.
    pub l1: Option<f64>,
    /// How labels are chosen; `None` to choose by cross-validation if weights are learned, and by the
    /// tilt if all are given.
    pub decoding: Option<Decoding>,
    /// Features that weights depend on.
    pub features: WeightFeatures,
    /// Least ratio of violations by held-out predictions to violations by the truth.
    pub importance: f64,
    /// Fewest violations by held-out predictions.
    pub least_violations: usize,
    /// Parts of the training data; each is predicted by a model that has not seen it. `None` for
    /// five, or three of many sequences.
    pub folds: Option<usize>,
    /// Passes over the held-out sequences.
    pub passes: usize,
    /// Sequences per step of the stochastic learner, at least 1.
    pub batch: usize,
    /// Whether to train the base model's weights together with those of the rules at the end.
    pub joint: bool,
}

/// Fewest sequences that rules are generated from.
pub(super) const FEWEST: usize = 10;
/// Parts of the training data.
const FOLDS: usize = 5;
/// Parts if there are so many sequences that two thirds of them are as good as all, and time
/// matters more.
const FOLDS_OF_MANY: usize = 3;
const MANY: usize = 200;

impl TrainSettings {
    /// Number of base models for this many sequences: one of all, and one per part if rules need
    /// them.
    pub(super) fn models(&self, sequences: usize) -> usize {
        match self.rule_source {
            RuleSource::None => 1,
            RuleSource::Auto if sequences < FEWEST => 1,
            _ => 1 + self.folds(sequences),
        }
    }

    /// Parts for this many training sequences.
    pub(super) fn folds(&self, sequences: usize) -> usize {
        let usual = if sequences < MANY { FOLDS } else { FOLDS_OF_MANY };
        self.rules.folds.unwrap_or(usual).min(sequences).max(2)
    }
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            format: Format::Columns,
            column: None,
            observe: None,
            scheme: None,
            template: None,
            lexicons: Lexicons::default(),
            min_count: 1,
            transitions: AllowedTransitions::Auto,
            base: BaseSettings::default(),
            rule_source: RuleSource::Auto,
            rules: RuleSettings::default(),
            seed: 0,
            checkpoint: None,
            checkpoint_interval: Duration::from_secs(20),
            memory_limit: MemoryLimit::NONE,
            interrupt: None,
        }
    }
}

impl Default for BaseSettings {
    fn default() -> Self {
        Self {
            optimiser: Optimiser::QuasiNewton,
            l1: 0.0,
            l2: 1.0,
            max_iterations: 200,
            least_decrease: 1e-4,
            patience: 10,
            rate: 0.1,
            pool: 1,
            share_weights: false,
        }
    }
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            learner: Learner::FenchelYoung,
            penalty: RulePenalty::Hinge,
            l1: None,
            decoding: None,
            features: WeightFeatures::Constant,
            importance: 1.5,
            least_violations: 3,
            folds: None,
            passes: 40,
            batch: 1,
            joint: false,
        }
    }
}
