//! Records are drawn with the probabilities of whole configurations, exactly.

mod common;

use std::collections::HashMap;

use bethe_core::{
    Energy, Model, ModelError, Penalty, Problem, Records, Request, Settings, solve::Ignore,
};
use common::{Recipe, graphs, random_model, rng};

const DRAWN: usize = 20_000;

/// The score of every configuration.
fn scores(model: &Model) -> HashMap<Vec<usize>, f64> {
    let cardinalities: Vec<usize> = model.variables().iter().map(|v| v.cardinality).collect();
    let count: usize = cardinalities.iter().product();
    let configuration = |mut index: usize| {
        let mut states = vec![0; cardinalities.len()];
        for (state, cardinality) in states.iter_mut().zip(&cardinalities).rev() {
            *state = index % cardinality;
            index /= cardinality;
        }
        states
    };
    let score = |states: &Vec<usize>| {
        let of = |factor: &bethe_core::Factor| {
            let cell = factor.scope.iter().fold(0, |at, &v| at * cardinalities[v] + states[v]);
            factor.log_potentials[cell]
        };
        let contradicted =
            (0..states.len()).any(|v| model.observed()[v].is_some_and(|s| s != states[v]));
        if contradicted { f64::NEG_INFINITY } else { model.factors().iter().map(of).sum() }
    };
    (0..count)
        .map(configuration)
        .map(|states| {
            let score = score(&states);
            (states, score)
        })
        .collect()
}

/// Whether frequencies are within five standard deviations of probabilities, and zero is never
/// drawn.
fn check(name: &str, model: &Model, seed: u64) {
    let scores = scores(model);
    let total: f64 = scores.values().map(|score| score.exp()).sum();
    let mut records = Records::of(model).unwrap();
    let mut random = rng(seed);
    let mut counts: HashMap<Vec<usize>, usize> = HashMap::new();
    for _ in 0..DRAWN {
        *counts.entry(records.draw(&mut random)).or_default() += 1;
    }
    for (states, score) in &scores {
        let (probability, n) = (score.exp() / total, DRAWN as f64);
        let count = *counts.get(states).unwrap_or(&0) as f64;
        let deviation = (n * probability * (1.0 - probability)).sqrt();
        assert!(
            (count - n * probability).abs() <= 5.0 * deviation + 1.0,
            "{name} {states:?}: {count} of {}",
            n * probability
        );
        assert!(probability > 0.0 || count == 0.0, "{name} {states:?} cannot be");
    }
    assert!(counts.keys().all(|states| scores.contains_key(states)));
}

#[test]
fn frequencies_are_those_of_the_model_on_every_graph() {
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
        let configurations: usize = cardinalities.iter().product();
        if configurations > 2000 {
            continue;
        }
        let mut random = rng(index as u64);
        let recipe = Recipe { score: 1.0, forbidden: 0.1, weight: 1.0, measurements: 0 };
        let mut model = random_model(&mut random, &cardinalities, &scopes, &recipe);
        check(name, &model, 1 + index as u64);
        let (best, _) = scores(&model).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        model.observe(0, best[0]).unwrap();
        check(name, &model, 100 + index as u64);
    }
}

#[test]
fn a_fitted_model_has_the_marginals_of_the_answer() {
    let mut model = Model::new(&[2, 3, 2, 2]).unwrap();
    model.add_factor(&[0, 1], &[1.0, 0.0, -1.0, 0.0, 2.0, f64::NEG_INFINITY]).unwrap();
    model.observe(3, 1).unwrap();
    let energies = [vec![2, 0], vec![1], vec![3, 1]].map(|scope| {
        let size: usize = scope.iter().map(|&v: &usize| [2, 3, 2, 2][v]).product();
        let target = (0..size).map(|cell| (1 + cell) as f64 * 10.0).collect();
        Energy::TableMeasurement {
            weight: 0.01,
            penalty: Penalty::Squared,
            scope,
            target,
            total: 100.0,
        }
    });
    let problem = Problem::new(model, energies.to_vec()).unwrap();
    let settings = Settings::default();
    let (answer, fitted) = problem.fit(&settings, &Request::default(), &mut Ignore).unwrap();
    let plain = Problem::new(fitted.clone(), Vec::new()).unwrap();
    let again = plain.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
    for (a, b) in answer.marginals.iter().zip(&again.marginals) {
        assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    assert!((answer.log_partition - again.log_partition).abs() < 1e-9);
    check("fitted", &fitted, 5);
    let back = Problem::from_json(plain.to_json().unwrap().as_bytes()).unwrap();
    assert_eq!(back.model(), &fitted);
}

#[test]
fn a_model_that_allows_nothing_has_no_records() {
    let mut model = Model::new(&[2, 2]).unwrap();
    model.add_factor(&[0], &[f64::NEG_INFINITY; 2]).unwrap();
    assert_eq!(Records::of(&model).unwrap_err(), ModelError::AllForbidden);
    let mut records = Records::of(&Model::new(&[]).unwrap()).unwrap();
    assert!(records.draw(&mut rng(0)).is_empty());
}
