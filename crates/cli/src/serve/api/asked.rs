//! What a request may ask for.

use axum::http::StatusCode;
use clap::ValueEnum;

use crate::serve::failure::Failure;

/// References or sequences of a request.
pub const MOST_REFERENCES: usize = 1000;
/// Labels of an answer, over all its references or sequences: each takes so much JSON that a
/// megabyte of text could become a gigabyte.
const MOST_LABELS: usize = 100_000;

/// Refuses too many references or sequences at once.
pub fn check_number(found: usize) -> Result<(), Failure> {
    match found <= MOST_REFERENCES {
        true => Ok(()),
        false => Err(too_much(format!(
            "found {found} references or sequences, expected at most {MOST_REFERENCES}"
        ))),
    }
}

/// Refuses too many tokens at once, if each gets this many labels.
pub fn check_labels(tokens: usize, each: usize) -> Result<(), Failure> {
    let most = MOST_LABELS / each;
    match tokens <= most {
        true => Ok(()),
        false if each == 1 => {
            Err(too_much(format!("found {tokens} tokens, expected at most {most}")))
        }
        false => Err(too_much(format!(
            "found {tokens} tokens, expected at most {most} with {each} label sequences each"
        ))),
    }
}

fn too_much(message: String) -> Failure {
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// One of some words, if it is given.
pub fn choice<T: ValueEnum>(field: &str, text: Option<&str>) -> Result<Option<T>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let known = || T::value_variants().iter().filter_map(T::to_possible_value);
    T::from_str(text, false).map(Some).map_err(|_| {
        let known: Vec<String> = known().map(|own| own.get_name().to_string()).collect();
        Failure::invalid(format!("{field}: found {text:?}, expected one of {}", known.join(", ")))
    })
}
