//! Threads to share the work.

use anyhow::{Context, Result};
use rayon::ThreadPool;

use crate::bad_input;

/// More than any machine of today has cores.
const MOST: usize = 1024;

/// As many threads as `--threads` says, or as there are cores.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    match threads {
        Some(0) => return Err(bad_input("--threads: found 0, expected at least 1")),
        Some(threads) if threads > MOST => {
            return Err(bad_input(format!("--threads: found {threads}, expected at most {MOST}")));
        }
        Some(threads) => builder = builder.num_threads(threads),
        None => {}
    }
    builder.build().context("threads cannot be started")
}
