use std::collections::HashMap;

use proptest::prelude::*;

use crate::visited;
use bethe_tagging::features::{Extractor, Lexicons, Template};

/// Cells of letters, digits, separators and whatever else could be mistaken for a line's name.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-cA-C0-2:/_.U%-]{0,4}",
        Just("_B-1".to_owned()),
        Just("ÉΣ東–".to_owned()),
        Just("lex:l=B".to_owned()),
    ]
}

fn sequence() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(cell(), 2), 0..6)
}

const CELL_FUNCTIONS: &[&str] =
    &["x", "lower", "shape", "outline", "prefix1", "suffix2", "digits", "number", "dash"];

fn macro_text() -> impl Strategy<Value = String> {
    let cells = (prop::sample::select(CELL_FUNCTIONS), -3..=3, 0..2)
        .prop_map(|(name, row, column)| format!("%{name}[{row},{column}]"));
    let places = (prop::sample::select(&["edge", "position3"][..]), -3..=3)
        .prop_map(|(name, row)| format!("%{name}[{row}]"));
    prop_oneof![4 => cells, 1 => places]
}

/// A line with a name from a small alphabet, so that names are often beginnings of others.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![2 => macro_text(), 1 => "[01:/]".boxed(), 1 => Just("%%".to_owned())];
    ("U[01:]{0,3}", prop::collection::vec(piece, 0..3))
        .prop_map(|(name, pieces)| name + &pieces.concat())
}

/// Those lines that do not clash with an earlier one.
fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 1..8).prop_map(|lines| {
        let mut kept: Vec<String> = Vec::new();
        for line in lines {
            kept.push(line);
            if kept.join("\n").parse::<Template>().is_err() {
                kept.pop();
            }
        }
        kept
    })
}

fn lexicons() -> Lexicons {
    Lexicons::from_lists([("l", ["a", "a b"]), ("l=B", ["b", "c"])]).unwrap()
}

proptest! {
    #[test]
    fn extraction_is_deterministic(lines in lines(), sequence in sequence()) {
        let template: Template = lines.join("\n").parse().unwrap();
        let first = Extractor::new(template.clone(), lexicons());
        let second = Extractor::new(template, lexicons().to_string().parse().unwrap());
        let seen = visited(&first, &sequence);
        prop_assert_eq!(&seen, &visited(&first, &sequence));
        prop_assert_eq!(&seen, &visited(&second, &sequence));
    }

    #[test]
    fn different_lines_never_give_the_same_attribute(lines in lines(), sequence in sequence()) {
        let mut origin: HashMap<String, usize> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            let extractor = Extractor::new(line.parse().unwrap(), Lexicons::default());
            for (_, attribute, _) in visited(&extractor, &sequence) {
                let first = *origin.entry(attribute.clone()).or_insert(index);
                prop_assert_eq!(first, index, "{} of {} and {}", attribute, lines[first], line);
            }
        }
        let extractor = Extractor::new("B".parse().unwrap(), lexicons());
        for (_, attribute, _) in visited(&extractor, &sequence) {
            prop_assert!(!origin.contains_key(&attribute), "{}", attribute);
        }
    }

    #[test]
    fn a_template_gives_what_its_lines_give_one_by_one(lines in lines(), sequence in sequence()) {
        let together = Extractor::new(lines.join("\n").parse().unwrap(), Lexicons::default());
        let mut expected = Vec::new();
        for line in &lines {
            expected.extend(visited(
                &Extractor::new(line.parse().unwrap(), Lexicons::default()),
                &sequence,
            ));
        }
        // Stable: lines stay in their order within a position.
        expected.sort_by_key(|(position, ..)| *position);
        prop_assert_eq!(visited(&together, &sequence), expected);
    }

    #[test]
    fn the_default_never_repeats_an_attribute_at_a_position(sequence in sequence()) {
        let extractor = Extractor::new(Template::default_for(2), lexicons());
        let mut seen = visited(&extractor, &sequence);
        let total = seen.len();
        seen.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
        seen.dedup_by(|left, right| (left.0, &left.1) == (right.0, &right.1));
        prop_assert_eq!(seen.len(), total);
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[UBR#%x0-9:,/\\[\\]\\n a-z-]{0,40}") {
        if let Ok(template) = text.parse::<Template>() {
            prop_assert_eq!(template.to_string().parse(), Ok(template));
        }
    }
}
