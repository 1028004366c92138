//! The named list of models that every oracle is held against.

use bethe_core::Model;
use bethe_core::model::table::table_size;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// Every model small enough to enumerate, by name.
pub fn graphs() -> Vec<(&'static str, Model)> {
    vec![
        ("chain", pairwise(1, &[3; 6], &path(6), 2.0)),
        ("chain out of order", pairwise(2, &[3; 5], &[(4, 1), (1, 3), (0, 3), (0, 2)], 2.0)),
        ("tree", pairwise(3, &[2, 3, 2, 2, 3, 2, 2, 2], &binary_tree(8), 2.0)),
        ("star", pairwise(4, &[2; 8], &(1..8).map(|leaf| (0, leaf)).collect::<Vec<_>>(), 2.0)),
        ("cycle", pairwise(5, &[3; 6], &cycle(6), 2.0)),
        ("grid 3x3", pairwise(6, &[2; 9], &grid(3), 2.0)),
        ("complete 4-clique", pairwise(7, &[3; 4], &complete(4), 2.0)),
        ("cycle with a chord and tails", pairwise(8, &[2; 8], &tailed_cycle(), 2.0)),
        ("isolated variables", pairwise(9, &[2, 3, 4, 2], &[], 2.0)),
        ("disconnected parts", pairwise(10, &[2; 9], &disconnected(), 2.0)),
        ("one label", pairwise(11, &[1; 4], &path(4), 2.0)),
        ("one label here and there", pairwise(12, &[2, 1, 3, 1, 2], &path(5), 2.0)),
        ("one variable", pairwise(13, &[4], &[], 2.0)),
        ("no variable", Model::new(&[]).unwrap()),
        ("no factor", Model::new(&[2, 3]).unwrap()),
        ("duplicate scopes", duplicate_scopes()),
        ("three-way factors", three_way()),
        ("a five-way factor", five_way()),
        ("scores of ±40", pairwise(16, &[3; 6], &cycle(6), 40.0)),
        ("scores of ±700", extreme(17, &[2; 9], &grid(3))),
        ("chain with scores of ±700", extreme(18, &[3; 6], &path(6))),
        ("opposite scores of 700", opposite()),
        ("ties everywhere", pairwise(19, &[3; 6], &cycle(6), 0.0)),
        ("forbidden states", forbidden_states()),
        ("forbidden transitions", forbidden_transitions()),
        ("all different", all_different()),
        ("parity", parity()),
        ("one configuration left", one_left()),
        ("mixed cardinalities", pairwise(23, &[5, 2, 7, 3, 2], &cycle(5), 3.0)),
        ("evidence", evidence()),
        ("evidence on every variable", all_observed()),
    ]
}

/// Random node and edge tables with scores in ±`scale`.
fn pairwise(seed: u64, cardinalities: &[usize], edges: &[(usize, usize)], scale: f64) -> Model {
    let mut random = StdRng::seed_from_u64(seed);
    let mut model = Model::new(cardinalities).unwrap();
    let scopes = (0..cardinalities.len()).map(|v| vec![v]);
    for scope in scopes.chain(edges.iter().map(|&(a, b)| vec![a, b])) {
        add_random(&mut model, &mut random, &scope, scale);
    }
    model
}

fn add_random(model: &mut Model, random: &mut StdRng, scope: &[usize], scale: f64) {
    let shape = scope.iter().map(|&v| model.variables()[v].cardinality);
    let cells = table_size(shape).unwrap();
    let values: Vec<f64> = (0..cells).map(|_| scale * random.random_range(-1.0..=1.0)).collect();
    model.add_factor(scope, &values).unwrap();
}

/// Every score -700, 0 or 700, and a little.
fn extreme(seed: u64, cardinalities: &[usize], edges: &[(usize, usize)]) -> Model {
    let mut random = StdRng::seed_from_u64(seed);
    let small = pairwise(seed, cardinalities, edges, 1.0);
    let mut model = Model::new(cardinalities).unwrap();
    for factor in small.factors() {
        let far = |x: &f64| x + 700.0 * f64::from(random.random_range(-1..=1));
        let values: Vec<f64> = factor.log_potentials.iter().map(far).collect();
        model.add_factor(&factor.scope, &values).unwrap();
    }
    model
}

pub fn path(variables: usize) -> Vec<(usize, usize)> {
    (1..variables).map(|v| (v - 1, v)).collect()
}

pub fn binary_tree(variables: usize) -> Vec<(usize, usize)> {
    (1..variables).map(|v| ((v - 1) / 2, v)).collect()
}

fn cycle(variables: usize) -> Vec<(usize, usize)> {
    (0..variables).map(|v| (v, (v + 1) % variables)).collect()
}

pub fn complete(variables: usize) -> Vec<(usize, usize)> {
    (0..variables).flat_map(|a| (a + 1..variables).map(move |b| (a, b))).collect()
}

fn grid(side: usize) -> Vec<(usize, usize)> {
    let right = (0..side * side).filter(move |v| v % side + 1 < side).map(|v| (v, v + 1));
    right.chain((0..side * (side - 1)).map(|v| (v, v + side))).collect()
}

fn tailed_cycle() -> Vec<(usize, usize)> {
    let mut edges = cycle(5);
    edges.extend([(1, 4), (0, 5), (5, 6), (2, 7)]);
    edges
}

