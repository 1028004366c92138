//! Labelled sequences from references whose fields are known. The fuzzed parser is trained on such, too.

use bethe_cite::Tokeniser;
use bethe_tagging::data::{Format, Sequence, Sequences};

/// The sequences of references that are given as labels with their text, in BIO.
pub fn sequences<const FIELDS: usize>(references: &[[(&str, &str); FIELDS]]) -> Vec<Sequence> {
    let mut rows = String::new();
    for reference in references {
        for (label, text) in reference {
            for (t, place) in Tokeniser::Words.tokens(text).into_iter().enumerate() {
                let role = if t == 0 { "B" } else { "I" };
                rows.push_str(&format!("{}\t{role}-{label}\n", &text[place]));
            }
        }
        rows.push('\n');
    }
    let sequences = Sequences::new(rows.as_bytes(), "references", Format::Columns);
    sequences.collect::<Result<_, _>>().expect("valid rows")
}
