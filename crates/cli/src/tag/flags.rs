use std::path::PathBuf;

use clap::Args;

use crate::tagging::{TaggerFlags, Tokens};

/// Label sequences with a trained model.
///
/// Writes every input line, a tab and its label, and a blank line after each sequence. FILE has the
/// columns of the training file, with or without the label column. Output is written while FILE is
/// still being read, so what precedes a mistake in FILE stays written. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    #[command(flatten)]
    pub tagger: TaggerFlags,

    /// Column or attribute file (gzip is unpacked), or - for standard input [default: -]. With
    /// --scores it is optional and its lines are only copied
    pub file: Option<PathBuf>,

    /// Tag this text instead of a file: one sequence per line, split into tokens
    #[arg(long, value_name = "SENTENCE", allow_hyphen_values = true,
          conflicts_with_all = ["file", "scores", "force", "comments"])]
    pub text: Option<String>,

    /// How --text is split into tokens
    #[arg(long, value_enum, default_value_t = Tokens::Auto, requires = "text")]
    pub tokens: Tokens,

    /// Write to this file, which appears once it is complete [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Add the probability of each label, and on a segment's first token that of the segment
    #[arg(long)]
    pub marginals: bool,

    /// Write the N best label sequences, each under a line "# rank log-probability"
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub n_best: Option<usize>,

    /// Keep the labels in FILE and choose only those given as _; with --scores they are in its last
    /// column
    #[arg(long)]
    pub force: bool,

    /// Add comment lines: which rules were active, and which labels they changed
    #[arg(long, conflicts_with = "no_rules")]
    pub explain: bool,

    /// No summary on standard error
    #[arg(long)]
    pub quiet: bool,
}
