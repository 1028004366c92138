use std::borrow::Cow;
use std::fmt::Write;

use super::{DataError, Sequence};

/// The attributes of one row; see [`Sequence::attributes`].
///
/// A field is `name` (value 1) or `name:value`. In a name `\:` is a colon and `\\` a backslash; a
/// backslash before anything else is itself. An empty value is 1, as in CRFsuite; empty fields are
/// skipped.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    sequence: &'a Sequence,
    t: usize,
    cells: &'a [(u32, u32)],
    column: usize,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(sequence: &'a Sequence, t: usize) -> Self {
        Self { sequence, t, cells: sequence.row_cells(t), column: 1 }
    }

    pub(super) fn parse(&self, field: &'a str) -> Result<(Cow<'a, str>, f64), DataError> {
        if is_plain(field.as_bytes()) {
            return Ok((Cow::Borrowed(field), 1.0));
        }
        let Some(colon) = colon(field) else { return Ok((unescape(field), 1.0)) };
        let (name, value) = (unescape(&field[..colon]), &field[colon + 1..]);
        let place = || (self.sequence.path_buf(), self.sequence.line(self.t));
        if name.is_empty() {
            let (path, line) = place();
            return Err(DataError::AttributeName { path, line, found: field.to_string() });
        }
        if value.is_empty() {
            return Ok((name, 1.0));
        }
        match value.parse() {
            Ok(number) if f64::is_finite(number) => Ok((name, number)),
            _ => {
                let ((path, line), found) = (place(), value.to_string());
                Err(DataError::AttributeValue { path, line, name: name.into_owned(), found })
            }
        }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<(Cow<'a, str>, f64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let &(start, end) = self.cells.get(self.column)?;
            let field = self.sequence.text(start, end);
            self.column += 1;
            if !field.is_empty() {
                return Some(self.parse(field));
            }
        }
    }
}

/// Whether a name has neither colon nor backslash, as nearly all have.
#[inline]
pub(super) fn is_plain(field: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    // The upper bit of a byte is set if the byte is zero, and possibly above one that is.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let specials = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        zeros(word ^ (ONES * u64::from(b':'))) | zeros(word ^ (ONES * u64::from(b'\\')))
    };
    // The last eight bytes may overlap with those before.
    let Some(last) = field.last_chunk::<8>() else {
        return !field.iter().any(|&byte| byte == b':' || byte == b'\\');
    };
    let (words, _) = field.as_chunks::<8>();
    words.iter().fold(specials(last), |found, word| found | specials(word)) == 0
}

/// Where the first colon without a backslash is.
fn colon(field: &str) -> Option<usize> {
    let bytes = field.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b':' => return Some(at),
            b'\\' if matches!(bytes.get(at + 1), Some(b':' | b'\\')) => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Appends an attribute as a field of an attribute file. Its name may come in parts.
pub fn write_attribute(field: &mut String, name: &[&str], value: f64) {
    for part in name {
        let mut rest = *part;
        while let Some(at) = rest.find([':', '\\']) {
            field.push_str(&rest[..at]);
            field.push('\\');
            field.push_str(&rest[at..=at]);
            rest = &rest[at + 1..];
        }
        field.push_str(rest);
    }
    if value != 1.0 {
        write!(field, ":{value}").expect("room for a number");
    }
}

pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' {
            characters.next_if(|&next| next == ':' || next == '\\')
        } else {
            None
        };
        plain.push(escaped.unwrap_or(character));
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_plain, write_attribute};
    use crate::data::Sequence;

    fn field(name: &[&str], value: f64) -> String {
        let mut field = String::new();
        write_attribute(&mut field, name, value);
        field
    }

    #[test]
    fn a_name_in_parts_is_the_same_as_whole() {
        assert_eq!(field(&["w:1", ":", r"\é"], 0.5), field(&[r"w:1:\é"], 0.5));
        assert_eq!(field(&["w:1", ":", r"\é"], 0.5), r"w\:1\:\\é:0.5");
    }

    #[test]
    fn fields_are_read_back_as_they_were_written() {
        let given = [("w=a", 1.0), (r"a:b\:", -2.5), (r"\", 0.0), ("a b\tc", 1e-300), (":", 1.0)];
        let fields: Vec<String> =
            given.iter().map(|(name, value)| field(&[name], *value)).collect();
        let cells = std::iter::once("label").chain(fields.iter().map(String::as_str));
        let sequence = Sequence::of_cells(Path::new("made").into(), [cells]).unwrap();
        let read: Vec<_> = sequence.attributes(0).map(Result::unwrap).collect();
        assert_eq!(read, given.map(|(name, value)| (name.into(), value)));
    }

    #[test]
    fn special_bytes_are_seen_at_every_place_and_no_others() {
        for length in 0..=20 {
            for near in [b'9', b';', b'[', b']', 0xba, 0xdc, 0, b'x'] {
                let plain = vec![near; length];
                assert!(is_plain(&plain), "{plain:?}");
                for (place, special) in (0..length).flat_map(|at| [(at, b':'), (at, b'\\')]) {
                    let mut field = plain.clone();
                    field[place] = special;
                    assert!(!is_plain(&field), "{field:?}");
                }
            }
        }
    }
}
