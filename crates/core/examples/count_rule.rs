//! At most one title in a reference: a rule that no chain can hold, on a chain that breaks it.
//!
//! `cargo run -p bethe-core --example count_rule`

use bethe_core::{Energy, Model, Problem, count};

const LABELS: [&str; 3] = ["author", "title", "date"];
const TITLE: usize = 1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Six tokens. The scores of two of them, far apart, say title.
    let mut model = Model::new(&[LABELS.len(); 6])?;
    let scores = [
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [1.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 0.2],
        [0.0, 0.0, 2.0],
    ];
    for (token, scores) in scores.iter().enumerate() {
        model.add_factor(&[token], scores)?;
    }
    let titles = count(&model, (0..6).map(|token| (token, TITLE)))?;
    let expected = |energies: Vec<Energy>| -> Result<_, Box<dyn std::error::Error>> {
        let answer = Problem::new(model.clone(), energies)?.solve()?;
        let count: f64 = (0..6).map(|token| answer.marginal(token)[TITLE]).sum();
        let labels: Vec<&str> = answer.map.assignment.iter().map(|&label| LABELS[label]).collect();
        println!("{count:.3} titles expected, gap {:.0e}: {labels:?}", answer.gap.unwrap());
        Ok((count, answer))
    };
    let (free, _) = expected(vec![])?;
    let (soft, _) = expected(vec![Energy::prefer_at_most(4.0, 1.0, titles.clone())])?;
    let (hard, answer) = expected(vec![Energy::at_most(1.0, titles)])?;
    assert!(free > 1.5 && soft < free && (hard - 1.0).abs() < 1e-6);
    assert_eq!(answer.map.assignment.iter().filter(|&&label| label == TITLE).count(), 1);
    // How strongly the rule pulls: every title lost this much of its score.
    let multiplier = answer.energies[0].multipliers.as_ref().unwrap()[0];
    println!("the hard rule takes {multiplier:.3} off the score of every title");
    assert!(multiplier > 0.0);
    Ok(())
}
