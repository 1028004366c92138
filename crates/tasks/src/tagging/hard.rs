//! Decoding under hard rules.

use bethe_core::oracle::chain::{Counted, Counter};
use bethe_core::oracle::{Chain, Oracle};

/// Entries that exact decoding under hard rules may keep, at 8 bytes each.
const DECODING_BUDGET: usize = 4 << 20;

/// Paths that are looked through for as many as asked for that keep hard rules.
const MOST_CANDIDATES: usize = 10_000;

/// What became of the hard rules of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardRules {
    /// The labels keep them, and no better ones do. Also where there is none.
    #[default]
    Best,
    /// The labels keep them; whether better ones do was not found out.
    Kept,
    /// No sequence of labels keeps them all: proved.
    Impossible,
    /// No labels that keep them all were found, though there may be some.
    NotFound,
}

/// Paths with their scores, best first.
pub(super) type Paths = Vec<(Vec<usize>, f64)>;

/// The best paths of those that keep hard rules; the best of all where none does, or none is found. No
/// path only where the chain has none.
pub(super) fn decode(
    chain: &mut Chain,
    tilt: &[f64],
    counters: &[Counter],
    count: usize,
) -> (Paths, HardRules) {
    let paths = best_paths(chain, tilt, counters, count);
    if !paths.is_empty() {
        return (paths, HardRules::Best);
    }
    let (path, kept) = match chain.decode_counted(tilt, counters, DECODING_BUDGET) {
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
