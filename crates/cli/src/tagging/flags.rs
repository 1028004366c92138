use std::path::PathBuf;

use anyhow::Result;
use bethe_tagging::Tagger;
use bethe_terminal::threads;
use clap::Args;
use rayon::ThreadPool;

use super::{LimitFlags, Scores, read_scores, read_tagger};

/// The flags that `tag` and `evaluate` share.
#[derive(Args)]
pub struct TaggerFlags {
    /// Model file, from bethe train
    pub model: PathBuf,

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
    /// The model.
    pub fn read_tagger(&self) -> Result<Tagger> {
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
