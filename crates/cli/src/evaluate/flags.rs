use std::path::PathBuf;

use clap::Args;

use crate::tagging::LimitFlags;

/// Compare a model's labels with those of a file.
///
/// Precision, recall and F1 are of whole segments: one is right if its first token, its last token and
/// its name are. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Model file, from bethe train
    pub model: PathBuf,

    /// Column or attribute file with labels (gzip is unpacked), or - for standard input
    pub file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub limits: LimitFlags,

    /// Pass over input lines that start with this character
    #[arg(long, value_name = "CHAR")]
    pub comments: Option<char>,

    /// Scores of labels, one tensor [positions, labels] a sequence, for a model of scores
    #[arg(long, value_name = "FILE.safetensors")]
    pub scores: Option<PathBuf>,

    /// Sequences tagged at once [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}
