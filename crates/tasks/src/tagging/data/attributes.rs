use std::borrow::Cow;

use super::{DataError, Sequence};

/// The attributes of one row; see [`Sequence::attributes`].
///
/// A field is `name` (value 1) or `name:value`. In a name `\:` is a colon and `\\` a backslash; a
/// backslash before anything else is itself. An empty value is 1, as in CRFsuite; empty fields are
/// passed over.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    sequence: &'a Sequence,
    t: usize,
    column: usize,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(sequence: &'a Sequence, t: usize) -> Self {
        Self { sequence, t, column: 1 }
    }

    fn parse(&self, field: &'a str) -> Result<(Cow<'a, str>, f64), DataError> {
        let Some(colon) = colon(field) else { return Ok((unescape(field), 1.0)) };
        let (name, value) = (unescape(&field[..colon]), &field[colon + 1..]);
        let (path, line) = (self.sequence.path_buf(), self.sequence.line(self.t));
        if name.is_empty() {
            return Err(DataError::AttributeName { path, line, found: field.to_string() });
        }
        if value.is_empty() {
            return Ok((name, 1.0));
        }
        match value.parse() {
            Ok(number) if f64::is_finite(number) => Ok((name, number)),
            _ => Err(DataError::AttributeValue {
                path,
                line,
                name: name.into_owned(),
                found: value.to_string(),
            }),
        }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<(Cow<'a, str>, f64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let field = self.sequence.cell(self.t, self.column)?;
            self.column += 1;
            if !field.is_empty() {
                return Some(self.parse(field));
            }
        }
    }
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
