//! The best assignment under hard measurements, against a list of all assignments.

mod common;
#[path = "map/impossible.rs"]
mod impossible;

use bethe_core::problem::{Answer, Map};
use bethe_core::solve::{Ignore, Status};
use bethe_core::{Cancel, Energy, Model, OracleKind, Penalty, Problem, Request, Settings, Term};
use common::{Recipe, graphs, random_measurement, random_model};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

fn hard(penalty: Penalty, offset: f64, terms: Vec<Term>) -> Energy {
    Energy::Measurement { weight: 1.0, penalty, offset, terms }
}

/// How many of these binary variables are on.
fn on(variables: impl IntoIterator<Item = usize>) -> Vec<Term> {
    let term = |variable| Term { scope: vec![variable], coefficients: vec![0.0, 1.0] };
    variables.into_iter().map(term).collect()
}

fn cell(scope: &[usize], states: &[usize], cardinalities: &[usize]) -> usize {
    scope.iter().fold(0, |cell, &v| cell * cardinalities[v] + states[v])
}

fn sum(terms: &[Term], states: &[usize], cardinalities: &[usize]) -> f64 {
    terms.iter().map(|t| t.coefficients[cell(&t.scope, states, cardinalities)]).sum()
}

/// Whether an assignment keeps a rule; true for energies that are none.
fn keeps(energy: &Energy, states: &[usize], cardinalities: &[usize]) -> bool {
    let Energy::Measurement { penalty, offset, terms, .. } = energy else { return true };
    let size: f64 = offset.abs() + terms.len() as f64;
    penalty.violation(sum(terms, states, cardinalities) + offset) <= 1e-8 * size
}

/// Every assignment that the model allows, with its score under the model and the multipliers of
/// soft measurements.
fn scored(problem: &Problem, answer: &Answer) -> Vec<(Vec<usize>, f64)> {
    let cardinalities: Vec<usize> =
        problem.model().variables().iter().map(|v| v.cardinality).collect();
    let joint: usize = cardinalities.iter().product();
    let mut all = Vec::new();
    for mut rest in 0..joint {
        let mut states = vec![0; cardinalities.len()];
        for (state, cardinality) in states.iter_mut().zip(&cardinalities).rev() {
            (*state, rest) = (rest % cardinality, rest / cardinality);
        }
        let observed = problem.model().observed().iter().zip(&states);
        if observed.clone().any(|(observed, state)| observed.is_some_and(|o| o != *state)) {
            continue;
        }
        let factors = problem.model().factors().iter();
        let mut score: f64 =
            factors.map(|f| f.log_potentials[cell(&f.scope, &states, &cardinalities)]).sum();
        for (energy, found) in problem.energies().iter().zip(&answer.energies) {
            if let (Energy::Measurement { penalty, terms, .. }, Some(multipliers)) =
                (energy, &found.multipliers)
                && !penalty.is_hard()
            {
                // Tilts of what is fixed are constants, and not counted.
                let free = |term: &&Term| term.scope.iter().any(|&v| cardinalities[v] > 1);
                let terms: Vec<Term> = terms.iter().filter(free).cloned().collect();
                score -= multipliers[0] * sum(&terms, &states, &cardinalities);
            }
        }
        if score > f64::NEG_INFINITY {
            all.push((states, score));
        }
    }
    all
}

fn broken(problem: &Problem, states: &[usize]) -> Vec<usize> {
    let cardinalities: Vec<usize> =
        problem.model().variables().iter().map(|v| v.cardinality).collect();
    let energies = problem.energies().iter().enumerate();
    energies.filter(|(_, e)| !keeps(e, states, &cardinalities)).map(|(index, _)| index).collect()
}

