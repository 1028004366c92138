//! Putting the lines of a reference together.

use crate::identifiers::is_broken_address;
use crate::text::mend::{Break, broken};

/// Appends a line, and joins what the line end broke: a word, a range of pages, an address.
pub(crate) fn join(text: &mut String, line: &str) {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let next = line.split_whitespace().next().unwrap_or_default();
    if !text.is_empty() && !next.is_empty() {
        match between(last, next) {
            Between::Space => text.push(' '),
            Between::Nothing => {}
            Between::Hyphenation => drop(text.pop()),
        }
    }
    for (w, word) in line.split_whitespace().enumerate() {
        if w > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// What belongs between the last word of a line and the first of the next.
enum Between {
    Space,
    Nothing,
    /// Nothing, and the mark at the end of the line was not there either.
    Hyphenation,
}

fn between(last: &str, next: &str) -> Between {
    const SOFT_HYPHEN: char = '\u{ad}';
    if last.ends_with(SOFT_HYPHEN) {
        return Between::Hyphenation;
    }
    if is_broken_address(last, next) {
        return Between::Nothing;
    }
    match broken(last, next) {
        Some(Break::Plain) => return Between::Hyphenation,
        Some(Break::Hyphenated) => return Between::Nothing,
        None => {}
    }
    let mut end = last.chars().rev();
    let (mark, before) = (end.next().unwrap_or(' '), end.next().unwrap_or(' '));
    let first = next.chars().next().unwrap_or(' ');
    let is_joined = match mark {
        // `12-` `17`, `COVID-` `19`
        '-' | '\u{2010}' => before.is_alphanumeric() && first.is_numeric(),
        // `Navier–` `Stokes`
        '–' | '—' | '−' => before.is_alphanumeric() && first.is_alphanumeric(),
        '/' => !last.contains('.') && before.is_alphanumeric() && first.is_alphanumeric(),
        _ => is_without_spaces(mark) && is_without_spaces(first),
    };
    if is_joined { Between::Nothing } else { Between::Space }
}

/// Whether a character is of a script that is written without spaces.
fn is_without_spaces(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff01}'..='\u{ff20}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_end_broke_is_whole_again() {
        for (lines, expected) in [
            (["The art of computer program-", "ming"], "The art of computer programming"),
            (["Addison-", "Wesley"], "Addison-Wesley"),
            (["self-", "dual"], "self-dual"),
            (["pre-", "and post-war"], "pre- and post-war"),
            (["pro\u{ad}", "gramming"], "programming"),
            (["pp. 12-", "17."], "pp. 12-17."),
            (["pp. 12–", "17."], "pp. 12–17."),
            (["COVID-", "19"], "COVID-19"),
            (["Navier–", "Stokes"], "Navier–Stokes"),
            (["a title –", "and more"], "a title – and more"),
            (["http://a.org/long-", "path/b.html"], "http://a.org/long-path/b.html"),
            (["https://doi.org/10.1000/", "182."], "https://doi.org/10.1000/182."),
            (["doi:10.1016/j.jmva.", "2004.03.001"], "doi:10.1016/j.jmva.2004.03.001"),
            (["https://", "www.a.org/b"], "https://www.a.org/b"),
            (["http://www.a.org/", "Accessed 2001"], "http://www.a.org/ Accessed 2001"),
            (["http://www.a.org/b.", "Accessed 2001"], "http://www.a.org/b. Accessed 2001"),
            (["http://www.a.org/b.", "2nd edition"], "http://www.a.org/b. 2nd edition"),
            (["机器学", "习方法"], "机器学习方法"),
            (["Knuth\u{a0}D.,", "\tThe   art"], "Knuth\u{a0}D., The art"),
            (["", "x"], "x"),
            (["x", ""], "x"),
        ] {
            let mut text = lines[0].to_string();
            join(&mut text, lines[1]);
            assert_eq!(text, expected);
        }
    }
}
