//! How much text a model file holds.

use super::features::Extractor;
use super::labels::States;

/// What the header of a safetensors file may have, in bytes.
const HEADER: usize = 100_000_000;
/// Room in it for rules, the names of arrays and what training records.
const REST: usize = 5_000_000;
/// What template, lexicons and labels may take together.
pub(crate) const MOST_TEXT: usize = HEADER - REST;

/// What template, lexicons and labels take in a model file.
pub(crate) fn stored_text(extractor: &Extractor, states: &States) -> usize {
    let labels = serde_json::to_string(states).expect("states are plain data");
    let escaped = labels.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    stored(&extractor.template().to_string())
        + stored(&extractor.lexicons().to_string())
        + labels.len()
        + escaped
}

/// The bytes of a text in JSON that is itself a string in JSON.
fn stored(text: &str) -> usize {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' => 4,
        b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 3,
        0..0x20 => 7,
        _ => 1,
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_measured_as_the_file_has_it() {
        for text in ["", "a b", "a\n\"b\"\\\r\t", "\u{1}\u{8}\u{c}\u{1f}", "Zürich\u{7f}"] {
            let once = serde_json::to_string(text).unwrap();
            let twice = serde_json::to_string(&once).unwrap();
            // Without the quotation marks, those of the inner text escaped.
            assert_eq!(stored(text), twice.len() - 6, "{text:?}");
        }
    }
}
