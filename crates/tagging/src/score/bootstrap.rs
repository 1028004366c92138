use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::SequenceCounts;

/// Share outside the interval on each side.
const TAIL: f64 = 0.025;

/// The 95 % interval of F1 of `b` minus F1 of `a`, in points (0–100), by resampling the sequences
/// with replacement `resamples` times.
///
/// Both systems use the same draws, so that sequences that are hard for both do not widen the
/// interval.
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
