//! Text escaped for LaTeX.

/// A value of a BibTeX field. LaTeX's special characters are escaped once; escaped ones stay.
/// Braces always balance, since BibTeX counts them in any context.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.peek() {
                Some('&' | '%' | '#' | '_' | '$' | '{' | '}') => {} // escaped below
                _ => out.push_str("\\textbackslash{}"),
            },
            '&' | '%' | '#' | '_' | '$' => out.extend(['\\', c]),
            '{' => out.push_str("\\textbraceleft{}"),
            '}' => out.push_str("\\textbraceright{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            _ => out.push(c),
        }
    }
    out
}

/// A title: escaped, with words in braces whose capitals a style must keep.
///
/// These are words with an inner capital, single capitals except `A`, and, in a title that is not
/// capitalised throughout, words that start with a capital: names. A title in all capitals has
/// nothing to protect.
pub fn title(text: &str) -> String {
    let words: Vec<&str> = pieces(text).filter(|piece| is_word(piece)).collect();
    let long = |word: &&&str| word.chars().count() >= 4;
    let has = |word: &&&str, kind: fn(char) -> bool| word.contains(kind);
    let lower = words.iter().skip(1).filter(long).filter(|w| has(w, char::is_lowercase));
    if !text.contains(char::is_lowercase) {
        return escaped(text);
    }
    let (mut all, mut capitals) = (0, 0);
    for word in lower {
        all += 1;
        capitals += usize::from(word.starts_with(char::is_uppercase));
    }
    let sentence = all > 0 && 2 * capitals < all;
    let mut out = String::with_capacity(text.len() + 16);
    let mut starts = true;
    for piece in pieces(text) {
        if is_word(piece) {
            match is_protected(piece, sentence && !starts) {
                true => out.push_str(&format!("{{{}}}", escaped(piece))),
                false => out.push_str(&escaped(piece)),
            }
            starts = false;
        } else {
            out.push_str(&escaped(piece));
            starts |= piece.contains([':', '.', '?', '!']);
        }
    }
    out
}

fn is_protected(word: &str, name: bool) -> bool {
    let capital = word.starts_with(char::is_uppercase);
    let later = word.chars().skip(1).any(char::is_uppercase);
    let single = capital && word.chars().count() == 1 && word != "A";
    later || single || (capital && name)
}

/// Runs of letters, digits and what holds them together, and runs of anything else.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let kind = in_word(first);
        let end = rest.find(|c| in_word(c) != kind).unwrap_or(rest.len());
        let end = end.max(dotted_capitals(rest));
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Bytes of capitals with stops between them at the start of a text, `U.S.A`, without the last
/// stop.
fn dotted_capitals(text: &str) -> usize {
    let mut end = 0;
    for part in text.split('.') {
        let mut letters = part.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), next) if letter.is_uppercase() && !next.is_some_and(in_word) => {
                end += usize::from(end > 0) + letter.len_utf8();
            }
            _ => return end,
        }
        if part.chars().nth(1).is_some() {
            return end;
        }
    }
    end
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..'\u{370}').contains(&c)
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(in_word)
}

/// An address: verbatim, except for what would end the field or the line.
pub fn address(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' => out.push_str("%7B"),
            '}' => out.push_str("%7D"),
            '\\' => out.push_str("%5C"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specials_are_escaped_once() {
        assert_eq!(escaped(r"A&A 50% #1 a_b $x$"), r"A\&A 50\% \#1 a\_b \$x\$");
        assert_eq!(escaped(r"A\&A 50\%"), r"A\&A 50\%");
        assert_eq!(
            escaped(r"a\b{c}~^"),
            r"a\textbackslash{}b\textbraceleft{}c\textbraceright{}\textasciitilde{}\textasciicircum{}"
        );
        assert_eq!(escaped("\\"), r"\textbackslash{}");
        assert_eq!(escaped("Größe 王 \"x\""), "Größe 王 \"x\"");
        assert_eq!(address("http://a/{b}_c%20"), "http://a/%7Bb%7D_c%20");
    }

    #[test]
    fn capitals_are_protected_where_a_style_would_lower_them() {
        for (text, expected) in [
            (
                "A note on Griffiths infinitesimal invariants",
                "A note on {Griffiths} infinitesimal invariants",
            ),
            ("Learning DNA Sequences of iPS Cells", "Learning {DNA} Sequences of {iPS} Cells"),
            (
                "The asymptotic behavior of estimates: The case",
                "The asymptotic behavior of estimates: The case",
            ),
            ("ON COMPUTABLE NUMBERS", "ON COMPUTABLE NUMBERS"),
            ("A Study of Vitamin C in A Cell", "A Study of Vitamin {C} in A Cell"),
            ("P-values for R&D", "{P}-values for {R}\\&{D}"),
            ("Über das Gesetz", "Über das Gesetz"),
            ("Growth in the U.S.A. and the U.K.", "Growth in the {U.S.A}. and the {U.K}."),
            ("Work of J. Doe. And more", "Work of {J}. Doe. And more"),
        ] {
            assert_eq!(title(text), expected);
        }
    }
}
