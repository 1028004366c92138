//! Random problems for the tests, and a reference optimum that shares no code with the solvers.
#![allow(dead_code)] // each test binary uses its part

use bethe_core::energy::Measurements;
use bethe_core::oracle::BruteForce;
use bethe_core::problem::BoundProblem;
use bethe_core::solve::{Ignore, SolveError, solve};
use bethe_core::{Energy, Model, Oracle, Penalty, Problem, Settings, Solution, Term};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A name, cardinalities, scopes.
pub type Graph = (&'static str, Vec<usize>, Vec<Vec<usize>>);

/// The graphs that every solver is run on.
pub fn graphs() -> Vec<Graph> {
    let path = |n: usize| (1..n).map(|i| vec![i - 1, i]).collect::<Vec<_>>();
    vec![
        ("one variable", vec![4], vec![vec![0]]),
        ("one label", vec![1, 3, 1, 2], path(4)),
        ("isolated", vec![3, 2, 4], vec![vec![1]]),
        ("chain", vec![3; 6], path(6)),
        ("mixed chain", vec![2, 5, 3, 4, 2], path(5)),
        ("star", vec![3, 2, 2, 3, 2], vec![vec![0, 1], vec![2, 0], vec![0, 3], vec![4, 0]]),
        (
            "tree",
            vec![2, 3, 2, 2, 3, 2],
            vec![vec![0, 1], vec![1, 2], vec![3, 1], vec![3, 4], vec![5, 3]],
        ),
        ("cycle", vec![3, 2, 3, 2], vec![vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0]]),
        (
            "grid",
            vec![2; 9],
            vec![
                vec![0, 1],
                vec![1, 2],
                vec![3, 4],
                vec![4, 5],
                vec![6, 7],
                vec![7, 8],
                vec![0, 3],
                vec![3, 6],
                vec![1, 4],
                vec![4, 7],
                vec![2, 5],
                vec![5, 8],
            ],
        ),
        ("three-way", vec![2, 3, 2, 2], vec![vec![2, 0, 1], vec![1, 3], vec![0, 2]]),
        ("duplicates", vec![3, 3], vec![vec![0, 1], vec![1, 0], vec![0, 1], vec![0]]),
    ]
}

pub struct Recipe {
    pub score: f64,
    pub forbidden: f64,
    pub weight: f64,
    pub measurements: usize,
}

/// A random model on a graph; some entries forbidden, never all.
pub fn random_model(
    rng: &mut StdRng,
    cardinalities: &[usize],
    scopes: &[Vec<usize>],
    recipe: &Recipe,
) -> Model {
    let mut model = Model::new(cardinalities).unwrap();
    // One configuration stays allowed whatever is forbidden.
    let kept: Vec<usize> = cardinalities.iter().map(|&k| rng.random_range(0..k)).collect();
    let nodes = (0..cardinalities.len()).map(|v| vec![v]);
    for scope in nodes.chain(scopes.iter().cloned()) {
        let size: usize = scope.iter().map(|&v| cardinalities[v]).product();
        let kept_cell = scope.iter().fold(0, |cell, &v| cell * cardinalities[v] + kept[v]);
        let table: Vec<f64> = (0..size)
            .map(|cell| {
                if cell != kept_cell && rng.random_bool(recipe.forbidden) {
                    f64::NEG_INFINITY
                } else {
                    rng.random_range(-recipe.score..=recipe.score)
                }
            })
            .collect();
        model.add_factor(&scope, &table).unwrap();
    }
    model
}

pub fn soft_penalties() -> Vec<Penalty> {
    vec![
        Penalty::Linear,
        Penalty::Hinge,
        Penalty::SmoothedHinge,
        Penalty::Squared,
        Penalty::Absolute,
        Penalty::Huber { delta: 0.3 },
        Penalty::Poisson { rate: 3.0, count: 2.0 },
        Penalty::Poisson { rate: 2.0, count: 0.0 },
    ]
}

/// A measurement over random tables. Poisson ones have positive coefficients.
pub fn random_measurement(
    rng: &mut StdRng,
    cardinalities: &[usize],
    scopes: &[Vec<usize>],
    penalty: Penalty,
    weight: f64,
) -> Energy {
    let mut terms = Vec::new();
    let poisson = matches!(penalty, Penalty::Poisson { .. });
    for _ in 0..rng.random_range(1..=4) {
        let scope = if rng.random_bool(0.3) {
            scopes[rng.random_range(0..scopes.len())].clone()
        } else {
            vec![rng.random_range(0..cardinalities.len())]
        };
        let size: usize = scope.iter().map(|&v| cardinalities[v]).product();
        let coefficients = (0..size)
            .map(|_| if poisson { rng.random_range(0.1..1.0) } else { rng.random_range(-1.0..1.0) })
            .collect();
        terms.push(Term { scope, coefficients });
    }
    let offset = if poisson { 0.05 } else { rng.random_range(-0.5..0.5) };
    Energy::Measurement { weight, penalty, offset, terms }
}

