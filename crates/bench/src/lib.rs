//! Benchmarks: `cargo bench -p bethe-bench --bench NAME` measures and prints tables.
//!
//! `-- --results docs/results` also writes them into their page. Paths in flags are relative to the
//! root of the repository.

mod command;
mod crfsuite;
mod flags;
mod peer;
mod report;
pub mod usage;

pub use command::bethe;
pub use crfsuite::crfsuite;
pub use flags::{data_folder, value_of};
pub use peer::Library;
pub use report::{Report, print};

use std::time::Instant;

use mimalloc::MiMalloc;

/// That of the command.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Time spent on each alternative of a comparison.
const SECONDS: f64 = 0.15;

/// Least seconds per call of each alternative; they take turns, so that all see the same machine.
pub fn time(alternatives: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; alternatives.len()];
    let repeats: Vec<u32> = alternatives
        .iter_mut()
        .map(|run| {
            run();
            let start = Instant::now();
            run();
            (20e-6 / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1e4) as u32
        })
        .collect();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < SECONDS * alternatives.len() as f64 {
        for ((run, least), &repeats) in alternatives.iter_mut().zip(&mut least).zip(&repeats) {
            let start = Instant::now();
            for _ in 0..repeats {
                run();
            }
            *least = least.min(start.elapsed().as_secs_f64() / f64::from(repeats));
        }
    }
    least
}

/// Slope of `log times` over `log sizes`, by least squares.
pub fn exponent(sizes: &[usize], times: &[f64]) -> f64 {
    let x: Vec<f64> = sizes.iter().map(|&n| (n as f64).ln()).collect();
    let y: Vec<f64> = times.iter().map(|t| t.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}