/// Nothing that the answer says of its assignment is false. Returns whether some assignment keeps
/// the rules.
fn assert_true(problem: &Problem, answer: &Answer, label: &str) -> bool {
    let Map { assignment, log_score, proved, bound, violated } = &answer.map;
    let all = scored(problem, answer);
    let size = problem.model().factors().iter().flat_map(|f| f.log_potentials.iter());
    let tolerance = 1e-9 * size.filter(|v| v.is_finite()).fold(1.0, |m: f64, v| m.max(v.abs()));
    let own = all.iter().find(|(states, _)| states == assignment);
    let (_, score) = own.unwrap_or_else(|| panic!("{label}: {assignment:?} is forbidden"));
    // Without multipliers nobody knows the score.
    let is_known = answer.status != Status::Infeasible;
    assert!(
        !is_known || (score - log_score).abs() <= tolerance,
        "{label}: {log_score} not {score}"
    );
    assert_eq!(*violated, broken(problem, assignment), "{label}");
    let kept = all.iter().filter(|(states, _)| broken(problem, states).is_empty());
    let best = kept.map(|(_, score)| *score).reduce(f64::max);
    match best {
        Some(best) => {
            let bound = bound.unwrap_or_else(|| panic!("{label}: no bound"));
            assert!(bound >= best - tolerance, "{label}: bound {bound} below {best}");
            if *proved {
                assert!(violated.is_empty(), "{label}: some keep the rules");
                assert!((best - log_score).abs() <= tolerance, "{label}: {log_score} not {best}");
                assert!((bound - log_score).abs() <= tolerance, "{label}: {bound} not {log_score}");
            }
        }
        None => assert!(!violated.is_empty(), "{label}"),
    }
    best.is_some()
}

fn solved(problem: &Problem, request: &Request) -> Answer {
    problem.solve_with(&Settings::default(), request, &mut Ignore).unwrap()
}

#[test]
fn at_most_two_of_five_are_on() {
    let mut model = Model::new(&[2; 5]).unwrap();
    for variable in 0..3 {
        model.add_factor(&[variable], &[0.0, 3.0]).unwrap();
    }
    let problem = Problem::new(model, vec![hard(Penalty::AtMost, -2.0, on(0..5))]).unwrap();
    let answer = problem.solve().unwrap();
    assert_eq!(answer.status, Status::Converged);
    let map = &answer.map;
    assert_eq!(map.assignment.iter().sum::<usize>(), 2);
    assert_eq!(map.assignment[3..], [0, 0]);
    assert_eq!((map.log_score, map.proved, map.bound), (6.0, true, Some(6.0)));
    assert_eq!(map.violated, [0usize; 0]);
}

#[test]
fn multipliers_of_rules_are_not_in_the_score() {
    // At least two on: the multiplier would lift every variable alike.
    let mut model = Model::new(&[2; 4]).unwrap();
    for (variable, score) in [-5.0, -1.0, -2.0, -4.0].into_iter().enumerate() {
        model.add_factor(&[variable], &[0.0, score]).unwrap();
    }
    let fewer = |mut terms: Vec<Term>| {
        terms.iter_mut().for_each(|term| term.coefficients[1] = -1.0);
        terms
    };
    let soft = Energy::measurement(0.5, Penalty::Linear, on([2]));
    let rule = hard(Penalty::AtMost, 2.0, fewer(on(0..4)));
    let answer = Problem::new(model, vec![rule, soft]).unwrap().solve().unwrap();
    assert_eq!(answer.map.assignment, [0, 1, 1, 0]);
    assert!((answer.map.log_score + 3.5).abs() < 1e-12, "{:?}", answer.map);
}

/// A rule over counts, over single states or over cells of factors; kept by the assignment given, or
/// missed by half a unit.
fn random_rule(
    rng: &mut StdRng,
    cardinalities: &[usize],
    scopes: &[Vec<usize>],
    at: &[usize],
) -> Energy {
    let style = rng.random_range(0..3);
    let scopes: Vec<Vec<usize>> = match style {
        0 => (0..cardinalities.len()).map(|v| vec![v]).collect(),
        1 => (0..rng.random_range(1..=3))
            .map(|_| vec![rng.random_range(0..cardinalities.len())])
            .collect(),
        _ => (0..rng.random_range(1..=2))
            .map(|_| scopes[rng.random_range(0..scopes.len())].clone())
            .collect(),
    };
    let real = rng.random_bool(0.4);
    let terms: Vec<Term> = scopes
        .into_iter()
        .map(|scope| {
            let size: usize = scope.iter().map(|&v| cardinalities[v]).product();
            let coefficients = (0..size).map(|cell| match style {
                0 => f64::from(u8::from(cell == 0)),
                _ if real => rng.random_range(-1.0..1.0),
                _ => f64::from(rng.random_range(-2..=2i32)),
            });
            Term { coefficients: coefficients.collect(), scope }
        })
        .collect();
    let miss = if rng.random_bool(0.15) { 0.5 } else { 0.0 };
    let offset = miss - sum(&terms, at, cardinalities);
    hard(if rng.random_bool(0.6) { Penalty::AtMost } else { Penalty::Equal }, offset, terms)
}

