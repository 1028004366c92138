//! Decoding under rules.

use bethe_core::oracle::chain::{Counted, Counter};
use bethe_core::oracle::{Chain, Oracle};
use bethe_learn::energy::{Inferred, SoftDual};
use serde::{Deserialize, Serialize};

use crate::rules::{Compiled, add_counter};

/// Most entries of exact decoding under hard rules, 8 bytes each.
const DECODING_BUDGET: usize = 4 << 20;
/// The same for soft rules, which matter less.
const WEIGHING_BUDGET: usize = 1 << 18;
/// Most rounds of adding broken soft rules.
const ROUNDS: usize = 4;

/// How labels are chosen under soft rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decoding {
    /// The best labels of the tilted chain: rules act in expectation.
    #[default]
    Tilted,
    /// If these break soft rules, also consider the best labels that keep them; the score of the
    /// base model minus the cost of broken rules decides.
    Weighed,
    /// Soft dual decomposition: the best labels where every rule costs its weight for every segment
    /// too many or too few, as far as a relaxation finds them.
    SoftDual,
}

impl Decoding {
    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tilted => "tilted",
            Self::Weighed => "weighed",
            Self::SoftDual => "soft-dd",
        }
    }
}

/// How many paths to search for those that keep hard rules.
const MOST_CANDIDATES: usize = 10_000;

/// The outcome of a sequence's hard rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardRules {
    /// The labels keep them, and no better ones do. Also if there are none.
    #[default]
    Best,
    /// The labels keep them, but may not be the best that do.
    Kept,
    /// No sequence of labels keeps them all: proved.
    Impossible,
    /// The search found no labels that keep them all, but there may be some.
    NotFound,
}

/// Paths with their scores, best first.
pub(crate) type Paths = Vec<(Vec<usize>, f64)>;

/// How labels are chosen: under which rules with which weights, in which way, and how many.
#[derive(Clone, Copy)]
pub(crate) struct Decoder<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) weights: &'a [f64],
    pub(crate) decoding: Decoding,
    pub(crate) count: usize,
}

