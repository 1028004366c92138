use std::path::PathBuf;

use clap::Args;

use crate::tagging::{TaggerFlags, Tokens};

/// Label sequences with a trained model.
///
/// Writes every input line, a tab and its label, and a blank line after each sequence. FILE has the
/// columns of the training file, with or without the label's. Sequences are written while others
/// are still read, so output before a mistake in FILE stays written. Exit code 2 means bad input.
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

    /// Add the label's probability, and on a segment's first token the segment's
    #[arg(long)]
    pub marginals: bool,

    /// Write the N best label sequences, each under a line "# rank log-probability"
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub n_best: Option<usize>,

    /// Keep the labels that FILE has and choose those that are _; with --scores they are in its
    /// last column
    #[arg(long)]
    pub force: bool,

    /// Add comment lines: which rules were active, and which labels they changed
    #[arg(long, conflicts_with = "no_rules")]
    pub explain: bool,

    /// No summary on standard error
    #[arg(long)]
    pub quiet: bool,
}
