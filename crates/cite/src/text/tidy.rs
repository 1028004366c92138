//! The text of a field without the punctuation around it.

use super::characters::is_dash;
use super::mend::mended;

/// Short forms that keep a stop at the end of a field.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "acad", "amer", "anal", "ann", "appl", "assoc", "astron", "astrophys", "biol", "bull",
    "calif", "chem", "co", "comm", "commun", "comp", "comput", "conf", "conn", "corp", "dept",
    "eng", "fis", "geom", "inc", "inst", "int", "jr", "lett", "ltd", "mag", "mat", "math", "mech",
    "med", "mod", "nat", "nucl", "numer", "opt", "phil", "phys", "probab", "proc", "prog", "rep",
    "res", "rev", "sci", "ser", "soc", "stat", "statist", "stud", "surv", "symp", "tech", "theor",
    "trans", "univ", "verl",
];

/// A field's text: spaces collapsed, letters joined, without quotation marks, empty brackets and
/// punctuation around it. `?`, `!` and the stop of an abbreviation stay.
pub fn tidy(text: &str) -> String {
    let text = mended(text);
    let mut rest = text.as_str();
    loop {
        let trimmed = trimmed(rest);
        if trimmed == rest {
            return rest.to_string();
        }
        rest = trimmed;
    }
}

/// Without a final stop, if the text has other short forms and they have none: `Ann Rural Med.`
pub(crate) fn without_lone_stop(text: &str) -> &str {
    let Some(rest) = text.strip_suffix('.').filter(|rest| !rest.contains('.')) else { return text };
    let mut words = rest.split(' ').map(str::to_lowercase);
    words.next_back();
    match words.any(|word| word == "j" || ABBREVIATIONS.contains(&word.as_str())) {
        true => rest,
        false => text,
    }
}

fn trimmed(text: &str) -> &str {
    /// Marks that neither start nor end a field.
    const MARKS: [char; 13] =
        [',', ';', ':', '`', '‘', '，', '。', '：', '；', '《', '》', '،', '؛'];
    // `'t Hooft`
    let is_contracted = |text: &str| ["t ", "s "].iter().any(|rest| text[1..].starts_with(rest));
    let text = unquoted(text);
    let is_around = |c: char| c.is_whitespace() || MARKS.contains(&c);
    let text = text.trim_start_matches(|c| is_around(c) || is_dash(c) || c == '.');
    let text = text.strip_prefix('\'').filter(|_| !is_contracted(text)).unwrap_or(text);
    let text = text.trim_end_matches(is_around);
    let text = match text.strip_suffix(['\'', '’']) {
        // A plural's apostrophe, `rates'`, cannot be told from a closing quotation mark.
        Some(rest) if !opens_inside(rest) => rest,
        _ => text,
    };
    let text = match text.strip_suffix('.') {
        Some(rest) if !keeps_stop(rest) => rest,
        _ => text,
    };
    unbracketed(text)
}

/// Without quotation marks around the whole, or an unmatched one at an end; those of an inner
/// quotation stay.
fn unquoted(text: &str) -> &str {
    let is_quote = |c: char| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
    if !text.starts_with(is_quote) && !text.ends_with(is_quote) {
        return text;
    }
    // Where marks that open were, and which of them the mark at the end closes.
    let (mut open, mut closed_at_end, mut is_loose) = (Vec::new(), None, false);
    let mut opened_before = 0; // the end of a mark that opened
    for (at, mark) in text.char_indices().filter(|&(_, c)| is_quote(c)) {
        let (before, after) = (&text[..at], &text[at + mark.len_utf8()..]);
        let starts = at == opened_before || before.ends_with([' ', '(', '[', '-']);
        if starts && !after.is_empty() {
            open.push(at);
            opened_before = at + mark.len_utf8();
            continue;
        }
        let opened = open.pop();
        if after.is_empty() {
            (closed_at_end, is_loose) = (opened, opened.is_none());
        }
    }
    let starts_loose = open.first() == Some(&0);
    let inner = if starts_loose || closed_at_end == Some(0) {
        text.trim_start_matches(is_quote)
    } else {
        text
    };
    match is_loose || closed_at_end == Some(0) {
        true => inner.trim_end_matches(is_quote),
        false => inner,
    }
}

/// Whether a single quotation mark opens somewhere behind the start: `J. 'x`.
fn opens_inside(text: &str) -> bool {
    let mut marks = text.match_indices(" '").chain(text.match_indices(" ‘")).map(|(at, _)| at);
    marks.any(|at| text[at + 1..].chars().nth(1).is_some_and(char::is_alphanumeric))
}

/// Whether a stop after this text is part of its last word.
fn keeps_stop(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || is_dash(c)).next().unwrap_or(text);
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let initial = letters == 1 && word.chars().all(|c| c.is_uppercase());
    // `U.S.A`, but not `1.0`.
    let has_stop = word.contains('.')
        && !word.contains(char::is_numeric)
        && word.split('.').all(|part| part.chars().count() <= 4);
    // Behind a bracket it ends the sentence: `A title (2nd ed.).`
    word.ends_with(char::is_alphanumeric)
        && (initial || has_stop || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

/// Without a pair of brackets around the whole, or an unmatched bracket.
fn unbracketed(text: &str) -> &str {
    for (open, close) in [('(', ')'), ('[', ']'), ('（', '）')] {
        let count = |c| text.matches(c).count();
        let (opened, closed) = (count(open), count(close));
        if let Some(inner) = text.strip_prefix(open) {
            if closed < opened {
                return inner;
            }
            if let Some(inner) = inner.strip_suffix(close)
                && !inner.contains(open)
                && !inner.contains(close)
            {
                return inner;
            }
        }
        if closed > opened
            && let Some(rest) = text.strip_suffix(close)
        {
            return rest;
        }
        if opened > closed
            && let Some(rest) = text.strip_suffix(open)
        {
            return rest;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lose_what_is_around_them() {
        let cases = [
            ("\"Nonperturbative geometries,\"", "Nonperturbative geometries"),
            ("Nucl. Phys.", "Nucl. Phys."),
            ("A theory of everything.", "A theory of everything"),
            ("Is it radiation?", "Is it radiation?"),
            ("(Cambridge Series,", "Cambridge Series"),
            ("1993),", "1993"),
            ("(2004).", "2004"),
            ("(2nd ed.).", "2nd ed"),
            ("A title (2nd ed.).", "A title (2nd ed.)"),
            ("SL(2) bundles (and more)", "SL(2) bundles (and more)"),
            ("New York ,  NY", "New York, NY"),
            ("`rates'", "rates"),
            ("“学习”。", "学习"),
            ("Foo, Inc.", "Foo, Inc."),
            ("Made in the U.S.A.", "Made in the U.S.A."),
            ("A language (XML) 1.0.", "A language (XML) 1.0"),
            ("Games under \"common knowledge\".", "Games under \"common knowledge\""),
            ("\"Markov\" chains", "\"Markov\" chains"),
            ("“Yes” means “No”", "“Yes” means “No”"),
            ("\"Yes\" means \"No\".", "\"Yes\" means \"No\""),
            ("\"He said \"yes\" again\"", "He said \"yes\" again"),
            ("„Größe“", "Größe"),
            ("“Half a title,", "Half a title"),
            ("J. 'x'", "J. 'x'"),
            ("دار النشر،", "دار النشر"),
            ("...", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(tidy(text), expected, "{text}");
        }
    }
}
