//! CRFsuite's attribute files.

use bethe_tagging::data::{Format, Sequence, Sequences};

fn read(text: &str) -> Vec<Sequence> {
    Sequences::new(text.as_bytes(), "train.txt", Format::Attributes).map(Result::unwrap).collect()
}

fn attributes(sequence: &Sequence, t: usize) -> Vec<(String, f64)> {
    let listed: Vec<(String, f64)> = sequence
        .attributes(t)
        .map(|found| found.map(|(n, v)| (n.into_owned(), v)).unwrap())
        .collect();
    let mut visited = Vec::new();
    sequence.visit_attributes(t, |name, value| visited.push((name.to_string(), value))).unwrap();
    assert_eq!(listed, visited);
    listed
}

fn message(field: &str) -> String {
    let sequences = read(&format!("O\ta\n\nO\t{field}\n"));
    let message = sequences[1].attributes(0).next().unwrap().unwrap_err().to_string();
    let visited = sequences[1].visit_attributes(0, |_, _| ()).unwrap_err().to_string();
    assert_eq!(message, visited);
    message
}

#[test]
fn rows_have_a_label_and_any_number_of_attributes() {
    let sequences = read("B-x\tw=New York\tcap:2.5\nO\n\tw=is\n");
    let sequence = &sequences[0];
    assert_eq!(sequence.len(), 3);
    let expected = [("w=New York".to_string(), 1.0), ("cap".to_string(), 2.5)];
    assert_eq!(attributes(sequence, 0), expected);
    assert_eq!(attributes(sequence, 1), []);
    assert_eq!(sequence.attribute_label(0), "B-x");
    assert_eq!(sequence.attribute_label(2), "");
    assert_eq!(sequence.cell(2, 1), Some("w=is"));
}

#[test]
fn backslashes_protect_colons_and_backslashes() {
    let sequences = read("I-a\\:B-b\ta\\:b\ta\\\\:2\t\\n\\\ta\\\\\\::-1e-3\n");
    let expected = [("a:b", 1.0), ("a\\", 2.0), ("\\n\\", 1.0), ("a\\:", -1e-3)];
    assert_eq!(attributes(&sequences[0], 0), expected.map(|(name, v)| (name.to_string(), v)));
    assert_eq!(sequences[0].attribute_label(0), "I-a:B-b");
}

#[test]
fn an_empty_value_is_one_and_empty_fields_are_passed_over() {
    let sequences = read("O\ta:\t\tb\t\n");
    assert_eq!(attributes(&sequences[0], 0), [("a".to_string(), 1.0), ("b".to_string(), 1.0)]);
}

#[test]
fn values_that_are_no_finite_numbers_are_named() {
    for value in ["x", "nan", "inf", "1e999", "2:3", " 1"] {
        let expected = format!(
            "train.txt:3: attribute \"a\" has the value {value:?}, expected a finite number"
        );
        assert_eq!(message(&format!("a:{value}")), expected);
    }
    assert_eq!(message(":2"), "train.txt:3: found \":2\", expected a name before the colon");
}

#[test]
fn attributes_go_on_after_one_that_is_wrong() {
    let sequences = read("O\ta:x\tb\n");
    let found: Vec<bool> = sequences[0].attributes(0).map(|found| found.is_ok()).collect();
    assert_eq!(found, [false, true]);
}
