//! The thread pool.

use anyhow::{Context, Result};
use rayon::ThreadPool;

use crate::bad_input;

/// More threads than any machine has cores.
const MOST: usize = 1024;

/// A pool with `--threads` threads, or one per core.
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
    builder.build().context("cannot start threads")
}
