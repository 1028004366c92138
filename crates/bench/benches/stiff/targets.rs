//! Graphs with every marginal measured, at weights that leave the model no say, and targets that no
//! distribution can have.

use bethe_core::{Energy, Model, Penalty, Problem, Term};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Pairs of variables, all with as many states, that share one table of scores.
pub struct Graph {
    pub name: &'static str,
    pub variables: usize,
    pub states: usize,
    pub edges: Vec<(usize, usize)>,
}

pub fn chain() -> Graph {
    Graph { name: "chain", variables: 50, states: 12, edges: (1..50).map(|v| (v - 1, v)).collect() }
}

/// What is no chain: a tree whose variables have two children each, a ring, a grid of three rows.
pub fn others() -> [Graph; 3] {
    let tree = (1..50).map(|v| ((v - 1) / 2, v)).collect();
    let ring = (0..50).map(|v| (v, (v + 1) % 50)).collect();
    let along = (3..30).map(|v| (v - 3, v));
    let across = (1..30).filter(|v| v % 3 > 0).map(|v| (v - 1, v));
    [
        Graph { name: "tree", variables: 50, states: 12, edges: tree },
        Graph { name: "ring", variables: 50, states: 12, edges: ring },
        Graph {
            name: "grid, 3 × 10",
            variables: 30,
            states: 6,
            edges: along.chain(across).collect(),
        },
    ]
}

pub const WEIGHTS: [f64; 3] = [300.0, 3000.0, 30_000.0];
pub const PENALTIES: [&str; 4] = ["squared", "huber", "absolute", "poisson"];

/// Scores of states and of pairs are between ± this.
const SCORE: f64 = 2.0;
/// Where Huber's square ends.
const DELTA: f64 = 0.05;

/// A graph, and a target for every marginal that was drawn without looking at it.
pub fn problem(graph: &Graph, name: &str, weight: f64, seed: u64) -> Problem {
    let Graph { variables, states, ref edges, .. } = *graph;
    let mut rng = StdRng::seed_from_u64(seed);
    let mut model = Model::new(&vec![states; variables]).expect("a few states");
    let mut table = |cells: usize| -> Vec<f64> {
        (0..cells).map(|_| rng.random_range(-SCORE..SCORE)).collect()
    };
    let shared = table(states * states);
    for variable in 0..variables {
        model.add_factor(&[variable], &table(states)).expect("a table of scores");
    }
    for &(v, w) in edges {
        model.add_factor(&[v, w], &shared).expect("a table of scores");
    }
    let mut energies = Vec::new();
    for variable in 0..variables {
        for state in 0..states {
            // Targets of a variable sum to about half its states: no distribution meets them.
            let target = rng.random_range(0.0..1.0);
            let mut coefficients = vec![0.0; states];
            coefficients[state] = 1.0;
            let terms = vec![Term { scope: vec![variable], coefficients }];
            let (penalty, offset) = penalty(name, target);
            energies.push(Energy::Measurement { weight, penalty, offset, terms });
        }
    }
    Problem::new(model, energies).expect("measurements of single variables")
}

/// The penalty on a marginal for missing its target, and the offset that belongs to it.
fn penalty(name: &str, target: f64) -> (Penalty, f64) {
    match name {
        "squared" => (Penalty::Squared, -target),
        "huber" => (Penalty::Huber { delta: DELTA }, -target),
        "absolute" => (Penalty::Absolute, -target),
        "poisson" => (Penalty::Poisson { rate: 1.0, count: target }, 0.0),
        other => unreachable!("{other} is none of {PENALTIES:?}"),
    }
}
