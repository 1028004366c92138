//! Random convex problems that are hard on the numbers: weights over 18 orders of magnitude, scores
//! to ±700 and −∞, every convex penalty, hard rules that agree or contradict each other, and sums in
//! which tables cancel.

use bethe_core::{Energy, Model, Penalty, Problem, Term};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Every so many problems have sums in which tables cancel.
const CANCELLING: u64 = 4;

/// Whether hard rules can hold, by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// There are none.
    None,
    /// A distribution over all allowed configurations keeps them.
    Agree,
    /// No distribution keeps them, by a margin.
    Contradict,
}

/// A problem, and what is known of it.
pub struct Case {
    pub problem: Problem,
    pub rules: Rules,
}

/// Cardinalities and scopes.
struct Graph {
    cardinalities: Vec<usize>,
    scopes: Vec<Vec<usize>>,
}

impl Case {
    /// The same seed gives the same problem.
    pub fn new(seed: u64) -> Self {
        let random = &mut StdRng::seed_from_u64(seed);
        let graph = graph(random);
        let model = model(random, &graph);
        let mut energies: Vec<Energy> =
            (0..random.random_range(1..=4)).map(|_| soft(random, &graph)).collect();
        if seed.is_multiple_of(CANCELLING) && !graph.scopes.is_empty() {
            let count = random.random_range(1..=2).min(energies.len());
            energies[..count].fill_with(|| cancelling(random, &graph));
        }
        let rules = match random.random_range(0..20) {
            0..10 => Rules::None,
            10..16 => Rules::Agree,
            _ => Rules::Contradict,
        };
        let count = random.random_range(1..=3);
        match rules {
            Rules::None => {}
            Rules::Agree => agreeing(random, &graph, &model, count, &mut energies),
            Rules::Contradict => {
                agreeing(random, &graph, &model, count - 1, &mut energies);
                contradict(random, &graph, &model, &mut energies);
            }
        }
        let problem = Problem::new(model, energies).expect("energies that fit the model");
        Self { problem, rules }
    }
}

/// A chain, a tree, a cycle, or one with a factor over three variables.
fn graph(random: &mut StdRng) -> Graph {
    let variables = random.random_range(1..=5);
    let cardinalities: Vec<usize> = (0..variables).map(|_| random.random_range(1..=3)).collect();
    let mut scopes: Vec<Vec<usize>> = match random.random_range(0..3) {
        0 => (1..variables).map(|v| vec![v - 1, v]).collect(),
        1 => (1..variables).map(|v| vec![random.random_range(0..v), v]).collect(),
        _ => (0..variables).map(|v| vec![v, (v + 1) % variables]).collect(),
    };
    scopes.retain(|scope| scope[0] != scope[1]);
    if variables >= 3 && random.random_bool(0.2) {
        scopes.push(vec![2, 0, 1]);
    }
    Graph { cardinalities, scopes }
}

fn cells(graph: &Graph, scope: &[usize]) -> usize {
    scope.iter().map(|&v| graph.cardinalities[v]).product()
}

fn pick<T: Copy>(random: &mut StdRng, all: &[T]) -> T {
    all[random.random_range(0..all.len())]
}

fn model(random: &mut StdRng, graph: &Graph) -> Model {
    let reach = pick(random, &[0.1, 1.0, 5.0, 50.0, 700.0]);
    let forbidden = pick(random, &[0.0, 0.0, 0.1, 0.3]);
    let mut model = Model::new(&graph.cardinalities).expect("cardinalities of at least 1");
    // One configuration stays allowed whatever is forbidden.
    let kept: Vec<usize> = graph.cardinalities.iter().map(|&k| random.random_range(0..k)).collect();
    let nodes = (0..graph.cardinalities.len()).map(|v| vec![v]);
    for scope in nodes.chain(graph.scopes.iter().cloned()) {
        let kept = scope.iter().fold(0, |cell, &v| cell * graph.cardinalities[v] + kept[v]);
        let mut score = |cell: usize| {
            let is_forbidden = random.random_bool(forbidden) && cell != kept;
            let score = random.random_range(-reach..=reach);
            if is_forbidden { f64::NEG_INFINITY } else { score }
        };
        let table: Vec<f64> = (0..cells(graph, &scope)).map(&mut score).collect();
        model.add_factor(&scope, &table).expect("a table that fits its scope");
    }
    model
}

