//! From plain text to tokens as in the training data.

use std::ops::Range;

use super::characters::is_punctuation;

/// How a line is split into tokens. All split at white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokeniser {
    /// Only at spaces: punctuation stays with its word, `(2004),`.
    Spaces,
    /// Words: punctuation at the end of a word is a token, `Lett` `.` `,`. An initial keeps its
    /// stop, `J.`, a word the brackets around it, `(2004)`, and numbers and addresses their inner
    /// marks, `477-497`, `hep-th/9711200`.
    Words,
    /// Every punctuation character is a token: `(` `2004` `)` `,`.
    Punctuation,
}

/// Abbreviations that keep their stop, as initials do.
const KEEPS_STOP: &[&str] = &["Proc."];

impl Tokeniser {
    const NAMES: [(Self, &'static str); 3] =
        [(Self::Spaces, "spaces"), (Self::Words, "words"), (Self::Punctuation, "punctuation")];

    /// Its name in model files and on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }

    /// The tokeniser of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, own)| *own == name).map(|&(tokeniser, _)| tokeniser)
    }

    /// The tokens of a line, as places in it.
    pub fn tokens(self, line: &str) -> Vec<Range<usize>> {
        let mut found = Vec::with_capacity(line.len() / 4);
        for (start, chunk) in chunks(line) {
            match self {
                Self::Spaces => found.push(start..start + chunk.len()),
                Self::Words => words(start, chunk, &mut found),
                Self::Punctuation => characters(start, chunk, &mut found),
            }
        }
        found
    }
}

/// Runs without white space, and where they begin.
fn chunks(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let from = line.as_ptr() as usize;
    line.split_whitespace().map(move |chunk| (chunk.as_ptr() as usize - from, chunk))
}

fn characters(start: usize, chunk: &str, found: &mut Vec<Range<usize>>) {
    let mut word = None;
    for (at, c) in chunk.char_indices() {
        if is_punctuation(c) {
            found.extend(word.take().map(|first| start + first..start + at));
            found.push(start + at..start + at + c.len_utf8());
        } else {
            word.get_or_insert(at);
        }
    }
    found.extend(word.map(|first| start + first..start + chunk.len()));
}

fn words(start: usize, chunk: &str, found: &mut Vec<Range<usize>>) {
    if is_address(chunk) {
        return word(start, chunk, found);
    }
    let mut first = 0;
    let mut cut = |at: usize| {
        if at > first {
            word(start + first, &chunk[first..at], found);
            first = at;
        }
    };
    let mut before = None;
    let mut characters = chunk.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let after = characters.peek().map(|&(_, after)| after);
        let separates = separates(before, c, after);
        if separates || opens_inside(before, c) {
            cut(at);
        }
        if separates {
            cut(at + c.len_utf8());
        }
        before = Some(c);
    }
    cut(chunk.len());
}

/// Whether a mark without spaces around it is still a token: `46:2`, `(3):477`, `Smith,J.`, and
/// marks of scripts without spaces; but not `arXiv:0705`, `1,024`.
fn separates(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is = |side: Option<char>, kind: fn(char) -> bool| side.is_some_and(kind);
    match c {
        ':' => {
            is(before, |c| c == ')')
                || (is(before, char::is_numeric) && is(after, char::is_numeric))
        }
        ',' | ';' => {
            is(before, |c| c.is_alphabetic() || c == '.') && is(after, char::is_alphabetic)
        }
        '“' | '”' | '„' | '«' | '»' => true,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{301f}' | '\u{60c}' | '\u{61b}' => true,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => is_punctuation(c),
        _ => false,
    }
}

/// Whether a bracket opens right behind a word, as in `25(3)`.
fn opens_inside(before: Option<char>, c: char) -> bool {
    matches!(c, '(' | '[') && before.is_some_and(|c| c.is_alphanumeric() || c == '.')
}

/// Whether inner marks are part of a web address.
fn is_address(chunk: &str) -> bool {
    chunk.contains("://")
        || chunk.contains("www.")
        || (chunk.contains("10.") && chunk.contains('/'))
}

