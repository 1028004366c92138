//! Soft dual decomposition (Anzaroot, Passos, Belanger and McCallum 2014): the best labels under
//! rules that cost `c_j` for every segment too many or too few.
//!
//! ```text
//! max_y ⟨θ, y⟩ − Σ_j c_j (a_j·n(y) − b_j)₊   =   min_{0 ≤ λ ≤ c} max_y ⟨θ, y⟩ − Σ_j λ_j (a_j·n(y) − b_j)
//! ```
//!
//! if the relaxation is tight. `λ` moves along the subgradient; if every rule is tight, or its
//! multiplier is at the bound it pushes against, `y` is the maximum. Hard rules cost without bound.

use std::sync::Arc;

use bethe_core::oracle::{Chain, Oracle};

use super::rules::{CountRule, CountRules};

/// Most iterations; then the best labels so far are used.
const MOST_ITERATIONS: usize = 100;
/// The first step; step t is this divided by √t.
const FIRST_STEP: f64 = 1.0;

/// Decodes sequences one by one, with its scratch memory.
pub struct SoftDual {
    rules: Arc<CountRules>,
    /// `λ`, of soft, then of hard rules.
    multipliers: Vec<f64>,
    /// `[states]`
    tilt: Vec<f64>,
    /// `[states]`
    counts: Vec<f64>,
}

/// The labels of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// States of the chain.
    pub path: Vec<usize>,
    /// `⟨θ, y⟩ − Σ_j c_j (a_j·n(y) − b_j)₊`; `-∞` if they break a hard rule.
    pub worth: f64,
    /// How many times the chain was decoded.
    pub decodings: usize,
    /// Whether no labels are worth more.
    pub proved: bool,
    /// The tilt of each state under which these are the best labels of the chain. `[states]`
    pub tilt: Vec<f64>,
}

impl SoftDual {
    /// A decoder for some rules.
    pub fn new(rules: &Arc<CountRules>) -> Self {
        Self {
            rules: rules.clone(),
            multipliers: vec![0.0; rules.soft.len() + rules.hard.len()],
            tilt: vec![0.0; rules.states],
            counts: vec![0.0; rules.states],
        }
    }

    /// The best labels under costs of the soft rules, for the scores that the chain was loaded with by
    /// [`Inference`](super::Inference).
    pub fn decode(&mut self, chain: &mut Chain, costs: &[f64]) -> Decoded {
        let mut path = vec![0; chain.length()];
        self.multipliers.fill(0.0);
        let mut best: Option<Decoded> = None;
        for decodings in 1..=MOST_ITERATIONS {
            self.tilt_by_multipliers();
            let score = chain.decode(&self.tilt, &mut path);
            count(&path, &mut self.counts);
            let worth = score - self.dot_tilt() - self.cost(costs);
            let proved = self.is_settled(costs) && score > f64::NEG_INFINITY;
            if proved || best.as_ref().is_none_or(|best| worth > best.worth) {
                let (path, tilt) = (path.clone(), self.tilt.clone());
                best = Some(Decoded { path, worth, decodings, proved, tilt });
            }
            if proved || score == f64::NEG_INFINITY {
                break;
            }
            best.iter_mut().for_each(|best| best.decodings = decodings);
            self.move_multipliers(FIRST_STEP / (decodings as f64).sqrt(), costs);
        }
        best.expect("at least one iteration")
    }

    /// `δ = −Σ_j λ_j a_j`; rows have `−a_j` as their coefficients.
    fn tilt_by_multipliers(&mut self) {
        self.tilt.fill(0.0);
        for (rule, &multiplier) in all(&self.rules).zip(&self.multipliers) {
            if multiplier != 0.0 {
                for &(state, coefficient) in &rule.coefficients {
                    self.tilt[state] += multiplier * coefficient;
                }
            }
        }
    }

    /// What the tilt adds to the score of labels with these counts.
    fn dot_tilt(&self) -> f64 {
        self.tilt.iter().zip(&self.counts).map(|(tilt, count)| tilt * count).sum()
    }

    /// `Σ_j c_j (a_j·n − b_j)₊`
    fn cost(&self, costs: &[f64]) -> f64 {
        let excess = |rule: &CountRule| (1.0 - rule.measure(&self.counts)).max(0.0);
        let soft: f64 =
            self.rules.soft.iter().zip(costs).map(|(rule, cost)| cost * excess(rule)).sum();
        let is_broken = self.rules.hard.iter().any(|rule| excess(rule) > 0.0);
        if is_broken { f64::INFINITY } else { soft }
    }

    /// Whether no multiplier could move: the relaxation is tight at these counts.
    fn is_settled(&self, costs: &[f64]) -> bool {
        let rules = all(&self.rules).zip(&self.multipliers).zip(bounds(costs));
        rules.into_iter().all(|((rule, &multiplier), cost)| {
            let excess = 1.0 - rule.measure(&self.counts);
            excess == 0.0 || excess < 0.0 && multiplier == 0.0 || excess > 0.0 && multiplier == cost
        })
    }

    fn move_multipliers(&mut self, step: f64, costs: &[f64]) {
        let rules = all(&self.rules).zip(&mut self.multipliers).zip(bounds(costs));
        for ((rule, multiplier), cost) in rules {
            let excess = 1.0 - rule.measure(&self.counts);
            *multiplier = (*multiplier + step * excess).clamp(0.0, cost);
        }
    }
}

/// Soft, then hard rules.
fn all(rules: &CountRules) -> impl Iterator<Item = &CountRule> {
    rules.soft.iter().chain(&rules.hard)
}

/// Upper bounds of their multipliers.
fn bounds(costs: &[f64]) -> impl Iterator<Item = f64> + '_ {
    costs.iter().copied().chain(std::iter::repeat(f64::INFINITY))
}

/// How often each state occurs.
pub(super) fn count(path: &[usize], counts: &mut [f64]) {
    counts.fill(0.0);
    path.iter().for_each(|&state| counts[state] += 1.0);
}
