//! Scores of your own in, rules from code, labels out.
//!
//! `cargo run --release -p bethe-tagging --example own_scores`

use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::parse_rules;
use bethe_tagging::{TagOptions, Tagger, Tagging, states_of};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two streaks of title-like words; a network that looks at words alone calls both a title.
    let labels = ["O", "B-title", "I-title"];
    let logits = [
        [0.0, 2.0, 0.5], // "Deep"
        [0.0, 0.2, 1.5], // "inference"
        [1.5, 0.0, 0.0], // "in"
        [0.3, 1.2, 0.5], // "Graphical"
        [0.2, 0.2, 0.9], // "models"
    ];
    let states = states_of(Scheme::Bio, &labels)?;
    let rules = "[[rule]]\nat_most = 1\nof = \"title\"\nweight = 4.0\n";
    let constraints = parse_rules("rules", rules, &states)?;
    let tagger = Tagger::of_scores(states, &labels, &[], constraints)?;
    let mut tagging = Tagging::new(&tagger);
    for rules in [false, true] {
        let options = TagOptions { rules, marginals: true, ..TagOptions::default() };
        let tagged = tagging.tag_scores(&logits.concat(), &options)?;
        let path = &tagged.best[0].0;
        println!("{}", if rules { "with at most one title:" } else { "without rules:" });
        for (&state, probability) in path.iter().zip(&tagged.probabilities[0]) {
            println!("  {:8} {probability:.2}", tagger.states().label(state));
        }
    }
    Ok(())
}
