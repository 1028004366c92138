//! The functions of a template, applied to one cell.

use std::ops::Range;

use super::function::Function;
use super::pattern::pattern;

/// The outcome of a function on a cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Derived {
    /// The cell has none.
    Absent,
    /// These bytes of the cell.
    Part(Range<usize>),
    /// What was appended to the output.
    Appended,
}

impl Function {
    /// The function's text of a cell; appended to `output` only if it is not part of the cell.
    pub(super) fn derive(self, cell: &str, output: &mut String) -> Derived {
        match self {
            Self::Cell => Derived::Part(0..cell.len()),
            Self::Lower => lower(cell, output),
            Self::Bare => bare(cell, output),
            Self::Shape => shape(cell, false, output),
            Self::Outline => shape(cell, true, output),
            Self::Pattern => append(Some(pattern(cell)), output),
            Self::Prefix(length) => prefix(cell, length),
            Self::Suffix(length) => suffix(cell, length),
            Self::Digits => digits(cell, output),
            Self::Number => append(number(cell), output),
            Self::Letters => count(cell, char::is_alphabetic, output),
            Self::Numerals => count(cell, char::is_numeric, output),
            Self::Ending => ending(cell),
            Self::Punctuation => append(place(cell, is_punctuation), output),
            Self::Dash => append(place(cell, is_dash), output),
            Self::Quote => {
                append(place(cell, |c| is_single_quote(c) || is_double_quote(c)), output)
            }
            Self::Bracket => append(place(cell, is_bracket), output),
            _ => unreachable!("not a function of one cell"),
        }
    }
}

/// Letters and digits of any script, with the marks that combine with them.
fn is_wordly(c: char) -> bool {
    c.is_alphanumeric() || is_combining(c)
}

/// The combining diacritics of decomposed text; the rarer blocks count as punctuation.
fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !is_wordly(c) && !c.is_whitespace() }
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '‐'..='―' | '−')
}

fn is_single_quote(c: char) -> bool {
    matches!(c, '\'' | '`' | '‘'..='‛' | '‹' | '›')
}

fn is_double_quote(c: char) -> bool {
    matches!(c, '"' | '“'..='‟' | '«' | '»')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>')
}

fn append(text: Option<&str>, output: &mut String) -> Derived {
    let Some(text) = text else { return Derived::Absent };
    output.push_str(text);
    Derived::Appended
}

fn lower(cell: &str, output: &mut String) -> Derived {
    if cell.is_ascii() {
        if !cell.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Derived::Part(0..cell.len());
        }
        let start = output.len();
        output.push_str(cell);
        output[start..].make_ascii_lowercase();
    } else {
        // The whole string at once: a final sigma depends on its neighbours.
        output.push_str(&cell.to_lowercase());
    }
    Derived::Appended
}

/// The cell in lower case, without punctuation around it.
fn bare(cell: &str, output: &mut String) -> Derived {
    let tail = cell.trim_start_matches(is_punctuation);
    let (start, core) = (cell.len() - tail.len(), tail.trim_end_matches(is_punctuation));
    match lower(core, output) {
        _ if core.is_empty() => Derived::Absent,
        Derived::Part(part) => Derived::Part(start + part.start..start + part.end),
        appended => appended,
    }
}

/// The number of such characters, at most nine.
fn count(cell: &str, such: impl Fn(char) -> bool, output: &mut String) -> Derived {
    let count = cell.chars().filter(|&c| such(c)).take(9).count();
    output.push(digit(count));
    Derived::Appended
}

/// The digit of a number below ten.
pub(super) fn digit(number: usize) -> char {
    char::from_digit(number as u32, 10).expect("at most nine")
}

fn shape(cell: &str, runs_to_one: bool, output: &mut String) -> Derived {
    let mut last = None;
    for class in cell.chars().filter(|&c| !is_combining(c)).map(class) {
        if !(runs_to_one && last == Some(class)) {
            output.push(class);
        }
        last = Some(class);
    }
    Derived::Appended
}

/// The character that stands for another one in a shape.
fn class(c: char) -> char {
    match c {
        'a'..='z' => 'x',
        'A'..='Z' => 'X',
        '0'..='9' => 'd',
        _ if c.is_lowercase() => 'x',
        // Title case letters such as Dž have no predicate of their own, but do have a lower case.
        _ if c.is_uppercase() || c.to_lowercase().ne([c]) => 'X',
        _ if c.is_alphabetic() => 'o',
        _ if c.is_numeric() => 'd',
        _ if is_dash(c) => '-',
        _ if is_single_quote(c) => '\'',
        _ if is_double_quote(c) => '"',
        _ => c,
    }
}

fn prefix(cell: &str, length: u8) -> Derived {
    let mut ends = cell.char_indices().map(|(start, c)| start + c.len_utf8());
    match ends.nth(usize::from(length) - 1) {
        Some(end) => Derived::Part(0..end),
        None => Derived::Absent,
    }
}

fn suffix(cell: &str, length: u8) -> Derived {
    match cell.char_indices().rev().nth(usize::from(length) - 1) {
        Some((start, _)) => Derived::Part(start..cell.len()),
        None => Derived::Absent,
    }
}

fn digits(cell: &str, output: &mut String) -> Derived {
    if !cell.chars().any(char::is_numeric) {
        return Derived::Absent;
    }
    output.extend(cell.chars().map(|c| if c.is_numeric() { '0' } else { c }));
    Derived::Appended
}

fn number(cell: &str) -> Option<&'static str> {
    if !cell.chars().any(char::is_numeric) {
        return None;
    }
    let core = cell.trim_matches(is_punctuation);
    let stem = core.strip_suffix(char::is_alphabetic).unwrap_or(core);
    let four_digits = stem.len() == 4 && stem.bytes().all(|byte| byte.is_ascii_digit());
    if four_digits && ("1500".."2100").contains(&stem) {
        return Some("year");
    }
    Some(if core.chars().all(char::is_numeric) { "all" } else { "some" })
}

fn ending(cell: &str) -> Derived {
    match cell.char_indices().next_back() {
        Some((start, last)) if start > 0 && is_punctuation(last) => {
            Derived::Part(start..cell.len())
        }
        _ => Derived::Absent,
    }
}

/// Where in the cell such characters are.
fn place(cell: &str, such: impl Fn(char) -> bool) -> Option<&'static str> {
    if !cell.chars().any(&such) {
        return None;
    }
    let place = match (cell.starts_with(&such), cell.ends_with(&such)) {
        (true, true) if cell.chars().all(&such) => "only",
        (true, true) => "around",
        (true, false) => "start",
        (false, true) => "end",
        (false, false) => "inside",
    };
    Some(place)
}
