//! The pieces of a list of people between commas and words such as `and`.

use super::name_word::{is_and, is_initials, is_particle, joins_family_names};

/// A name or part of a name between commas, and what stands before it.
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    /// Where it begins in the list.
    pub(crate) start: usize,
    /// Whether only a comma is between it and the piece before.
    pub(crate) comma: bool,
}

impl Piece<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_one_word(&self) -> bool {
        !self.text.contains(char::is_whitespace)
    }

    pub(crate) fn has_initials(&self) -> bool {
        self.text.split_whitespace().any(is_initials)
    }
}

/// A word of a list, where it begins, and whether a comma ends it.
struct Word<'a> {
    text: &'a str,
    start: usize,
    comma: bool,
}

fn words(list: &str) -> Vec<Word<'_>> {
    const COMMAS: [char; 3] = [',', '，', '،'];
    let mut words: Vec<Word> = Vec::new();
    let mut start = 0;
    for part in list.split_inclusive(|c: char| c.is_whitespace() || COMMAS.contains(&c)) {
        let text = part.trim_end_matches(|c: char| c.is_whitespace() || COMMAS.contains(&c));
        let comma = part.ends_with(COMMAS);
        if !text.is_empty() {
            words.push(Word { text, start, comma });
        } else if let Some(before) = words.last_mut() {
            before.comma |= comma;
        }
        start += part.len();
    }
    words
}

/// The text between commas and words such as `and`.
pub(crate) fn pieces(list: &str) -> Vec<Piece<'_>> {
    let words = words(list);
    let capitals = !list.contains(char::is_lowercase);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut comma = false;
    let mut first = 0; // the first word of the piece
    for w in 0..=words.len() {
        let word = words.get(w);
        let parts = word.is_none_or(|word| is_and(word.text, capitals))
            && !is_inside_name(&words, first, w, pieces.last().filter(|_| comma));
        let ends = !parts && word.is_some_and(|word| word.comma);
        if !parts && !ends {
            continue;
        }
        let own = &words[first..if parts { w } else { w + 1 }];
        if let [start, ..] = own
            && let [.., end] = own
        {
            let text = &list[start.start..end.start + end.text.len()];
            if text.contains(char::is_alphanumeric) {
                pieces.push(Piece { text, start: start.start, comma });
                comma = true;
            }
        }
        comma &= !parts;
        first = w + 1;
    }
    pieces
}

/// Whether a word for `and` is part of the name that starts at a word: `von und zu`, `Ramón y
/// Cajal, S.` `before` is the previous piece, if only a comma separates them.
fn is_inside_name(words: &[Word], first: usize, at: usize, before: Option<&Piece>) -> bool {
    let (Some(word), Some(next)) = (words.get(at), words.get(at + 1)) else { return false };
    let own = &words[first..at];
    let Some(last) = own.last() else { return false };
    if is_particle(last.text) && is_particle(next.text) {
        return true;
    }
    let next_alone = next.comma || words.get(at + 2).is_none_or(|word| is_and(word.text, false));
    let is_given = before.is_some_and(|before| {
        let initials = own.iter().all(|word| is_initials(word.text));
        initials || own.len() == 1 && before.is_one_word() && !before.has_initials()
    });
    joins_family_names(word.text) && next_alone && !is_given
}