impl Decoder<'_> {
    /// The best paths of the chain that keep hard rules, given what inference found; the best of
    /// all where none keeps them, or none is found. No path only where the chain has none.
    pub(crate) fn best(&self, chain: &mut Chain, found: &Inferred) -> (Paths, HardRules) {
        match self.decoding {
            Decoding::Tilted => self.tilted(chain, found),
            Decoding::Weighed => self.weighed(chain, found),
            Decoding::SoftDual => self.relaxed(chain, found),
        }
    }

    /// Whether labels that are the best without rules would stay: they keep hard rules and, where
    /// these count on the labels themselves, soft rules that have a weight.
    pub(crate) fn is_kept_by(&self, path: &[usize]) -> bool {
        let Self { compiled, weights, .. } = *self;
        let keeps = |counter: &Counter| counter.allows(path);
        let soft = compiled.soft_counters.iter().zip(weights);
        let mut weighty = soft.filter(|(_, weight)| **weight > 0.0).map(|(counter, _)| counter);
        compiled.counters.iter().all(keeps)
            && (self.decoding == Decoding::Tilted || weighty.all(keeps))
    }

    fn tilted(&self, chain: &mut Chain, found: &Inferred) -> (Paths, HardRules) {
        decode_within(chain, &found.tilt, &self.compiled.counters, DECODING_BUDGET, self.count)
    }

    /// The best paths at the multipliers of soft dual decomposition, with their scores at the tilt of
    /// inference.
    fn relaxed(&self, chain: &mut Chain, found: &Inferred) -> (Paths, HardRules) {
        let Self { compiled, weights, count, .. } = *self;
        let decoded = SoftDual::new(&compiled.rules).decode(chain, weights);
        let (paths, kept) =
            decode_within(chain, &decoded.tilt, &compiled.counters, DECODING_BUDGET, count);
        let at_tilt = |(path, score): (Vec<usize>, f64)| {
            let moved = |&state: &usize| found.tilt[state] - decoded.tilt[state];
            let moved: f64 = path.iter().map(moved).sum();
            (path, score + moved)
        };
        let kept = match kept {
            HardRules::Best if !compiled.counters.is_empty() && !decoded.proved => HardRules::Kept,
            kept => kept,
        };
        (paths.into_iter().map(at_tilt).collect(), kept)
    }

    /// As [`tilted`](Self::tilted), and where the best path breaks soft rules that have a weight,
    /// the best that keep them: whichever has the greatest `⟨θ, y⟩ − Σ ψ_j φ(z_j(y))`.
    fn weighed(&self, chain: &mut Chain, found: &Inferred) -> (Paths, HardRules) {
        let Self { compiled, weights, count, .. } = *self;
        let (mut best, hard) = self.tilted(chain, found);
        let worth = |(path, score): &(Vec<usize>, f64)| {
            let mut counts = vec![0.0; found.tilt.len()];
            path.iter().for_each(|&state| counts[state] += 1.0);
            let tilts = found.tilt.iter().zip(&counts).map(|(tilt, count)| tilt * count);
            score - tilts.sum::<f64>() - compiled.rules.energy(weights, &counts)
        };
        let Some(mut latest) = best.first().cloned() else { return (best, hard) };
        let mut highest = worth(&latest);
        let mut counters = compiled.counters.clone();
        for _ in 0..ROUNDS {
            let taken = counters.clone();
            let soft = compiled.soft_counters.iter().zip(weights);
            for (counter, _) in soft.filter(|(_, weight)| **weight > 0.0) {
                if !counter.allows(&latest.0) {
                    add_counter(&mut counters, counter.clone());
                }
            }
            if counters == taken {
                break;
            }
            let (paths, kept) =
                decode_within(chain, &found.tilt, &counters, WEIGHING_BUDGET, count);
            // Rules that contradict each other, or take too much work, are left aside.
            if !matches!(kept, HardRules::Best | HardRules::Kept) {
                break;
            }
            latest = paths[0].clone();
            let own = worth(&latest);
            if own > highest {
                (best, highest) = (paths, own);
            }
        }
        (best, hard)
    }
}

fn decode_within(
    chain: &mut Chain,
    tilt: &[f64],
    counters: &[Counter],
    budget: usize,
    count: usize,
) -> (Paths, HardRules) {
    let paths = best_paths(chain, tilt, counters, count);
    if !paths.is_empty() {
        return (paths, HardRules::Best);
    }
    let (path, kept) = match chain.decode_counted(tilt, counters, budget) {
        Counted::Best(path) => (Some(path), HardRules::Best),
        Counted::OverBudget { best: Some(path) } => (Some(path), HardRules::Kept),
        Counted::Impossible => (None, HardRules::Impossible),
        Counted::OverBudget { best: None } => (None, HardRules::NotFound),
    };
    let path = path.or_else(|| chain.n_best(tilt, 1).pop());
    (path.into_iter().map(|path| (path.assignment, path.score)).collect(), kept)
}

/// As many paths as are among the first candidates.
fn best_paths(chain: &mut Chain, tilt: &[f64], counters: &[Counter], count: usize) -> Paths {
    let keeps = |path: &[usize]| counters.iter().all(|counter| counter.allows(path));
    if count <= 1 {
        let mut path = vec![0; chain.length()];
        let score = chain.decode(tilt, &mut path);
        return if keeps(&path) { vec![(path, score)] } else { Vec::new() };
    }
    let mut candidates = count;
    loop {
        let paths = chain.n_best(tilt, candidates);
        let all = paths.len() < candidates || candidates >= MOST_CANDIDATES;
        let kept = paths.into_iter().filter(|path| keeps(&path.assignment)).take(count);
        let kept: Paths = kept.map(|path| (path.assignment, path.score)).collect();
        if all || kept.len() == count {
            return kept;
        }
        candidates = (10 * candidates).min(MOST_CANDIDATES);
    }
}