fn terms(random: &mut StdRng, graph: &Graph, is_positive: bool) -> Vec<Term> {
    let reach = pick(random, &[1.0, 1.0, 1.0, 30.0, 1000.0]);
    let is_whole = random.random_bool(0.4);
    let count = random.random_range(1..=3);
    let mut term = || {
        let is_node = graph.scopes.is_empty() || random.random_bool(0.6);
        let scope = if is_node {
            vec![random.random_range(0..graph.cardinalities.len())]
        } else {
            graph.scopes[random.random_range(0..graph.scopes.len())].clone()
        };
        let low = if is_positive { 0.0 } else { -reach };
        let coefficients = (0..cells(graph, &scope))
            .map(|_| {
                let value: f64 = random.random_range(low..=reach);
                if is_whole { (value / reach).round() * reach } else { value }
            })
            .collect();
        Term { scope, coefficients }
    };
    (0..count).map(|_| term()).collect()
}

/// The largest coefficient.
fn largest(terms: &[Term]) -> f64 {
    let all = terms.iter().flat_map(|term| &term.coefficients);
    all.fold(0.0f64, |most, value| most.max(value.abs()))
}

fn penalty(random: &mut StdRng) -> Penalty {
    let count = pick(random, &[0.0, 0.5, 7.0, 300.0]);
    let rate = pick(random, &[0.1, 1.0, 20.0]);
    pick(
        random,
        &[
            Penalty::Linear,
            Penalty::Hinge,
            Penalty::SmoothedHinge,
            Penalty::Squared,
            Penalty::Absolute,
            Penalty::Absolute,
            Penalty::Huber { delta: 0.3 },
            Penalty::Poisson { rate, count },
        ],
    )
}

/// An energy of any weight from 1e-6 to 1e12.
fn soft(random: &mut StdRng, graph: &Graph) -> Energy {
    let penalty = penalty(random);
    let is_moderate = random.random_bool(0.4);
    let exponent: f64 =
        if is_moderate { random.random_range(-1.0..2.0) } else { random.random_range(-6.0..12.0) };
    let weight = 10f64.powf(exponent);
    let is_counted = matches!(penalty, Penalty::Poisson { .. });
    if !is_counted && !graph.scopes.is_empty() && random.random_bool(0.1) {
        let scope = graph.scopes[random.random_range(0..graph.scopes.len())].clone();
        let target = (0..cells(graph, &scope)).map(|_| random.random_range(-0.1..0.6)).collect();
        return Energy::TableMeasurement { weight, penalty, scope, target, total: 1.0 };
    }
    let terms = terms(random, graph, is_counted);
    let reach = largest(&terms);
    // Where something is counted, there can be something.
    let offset =
        if is_counted { 0.05 * reach.max(0.1) } else { random.random_range(-1.0..=1.0) * reach };
    Energy::Measurement { weight, penalty, offset, terms }
}