/// What some terms measure at a gentler version of the model, so that a bound there is feasible.
pub fn value_nearby(model: &Model, terms: &[Term]) -> f64 {
    let cardinalities: Vec<usize> = model.variables().iter().map(|v| v.cardinality).collect();
    let mut gentle = Model::new(&cardinalities).unwrap();
    for factor in model.factors() {
        let soften = |v: &f64| if v.is_finite() { 0.05 * v } else { *v };
        let table: Vec<f64> = factor.log_potentials.iter().map(soften).collect();
        gentle.add_factor(&factor.scope, &table).unwrap();
    }
    let measured = Energy::measurement(1.0, Penalty::Linear, terms.to_vec());
    let mut bound = Problem::new(gentle, vec![measured]).unwrap().bind().unwrap();
    let mut marginals = vec![0.0; bound.energies.support().len()];
    bound.oracle.tilted(&vec![0.0; marginals.len()], &mut marginals);
    bound.energies.measurements.rows().measure(0, &marginals)
}

pub fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// Solves a bound problem and says so if it cannot.
pub fn run(bound: &mut BoundProblem, settings: &Settings) -> Result<Solution, SolveError> {
    solve(bound.task(), settings, &mut Ignore)
}

/// The optimum of a problem with measurements only, by cyclic bisection on the multipliers over an
/// enumeration of all joint states: slow, and independent of every solver.
pub struct Reference {
    pub objective: f64,
    pub marginals: Vec<f64>,
}

pub fn reference(problem: &Problem) -> Reference {
    let bound = problem.bind().unwrap();
    let mut oracle = BruteForce::new(&bound.base, bound.energies.support());
    let width = bound.energies.support().len();
    let measurements = &bound.energies.measurements;
    let rows = measurements.len();
    let mut multipliers: Vec<f64> = (0..rows)
        .map(|row| {
            let (low, high) = measurements.penalty(row).multipliers(measurements.weights()[row]);
            0.0f64.clamp(low.min(high), high)
        })
        .collect();
    let mut marginals = vec![0.0; width];
    for cycle in 0..400 {
        let before = multipliers.clone();
        for row in 0..rows {
            bisect(&mut oracle, measurements, &mut multipliers, row, &mut marginals);
        }
        let moved = before.iter().zip(&multipliers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if moved < 1e-12 && cycle > 0 {
            break;
        }
    }
    let log_partition = call(&mut oracle, measurements, &multipliers, &mut marginals);
    let mut objective = -log_partition;
    for (row, multiplier) in multipliers.iter().enumerate() {
        let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
        let z = measurements.rows().measure(row, &marginals);
        objective -= multiplier * (z - measurements.rows().offset(row));
        objective += weight * penalty.value(z);
    }
    Reference { objective, marginals }
}

fn call(
    oracle: &mut BruteForce,
    measurements: &Measurements,
    multipliers: &[f64],
    marginals: &mut [f64],
) -> f64 {
    let mut tilt = vec![0.0; marginals.len()];
    for (row, multiplier) in multipliers.iter().enumerate() {
        measurements.rows().add_row(row, -multiplier, &mut tilt);
    }
    oracle.tilted(&tilt, marginals)
}

/// Sets one multiplier where the dual's slope, `z − (wφ)*′(λ)`, changes its sign.
fn bisect(
    oracle: &mut BruteForce,
    measurements: &Measurements,
    multipliers: &mut [f64],
    row: usize,
    marginals: &mut [f64],
) {
    let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
    let (low, high) = penalty.multipliers(weight);
    if low == high {
        return;
    }
    let mut climbs = |multiplier: f64| {
        multipliers[row] = multiplier;
        call(oracle, measurements, multipliers, marginals);
        let z = measurements.rows().measure(row, marginals);
        z > penalty.conjugate_derivative(weight, multiplier)
    };
    let (mut low, mut high) = (low.max(-2000.0), high.min(2000.0));
    if penalty.is_smooth() && matches!(penalty, Penalty::Poisson { .. }) {
        high -= 1e-12 * high.abs();
    }
    for _ in 0..70 {
        let middle = 0.5 * (low + high);
        if climbs(middle) { low = middle } else { high = middle }
    }
    multipliers[row] = 0.5 * (low + high);
}
