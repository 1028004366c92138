//! Whether a line goes on from the line before, judged by how the one ends and the other begins.

use super::marker::marker;
use crate::text::characters::is_dash;

/// Words that no reference ends with.
#[rustfmt::skip]
const UNFINISHED: &[&str] = &[
    "&", "a", "an", "and", "at", "by", "chap.", "das", "de", "del", "della", "der", "des", "die", "doi:",
    "ed.", "eds.", "ein", "eine", "et", "for", "from", "für", "im", "in", "in:", "into", "its", "la",
    "le", "les", "mit", "no.", "nr.", "of", "on", "or", "p.", "ph.", "pp", "pp.", "proc.", "rev.", "the", "to",
    "trans.", "und", "van", "vol", "vol.", "volume", "von", "with", "y", "zur",
];

/// Words that no reference begins with, or hardly any.
#[rustfmt::skip]
const INNER: &[&str] = &[
    "accessed", "available", "bd", "bd.", "cambridge", "conference", "dissertation", "doi", "doi:",
    "edited", "in", "in:", "isbn", "issn", "journal", "lecture", "london", "mit", "new", "no", "no.",
    "oxford", "pages", "ph.d", "ph.d.", "phd", "pmid", "pmid:", "pp", "pp.", "preprint", "press", "proc",
    "proc.", "proceedings", "retrieved", "springer", "technical", "thesis", "trans", "trans.",
    "transactions", "universität", "university", "université", "verlag", "vol", "vol.", "volume",
    "wiley", "workshop",
];

/// From this on, a line certainly goes on from the one before.
pub(crate) const CERTAIN: i32 = 3;

/// The evidence that a line goes on from the one before or, below zero, that it begins a reference.
/// The numbers are rough log-odds.
pub(crate) fn continuation(before: &str, line: &str) -> i32 {
    end(before.trim_end()) + beginning(line.trim_start())
}

fn end(line: &str) -> i32 {
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let Some(last) = word.chars().next_back() else { return 0 };
    let is_alone = word.chars().nth(1).is_none();
    let is_initial = word.chars().count() == 2 && word.starts_with(char::is_uppercase);
    // `368 pp.`
    let is_unit = line[..line.len() - word.len()].trim_end().ends_with(char::is_numeric);
    match last {
        ',' | ':' | '(' | '[' | '&' | '/' | '“' | '„' | '«' => 4,
        ';' => 2,
        _ if is_dash(last) && !is_alone => 4,
        _ if !is_unit && UNFINISHED.contains(&word.to_lowercase().as_str()) => 4,
        '.' if is_initial => 2,
        '.' if word.len() > 2
            && word[..word.len() - 1].ends_with(|c: char| c.is_numeric() || c == ')') =>
        {
            -2
        }
        '.' | '?' | '!' | '。' => -1,
        _ if last.is_lowercase() && word.starts_with(char::is_lowercase) && !word.contains('/') => {
            3
        }
        _ if last.is_alphabetic() && !word.contains('/') => 1,
        _ => 0,
    }
}

fn beginning(line: &str) -> i32 {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let Some(c) = first.chars().next() else { return 0 };
    let lower = first.to_lowercase();
    if begins_with_name(first, second) {
        return -3;
    }
    if marker(line).is_some() {
        return -1;
    }
    if c.is_alphabetic() && INNER.contains(&lower.as_str()) {
        return 3;
    }
    match c {
        '(' | ')' | ',' | '.' | ';' | ':' | '&' | ']' | '?' | '!' | '+' | '=' | '/' => 4,
        _ if c.is_lowercase() && crate::people::is_particle(first) => 0,
        _ if c.is_lowercase() => 4,
        _ if c.is_numeric() => 3,
        _ if is_dash(c) => 2,
        // A title, a publisher, an organisation.
        _ if c.is_uppercase() => 1,
        _ => 0,
    }
}

/// Whether a line begins as a list of people does: `Knuth, D.`, `D. E. Knuth`, `Knuth DE`, `van der
/// Waals, J.`, `———`.
pub(crate) fn begins_with_name(first: &str, second: &str) -> bool {
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    let is_initial = |word: &str| {
        let letters = word.trim_end_matches([',', ';']);
        capital(word) && letters.ends_with('.') && (2..=5).contains(&letters.chars().count())
    };
    let is_block = |word: &str| {
        let letters = word.trim_end_matches([',', '.', ':', ';']);
        (1..=3).contains(&letters.chars().count()) && letters.chars().all(char::is_uppercase)
    };
    let is_word =
        |word: &str| word.chars().all(|c| c.is_alphabetic() || is_dash(c) || "'’".contains(c));
    // `Learning, Vol. 19`
    let is_inner = INNER.contains(&second.to_lowercase().trim_end_matches(','));
    if is_inner {
        return false;
    }
    let family = first.strip_suffix(',');
    first.chars().filter(|&c| is_dash(c) || c == '_').count() >= 2
        && !first.contains(char::is_alphanumeric)
        || family.is_some_and(|family| {
            capital(family) && is_word(family) && family.chars().count() > 1 && capital(second)
        })
        || is_initial(first)
            && first.ends_with('.')
            && first.chars().count() <= 3
            && capital(second)
        || capital(first)
            && is_word(first)
            && first.chars().count() > 1
            && (is_block(second) || is_initial(second))
}