fn random_problem(seed: u64) -> (&'static str, Problem) {
    let mut rng = StdRng::seed_from_u64(seed);
    let graphs = graphs();
    let (name, cardinalities, scopes) = &graphs[seed as usize % graphs.len()];
    let recipe = Recipe {
        score: [1.0, 4.0, 700.0][rng.random_range(0..3)],
        forbidden: [0.0, 0.25][rng.random_range(0..2)],
        weight: 1.0,
        measurements: 0,
    };
    let mut model = random_model(&mut rng, cardinalities, scopes, &recipe);
    if rng.random_bool(0.2) {
        // Scores that tie.
        model = Model::new(cardinalities).unwrap();
    }
    let mut energies = Vec::new();
    let at: Vec<usize> = cardinalities.iter().map(|&k| rng.random_range(0..k)).collect();
    for _ in 0..rng.random_range(1..=4) {
        energies.push(random_rule(&mut rng, cardinalities, scopes, &at));
    }
    if rng.random_bool(0.5) {
        energies.push(random_measurement(&mut rng, cardinalities, scopes, Penalty::Squared, 2.0));
    }
    (name, Problem::new(model, energies).unwrap())
}

#[test]
fn the_best_assignment_is_that_of_a_list_of_all() {
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..1500 {
        let (name, problem) = random_problem(seed);
        let answer = solved(&problem, &Request::default());
        let label = format!("seed {seed}, {name}");
        let is_possible = assert_true(&problem, &answer, &label);
        assert!(answer.map.proved, "{label}: {:?}", answer.map);
        assert_eq!(answer.map.violated.is_empty(), is_possible, "{label}");
        *(if is_possible { &mut possible } else { &mut impossible }) += 1;
    }
    assert!(possible > 500 && impossible > 100, "{possible} possible, {impossible} not");
}

#[test]
fn nothing_false_is_said_within_any_budget() {
    for seed in 2000..2300 {
        let (name, problem) = random_problem(seed);
        for map_budget in [0, 3000, 30_000] {
            let answer = solved(&problem, &Request { map_budget, ..Request::default() });
            assert_true(&problem, &answer, &format!("seed {seed}, {name}, budget {map_budget}"));
        }
    }
}

#[test]
fn message_passing_proves_only_what_its_bound_does() {
    let mut found = 0;
    for seed in 3000..3060 {
        let (name, problem) = random_problem(seed);
        let label = format!("seed {seed}, {name}");
        for oracle in [OracleKind::TreeReweighted, OracleKind::Loopy] {
            let request = Request { oracle, ..Request::default() };
            let answer = solved(&problem, &request);
            if answer.map.log_score > f64::NEG_INFINITY {
                assert_true(&problem, &answer, &label);
                found += usize::from(answer.map.violated.is_empty());
            }
        }
    }
    assert!(found > 40, "{found} that keep the rules");
}

#[test]
fn rules_that_hold_on_average_only_are_violated_with_proof() {
    // Exactly one of each two of three: half each on average.
    let pair = |a: usize, b: usize| hard(Penalty::Equal, -1.0, on([a, b]));
    let rules = vec![pair(0, 1), pair(1, 2), pair(0, 2)];
    let answer = Problem::new(Model::new(&[2; 3]).unwrap(), rules).unwrap().solve().unwrap();
    assert_eq!(answer.status, Status::Converged);
    assert!((answer.marginal(0)[1] - 0.5).abs() < 1e-6);
    assert_eq!((answer.map.proved, answer.map.bound), (true, None));
    assert_eq!(answer.map.violated.len(), 1);
}

