use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::memory::MemoryFlag;

/// Train a tagger on labelled sequences.
///
/// TRAIN has one token per line, columns separated by tabs or spaces, and a blank line between
/// sequences; gzip is unpacked. Progress goes to standard error. A stopped run continues when the
/// same command is run again. Exit code 2 means bad input, 130 that Ctrl-C stopped it.
#[derive(Args)]
pub struct Flags {
    /// Labelled sequences
    pub train: PathBuf,

    /// More labelled sequences, for early stopping and for learning rules
    #[arg(long, value_name = "FILE")]
    pub dev: Option<PathBuf>,

    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,

    #[command(flatten)]
    pub memory: MemoryFlag,

    /// Which attributes to make from the columns [default: a template for words]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub template: Option<PathBuf>,

    /// How labels mark segments
    #[arg(long, value_enum, default_value_t = SchemeChoice::Auto, help_heading = "Data")]
    pub scheme: SchemeChoice,

    /// The label's column, from 1 [default: the last]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Data")]
    pub column: Option<usize>,

    /// Columns to make attributes from, from 1 [default: all but the label's and
    /// copies of it]
    #[arg(long, value_name = "N,N", value_delimiter = ',', help_heading = "Data")]
    pub observe: Option<Vec<usize>>,

    /// File format
    #[arg(long, value_enum, default_value_t = FormatChoice::Columns, help_heading = "Data")]
    pub format: FormatChoice,

    /// Skip lines that start with this character
    #[arg(long, value_name = "CHAR", help_heading = "Data")]
    pub comments: Option<char>,

    /// A list of words and phrases, or a folder of lists; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub lexicon: Vec<PathBuf>,

    /// Leave out attributes that occur less often [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Data")]
    pub min_count: Option<u32>,

    /// Scores of labels in place of attributes, one tensor [positions, labels] per sequence
    #[arg(long, value_name = "FILE.safetensors", requires = "labels", help_heading = "Data")]
    pub scores: Option<PathBuf>,

