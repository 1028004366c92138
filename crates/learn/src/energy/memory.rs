use std::sync::Mutex;

/// How inference ended for each sequence, so that the next one, under other weights, begins nearby.
///
/// Answers then depend on earlier ones, within the tolerance, but not on the order of sequences.
#[derive(Debug)]
pub struct Memory {
    ends: Vec<Mutex<Option<End>>>,
}

#[derive(Debug)]
struct End {
    /// The weights of the soft rules.
    weights: Vec<f64>,
    /// The multipliers of soft and hard rules.
    multipliers: Vec<f64>,
}

/// A multiplier this near to its bound is at it.
const AT_BOUND: f64 = 1e-9;

impl Memory {
    /// For this many sequences, none of which was inferred yet.
    pub fn new(sequences: usize) -> Self {
        Self { ends: (0..sequences).map(|_| Mutex::new(None)).collect() }
    }

    /// Multipliers of rules to begin with under these weights. Those that were at their bound are at
    /// the new one: a rule that could not be kept is pulled at by all it weighs.
    pub(super) fn start(&self, sequence: usize, weights: &[f64]) -> Option<Vec<f64>> {
        let end = self.ends[sequence].lock().expect("no thread panics in here");
        let End { weights: before, multipliers } = end.as_ref()?;
        let mut start = multipliers.clone();
        for ((multiplier, &weight), &before) in start.iter_mut().zip(weights).zip(before) {
            let was_at_bound = before > 0.0 && -*multiplier >= before * (1.0 - AT_BOUND);
            *multiplier = if was_at_bound { -weight } else { multiplier.max(-weight) };
        }
        Some(start)
    }

    /// Remembers how it ended.
    pub(super) fn keep(&self, sequence: usize, weights: &[f64], multipliers: &[f64]) {
        let (weights, multipliers) = (weights.to_vec(), multipliers.to_vec());
        let end = Some(End { weights, multipliers });
        *self.ends[sequence].lock().expect("no thread panics in here") = end;
    }
}
