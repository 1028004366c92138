//! `bethe inspect`: what a model learned.

mod content;
mod words;

use std::path::PathBuf;

use anyhow::Result;
use bethe_terminal::{Outcome, check_apart};
use clap::Args;

use crate::memory::MemoryFlag;
use crate::report::ReportFlags;
use crate::tagging::{ModelComesFirst, read_tagger};
use content::Content;
pub use words::summary;

/// Show what a tagging model learned: labels, rules with weights, strongest attributes and
/// transitions.
#[derive(Args)]
pub struct Flags {
    /// Model file, from bethe train
    model: PathBuf,

    #[command(flatten)]
    _first: ModelComesFirst,

    #[command(flatten)]
    report: ReportFlags,

    /// How many attributes and transitions to show per label
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 5)]
    top: usize,

    #[command(flatten)]
    memory: MemoryFlag,
}

/// Prints what a model holds.
pub fn run(flags: Flags) -> Result<Outcome> {
    if let Some(out) = &flags.report.out {
        check_apart("--out", out, [&*flags.model])?;
    }
    let tagger = read_tagger(&flags.model, flags.memory.limit()?)?;
    let content = Content::of(&tagger, flags.top);
    let name = flags.model.display().to_string();
    let words = || words::summary(&name, &tagger) + &words::content(&content, &tagger);
    flags.report.print(words, || serde_json::to_string(&content))?;
    Ok(Outcome::Done)
}
