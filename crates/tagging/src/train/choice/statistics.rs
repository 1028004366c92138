//! Means over sequences with their standard errors.

use serde::{Deserialize, Serialize};

use super::super::super::score::SequenceCounts;

/// Standard errors on either side of a 95 % interval.
const INTERVAL: f64 = 1.96;

/// A mean over sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Estimate {
    /// The mean of some values, one for each sequence.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.len() < 2 {
            return Self { mean: values.iter().sum(), error: f64::INFINITY };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, error: (squares / (count * (count - 1.0))).sqrt() }
    }

    /// Half the width of its 95 % interval.
    pub fn margin(self) -> f64 {
        INTERVAL * self.error
    }
}

/// A share of something on held-out sequences without and with rules, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Without rules.
    pub without: f64,
    /// With rules.
    pub with: f64,
    /// The standard error of the difference, paired by sequence.
    pub error: f64,
}

impl Compared {
    /// The share of sequences of which something holds.
    pub fn of_sequences(without: &[bool], with: &[bool]) -> Self {
        let number = |holds: bool| f64::from(u8::from(holds));
        let mean = |of: &[bool]| Estimate::of(&of.iter().map(|&b| number(b)).collect::<Vec<_>>());
        let difference: Vec<f64> =
            without.iter().zip(with).map(|(&a, &b)| number(b) - number(a)).collect();
        let error = Estimate::of(&difference).error;
        Self { without: mean(without).mean, with: mean(with).mean, error }
    }

    /// F1 over segments. Its error is that of the linear part: F1 is a ratio of sums, and a sequence
    /// moves it by `(2 correct − F1 (predicted + gold)) / Σ (predicted + gold)`.
    pub fn of_f1(without: &[SequenceCounts], with: &[SequenceCounts]) -> Self {
        let totals = [without, with].map(|counts| counts.iter().copied().sum::<SequenceCounts>());
        let moves = |one: &SequenceCounts, total: &SequenceCounts| {
            let segments = (total.predicted + total.gold).max(1) as f64;
            let own = (one.predicted + one.gold) as f64;
            (2.0 * one.correct as f64 - total.f1() * own) / segments
        };
        let both = without.iter().zip(with);
        let count = without.len() as f64;
        let moved = both.map(|(a, b)| count * (moves(b, &totals[1]) - moves(a, &totals[0])));
        let error = Estimate::of(&moved.collect::<Vec<_>>()).error;
        Self { without: totals[0].f1(), with: totals[1].f1(), error }
    }

    /// With rules minus without.
    pub fn gain(self) -> Estimate {
        Estimate { mean: self.with - self.without, error: self.error }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::super::super::super::score::paired_bootstrap;
    use super::*;

    #[test]
    fn the_error_of_f1_is_that_of_the_bootstrap() {
        let mut random = StdRng::seed_from_u64(3);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let (gold, wrong) = (random.random_range(2..8), random.random_range(0..3));
            let better = random.random_range(0..=wrong);
            let predicted = gold + random.random_range(0..2);
            a.push(SequenceCounts { correct: gold - wrong.min(gold), predicted, gold });
            b.push(SequenceCounts { correct: gold - better.min(gold), predicted: gold, gold });
        }
        let compared = Compared::of_f1(&a, &b);
        let (low, high) = paired_bootstrap(&a, &b, 4000, 1);
        let (gain, margin) = (compared.gain().mean * 100.0, compared.gain().margin() * 100.0);
        assert!((gain - margin - low).abs() < 0.15, "{} and {low}", gain - margin);
        assert!((gain + margin - high).abs() < 0.15, "{} and {high}", gain + margin);
    }

    #[test]
    fn a_share_of_sequences_has_the_error_of_paired_differences() {
        let with = [true, true, false, true];
        let compared = Compared::of_sequences(&[true, false, false, false], &with);
        assert_eq!((compared.without, compared.with), (0.25, 0.75));
        let expected = (4.0 * 0.25 / 12.0f64).sqrt();
        assert!((compared.error - expected).abs() < 1e-12, "{}", compared.error);
        assert_eq!(Estimate::of(&[1.0]).error, f64::INFINITY);
    }
}
