//! Problems of the literature that are special cases: posterior regularisation, mean field.

use bethe_core::model::BaseModel;
use bethe_core::oracle::{BruteForce, OracleKind};
use bethe_core::solve::Ignore;
use bethe_core::{
    Answer, Energy, Model, Oracle, Penalty, Problem, Request, Settings, Status, Support, Term,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const DOCS: &str = include_str!("../../../docs/guides/wide-graphs.md");

fn solve(problem: &Problem, oracle: OracleKind) -> Answer {
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    let request = Request { oracle, ..Request::default() };
    problem.solve_with(&settings, &request, &mut Ignore).unwrap()
}

/// A tagger's posterior: a chain of labels.
fn posterior(seed: u64, tokens: usize, labels: usize) -> Model {
    let mut random = StdRng::seed_from_u64(seed);
    let mut model = Model::new(&vec![labels; tokens]).unwrap();
    let nodes = (0..tokens).map(|token| vec![token]);
    for scope in nodes.chain((1..tokens).map(|token| vec![token - 1, token])) {
        let cells = labels.pow(scope.len() as u32);
        let table: Vec<f64> = (0..cells).map(|_| random.random_range(-1.5..1.5)).collect();
        model.add_factor(&scope, &table).unwrap();
    }
    model
}

/// `offset + sign·E[how often a label occurs]`
fn label_count(
    penalty: Penalty,
    tokens: usize,
    [labels, label]: [usize; 2],
    line: [f64; 2],
) -> Energy {
    let [sign, offset] = line;
    let mut coefficients = vec![0.0; labels];
    coefficients[label] = sign;
    let term = |token| Term { scope: vec![token], coefficients: coefficients.clone() };
    Energy::Measurement { weight: 1.0, penalty, offset, terms: (0..tokens).map(term).collect() }
}

/// All joint states: log-probability, and how often the label occurs.
fn enumerate(model: &Model, label: usize) -> Vec<(f64, f64)> {
    let base = BaseModel::new(model, []).unwrap();
    let mut oracle = BruteForce::new(&base, &Support::new());
    oracle.tilted(&[], &mut []);
    let states = oracle.probabilities().iter().enumerate().map(|(joint, p)| {
        let (mut rest, mut count) = (joint, 0);
        for &cardinality in base.cardinalities.iter().rev() {
            count += usize::from(rest % cardinality == label);
            rest /= cardinality;
        }
        (p.ln(), count as f64)
    });
    states.collect()
}

/// `q ∝ p·exp(λ count)`: what is expected of the count, and `KL(q ‖ p)`.
fn tilted(states: &[(f64, f64)], multiplier: f64) -> (f64, f64) {
    let weights: Vec<f64> =
        states.iter().map(|(p, count)| (p + multiplier * count).exp()).collect();
    let total: f64 = weights.iter().sum();
    let expected = weights.iter().zip(states).map(|(w, (_, count))| w / total * count);
    let divergence =
        weights.iter().zip(states).map(|(w, (p, _))| w / total * ((w / total).ln() - p));
    (expected.sum(), divergence.sum())
}

#[test]
fn posterior_regularisation_is_the_projection_that_enumeration_finds() {
    for seed in 0..8 {
        let model = posterior(seed, 6, 3);
        let states = enumerate(&model, 1);
        let before = tilted(&states, 0.0).0;
        let wanted = before + 1.0;
        // q ∝ p·exp(λ count) with λ ≥ 0 such that the label is expected often enough.
        let (mut low, mut high) = (0.0, 60.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if tilted(&states, middle).0 < wanted { low = middle } else { high = middle }
        }
        let (_, divergence) = tilted(&states, low);
        let at_least = label_count(Penalty::AtMost, 6, [3, 1], [-1.0, wanted]);
        let problem = Problem::new(model.clone(), vec![at_least]).unwrap();
        for oracle in [OracleKind::Exact, OracleKind::TreeReweighted] {
            let found = solve(&problem, oracle);
            assert_eq!(found.status, Status::Converged, "seed {seed}");
            let count: f64 = found.marginals[..6].iter().map(|m| m.values[1]).sum();
            assert!((count - wanted).abs() < 1e-6, "seed {seed}: {count}, expected {wanted}");
            let own = found.objective.unwrap() + found.base_log_partition;
            assert!((own - divergence).abs() < 1e-6, "seed {seed}: {own}, expected {divergence}");
        }
        // A constraint that holds already changes nothing.
        let idle = label_count(Penalty::AtMost, 6, [3, 1], [-1.0, before - 0.1]);
        let found = solve(&Problem::new(model, vec![idle]).unwrap(), OracleKind::Exact);
        let own = found.objective.unwrap() + found.base_log_partition;
        assert!(own.abs() < 1e-8, "seed {seed}: {own}");
    }
}

#[test]
fn a_regulariser_with_slack_gives_way() {
    let model = posterior(20, 6, 3);
    let states = enumerate(&model, 2);
    let wanted = tilted(&states, 0.0).0 + 1.5;
    // ½(count − wanted)² is least where λ = wanted − count.
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if tilted(&states, middle).0 + middle < wanted { low = middle } else { high = middle }
    }
    let (count, divergence) = tilted(&states, low);
    let soft = label_count(Penalty::Squared, 6, [3, 2], [1.0, -wanted]);
    let found = solve(&Problem::new(model, vec![soft]).unwrap(), OracleKind::Exact);
    let own = found.objective.unwrap() + found.base_log_partition;
    assert!((own - divergence - 0.5 * (count - wanted).powi(2)).abs() < 1e-7);
}

#[test]
fn the_examples_of_the_page_are_solved() {
    let blocks: Vec<&str> =
        DOCS.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 2, "{} examples", blocks.len());
    for block in blocks {
        let problem = Problem::from_json(block.as_bytes()).unwrap();
        for oracle in [OracleKind::Auto, OracleKind::TreeReweighted] {
            let found = solve(&problem, oracle);
            assert!(
                matches!(found.status, Status::Converged | Status::Stationary),
                "{:?}",
                found.status
            );
        }
    }
}
