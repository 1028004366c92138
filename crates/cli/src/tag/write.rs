//! The lines that `bethe tag` writes.

use std::fmt::Write;

use bethe_tagging::{Tagged, Tagger};

/// What is outside of all segments, in files that mark documents.
const OUTSIDE: &str = "O";

/// A line that begins a document.
pub fn document(text: &mut String, row: &str) {
    text.extend([row, "\t", OUTSIDE, "\n\n"]);
}

/// A sequence's lines, if there are any, with labels, once for each of the best label sequences.
pub fn sequence<'a>(
    text: &mut String,
    tagger: &Tagger,
    row: &dyn Fn(usize) -> Option<&'a str>,
    tagged: &Tagged,
    ranked: bool,
) {
    let states = tagger.states();
    for (rank, (path, score)) in tagged.best.iter().enumerate() {
        if ranked {
            let _ = writeln!(text, "# {} {score:.6}", rank + 1);
        }
        let probabilities = tagged.probabilities.get(rank);
        let mut segments = tagged.segments.get(rank).into_iter().flatten().peekable();
        for (t, &state) in path.iter().enumerate() {
            if let Some(row) = row(t) {
                text.push_str(row);
                text.push('\t');
            }
            text.push_str(states.label(state));
            if let Some(probability) = probabilities.and_then(|own| own.get(t)) {
                let _ = write!(text, "\t{probability:.6}");
            }
            if let Some((_, _, probability)) = segments.next_if(|(first, ..)| *first == t) {
                let _ = write!(text, "\t{probability:.6}");
            }
            text.push('\n');
        }
        text.push('\n');
    }
}
