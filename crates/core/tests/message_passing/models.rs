//! Models with cycles and without, small enough to enumerate.

use bethe_core::Model;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const NO: f64 = f64::NEG_INFINITY;

/// Scores in ±`scale`, and how often a cell is forbidden.
pub struct Recipe {
    pub scale: f64,
    pub forbidden: f64,
}

/// A random model on some scopes; one configuration stays allowed whatever is forbidden.
fn fill(random: &mut StdRng, states: &[usize], scopes: &[Vec<usize>], recipe: &Recipe) -> Model {
    let mut model = Model::new(states).unwrap();
    let kept: Vec<usize> = states.iter().map(|&k| random.random_range(0..k)).collect();
    let nodes = (0..states.len()).map(|v| vec![v]);
    for scope in nodes.chain(scopes.iter().cloned()) {
        let cells: usize = scope.iter().map(|&v| states[v]).product();
        let allowed = scope.iter().fold(0, |cell, &v| cell * states[v] + kept[v]);
        let table: Vec<f64> = (0..cells)
            .map(|cell| {
                let forbidden = cell != allowed && random.random_bool(recipe.forbidden);
                let score = random.random_range(-recipe.scale..=recipe.scale);
                if forbidden { NO } else { score }
            })
            .collect();
        model.add_factor(&scope, &table).unwrap();
    }
    model
}

fn random_states(random: &mut StdRng, variables: usize) -> Vec<usize> {
    (0..variables).map(|_| [1, 2, 2, 2, 3][random.random_range(0..5)]).collect()
}

/// Tables of two and three variables without a cycle, in one part or several, some within others.
pub fn forest(random: &mut StdRng, recipe: &Recipe) -> Model {
    let variables = random.random_range(1..=8);
    let states = random_states(random, variables);
    let mut scopes = Vec::new();
    let mut placed = 1;
    while placed < variables {
        let parent = random.random_range(0..placed);
        if random.random_bool(0.2) {
            placed += 1; // a part of its own
        } else if placed + 1 < variables && random.random_bool(0.4) {
            scopes.push(vec![placed, parent, placed + 1]);
            scopes.push(vec![placed + 1, placed]);
            placed += 2;
        } else {
            scopes.push(vec![parent, placed]);
            placed += 1;
        }
    }
    fill(random, &states, &scopes, recipe)
}

/// Tables of two to four random variables.
pub fn random_model(random: &mut StdRng, recipe: &Recipe) -> Model {
    let variables = random.random_range(3..=7);
    let states = random_states(random, variables);
    let scopes: Vec<Vec<usize>> = (0..random.random_range(3..=9))
        .map(|_| {
            let order = [2, 2, 2, 3, 3, 4][random.random_range(0..6)].min(variables);
            let mut scope = Vec::new();
            while scope.len() < order {
                let v = random.random_range(0..variables);
                if !scope.contains(&v) {
                    scope.push(v);
                }
            }
            scope
        })
        .collect();
    fill(random, &states, &scopes, recipe)
}

/// The same with gentle or violent scores, with and without forbidden cells.
pub fn small(random: &mut StdRng) -> Model {
    let scale = [0.5, 2.0, 8.0, 40.0][random.random_range(0..4)];
    let forbidden = [0.0, 0.0, 0.15, 0.3][random.random_range(0..4)];
    random_model(random, &Recipe { scale, forbidden })
}

/// An Ising grid with couplings and fields in ± the given sizes.
pub fn ising(side: usize, seed: u64, coupling: f64, field: f64) -> Model {
    let mut random = StdRng::seed_from_u64(seed);
    let mut model = Model::new(&vec![2; side * side]).unwrap();
    for site in 0..side * side {
        let own = random.random_range(-field..=field);
        model.add_factor(&[site], &[-own, own]).unwrap();
        let right = (site % side + 1 < side).then_some(site + 1);
        let below = (site + side < side * side).then_some(site + side);
        for other in [right, below].into_iter().flatten() {
            let j = random.random_range(-coupling..=coupling);
            model.add_factor(&[site, other], &[j, -j, -j, j]).unwrap();
        }
    }
    model
}

/// All pairs of some binary variables.
pub fn dense(variables: usize, seed: u64, scale: f64) -> Model {
    let pairs = |a: usize| (a + 1..variables).map(move |b| vec![a, b]);
    let scopes: Vec<Vec<usize>> = (0..variables).flat_map(pairs).collect();
    let recipe = Recipe { scale, forbidden: 0.0 };
    fill(&mut StdRng::seed_from_u64(seed), &vec![2; variables], &scopes, &recipe)
}

/// Nothing is possible, though every state fits some cell of every table: pairs of binary variables
/// that must be equal say that a variable has none of its three states.
pub fn impossible() -> Model {
    let mut model = Model::new(&[3, 2, 2, 2, 2, 2, 2]).unwrap();
    let member = |states: [bool; 3]| {
        let row = |is: bool| if is { [0.0, NO] } else { [NO, 0.0] };
        states.map(row).concat()
    };
    for (pair, out) in [(1, 0), (3, 1), (5, 2)] {
        // One holds if the state is the next one, the other if it is that or `out`.
        let next = (out + 1) % 3;
        let narrow: [bool; 3] = std::array::from_fn(|s| s == next);
        let wide: [bool; 3] = std::array::from_fn(|s| s == next || s == out);
        model.add_factor(&[0, pair], &member(narrow)).unwrap();
        model.add_factor(&[0, pair + 1], &member(wide)).unwrap();
        model.add_factor(&[pair, pair + 1], &[0.0, NO, NO, 0.0]).unwrap();
    }
    model
}