/// A chain, a triangle, an edge and a variable alone.
fn disconnected() -> Vec<(usize, usize)> {
    vec![(0, 3), (3, 5), (1, 2), (2, 8), (8, 1), (4, 7)]
}

fn duplicate_scopes() -> Model {
    let mut random = StdRng::seed_from_u64(14);
    let mut model = Model::new(&[2, 3, 2]).unwrap();
    for scope in [&[0, 1][..], &[1, 0], &[0, 1], &[2], &[2], &[1, 2], &[2, 1]] {
        add_random(&mut model, &mut random, scope, 2.0);
    }
    model
}

fn three_way() -> Model {
    let mut random = StdRng::seed_from_u64(15);
    let mut model = Model::new(&[2, 3, 2, 2, 3, 2, 2]).unwrap();
    for scope in [&[2, 0, 1][..], &[1, 3, 4], &[5, 4, 6], &[0], &[4], &[3, 1], &[6, 2]] {
        add_random(&mut model, &mut random, scope, 2.0);
    }
    model
}

fn five_way() -> Model {
    let mut random = StdRng::seed_from_u64(25);
    let mut model = Model::new(&[2, 3, 2, 4, 2, 2]).unwrap();
    for scope in [&[4, 0, 3, 1, 2][..], &[1, 2], &[3, 5]] {
        add_random(&mut model, &mut random, scope, 2.0);
    }
    model
}

/// Scores that cancel only once every table is in: no table alone says what is likely.
fn opposite() -> Model {
    let mut model = Model::new(&[2; 4]).unwrap();
    model.add_factor(&[0], &[700.0, -700.0]).unwrap();
    model.add_factor(&[0, 1], &[-700.0, 0.3, 0.1, 700.0]).unwrap();
    model.add_factor(&[1, 2], &[700.0, -700.0, -700.0, 699.0]).unwrap();
    model.add_factor(&[2, 3], &[-700.0, -700.0, -700.0, 700.0]).unwrap();
    model.add_factor(&[3], &[0.0, -700.0]).unwrap();
    model
}

fn forbidden_states() -> Model {
    let mut model = pairwise(20, &[3; 5], &path(5), 2.0);
    model.add_factor(&[0], &[0.0, FORBIDDEN, 0.0]).unwrap();
    model.add_factor(&[2], &[FORBIDDEN, FORBIDDEN, 0.5]).unwrap();
    model.add_factor(&[3, 4], &[0., 0., 0., FORBIDDEN, FORBIDDEN, FORBIDDEN, 0., 0., 0.]).unwrap();
    model
}

/// Outside, begin, inside: inside follows begin or inside only, and nothing starts inside.
fn forbidden_transitions() -> Model {
    let mut model = pairwise(21, &[3; 6], &path(6), 2.0);
    model.add_factor(&[0], &[0.0, 0.0, FORBIDDEN]).unwrap();
    for (a, b) in path(6) {
        model.add_factor(&[a, b], &[0., 0., FORBIDDEN, 0., 0., 0., 0., 0., 0.]).unwrap();
    }
    model
}

/// 24 of 256 configurations are left, and no table alone tells which.
fn all_different() -> Model {
    let mut model = pairwise(22, &[4; 4], &complete(4), 1.0);
    let equal: Vec<f64> = (0..16).map(|cell| if cell % 5 == 0 { FORBIDDEN } else { 0.0 }).collect();
    for (a, b) in complete(4) {
        model.add_factor(&[a, b], &equal).unwrap();
    }
    model
}

/// Overlapping triples of binary variables, each with an even sum.
fn parity() -> Model {
    let mut model = pairwise(26, &[2; 7], &[], 1.0);
    let even: Vec<f64> =
        (0..8u32).map(|cell| if cell.count_ones() % 2 == 0 { 0.0 } else { FORBIDDEN }).collect();
    for scope in [[0, 1, 2], [2, 3, 4], [4, 5, 6], [0, 3, 6]] {
        model.add_factor(&scope, &even).unwrap();
    }
    model
}

fn one_left() -> Model {
    let mut model = pairwise(24, &[3; 5], &cycle(5), 2.0);
    let climb: Vec<f64> =
        (0..9).map(|cell| if cell % 3 > cell / 3 { 0.0 } else { FORBIDDEN }).collect();
    for scope in [[0, 1], [1, 2]] {
        model.add_factor(&scope, &climb).unwrap();
    }
    let same: Vec<f64> = (0..9).map(|cell| if cell % 4 == 0 { 0.0 } else { FORBIDDEN }).collect();
    for scope in [[2, 3], [3, 4]] {
        model.add_factor(&scope, &same).unwrap();
    }
    model
}

fn evidence() -> Model {
    let mut model = pairwise(27, &[2, 3, 2, 3, 2, 2], &cycle(6), 2.0);
    model.add_factor(&[1, 3], &[0.0, 1.0, 2.0, 1.0, FORBIDDEN, 0.0, 0.5, 0.0, 1.0]).unwrap();
    model.observe(3, 1).unwrap();
    model.observe(5, 0).unwrap();
    model
}

fn all_observed() -> Model {
    let mut model = pairwise(28, &[2, 3], &path(2), 2.0);
    model.observe(0, 1).unwrap();
    model.observe(1, 2).unwrap();
    model
}
