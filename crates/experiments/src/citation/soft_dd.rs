//! Soft dual decomposition (Anzaroot, Passos, Belanger and McCallum 2014): the best labels under
//! rules that cost `c_j` for every segment too many or too few.
//!
//! ```text
//! max_y ⟨θ, y⟩ − Σ_j c_j (a_j·n(y) − b_j)₊   =   min_{0 ≤ λ ≤ c} max_y ⟨θ, y⟩ − Σ_j λ_j (a_j·n(y) − b_j)
//! ```
//!
//! if the relaxation is tight. `λ` moves along the subgradient; if every rule is tight, or its
//! multiplier is at the bound it pushes against, `y` is the maximum.

use std::sync::Arc;

use bethe_core::oracle::{Chain, ChainModel, Oracle};
use bethe_core::support::Support;
use bethe_learn::energy::{CountRules, Examples};

/// Most iterations; then the best labels so far are used.
const MOST_ITERATIONS: usize = 100;
/// The first step; step t is this divided by √t.
const FIRST_STEP: f64 = 1.0;
/// Passes of the perceptron over the sequences.
const PASSES: usize = 10;
/// What a violation moves a cost by.
const RATE: f64 = 0.1;

/// Decodes sequences one by one.
pub(super) struct SoftDual<'a> {
    rules: &'a CountRules,
    chain: Option<Chain>,
    /// `λ`. `[rules]`
    multipliers: Vec<f64>,
    /// `[states]`
    tilt: Vec<f64>,
    /// `[states]`
    counts: Vec<f64>,
}

impl<'a> SoftDual<'a> {
    pub fn new(rules: &'a CountRules) -> Self {
        Self {
            rules,
            chain: None,
            multipliers: vec![0.0; rules.soft.len()],
            tilt: vec![0.0; rules.states],
            counts: vec![0.0; rules.states],
        }
    }

    /// The states of a sequence under costs, how many times the chain was decoded, and whether they
    /// are proven best.
    pub fn decode(
        &mut self,
        model: &Arc<ChainModel>,
        scores: &[f64],
        costs: &[f64],
    ) -> (Vec<usize>, usize, bool) {
        let states = self.rules.states;
        let length = scores.len() / states;
        let mut path = vec![0; length];
        if length == 0 {
            return (path, 0, true);
        }
        self.load(model, scores, length);
        self.multipliers.fill(0.0);
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for iteration in 1..=MOST_ITERATIONS {
            self.tilt_by_multipliers();
            let chain = self.chain.as_mut().expect("a chain was loaded");
            let score = chain.decode(&self.tilt, &mut path);
            count(&path, &mut self.counts);
            let objective = score - self.dot_tilt() - self.penalty(costs);
            if objective > best.0 {
                best = (objective, path.clone());
            }
            if self.is_settled(costs) {
                return (path, iteration, true);
            }
            self.move_multipliers(FIRST_STEP / (iteration as f64).sqrt(), costs);
        }
        (best.1, MOST_ITERATIONS, false)
    }

    fn load(&mut self, model: &Arc<ChainModel>, scores: &[f64], length: usize) {
        let stale = self.chain.as_ref().is_none_or(|chain| !Arc::ptr_eq(chain.model(), model));
        if stale {
            let fresh = Chain::new(model.clone(), &[], Support::new()).expect("an empty chain");
            self.chain = Some(fresh);
        }
        let mut support = Support::new();
        support.add((0..length).collect(), self.rules.states);
        let chain = self.chain.as_mut().expect("a chain was just made");
        chain.load(scores, support).expect("scores are numbers or -∞");
    }

