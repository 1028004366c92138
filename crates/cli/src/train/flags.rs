use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Train a tagger on labelled sequences.
///
/// TRAIN has one token a line, columns split by tabs or spaces, and a blank line between sequences;
/// gzip is unpacked. Progress goes to standard error. A run that was stopped goes on when the same
/// command is given again. Exit code 2 means bad input, 130 that Ctrl-C stopped it.
#[derive(Args)]
pub struct Flags {
    /// Labelled sequences
    pub train: PathBuf,

    /// Further labelled sequences, to stop early and to learn rules from
    #[arg(long, value_name = "FILE")]
    pub dev: Option<PathBuf>,

    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,

    /// Which attributes to make of the columns [default: a template for words]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub template: Option<PathBuf>,

    /// How labels mark segments
    #[arg(long, value_enum, default_value_t = SchemeChoice::Auto, help_heading = "Data")]
    pub scheme: SchemeChoice,

    /// The label's column, from 1 [default: the last]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub column: Option<usize>,

    /// Columns that attributes are made of, from 1 [default: all but the label's]
    #[arg(long, value_name = "N,N", value_delimiter = ',', help_heading = "Data")]
    pub observe: Option<Vec<usize>>,

    /// How files are written
    #[arg(long, value_enum, default_value_t = FormatChoice::Columns, help_heading = "Data")]
    pub format: FormatChoice,

    /// Pass over lines that start with this character
    #[arg(long, value_name = "CHAR", help_heading = "Data")]
    pub comments: Option<char>,

    /// A list of words and phrases, or a folder of lists; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Data")]
    pub lexicon: Vec<PathBuf>,

    /// Leave out attributes that occur less often [default: 1]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub min_count: Option<u32>,

    /// Scores of labels in place of attributes, one tensor [positions, labels] a sequence
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

    /// Stop after so many iterations, or passes of adagrad
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Base model")]
    pub max_iterations: usize,

    /// Size of the first step of adagrad [default: 0.1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Base model")]
    pub rate: Option<f64>,

    /// Parts that attributes are cut into: the base model is the mean of one with all attributes
    /// and of one without each part. N times as long to train, often more accurate [default: 1, no
    /// pool]
    #[arg(long, value_name = "N", help_heading = "Base model")]
    pub pool: Option<usize>,

    /// Labels share weights for the tags that they have in common: often more accurate for
    /// hierarchical labels; for lbfgs
    #[arg(long, help_heading = "Base model")]
    pub share_weights: bool,

    /// Looks at --dev without a better F1 that end training [default: 10]
    #[arg(long, value_name = "N", requires = "dev", help_heading = "Base model")]
    pub patience: Option<usize>,

    /// Rules on segments: none, auto (generated from the labels), or a file that declares them
    #[arg(long, value_name = "none|auto|FILE", default_value = "none", help_heading = "Rules")]
    pub constraints: String,

    /// How weights of rules are learned [default: fenchel-young]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub learner: Option<LearnerChoice>,

    /// What a broken rule costs, times its weight [default: smoothed-hinge]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub penalty: Option<PenaltyChoice>,

    /// How labels are chosen under soft rules: by the tilt of inference alone, or with rules
    /// weighed on the labels themselves [default: by held-out F1; tilted where all weights are
    /// given]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub decoding: Option<DecodingChoice>,

    /// What weights of rules depend on: constant, length or fourier:N [default: constant]
    #[arg(long, value_name = "KIND", help_heading = "Rules")]
    pub weight_features: Option<String>,

    /// L1 penalty on weights of rules [default: by cross-validation]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Rules")]
    pub rule_penalty: Option<f64>,

    /// Keep generated rules that predictions break this many times as often as the truth
    /// [default: 1.5]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, help_heading = "Rules")]
    pub importance: Option<f64>,

    /// Keep generated rules that predictions break at least so often [default: 3]
    #[arg(long, value_name = "N", help_heading = "Rules")]
    pub least_violations: Option<usize>,

    /// Parts of TRAIN that are predicted by a model of the others, to learn rules from [default: 5]
    #[arg(long, value_name = "N", help_heading = "Rules")]
    pub folds: Option<usize>,

    /// In the end, train the base model's weights and those of the rules together
    #[arg(long, help_heading = "Rules")]
    pub joint: bool,

    /// For everything random
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,

    /// Threads; the model does not depend on how many [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Time between two writes of the state to go on from
    #[arg(long, value_name = "TIME", default_value = "20s")]
    pub checkpoint_every: String,

    /// Keep no state to go on from
    #[arg(long, conflicts_with = "checkpoint_every")]
    pub no_checkpoint: bool,

    /// No progress and no summary on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeChoice {
    /// As the labels look
    Auto,
    /// B-x begins a segment, I-x goes on, O is outside
    Bio,
    /// A segment is a run of one label, O is outside
    Io,
    /// As bio, E-x ends a segment, S-x is one by itself
    Iobes,
    /// Every token is by itself
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// As many columns in every line, the label among them
    Columns,
    /// A label, then attributes, split by tabs, as CRFsuite has them
    Attributes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransitionsChoice {
    /// Those that the scheme allows for up to 64 labels, those seen beyond
    Auto,
    /// Those seen in TRAIN
    Seen,
    /// All that the scheme allows
    Valid,
    /// The same, those that TRAIN does not have with weights too: they learn to be avoided
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
    /// The best labels of the chain as rules tilt it; they may break some
    Tilted,
    /// Where these break rules, the best that keep them, if that costs less than the rules weigh
    Weighed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PenaltyChoice {
    /// Smooth: a rule just kept pulls gently
    SmoothedHinge,
    /// Linear in the amount by which it is broken; for --learner fenchel-young
    Hinge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LearnerChoice {
    /// Algorithm 3, one sequence after the other
    Surrogate,
    /// Algorithm 2, all sequences at once
    SurrogateBatch,
    /// A convex loss of inference itself
    FenchelYoung,
}
