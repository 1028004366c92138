use std::path::PathBuf;

use clap::Args;

use crate::tagging::LimitFlags;

/// Label sequences with a trained model.
///
/// Writes every input line, a tab and its label; a blank line after each sequence. FILE has the columns
/// of the training file, with or without that of the label. Sequences are written while others are
/// still read: what was written before a mistake in FILE stays written. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Model file, from bethe train
    pub model: PathBuf,

    /// Column or attribute file (gzip is unpacked), or - for standard input [default: -]
    pub file: Option<PathBuf>,

    /// Add the label's probability, and on a segment's first token that of the segment
    #[arg(long, conflicts_with = "n_best")]
    pub marginals: bool,

    /// Write the N best label sequences, each under a line "# rank log-probability"
    #[arg(long, value_name = "N")]
    pub n_best: Option<usize>,

    /// Keep the labels that the input has, and choose those that are _
    #[arg(long, conflicts_with = "scores")]
    pub force: bool,

    /// Say in comment lines which rules were active, and which labels they changed
    #[arg(long, conflicts_with = "no_rules")]
    pub explain: bool,

    #[command(flatten)]
    pub limits: LimitFlags,

    /// Pass over input lines that start with this character
    #[arg(long, value_name = "CHAR")]
    pub comments: Option<char>,

    /// Scores of labels, one tensor [positions, labels] a sequence, for a model of scores; FILE is
    /// then only repeated, and may be left out
    #[arg(long, value_name = "FILE.safetensors")]
    pub scores: Option<PathBuf>,

    /// Sequences tagged at once [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// No summary on standard error
    #[arg(long)]
    pub quiet: bool,
}