#[test]
fn a_rule_that_nothing_keeps_leaves_the_others_to_be_kept() {
    let mut model = Model::new(&[2; 4]).unwrap();
    (0..3).for_each(|v| model.add_factor(&[v], &[0.0, 2.0]).unwrap());
    let share = hard(Penalty::Equal, -0.9, on([3]));
    let rules = vec![share, hard(Penalty::AtMost, -1.0, on(0..3))];
    let answer = Problem::new(model, rules).unwrap().solve().unwrap();
    assert_eq!(answer.map.violated, [0]);
    assert_eq!(answer.map.assignment[..3].iter().sum::<usize>(), 1);
    assert_eq!(answer.map.assignment[3], 1, "its multiplier speaks for it");
    assert_eq!((answer.map.log_score, answer.map.proved, answer.map.bound), (2.0, true, None));
}

#[test]
fn an_infeasible_problem_lists_what_its_assignment_violates() {
    let low = hard(Penalty::AtMost, -1.0, on(0..3));
    let mut high = on(0..3);
    high.iter_mut().for_each(|term| term.coefficients[1] = -1.0);
    let rules = vec![low, hard(Penalty::AtMost, 2.0, high)];
    let answer = Problem::new(Model::new(&[2; 3]).unwrap(), rules).unwrap().solve().unwrap();
    assert_eq!(answer.status, Status::Infeasible);
    assert_eq!((answer.map.proved, answer.map.bound), (true, None));
    assert_eq!(answer.map.violated.len(), 1);
}

#[test]
fn counts_along_a_long_chain_are_kept_with_proof() {
    let (length, labels) = (300, 5);
    let mut rng = StdRng::seed_from_u64(4);
    let mut model = Model::new(&vec![labels; length]).unwrap();
    for position in 0..length {
        let scores: Vec<f64> = (0..labels).map(|_| rng.random_range(-2.0..2.0)).collect();
        model.add_factor(&[position], &scores).unwrap();
        if position > 0 {
            let scores: Vec<f64> =
                (0..labels * labels).map(|_| rng.random_range(-1.0..1.0)).collect();
            model.add_factor(&[position - 1, position], &scores).unwrap();
        }
    }
    let count = |label: usize, positions: std::ops::Range<usize>, by: f64| {
        let coefficients: Vec<f64> =
            (0..labels).map(|own| if own == label { by } else { 0.0 }).collect();
        let term = |position| Term { scope: vec![position], coefficients: coefficients.clone() };
        positions.map(term).collect::<Vec<_>>()
    };
    // Everywhere alike, and only somewhere.
    let alike = vec![
        hard(Penalty::AtMost, -0.7, count(0, 0..length, 0.1)),
        hard(Penalty::Equal, -20.0, count(1, 0..length, 1.0)),
    ];
    let apart = vec![
        hard(Penalty::AtMost, -3.0, count(0, 0..100, 1.0)),
        hard(Penalty::AtMost, 30.0, count(1, 100..300, -1.0)),
    ];
    for rules in [alike, apart] {
        let answer = Problem::new(model.clone(), rules).unwrap().solve().unwrap();
        assert!(answer.map.violated.is_empty() && answer.map.proved, "{:?}", answer.map);
        assert_eq!(answer.map.bound, Some(answer.map.log_score));
    }
}

#[test]
fn a_search_that_is_cancelled_keeps_what_it_has() {
    let (_, problem) = random_problem(7);
    let cancel = Cancel::new();
    let request = Request { cancel: cancel.clone(), ..Request::default() };
    // After the last iteration, but before the search.
    let mut observer = |_: &bethe_core::solve::Record, _: &[f64]| {
        cancel.cancel();
        std::ops::ControlFlow::Continue(())
    };
    let answer = problem.solve_with(&Settings::default(), &request, &mut observer).unwrap();
    assert_true(&problem, &answer, "cancelled");
}

