//! The problems of the demo.

use bethe_core::{Energy, Model, Names, Norm, Penalty, Problem, Term, Variable};

const NEVER: f64 = f64::NEG_INFINITY;

/// The words of a reference.
pub const TOKENS: [&str; 10] = [
    "Pearl",
    "J.",
    "Probabilistic",
    "reasoning",
    "in",
    "intelligent",
    "systems",
    "Morgan",
    "Kaufmann",
    "1988",
];
/// The labels of its tokens.
pub const LABELS: [&str; 5] = ["author", "title-begin", "title", "publisher", "year"];
/// The label whose count is the number of titles.
pub const TITLE_BEGIN: usize = 1;

/// A reference whose words suggest two titles, and an energy that says: at most one.
pub fn titles() -> anyhow::Result<Problem> {
    let mut model = Model::default();
    for (position, token) in TOKENS.iter().enumerate() {
        add_named(&mut model, &format!("{}:{token}", position + 1), &LABELS)?;
    }
    // How well each label fits each word, as a local classifier would score it.
    let fits: [[f64; 5]; 10] = [
        [3.0, 0.5, 0.0, 0.5, -2.0],
        [3.0, 0.0, 0.0, 0.0, -2.0],
        [0.0, 2.5, 1.0, 0.0, -2.0],
        [0.0, 0.5, 2.0, 0.0, -2.0],
        [0.0, 0.0, 2.0, 0.3, -2.0],
        [0.0, 0.5, 2.0, 0.0, -2.0],
        [0.0, 0.3, 1.8, 0.3, -2.0],
        [1.0, 2.9, 0.6, 1.8, -2.0],
        [1.0, 0.3, 1.9, 1.4, -2.0],
        [-2.0, -1.0, -1.0, -1.0, 4.0],
    ];
    // A title continues only after it began; fields seldom change back.
    let follows: [[f64; 5]; 5] = [
        [1.0, 0.5, NEVER, -0.5, -0.5],
        [-1.0, -2.0, 1.0, -0.5, -0.5],
        [-1.0, 0.0, 1.0, 0.0, -0.5],
        [-1.0, -0.5, NEVER, 1.0, 0.5],
        [-0.5, -0.5, NEVER, 0.0, 0.0],
    ];
    for (position, scores) in fits.iter().enumerate() {
        model.add_factor(&[position], scores)?;
    }
    for position in 1..TOKENS.len() {
        model.add_factor(&[position - 1, position], follows.as_flattened())?;
    }
    let mut begins = vec![0.0; LABELS.len()];
    begins[TITLE_BEGIN] = -1.0;
    let terms =
        (0..TOKENS.len()).map(|v| Term { scope: vec![v], coefficients: begins.clone() }).collect();
    // "a·s ≤ b" is a hinge at z = 1 + b − a·s.
    let at_most_one =
        Energy::Measurement { weight: 10.0, penalty: Penalty::SmoothedHinge, offset: 2.0, terms };
    Ok(Problem::new(model, vec![at_most_one])?)
}

/// The dictionary.
pub const DICTIONARY: [&str; 7] = ["house", "horse", "mouse", "hours", "shore", "mores", "ruses"];

/// Badly read letters, and a prior that the word is near one of a dictionary.
pub fn words() -> anyhow::Result<Problem> {
    let letters: Vec<String> = {
        let mut letters: Vec<char> = DICTIONARY.concat().chars().chain("cb".chars()).collect();
        letters.sort_unstable();
        letters.dedup();
        letters.iter().map(char::to_string).collect()
    };
    let state = |letter: char| letters.iter().position(|l| l.starts_with(letter));
    let mut model = Model::default();
    // Guesses for each letter, with scores.
    let seen: [&[(char, f64)]; 5] = [
        &[('b', 3.2), ('h', 3.0), ('m', 1.0)],
        &[('o', 3.5), ('c', 2.5)],
        &[('u', 3.5), ('r', 0.5), ('e', 1.5)],
        &[('r', 4.6), ('s', 3.3), ('e', 2.0)],
        &[('c', 4.6), ('e', 3.6), ('s', -2.5)],
    ];
    for (position, guesses) in seen.iter().enumerate() {
        add_named(&mut model, &format!("letter {}", position + 1), &letters)?;
        let mut scores = vec![0.0; letters.len()];
        for &(letter, score) in *guesses {
            if let Some(state) = state(letter) {
                scores[state] = score;
            }
        }
        model.add_factor(&[position], &scores)?;
    }
    for position in 1..seen.len() {
        model.add_factor(&[position - 1, position], &vec![0.0; letters.len().pow(2)])?;
    }
    let indicator = |variable: usize, state: usize| {
        let mut coefficients = vec![0.0; letters.len()];
        coefficients[state] = 1.0;
        vec![Term { scope: vec![variable], coefficients }]
    };
    let cells = (0..seen.len()).flat_map(|v| (0..letters.len()).map(move |state| (v, state)));
    let point = |word: &str| {
        let chars: Vec<Option<usize>> = word.chars().map(state).collect();
        cells.clone().map(|(v, state)| f64::from(chars[v] == Some(state))).collect()
    };
    let near_a_word = Energy::Nearest {
        weight: 1.5,
        norm: Norm::L1,
        cap: None,
        measurements: cells.clone().map(|(v, state)| indicator(v, state)).collect(),
        points: DICTIONARY.iter().map(|word| point(word)).collect(),
    };
    Ok(Problem::new(model, vec![near_a_word])?)
}

/// Side of the Ising grid.
pub const SIDE: usize = 3;

/// An Ising grid, whole or with its vertical couplings as products of marginals.
pub fn grid(mean_field: bool) -> anyhow::Result<Problem> {
    let mut model = Model::new(&[2; SIDE * SIDE])?;
    for site in 0..SIDE * SIDE {
        let field = 0.4 * (site as f64 * 1.7).sin();
        model.add_factor(&[site], &[-field, field])?;
    }
    let coupling = [0.4, -0.4, -0.4, 0.4];
    let mut energies = Vec::new();
    for site in 0..SIDE * SIDE {
        if site % SIDE + 1 < SIDE {
            model.add_factor(&[site, site + 1], &coupling)?;
        }
        if site + SIDE < SIDE * SIDE {
            let scope = vec![site, site + SIDE];
            if mean_field {
                energies.push(Energy::Product { scope, log_potentials: coupling.to_vec() });
            } else {
                model.add_factor(&scope, &coupling)?;
            }
        }
    }
    Ok(Problem::new(model, energies)?)
}

fn add_named<S: ToString>(model: &mut Model, name: &str, states: &[S]) -> anyhow::Result<()> {
    let states: Vec<String> = states.iter().map(ToString::to_string).collect();
    let names = Names { variable: name.to_string(), states };
    model.add_variable(Variable { cardinality: names.states.len(), names: Some(names) })?;
    Ok(())
}