/// An energy of a large weight over a table and its variables, or over two tables that share some,
/// that comes to the same in all configurations, or in nearly all: tilts are far larger than what
/// they do.
fn cancelling(random: &mut StdRng, graph: &Graph) -> Energy {
    let scope = graph.scopes[random.random_range(0..graph.scopes.len())].clone();
    let coefficient = |random: &mut StdRng| {
        let is_whole = random.random_bool(0.5);
        let value: f64 = random.random_range(-3.0..=3.0);
        if is_whole { value.round() } else { value }
    };
    let mut canceller = vec![pick(random, &[0.0, 1.0, 5.0]); cells(graph, &scope)];
    let mut terms = Vec::new();
    for (axis, &variable) in scope.iter().enumerate() {
        if axis > 0 && random.random_bool(0.5) {
            continue;
        }
        let beside: Vec<&Vec<usize>> = graph
            .scopes
            .iter()
            .filter(|other| other.contains(&variable) && **other != scope)
            .collect();
        let is_node = beside.is_empty() || random.random_bool(0.6);
        let other = if is_node { vec![variable] } else { pick(random, &beside).clone() };
        let own: Vec<f64> =
            (0..graph.cardinalities[variable]).map(|_| coefficient(random)).collect();
        let state = |scope: &[usize], cell: usize| {
            let place = scope.iter().position(|&v| v == variable).expect("it is in the scope");
            let stride = cells(graph, &scope[place + 1..]);
            cell / stride % graph.cardinalities[variable]
        };
        let spread = |cell: usize| own[state(&other, cell)];
        let coefficients = (0..cells(graph, &other)).map(spread).collect();
        canceller.iter_mut().enumerate().for_each(|(cell, c)| *c -= own[state(&scope, cell)]);
        terms.push(Term { scope: other, coefficients });
    }
    if random.random_bool(0.4) {
        let cell = random.random_range(0..canceller.len());
        canceller[cell] += pick(random, &[-1.0, 1e-9, 1e-3, 1.0]);
    }
    terms.push(Term { scope, coefficients: canceller });
    let penalty = match penalty(random) {
        Penalty::Poisson { .. } => Penalty::Hinge,
        other => other,
    };
    let weight = 10f64.powf(random.random_range(3.0..12.0));
    let offset = pick(random, &[0.0, -1.0, -5.0, -7.0, 0.3]);
    Energy::Measurement { weight, penalty, offset, terms }
}

/// What some terms come to in each allowed configuration.
fn values(graph: &Graph, model: &Model, terms: &[Term]) -> Vec<f64> {
    let cardinalities = &graph.cardinalities;
    let joint: usize = cardinalities.iter().product();
    let configuration = |mut index: usize| {
        let mut states = vec![0; cardinalities.len()];
        for (state, &cardinality) in states.iter_mut().zip(cardinalities).rev() {
            (*state, index) = (index % cardinality, index / cardinality);
        }
        states
    };
    let at = |scope: &[usize], table: &[f64], states: &[usize]| {
        table[scope.iter().fold(0, |cell, &v| cell * cardinalities[v] + states[v])]
    };
    let is_allowed = |states: &Vec<usize>| {
        let mut factors = model.factors().iter();
        factors.all(|factor| at(&factor.scope, &factor.log_potentials, states).is_finite())
    };
    let value = |states: Vec<usize>| {
        terms.iter().map(|term| at(&term.scope, &term.coefficients, &states)).sum()
    };
    (0..joint).map(configuration).filter(is_allowed).map(value).collect()
}

/// Rules that one distribution keeps: all its configurations are about as likely.
fn agreeing(
    random: &mut StdRng,
    graph: &Graph,
    model: &Model,
    count: usize,
    energies: &mut Vec<Energy>,
) {
    let states = values(graph, model, &[]).len();
    let weights: Vec<f64> = (0..states).map(|_| random.random_range(0.1..1.0)).collect();
    let total: f64 = weights.iter().sum();
    for _ in 0..count {
        let terms = terms(random, graph, false);
        let values = values(graph, model, &terms);
        let mean: f64 = values.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
        let room = if random.random_bool(0.5) { 0.0 } else { 0.1 * largest(&terms) };
        energies.push(match random.random_bool(0.5) {
            true => Energy::equal(mean, terms),
            false => Energy::at_most(mean + room, terms),
        });
    }
}

/// Rules that no distribution keeps: out of reach, or two of them with different values.
fn contradict(random: &mut StdRng, graph: &Graph, model: &Model, energies: &mut Vec<Energy>) {
    let terms = terms(random, graph, false);
    let values = values(graph, model, &terms);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let margin = largest(&terms).max(1.0) * pick(random, &[1e-3, 0.05, 1.0]);
    if random.random_bool(0.5) {
        energies.push(match random.random_bool(0.5) {
            true => Energy::equal(least - margin, terms),
            false => Energy::at_most(least - margin, terms),
        });
    } else {
        energies.push(Energy::equal(least + margin, terms.clone()));
        energies.push(Energy::at_most(least, terms));
    }
}