#[test]
fn tilts_of_other_energies_are_in_the_score() {
    let mut model = Model::new(&[2; 3]).unwrap();
    for (variable, score) in [0.3, 0.2, 0.1].into_iter().enumerate() {
        model.add_factor(&[variable], &[0.0, score]).unwrap();
    }
    let coupling = vec![1.5, 0.0, 0.0, 2.0];
    let product = Energy::Product { scope: vec![0, 2], log_potentials: coupling.clone() };
    let rule = hard(Penalty::Equal, -2.0, on(0..3));
    let problem = Problem::new(model, vec![product, rule]).unwrap();
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    let answer = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
    // `−∇L`, by hand.
    let [first, third] = [0, 2].map(|variable| answer.marginal(variable).to_vec());
    let tilt = |own: usize, of: &[f64], stride: usize, other: usize| {
        (0..2).map(|state| coupling[own * stride + state * other] * of[state]).sum::<f64>()
    };
    let score = |states: [usize; 3]| {
        let plain = [0.3, 0.2, 0.1].iter().zip(states).map(|(s, on)| s * on as f64).sum::<f64>();
        plain + tilt(states[0], &third, 2, 1) + tilt(states[2], &first, 1, 2)
    };
    let pairs = [[1, 1, 0], [1, 0, 1], [0, 1, 1]];
    let best = pairs.into_iter().max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap();
    assert_eq!(answer.map.assignment, best);
    assert!((answer.map.log_score - score(best)).abs() < 1e-6, "{:?}", answer.map);
    assert!(answer.map.proved && answer.map.violated.is_empty());
}

#[test]
fn nearest_energies_tilt_the_score_too() {
    let pattern = |points: Vec<Vec<f64>>| Energy::Nearest {
        weight: 3.0,
        norm: bethe_core::energy::Norm::L1,
        cap: None,
        measurements: (0..3).map(|variable| on([variable])).collect(),
        points,
    };
    let near = pattern(vec![vec![1.0, 1.0, 0.0], vec![0.0, 0.0, 0.0]]);
    let mut model = Model::new(&[2; 3]).unwrap();
    model.add_factor(&[0], &[0.0, 2.0]).unwrap();
    let rule = hard(Penalty::Equal, -1.0, on(0..3));
    let answer = Problem::new(model, vec![near, rule]).unwrap().solve().unwrap();
    assert_eq!(answer.map.assignment, [1, 0, 0]);
    assert!(answer.map.proved && answer.map.violated.is_empty(), "{:?}", answer.map);
}

#[test]
fn a_count_that_may_not_be_negative_is_no_rule() {
    let difference = vec![
        Term { scope: vec![0], coefficients: vec![0.0, 1.0] },
        Term { scope: vec![1], coefficients: vec![0.0, -1.0] },
    ];
    let mut model = Model::new(&[2; 2]).unwrap();
    model.add_factor(&[1], &[0.0, 1.0]).unwrap();
    let none = Energy::measurement(1.0, Penalty::Poisson { rate: 1.0, count: 0.0 }, difference);
    let answer = Problem::new(model, vec![none]).unwrap().solve().unwrap();
    assert_eq!(answer.map.violated, [0usize; 0]);
    assert!(answer.map.proved);
}

#[test]
fn tables_of_rules_are_kept_or_listed_once() {
    let table = |target: [f64; 4]| Energy::TableMeasurement {
        weight: 1.0,
        penalty: Penalty::AtMost,
        scope: vec![0, 1],
        target: target.to_vec(),
        total: 1.0,
    };
    let mut model = Model::new(&[2; 2]).unwrap();
    model.add_factor(&[0, 1], &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let map =
        |target| Problem::new(model.clone(), vec![table(target)]).unwrap().solve().unwrap().map;
    let kept = map([1.0, 1.0, 1.0, 0.4]);
    assert_eq!((kept.assignment, kept.log_score, kept.proved), (vec![1, 0], 2.0, true));
    let broken = map([0.4; 4]);
    assert_eq!((broken.violated, broken.proved, broken.bound), (vec![0], true, None));
}

#[test]
fn observed_variables_count() {
    let mut model = Model::new(&[2; 3]).unwrap();
    (0..3).for_each(|v| model.add_factor(&[v], &[0.0, 1.0 + v as f64]).unwrap());
    model.observe(0, 1).unwrap();
    let rule = hard(Penalty::AtMost, -2.0, on(0..3));
    let answer = Problem::new(model.clone(), vec![rule]).unwrap().solve().unwrap();
    assert_eq!(answer.map.assignment, [1, 0, 1]);
    assert_eq!((answer.map.log_score, answer.map.proved), (4.0, true));
    model.observe(1, 1).unwrap();
    model.observe(2, 1).unwrap();
    let rule = hard(Penalty::AtMost, -3.0, on(0..3));
    let answer = Problem::new(model, vec![rule]).unwrap().solve().unwrap();
    assert_eq!((answer.map.assignment, answer.map.proved), (vec![1, 1, 1], true));
}
