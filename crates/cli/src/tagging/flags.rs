use std::path::PathBuf;

use anyhow::Result;
use bethe_tagging::Tagger;
use bethe_terminal::threads;
use clap::Args;
use rayon::ThreadPool;

use super::{LimitFlags, Scores, read_scores};

/// What `tag` and `evaluate` have in common.
#[derive(Args)]
pub struct TaggerFlags {
    /// Model file, from bethe train
    pub model: PathBuf,

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

impl TaggerFlags {
    /// The scores that the model needs.
    pub fn read_scores(&self, tagger: &Tagger) -> Result<Option<Scores>> {
        read_scores(tagger, &self.model, self.scores.as_deref())
    }

    /// The threads asked for.
    pub fn pool(&self) -> Result<ThreadPool> {
        threads::pool(self.threads)
    }
}
