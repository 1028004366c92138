//! How much memory a text will take, with all that is made of it, before it is parsed.
//!
//! A short text can be a large model: `2,` is a variable. Texts that fit whatever they hold are not
//! scanned.

use bethe_core::memory::TooLarge;
use bethe_core::{MemoryLimit, Model};

/// A number of a table: in the model, in its canonical form and in inference.
const NUMBER: f64 = 28.0;
/// The same with its marginal, which is printed.
const PRINTED: f64 = 56.0;
/// A variable that is given by its number of states, in the same places.
const VARIABLE: f64 = 850.0;
/// A number of evidence: a variable or its state.
const OBSERVED: f64 = 100.0;
/// A factor, an energy or a term, with its lists.
const OBJECT: f64 = 400.0;
/// A name, in the list of its variable and among all names.
const NAME: f64 = 128.0;
/// The function of a UAI model: its scope, and the table to come.
const FUNCTION: f64 = 300.0;
/// No text takes more than this many times its bytes.
const MOST: f64 = VARIABLE / 2.0;

/// Refuses a problem or an energies file in JSON that would take more than the limit.
pub fn check_json(text: &[u8], limit: MemoryLimit) -> Result<(), TooLarge> {
    check(text, limit, json_bytes)
}

/// Refuses a UAI model that would take more than the limit.
pub fn check_uai(text: &[u8], limit: MemoryLimit) -> Result<(), TooLarge> {
    check(text, limit, uai_bytes)
}

/// Refuses to print the marginals of tables that would take more than the limit.
pub fn check_printed(model: &Model, limit: MemoryLimit) -> Result<(), TooLarge> {
    let cells = model.factors().iter().map(|factor| factor.log_potentials.len() as f64);
    limit.check("the model with the marginals of all its factors", PRINTED * cells.sum::<f64>())
}

/// Refuses UAI evidence that would take more than the limit.
pub fn check_evidence(text: &[u8], limit: MemoryLimit) -> Result<(), TooLarge> {
    check(text, limit, |text| text.len() as f64 + OBSERVED * words(text).count() as f64)
}

fn check(text: &[u8], limit: MemoryLimit, bytes: fn(&[u8]) -> f64) -> Result<(), TooLarge> {
    if MOST * text.len() as f64 <= limit.bytes() as f64 {
        return Ok(());
    }
    limit.check("what the text holds", bytes(text))
}

/// One pass over the text, right or wrong.
fn json_bytes(text: &[u8]) -> f64 {
    // The lists of the outermost object: what is in them is a variable, a factor or an energy.
    const LISTS: usize = 2;
    let mut bytes = text.len() as f64;
    let (mut depth, mut in_string, mut escaped, mut before) = (0usize, false, false, b' ');
    for &byte in text {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            before = byte;
            continue;
        }
        match byte {
            b'"' => {
                in_string = true;
                bytes += NAME;
            }
            b'{' | b'[' => {
                depth += 1;
                bytes += if byte == b'{' { OBJECT } else { NUMBER };
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'0'..=b'9' | b'-' | b'n' if begins(before) => {
                bytes += if depth <= LISTS { VARIABLE } else { NUMBER };
            }
            _ => {}
        }
        before = byte;
    }
    bytes
}

/// Whether a number may begin after this byte.
fn begins(before: u8) -> bool {
    matches!(before, b'[' | b',' | b':') || before.is_ascii_whitespace()
}

fn uai_bytes(text: &[u8]) -> f64 {
    let whole = |word: Option<&[u8]>| -> usize {
        let word = word.and_then(|word| std::str::from_utf8(word).ok());
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    };
    let mut all = words(text);
    // No text names more than it has words.
    let count = words(text).count();
    let variables = whole(all.nth(1)).min(count);
    let functions = whole(all.nth(variables)).min(count);
    text.len() as f64
        + VARIABLE * variables as f64
        + FUNCTION * functions as f64
        + NUMBER * count as f64
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_of_much_are_refused_and_long_texts_of_little_are_not() {
        let limit = MemoryLimit::of(1_000_000);
        let variables = format!("{{\"variables\": [{}]}}", vec!["2"; 5000].join(","));
        assert!(check_json(variables.as_bytes(), limit).is_err());
        let table = format!("{{\"f\": [{{\"t\": [{}]}}]}}", vec!["2.5"; 5000].join(","));
        assert!(check_json(table.as_bytes(), limit).is_ok());
        let name = format!("{{\"f\": \"{}\\\"[[[,1,1,\"}}", "[1,".repeat(30_000));
        assert!(check_json(name.as_bytes(), limit).is_ok());
        let many = format!("MARKOV 5000 {} 0", "2 ".repeat(5000));
        assert!(check_uai(many.as_bytes(), limit).is_err());
        let table = format!("MARKOV 1 5000 1 1 0 5000 {}", "2.5 ".repeat(5000));
        assert!(check_uai(table.as_bytes(), limit).is_ok());
        assert!(check_uai(b"MARKOV 4000000000", limit).is_ok(), "the parser says what is wrong");
        assert!(check_evidence("1 ".repeat(50_000).as_bytes(), limit).is_err());
    }
}
