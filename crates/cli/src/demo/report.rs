//! How the demo shows probabilities and readings.

use bethe_core::{Answer, Model};

/// A probability as a bar of eight cells.
pub fn bar(probability: f64) -> String {
    let filled = (8.0 * probability).round().clamp(0.0, 8.0) as usize;
    "█".repeat(filled) + &"·".repeat(8 - filled)
}

/// The states of the MAP assignment, one after another.
pub fn reading(model: &Model, answer: &Answer) -> String {
    let state = |(variable, &state): (usize, &usize)| {
        let names = model.variables()[variable].names.as_ref();
        names.map_or_else(|| state.to_string(), |names| names.states[state].clone())
    };
    answer.map.assignment.iter().enumerate().map(state).collect()
}

/// The probability of each state of the MAP assignment.
pub fn certainty(answer: &Answer) -> String {
    let of = |(variable, &state): (usize, &usize)| {
        format!("{:.2}", answer.marginals[variable].values[state])
    };
    answer.map.assignment.iter().enumerate().map(of).collect::<Vec<_>>().join(" ")
}
