//! A word read letter by letter, and a dictionary that it is probably in.
//!
//! `cargo run -p bethe-core --example dictionary`

use bethe_core::solve::Ignore;
use bethe_core::{Energy, Method, Model, Problem, Request, Settings, Term};

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const WORDS: [&str; 4] = ["tree", "true", "thee", "free"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What was read is no word: "tnee".
    let mut model = Model::new(&[LETTERS.len(); 4])?;
    for (place, read) in "tnee".chars().enumerate() {
        let confusable = |letter| match (read, letter) {
            (a, b) if a == b => 3.0,
            ('n', 'r') => 2.5,
            ('n', 'h') => 2.0,
            _ => 0.0,
        };
        let scores: Vec<f64> = LETTERS.chars().map(confusable).collect();
        model.add_factor(&[place], &scores)?;
    }
    // A measurement for each letter at each place, and a point for each word.
    let mut measurements = Vec::new();
    for place in 0..4 {
        for letter in 0..LETTERS.len() {
            measurements.push(vec![Term::indicator(&model, place, letter)?]);
        }
    }
    let point = |word: &&str| {
        let places = word.chars();
        places.flat_map(|own| LETTERS.chars().map(move |letter| f64::from(letter == own))).collect()
    };
    let points = WORDS.iter().map(point).collect();
    let energy = Energy::nearest(1.0, measurements, points);
    let problem = Problem::new(model, vec![energy])?;

    let read = |assignment: &[usize]| -> String {
        assignment.iter().map(|&letter| LETTERS.as_bytes()[letter] as char).collect()
    };
    // Piece by piece is fast and ends in a local optimum; branch and bound proves the best.
    let local = problem.solve()?;
    let settings = Settings { method: Method::Global, ..Settings::default() };
    let best = problem.solve_with(&settings, &Request::default(), &mut Ignore)?;
    for answer in [&local, &best] {
        let objective = answer.objective.unwrap();
        println!("{:>12}: {} at {objective:.4}", answer.solver, read(&answer.map.assignment));
    }
    assert_eq!((local.solver, best.solver), ("alternating", "global"));
    assert!(best.objective <= local.objective.map(|objective| objective + 1e-6));
    assert!(best.gap.unwrap() < 1e-5 && local.gap.is_none());
    assert!(WORDS.contains(&read(&best.map.assignment).as_str()));
    Ok(())
}