/// One word with marks around it: opening ones, the word, closing ones.
fn word(start: usize, word: &str, found: &mut Vec<Range<usize>>) {
    let (mut first, mut end) = (0, word.len());
    let mut closing = Vec::new();
    // Behind a bracket or a quotation mark, stops and commas stay with the word, as in `eds.` `)`.
    let mut marks = true;
    while let Some(c) = word[first..end].chars().next_back() {
        let core = &word[first..end];
        let at = end - c.len_utf8();
        let splits = match c {
            '.' | ',' | ':' | ';' => {
                marks && at > first && !keeps_stop(core.trim_start_matches(['(', '[', '"']))
            }
            '"' => at > first,
            ')' => at > first && is_unopened(core, '(', ')'),
            ']' => at > first && is_unopened(core, '[', ']'),
            _ => false,
        };
        if !splits {
            break;
        }
        marks &= matches!(c, '.' | ',' | ':' | ';');
        closing.push(start + at..start + end);
        end = at;
    }
    while let Some(c) = word[first..end].chars().next() {
        let opens = match c {
            '"' => true,
            '(' | '[' => !is_enclosed(&word[first..end]),
            _ => false,
        };
        if !opens || first + c.len_utf8() == end {
            break;
        }
        found.push(start + first..start + first + c.len_utf8());
        first += c.len_utf8();
    }
    found.push(start + first..start + end);
    found.extend(closing.into_iter().rev());
}

/// Whether a stop belongs to the word: `J.`, and a few abbreviations.
fn keeps_stop(word: &str) -> bool {
    let mut characters = word.chars();
    let initial = characters.next().is_some_and(char::is_alphabetic)
        && characters.next() == Some('.')
        && characters.next().is_none();
    initial || KEEPS_STOP.contains(&word)
}

/// Whether a closing bracket at the end has no opening one in the word.
fn is_unopened(word: &str, open: char, close: char) -> bool {
    word.matches(close).count() > word.matches(open).count()
}

/// Whether a bracket at the start is closed in the word: `(2004)`, `[KK]`, `(3)-form`.
fn is_enclosed(word: &str) -> bool {
    let close = match word.chars().next() {
        Some('(') => ')',
        Some('[') => ']',
        _ => return false,
    };
    word[1..].find(close).is_some_and(|at| at > 0)
}

#[cfg(test)]
mod tests {
    use super::Tokeniser::{self, *};

    fn split(tokeniser: Tokeniser, line: &str) -> Vec<&str> {
        tokeniser.tokens(line).into_iter().map(|place| &line[place]).collect()
    }

    #[test]
    fn words_are_split_as_references_are() {
        let cases = [
            (
                "Phys. Rev. Lett., 54(3):135-140 (1985).",
                "Phys . Rev . Lett . , 54 (3) : 135-140 (1985) .",
            ),
            ("[30] E. W. Montroll, B.J. West,", "[30] E. W. Montroll , B.J . West ,"),
            ("\"Geometries,\" Nucl. Phys. B299", "\" Geometries, \" Nucl . Phys . B299"),
            (
                "in Proc. STOC (eds. A. Li, et al.), 46:2",
                "in Proc. STOC ( eds . A. Li , et al. ) , 46 : 2",
            ),
            (
                "(Eds.): hep-th/9711200; arXiv:0705.1234.",
                "(Eds.) : hep-th/9711200 ; arXiv:0705.1234 .",
            ),
            ("(see http://a.b/c:2,(3)). Smith,J.", "( see http://a.b/c:2,(3) ) . Smith , J."),
            ("Sperner's `rates' 1,024 what?", "Sperner's `rates' 1,024 what?"),
            ("王明，“学习”。《计算》2004：5", "王明 ， “ 学习 ” 。 《 计算 》 2004 ： 5"),
            (". , (", ". , ("),
        ];
        for (line, expected) in cases {
            assert_eq!(split(Words, line).join(" "), expected);
        }
    }

    #[test]
    fn punctuation_and_spaces() {
        assert_eq!(split(Punctuation, "W.-P. de (2004),").join(" "), "W . - P . de ( 2004 ) ,");
        assert_eq!(split(Punctuation, "Mu\u{308}ller–x"), ["Mu\u{308}ller", "–", "x"]);
        assert_eq!(split(Spaces, " a,\tb. (2004), "), ["a,", "b.", "(2004),"]);
        assert!(split(Words, " \t").is_empty());
    }
}
