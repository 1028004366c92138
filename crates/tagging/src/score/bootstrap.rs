use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::SequenceCounts;

/// What lies outside the interval on each side.
const TAIL: f64 = 0.025;

/// The 95 % interval of how much higher the F1 of `b` is than that of `a`, in points (0–100), by
/// drawing the sequences anew, with replacement, as often as `resamples` says.
///
/// Both systems have the same draws, so that what is hard for both does not widen the interval.
///
/// # Panics
///
/// If `a` and `b` do not have the same number of sequences, or `resamples` is 0.
pub fn paired_bootstrap(
    a: &[SequenceCounts],
    b: &[SequenceCounts],
    resamples: usize,
    seed: u64,
) -> (f64, f64) {
    assert_eq!(a.len(), b.len(), "sequences of the two systems");
    assert!(resamples > 0, "found 0 resamples, expected at least 1");
    let mut random = StdRng::seed_from_u64(seed);
    let mut differences: Vec<f64> = (0..resamples)
        .map(|_| {
            let mut totals = [SequenceCounts::default(); 2];
            for _ in 0..a.len() {
                let sequence = random.random_range(0..a.len());
                totals[0] += a[sequence];
                totals[1] += b[sequence];
            }
            100.0 * (totals[1].f1() - totals[0].f1())
        })
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    let outside = (TAIL * resamples as f64) as usize;
    (differences[outside], differences[resamples - 1 - outside])
}
