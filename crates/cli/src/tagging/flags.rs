use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_tagging::Tagger;
use bethe_terminal::{bad_input, threads};
use clap::Args;
use rayon::ThreadPool;

use super::{LimitFlags, Scores, read_scores, read_tagger};
use crate::kind::{Kind, refuse};

/// A flag that other commands have, to say that the model is an argument here.
#[derive(Args)]
pub struct ModelComesFirst {
    #[arg(long = "model", hide = true, value_name = "FILE", value_parser = first_argument)]
    _model: Option<String>,
}

fn first_argument(_: &str) -> Result<String, String> {
    Err("the model is the first argument; leave --model out".to_string())
}

/// The flags that `tag` and `evaluate` share.
#[derive(Args)]
pub struct TaggerFlags {
    /// Model file, from bethe train
    pub model: PathBuf,

    #[command(flatten)]
    _first: ModelComesFirst,

    #[command(flatten)]
    pub limits: LimitFlags,

    /// Skip input lines that start with this character
    #[arg(long, value_name = "CHAR")]
    pub comments: Option<char>,

    /// Scores of labels, one tensor [positions, labels] per sequence, for a model trained on scores
    #[arg(long, value_name = "FILE.safetensors")]
    pub scores: Option<PathBuf>,

    /// How many sequences to tag at once [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
}

impl TaggerFlags {
    /// The model. A file of sequences that is of another kind is refused first; if the two are
    /// swapped, the message says so.
    pub fn read_tagger(&self, command: &str, file: Option<&Path>) -> Result<Tagger> {
        if let Some(file) = file {
            check_swapped(command, &self.model, file)?;
            let others = [Kind::Model, Kind::Json, Kind::Uai, Kind::Csv, Kind::Binary];
            refuse(file, &others, "one token per line")?;
        }
        read_tagger(&self.model, self.limits.whole_memory()?)
    }

    /// The scores, if the model needs them.
    pub fn read_scores(&self, tagger: &Tagger) -> Result<Option<Scores>> {
        let memory = self.limits.whole_memory()?;
        read_scores(tagger, &self.model, self.scores.as_deref(), memory)
    }

    /// The threads asked for.
    pub fn pool(&self) -> Result<ThreadPool> {
        threads::pool(self.threads)
    }
}

/// Refuses a file in place of the model if the model stands in its place.
fn check_swapped(command: &str, model: &Path, file: &Path) -> Result<()> {
    if Kind::of(model) == Some(Kind::Model) || Kind::of(file) != Some(Kind::Model) {
        return Ok(());
    }
    let (given, swapped) = (model.display(), file.display());
    Err(bad_input(format!(
        "{given}: not a model, but {swapped} is one. Did you mean `bethe {command} {swapped} {given}`?"
    )))
}
