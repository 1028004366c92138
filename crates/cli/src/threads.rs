//! Threads to share the work.

use anyhow::{Context, Result};
use rayon::ThreadPool;

use crate::outcome::bad_input;

/// As many threads as `--threads` says, or as there are cores.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    match threads {
        Some(0) => return Err(bad_input("--threads: found 0, expected at least 1")),
        Some(threads) => builder = builder.num_threads(threads),
        None => {}
    }
    builder.build().context("threads cannot be started")
}