    /// The labels of the scores' columns
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        requires = "scores",
        help_heading = "Data"
    )]
    pub labels: Option<Vec<String>>,

    /// Scores for --dev
    #[arg(long, value_name = "FILE.safetensors", requires_all = ["scores", "dev"], help_heading = "Data")]
    pub dev_scores: Option<PathBuf>,

    /// Which labels may follow one another
    #[arg(long, value_enum, default_value_t = TransitionsChoice::Auto, help_heading = "Base model")]
    pub transitions: TransitionsChoice,

    /// How the base model is trained
    #[arg(long, value_enum, default_value_t = OptimiserChoice::Lbfgs, help_heading = "Base model")]
    pub optimiser: OptimiserChoice,

    /// Weight of the L1 norm, for lbfgs [default: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Base model")]
    pub l1: Option<f64>,

    /// Weight of the squared L2 norm
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        help_heading = "Base model"
    )]
    pub l2: f64,

    /// Stop after this many iterations, or passes of adagrad
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 200,
        help_heading = "Base model"
    )]
    pub max_iterations: usize,

    /// Size of the first step of adagrad [default: 0.1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Base model")]
    pub rate: Option<f64>,

    /// Cut attributes into N parts and average a model with all of them and N models that each lack
    /// one part. Often more accurate, N times as long to train [default: 1, no pool]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Base model")]
    pub pool: Option<usize>,

    /// Let labels share weights for the tags they have in common; often more accurate for
    /// hierarchical labels; lbfgs only
    #[arg(long, help_heading = "Base model")]
    pub share_weights: bool,

    /// Stop after this many evaluations on --dev without a better F1 [default: 10]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "dev",
        help_heading = "Base model"
    )]
    pub patience: Option<usize>,

    /// Rules about whole sequences: auto (generated from the labels, kept if they help on held-out
    /// sequences), none, or a file that declares them
    #[arg(long, value_name = "none|auto|FILE", default_value = "auto", help_heading = "Rules")]
    pub constraints: String,

    /// How to learn weights of rules [default: fenchel-young]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub learner: Option<LearnerChoice>,

    /// Cost of a broken rule, times its weight [default: hinge; smoothed-hinge for learners that
    /// need slopes]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub penalty: Option<PenaltyChoice>,

    /// How to choose labels under soft rules: from the tilted chain alone, by weighing rules on the
    /// labels themselves, or by soft dual decomposition [default: weighed, unless cross-validated
    /// F1 is then lower by more than one standard error; tilted if all weights are given]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub decoding: Option<DecodingChoice>,

    /// What weights of rules depend on: constant, length or fourier:N [default: constant]
    #[arg(long, value_name = "KIND", help_heading = "Rules")]
    pub weight_features: Option<String>,

    /// L1 penalty on weights of rules [default: by cross-validation]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Rules")]
    pub rule_penalty: Option<f64>,

    /// Keep generated rules that predictions break this many times as often as the truth does
    /// [default: 1.5]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Rules")]
    pub importance: Option<f64>,

    /// Keep generated rules that predictions break at least this often [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Rules")]
    pub least_violations: Option<usize>,

    /// Number of parts of TRAIN; each is predicted by a model of the others, and rules are learned
    /// from these predictions [default: 5, or 3 from 200 sequences on]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Rules")]
    pub folds: Option<usize>,

    /// Sequences per step, for --learner surrogate [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Rules")]
    pub batch: Option<usize>,

    /// At the end, train the weights of the base model and of the rules together, with --learner
    #[arg(long, help_heading = "Rules")]
    pub joint: bool,

    /// Seed for all random choices
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,

    /// Number of threads; the model does not depend on it [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// How often to save the state of training
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "20s")]
    pub checkpoint_every: String,

    /// Do not save the state of training
    #[arg(long, conflicts_with = "checkpoint_every")]
    pub no_checkpoint: bool,

    /// No progress and no summary on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeChoice {
    /// Recognised from the labels
    Auto,
    /// B-x begins a segment, I-x continues it, O is outside
    Bio,
    /// A segment is a run of one label, O is outside
    Io,
    /// Like bio; E-x ends a segment, S-x is a segment of one token
    Iobes,
    /// Like iobes, with L-x for E-x and U-x for S-x
    Bilou,
    /// Every token is a segment
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// The same columns in every line, one of them the label
    Columns,
    /// A label, then attributes, separated by tabs, as in CRFsuite
    Attributes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransitionsChoice {
    /// valid up to 64 states, seen beyond
    Auto,
    /// Those seen in TRAIN
    Seen,
    /// All that the scheme allows
    Valid,
    /// Like valid; pairs that TRAIN lacks have weights too, and learn to be avoided
    Weighted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OptimiserChoice {
    /// Limited-memory quasi-Newton, to the optimum
    Lbfgs,
    /// Averaged stochastic gradients
    Adagrad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DecodingChoice {
    /// The best labels of the tilted chain; they may break rules
    Tilted,
    /// If tilted labels break rules: the best labels that keep them, if that costs less than they
    /// weigh
    Weighed,
    /// Soft dual decomposition: the best labels if broken rules cost their weights; for --penalty
    /// hinge
    SoftDd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PenaltyChoice {
    /// Smooth: pulls gently on a rule that is only just kept
    SmoothedHinge,
    /// Linear in the amount by which the rule is broken; for --learner fenchel-young or perceptron
    Hinge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LearnerChoice {
    /// The paper's Algorithm 3, one sequence at a time
    Surrogate,
    /// The paper's Algorithm 2, all sequences at once
    SurrogateBatch,
    /// A convex loss
    FenchelYoung,
    /// An averaged perceptron on labels by soft dual decomposition; see --decoding soft-dd
    Perceptron,
}
