//! Soft dual decomposition against all label sequences, and the perceptron on top of it.

use std::sync::Arc;

use bethe_core::Penalty;
use bethe_learn::energy::{
    CountRule, CountRules, Decoded, Example, Examples, Inference, Learner, LearnerSettings, Sample,
    SoftDual, Space, Start, learn,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const STATES: usize = 3;
const LENGTH: usize = 5;

fn rules(hard: Vec<CountRule>) -> Arc<CountRules> {
    let soft = vec![
        CountRule::at_most(1.0, [(0, 1.0)]),
        CountRule::at_most(-1.0, [(1, -1.0)]),
        CountRule::at_most(0.0, [(2, 1.0), (1, -1.0)]),
    ];
    Arc::new(CountRules { states: STATES, penalty: Penalty::Hinge, soft, hard })
}

/// A chain of random numbers.
struct Problem {
    table: Vec<f64>,
    scores: Vec<f64>,
    costs: Vec<f64>,
}

impl Problem {
    fn random(random: &mut StdRng) -> Self {
        let mut draw = |n: usize, size: f64| -> Vec<f64> {
            (0..n).map(|_| size * random.random_range(-1.0..1.0)).collect()
        };
        let (table, scores) = (draw(STATES * STATES, 1.0), draw(LENGTH * STATES, 2.0));
        let costs = draw(3, 3.0).into_iter().map(f64::abs).collect();
        Self { table, scores, costs }
    }

    fn decode(&self, rules: &Arc<CountRules>) -> Decoded {
        let model = Arc::new(Space::plain(STATES).chain_model(&self.table));
        let mut inference = Inference::new(model, rules.clone(), vec![0.0; rules.soft.len()]);
        inference.load(&self.scores);
        SoftDual::new(rules).decode(inference.chain(), &self.costs)
    }

    fn worth(&self, path: &[usize], rules: &CountRules) -> f64 {
        let nodes: f64 = path.iter().enumerate().map(|(t, &s)| self.scores[t * STATES + s]).sum();
        let links: f64 = path.windows(2).map(|pair| self.table[pair[0] * STATES + pair[1]]).sum();
        let mut counts = vec![0.0; STATES];
        path.iter().for_each(|&state| counts[state] += 1.0);
        let is_broken = rules.hard.iter().any(|rule| !rule.holds(&counts));
        let cost = rules.energy(&self.costs, &counts);
        if is_broken { f64::NEG_INFINITY } else { nodes + links - cost }
    }

    /// The best labels by trying all.
    fn brute_force(&self, rules: &CountRules) -> Vec<usize> {
        let all = (0..STATES.pow(LENGTH as u32)).map(|number| {
            (0..LENGTH as u32).map(|t| number / STATES.pow(t) % STATES).collect::<Vec<usize>>()
        });
        let by_worth =
            |a: &Vec<usize>, b: &Vec<usize>| self.worth(a, rules).total_cmp(&self.worth(b, rules));
        all.max_by(by_worth).unwrap()
    }
}

#[test]
fn labels_that_are_proved_best_are_the_best_of_all() {
    let hard = [Vec::new(), vec![CountRule::at_most(2.0, [(2, 1.0)])]];
    for rules in hard.map(rules) {
        let (mut proved, mut random) = (0, StdRng::seed_from_u64(5));
        for _ in 0..200 {
            let problem = Problem::random(&mut random);
            let found = problem.decode(&rules);
            let worth = problem.worth(&found.path, &rules);
            assert!((1..=100).contains(&found.decodings));
            assert!(worth == found.worth || (worth - found.worth).abs() < 1e-9, "{found:?}");
            let best = problem.brute_force(&rules);
            assert!(worth <= problem.worth(&best, &rules) + 1e-9);
            if found.proved {
                proved += 1;
                assert_eq!(found.path, best);
            }
        }
        assert!(proved > 100, "{proved} of 200");
    }
}

#[test]
fn a_perceptron_makes_rules_cost_that_only_predictions_break() {
    let rules = rules(Vec::new());
    // Every position prefers state 0; the truth has it once.
    let scores: Vec<f64> = (0..LENGTH).flat_map(|t| [0.5 + 0.1 * t as f64, 0.3, 0.0]).collect();
    for features in [vec![1.0], vec![1.0, 0.5]] {
        let mut examples = Examples::default();
        examples.add_model(&Space::plain(STATES), &[0.0; STATES * STATES]);
        examples.sequences.push(Example {
            model: 0,
            scores: scores.clone(),
            truth: vec![1.0, 4.0, 0.0],
            truth_score: 2.1,
            features: features.clone(),
            base: None,
        });
        let start = |fixed: bool| Start {
            parameters: vec![0.0; 3 * features.len()],
            fixed: vec![fixed; 3 * features.len()],
        };
        let learned = |l1: f64, fixed: bool| {
            let learner = Learner::Perceptron;
            let settings = LearnerSettings { learner, l1, passes: 10, ..Default::default() };
            let sample = Sample { examples: &examples, which: &[0] };
            learn(sample, &rules, &start(fixed), &settings, &mut |_, _| true).unwrap()
        };
        let costs = |l1| examples.sequences[0].weights(&learned(l1, false).parameters);
        let free = costs(0.0);
        assert!(free[0] > 0.0 && free[2] == 0.0, "{free:?}");
        assert!(costs(1.0)[0] < free[0], "an L1 penalty makes costs smaller");
        assert_eq!(learned(0.0, true).parameters, start(true).parameters);
        let losses = learned(0.0, false).losses;
        assert!(losses.iter().all(|loss| *loss >= -1e-9) && losses[9] < losses[0], "{losses:?}");
    }
}