    /// `δ = −Σ_j λ_j a_j`; rows have `−a_j` as their coefficients.
    fn tilt_by_multipliers(&mut self) {
        self.tilt.fill(0.0);
        for (rule, &multiplier) in self.rules.soft.iter().zip(&self.multipliers) {
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
    fn penalty(&self, costs: &[f64]) -> f64 {
        let rules = self.rules.soft.iter().zip(costs);
        rules.map(|(rule, cost)| cost * (1.0 - rule.measure(&self.counts)).max(0.0)).sum()
    }

    /// Whether no multiplier could move: the relaxation is tight at these counts.
    fn is_settled(&self, costs: &[f64]) -> bool {
        let rules = self.rules.soft.iter().zip(&self.multipliers).zip(costs);
        rules.into_iter().all(|((rule, &multiplier), &cost)| {
            let excess = 1.0 - rule.measure(&self.counts);
            excess == 0.0 || excess < 0.0 && multiplier == 0.0 || excess > 0.0 && multiplier == cost
        })
    }

    fn move_multipliers(&mut self, step: f64, costs: &[f64]) {
        let rules = self.rules.soft.iter().zip(&mut self.multipliers).zip(costs);
        for ((rule, multiplier), &cost) in rules {
            let excess = 1.0 - rule.measure(&self.counts);
            *multiplier = (*multiplier + step * excess).clamp(0.0, cost);
        }
    }
}

/// Costs by an averaged perceptron, cut off at zero: a rule that predictions break more than the
/// truth does costs more, one that the truth breaks more costs less. `[rules]`
pub(super) fn learn_costs(rules: &CountRules, examples: &Examples) -> Vec<f64> {
    let mut decoder = SoftDual::new(rules);
    let mut costs = vec![0.0; rules.soft.len()];
    let mut sum = vec![0.0; rules.soft.len()];
    let mut found = vec![0.0; rules.states];
    for _ in 0..PASSES {
        for example in &examples.sequences {
            let model = &examples.models[example.model];
            let (path, ..) = decoder.decode(model, &example.scores, &costs);
            count(&path, &mut found);
            for (rule, cost) in rules.soft.iter().zip(&mut costs) {
                let broken = |counts: &[f64]| (1.0 - rule.measure(counts)).max(0.0);
                *cost = (*cost + RATE * (broken(&found) - broken(&example.truth))).max(0.0);
            }
            sum.iter_mut().zip(&costs).for_each(|(sum, cost)| *sum += cost);
        }
    }
    let steps = (PASSES * examples.sequences.len()).max(1) as f64;
    sum.into_iter().map(|sum| sum / steps).collect()
}

/// How often each state occurs.
fn count(path: &[usize], counts: &mut [f64]) {
    counts.fill(0.0);
    path.iter().for_each(|&state| counts[state] += 1.0);
}

#[cfg(test)]
mod tests {
    use bethe_core::Penalty;
    use bethe_learn::energy::{CountRule, Example, Space};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    const STATES: usize = 3;
    const LENGTH: usize = 5;

    fn rules() -> CountRules {
        let soft = vec![
            CountRule::at_most(1.0, [(0, 1.0)]),
            CountRule::at_most(-1.0, [(1, -1.0)]),
            CountRule::at_most(0.0, [(2, 1.0), (1, -1.0)]),
        ];
        CountRules { states: STATES, penalty: Penalty::Hinge, soft, hard: Vec::new() }
    }

    /// The best labels by trying all, with their score.
    fn brute_force(
        table: &[f64],
        scores: &[f64],
        rules: &CountRules,
        costs: &[f64],
    ) -> (Vec<usize>, f64) {
        let all = (0..STATES.pow(LENGTH as u32)).map(|mut number| {
            let digit = |_| {
                let digit = number % STATES;
                number /= STATES;
                digit
            };
            let path: Vec<usize> = (0..LENGTH).map(digit).collect();
            let nodes: f64 = path.iter().enumerate().map(|(t, &s)| scores[t * STATES + s]).sum();
            let links: f64 = path.windows(2).map(|pair| table[pair[0] * STATES + pair[1]]).sum();
            let mut counts = vec![0.0; STATES];
            count(&path, &mut counts);
            let broken = rules
                .soft
                .iter()
                .zip(costs)
                .map(|(rule, cost)| cost * (1.0 - rule.measure(&counts)).max(0.0));
            let score = nodes + links - broken.sum::<f64>();
            (path, score)
        });
        all.max_by(|a, b| a.1.total_cmp(&b.1)).expect("some path")
    }

    #[test]
    fn labels_that_are_proven_best_are_the_best_of_all() {
        let (rules, mut random) = (rules(), StdRng::seed_from_u64(5));
        let mut decoder = SoftDual::new(&rules);
        let mut proven = 0;
        for _ in 0..200 {
            let mut draw = |n: usize, size: f64| -> Vec<f64> {
                (0..n).map(|_| size * random.random_range(-1.0..1.0)).collect()
            };
            let (table, scores) = (draw(STATES * STATES, 1.0), draw(LENGTH * STATES, 2.0));
            let costs: Vec<f64> = draw(3, 3.0).into_iter().map(f64::abs).collect();
            let model = Arc::new(Space::plain(STATES).chain_model(&table));
            let (path, calls, is_proven) = decoder.decode(&model, &scores, &costs);
            assert!((1..=MOST_ITERATIONS).contains(&calls) && path.len() == LENGTH);
            if is_proven {
                proven += 1;
                assert_eq!(path, brute_force(&table, &scores, &rules, &costs).0);
            }
        }
        assert!(proven > 100, "{proven} of 200");
    }

    #[test]
    fn rules_that_only_predictions_break_get_a_cost() {
        let rules = rules();
        // Every position prefers state 0; the truth has it once.
        let scores: Vec<f64> = (0..LENGTH).flat_map(|t| [0.5 + 0.1 * t as f64, 0.3, 0.0]).collect();
        let mut examples = Examples::default();
        examples.add_model(&Space::plain(STATES), &[0.0; STATES * STATES]);
        examples.sequences.push(Example {
            model: 0,
            scores,
            truth: vec![1.0, 4.0, 0.0],
            truth_score: 2.1,
            features: vec![1.0],
            base: None,
        });
        let costs = learn_costs(&rules, &examples);
        assert!(costs[0] > 0.0 && costs[2] == 0.0, "{costs:?}");
        let (path, ..) = SoftDual::new(&rules).decode(
            &examples.models[0],
            &examples.sequences[0].scores,
            &[1.0, 0.0, 0.0],
        );
        assert_eq!(path.iter().filter(|&&state| state == 0).count(), 1);
    }

    #[test]
    fn an_empty_sequence_has_no_labels() {
        let rules = rules();
        let model = Arc::new(Space::plain(STATES).chain_model(&[0.0; STATES * STATES]));
        assert_eq!(SoftDual::new(&rules).decode(&model, &[], &[1.0; 3]), (Vec::new(), 0, true));
    }
}
