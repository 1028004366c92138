//! What `map` is where no assignment keeps all rules, against a list of all assignments.

use std::collections::HashMap;

use super::*;

/// By how much a rule is broken, in units of its largest coefficient of an allowed cell.
fn broken_by(problem: &Problem, energy: &Energy, states: &[usize]) -> Option<f64> {
    let Energy::Measurement { penalty, offset, terms, .. } = energy else { return None };
    if !penalty.is_hard() {
        return None;
    }
    let size = offset.abs() + terms.len() as f64;
    let excess = penalty.violation(sum(terms, states, &cardinalities(problem)) + offset);
    Some(if excess <= 1e-8 * size { 0.0 } else { excess / largest(problem, terms) })
}

fn cardinalities(problem: &Problem) -> Vec<usize> {
    problem.model().variables().iter().map(|v| v.cardinality).collect()
}

/// A table by variables and by their states, in ascending order.
type Tables = HashMap<Vec<usize>, HashMap<Vec<usize>, f64>>;

fn add(tables: &mut Tables, scope: &[usize], values: &[f64], cardinalities: &[usize]) {
    let mut sorted = scope.to_vec();
    sorted.sort_unstable();
    let table = tables.entry(sorted.clone()).or_default();
    for (mut rest, value) in values.iter().enumerate() {
        let mut states = vec![0; sorted.len()];
        for &variable in scope.iter().rev() {
            states[sorted.binary_search(&variable).unwrap()] = rest % cardinalities[variable];
            rest /= cardinalities[variable];
        }
        *table.entry(states).or_default() += value;
    }
}

/// Terms over the same variables are one term; a factor over them may forbid its cells.
fn largest(problem: &Problem, terms: &[Term]) -> f64 {
    let (mut sums, mut scores) = (Tables::new(), Tables::new());
    let cardinalities = cardinalities(problem);
    terms.iter().for_each(|t| add(&mut sums, &t.scope, &t.coefficients, &cardinalities));
    for factor in problem.model().factors() {
        add(&mut scores, &factor.scope, &factor.log_potentials, &cardinalities);
    }
    let mut largest = 0f64;
    for (scope, table) in &sums {
        for (states, a) in table {
            let score = scores.get(scope).and_then(|scores| scores.get(states));
            let is_allowed = score.is_none_or(|score| *score > f64::NEG_INFINITY);
            largest = largest.max(if is_allowed { a.abs() } else { 0.0 });
        }
    }
    if largest > 0.0 { largest } else { 1.0 }
}

/// The energies that are kept in their order, and of the assignments that keep them, those that
/// break the others least; the best score among them.
fn expected(problem: &Problem, answer: &Answer) -> Expected {
    let mut left = scored(problem, answer);
    let mut given_up = Vec::new();
    for (index, energy) in problem.energies().iter().enumerate() {
        let keeps =
            |states: &[usize]| broken_by(problem, energy, states).is_none_or(|by| by == 0.0);
        if left.iter().any(|(states, _)| keeps(states)) {
            left.retain(|(states, _)| keeps(states));
        } else {
            given_up.push(index);
        }
    }
    let total = |states: &[usize]| total(problem, &given_up, states);
    let least = left.iter().map(|(states, _)| total(states)).fold(f64::INFINITY, f64::min);
    left.retain(|(states, _)| total(states) <= least + 1e-7);
    let score = left.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    Expected { given_up, least, score }
}

struct Expected {
    given_up: Vec<usize>,
    least: f64,
    score: f64,
}

fn total(problem: &Problem, given_up: &[usize], states: &[usize]) -> f64 {
    given_up.iter().filter_map(|&i| broken_by(problem, &problem.energies()[i], states)).sum()
}

#[test]
fn what_can_be_kept_is_kept_and_the_rest_is_broken_least() {
    let (mut impossible, mut several) = (0, 0);
    for seed in 5000..7000 {
        let (name, problem) = random_problem(seed);
        let answer = solved(&problem, &Request::default());
        let map = &answer.map;
        if map.violated.is_empty() {
            continue;
        }
        let label = format!("seed {seed}, {name}");
        let Expected { given_up, least, score } = expected(&problem, &answer);
        assert!(map.proved, "{label}: {map:?}");
        assert_eq!(map.violated, given_up, "{label}");
        let found = total(&problem, &given_up, &map.assignment);
        assert!(found <= least + 1e-6, "{label}: broken by {found}, not {least}");
        // Without multipliers nobody knows the score.
        if answer.status != Status::Infeasible {
            let tolerance = 1e-6 * score.abs().max(1.0);
            assert!((map.log_score - score).abs() <= tolerance, "{label}: {map:?} not {score}");
        }
        impossible += 1;
        several += usize::from(given_up.len() > 1);
    }
    assert!(impossible > 200 && several > 20, "{impossible} impossible, {several} with several");
}

/// The second rule is impossible only because of forbidden states, or of two terms together.
#[test]
fn an_impossible_rule_breaks_no_other() {
    let mut model = Model::new(&[2; 2]).unwrap();
    model.add_factor(&[0, 1], &[f64::NEG_INFINITY, 0.0, 5.0, f64::NEG_INFINITY]).unwrap();
    let off = hard(Penalty::AtMost, 0.0, on([0]));
    let difference = vec![
        Term { scope: vec![0], coefficients: vec![1.0, -1.0] },
        Term { scope: vec![0, 1], coefficients: vec![0.0, -0.7, 2.3, 0.0] },
    ];
    let other = hard(Penalty::AtMost, 0.0, difference);
    for rules in [vec![off.clone(), other.clone()], vec![other, off]] {
        let first = matches!(&rules[0], Energy::Measurement { terms, .. } if terms.len() == 1);
        let answer = Problem::new(model.clone(), rules).unwrap().solve().unwrap();
        assert_eq!(answer.map.assignment, [0, 1]);
        assert_eq!(answer.map.violated, [usize::from(first)]);
        assert!(answer.map.proved);
    }
}

/// One rule over several tables: what is nearest counts, not its multiplier.
#[test]
fn a_single_rule_that_nothing_keeps_is_broken_least() {
    let mut model = Model::new(&[2; 3]).unwrap();
    (0..3).for_each(|v| model.add_factor(&[v], &[0.0, 4.0 - v as f64]).unwrap());
    let rule = hard(Penalty::Equal, -1.4, on(0..3));
    let answer = Problem::new(model, vec![rule]).unwrap().solve().unwrap();
    assert_eq!(answer.map.assignment, [1, 0, 0]);
    assert_eq!((answer.map.log_score, answer.map.proved, answer.map.bound), (4.0, true, None));
    assert_eq!(answer.map.violated, [0]);
}

#[test]
fn a_search_without_a_budget_claims_nothing() {
    for seed in 5000..5200 {
        let (name, problem) = random_problem(seed);
        let answer = solved(&problem, &Request { map_budget: 0, ..Request::default() });
        assert_true(&problem, &answer, &format!("seed {seed}, {name}"));
    }
}
