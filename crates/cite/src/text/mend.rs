//! Joins text that a PDF or a line end pulled apart.

/// Collapses spaces and joins words and letters; the ends of the text stay as they are.
pub(crate) fn mended(text: &str) -> String {
    composed(&rejoined(&spaced(text)))
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

/// How a word was broken at a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// The hyphen was put there: `esti- mation`.
    Plain,
    /// The word has a hyphen of its own: `self- dual`.
    Hyphenated,
}

/// How two words are one that was broken, if they are; `pre- and post-` are not.
pub(crate) fn broken(word: &str, next: &str) -> Option<Break> {
    const JOINS: [&str; 15] = [
        "and", "or", "to", "und", "oder", "bis", "et", "ou", "en", "of", "og", "och", "e", "y", "o",
    ];
    let half = word.strip_suffix(['-', '\u{2010}'])?;
    if !half.ends_with(char::is_alphabetic)
        || JOINS.contains(&next)
        || !next.starts_with(char::is_alphabetic)
    {
        return None;
    }
    let first = half.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or(half);
    let own = HALVES.contains(&first.to_lowercase().as_str())
        || first.chars().count() < 2
        || next.starts_with(char::is_uppercase);
    Some(if own { Break::Hyphenated } else { Break::Plain })
}

/// Joins words broken at a line end.
fn rejoined(text: &str) -> String {
    if !text.contains("- ") {
        return text.to_string();
    }
    let mut whole = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        whole.push_str(word);
        match words.peek().map(|next| broken(word, next)) {
            Some(Some(Break::Plain)) => drop(whole.pop()),
            Some(None) => whole.push(' '),
            Some(Some(Break::Hyphenated)) | None => {}
        }
    }
    whole
}

/// Accents next to their letters, with the letters they go on and the result.
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

/// Joins letters and accents that a PDF pulled apart, `Andr´ e`, `f¨ur`.
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
    fn letters_are_put_together() {
        assert_eq!(
            mended("Andr´ e fibr´es f¨ur probl`eme Le¸cons"),
            "André fibrés für problème Leçons"
        );
        assert_eq!(mended("´Ecole d'été"), "École d'été");
        assert_eq!(mended("gas- en vloeistof"), "gas- en vloeistof");
        let cut = "Second- Generation esti- mation of large- scale pre- and self- dual de- signs";
        let whole = "Second-Generation estimation of large-scale pre- and self-dual designs";
        assert_eq!(mended(cut), whole);
    }
}
