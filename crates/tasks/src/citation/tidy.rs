//! The text of a field without what belongs to the reference around it.

use super::text::is_dash;

/// Short forms that keep a stop at the end of a field.
const ABBREVIATIONS: &[&str] = &[
    "acad",
    "amer",
    "anal",
    "ann",
    "appl",
    "assoc",
    "astron",
    "astrophys",
    "biol",
    "bull",
    "chem",
    "co",
    "comm",
    "commun",
    "comp",
    "comput",
    "conf",
    "corp",
    "dept",
    "eng",
    "fis",
    "geom",
    "inc",
    "inst",
    "int",
    "jr",
    "lett",
    "ltd",
    "mag",
    "mat",
    "math",
    "mech",
    "med",
    "mod",
    "nat",
    "nucl",
    "numer",
    "opt",
    "phil",
    "phys",
    "probab",
    "proc",
    "prog",
    "rep",
    "res",
    "rev",
    "sci",
    "ser",
    "soc",
    "stat",
    "statist",
    "stud",
    "surv",
    "symp",
    "tech",
    "theor",
    "trans",
    "univ",
    "verl",
];

/// A field's text: spaces as one, letters whole again, without quotation marks, brackets that enclose
/// nothing, and punctuation around it. `?`, `!` and the stop of an abbreviation stay.
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

/// Spaces as one, words and letters whole again; what is around the text stays.
pub(super) fn mended(text: &str) -> String {
    composed(&rejoined(&spaced(text)))
}

fn trimmed(text: &str) -> &str {
    let text = unquoted(text);
    let text = text.trim_start_matches(|c: char| {
        c.is_whitespace()
            || is_dash(c)
            || matches!(
                c,
                ',' | '.'
                    | ';'
                    | ':'
                    | '`'
                    | '‘'
                    | '，'
                    | '。'
                    | '：'
                    | '；'
                    | '《'
                    | '》'
                    | '،'
                    | '؛'
            )
    });
    let text = text.strip_prefix('\'').unwrap_or(text);
    let text = text.trim_end_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';' | ':' | '`' | '‘' | '，' | '。' | '：' | '；' | '《' | '》' | '،' | '؛'
            )
    });
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

/// Without quotation marks around all of it, or at an end where the other half is missing; those of a
/// quotation inside it stay.
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

/// Whether a stop behind this text is part of its last word.
fn keeps_stop(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || is_dash(c)).next().unwrap_or(text);
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let initial = letters == 1 && word.chars().all(|c| c.is_uppercase());
    let has_stop = word.contains('.') && word.split('.').all(|part| part.chars().count() <= 4);
    // Behind a bracket it ends the sentence: `A title (2nd ed.).`
    word.ends_with(char::is_alphanumeric)
        && (initial || has_stop || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

/// Without a pair of brackets around all of it, or a bracket whose other half is missing.
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

/// Runs of white space as one space, none before a comma.
fn spaced(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mark = matches!(word, "," | "." | ";" | ":" | ")" | "]");
        if !joined.is_empty() && !mark && !joined.ends_with('(') {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// First halves of words that have a hyphen of their own.
const HALVES: &[&str] = &[
    "cross", "first", "four", "full", "half", "hard", "hidden", "high", "k", "large", "long",
    "low", "mean", "near", "non", "object", "one", "open", "quasi", "real", "second", "self",
    "short", "single", "small", "state", "third", "three", "time", "two", "very", "well",
];

/// Words that a line end cut in two, `esti- mation`, in one again; `pre- and post-` stays.
fn rejoined(text: &str) -> String {
    if !text.contains("- ") {
        return text.to_string();
    }
    let mut whole = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let half =
            word.strip_suffix(['-', '\u{2010}']).filter(|half| half.ends_with(char::is_alphabetic));
        let next = words.peek().filter(|next| {
            let joins = ["and", "or", "to", "und", "oder", "et", "ou"].contains(next);
            !joins && next.starts_with(char::is_alphabetic)
        });
        match (half, next) {
            (Some(half), Some(next)) => {
                let first = half.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or(half);
                let own = HALVES.contains(&first.to_lowercase().as_str())
                    || first.chars().count() < 2
                    || next.starts_with(char::is_uppercase);
                whole.push_str(if own { word } else { half });
            }
            _ => {
                whole.push_str(word);
                whole.push_str(if words.peek().is_some() { " " } else { "" });
            }
        }
    }
    whole
}

/// Accents that stand beside their letters, with the letters they go on and what comes of it.
const ACCENTS: &[(char, &str, &str)] = &[
    ('´', "aeiouyAEIOUYcnszCNSZ", "áéíóúýÁÉÍÓÚÝćńśźĆŃŚŹ"),
    ('`', "aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
    ('¨', "aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"),
    ('ˆ', "aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
    ('˜', "anoANO", "ãñõÃÑÕ"),
    ('¸', "csCS", "çşÇŞ"),
    ('ˇ', "cdenrstzCDENRSTZ", "čďěňřšťžČĎĚŇŘŠŤŽ"),
    ('˝', "ouOU", "őűŐŰ"),
    ('˚', "auAU", "åůÅŮ"),
];

/// Letters and accents that a page description pulled apart, `Andr´ e`, `f¨ur`, put together again.
fn composed(text: &str) -> String {
    if text.is_ascii() && !text.contains('`') {
        return text.to_string();
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let in_word = whole.ends_with(char::is_alphabetic);
        let accent = ACCENTS.iter().find(|(accent, ..)| *accent == c && (c != '`' || in_word));
        let after = if in_word { rest.trim_start_matches(' ') } else { rest };
        let put = accent.and_then(|(_, letters, composed)| {
            let letter = after.chars().next()?;
            let at = letters.chars().position(|own| own == letter)?;
            Some((composed.chars().nth(at)?, letter.len_utf8()))
        });
        match put {
            Some((letter, length)) => {
                whole.push(letter);
                rest = &after[length..];
            }
            None => whole.push(c),
        }
    }
    whole
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

    #[test]
    fn letters_are_put_together() {
        assert_eq!(
            tidy("Andr´ e fibr´es f¨ur probl`eme Le¸cons"),
            "André fibrés für problème Leçons"
        );
        assert_eq!(tidy("´Ecole d'été"), "École d'été");
        let cut = "Second- Generation esti- mation of large- scale pre- and self- dual de- signs";
        let whole = "Second-Generation estimation of large-scale pre- and self-dual designs";
        assert_eq!(tidy(cut), whole);
    }
}
