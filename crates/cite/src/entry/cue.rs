//! Words that only say which field comes next, or hold others together. Readers of fields leave them
//! out.

use crate::numbers::{access, date, volume};
use crate::people::{name_word, remark};

#[rustfmt::skip]
const BETWEEN: &[&str] = &[
    "a", "al", "and", "at", "available", "by", "dans", "de", "der", "die", "doi", "edited", "editor", "editors",
    "eds", "en", "et", "from", "hg", "hrsg", "in", "isbn", "isbn-10", "isbn-13", "of", "on", "online", "the",
    "und", "url", "y",
];

/// Whether a word is one of them, whatever its field, given the word behind it.
pub(super) fn is_cue(word: &str, next: &str) -> bool {
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    // A letter may be an initial; `S.` announces a number.
    let is_letter = lower.chars().nth(1).is_none() && word != lower;
    let is_apart = !is_letter || next.contains(char::is_numeric);
    is_apart
        && (BETWEEN.contains(&lower)
            || access::is_cue(lower)
            || date::is_cue(lower)
            || volume::is_cue(lower))
}

/// Whether a word is one of those that are left out among people.
pub(super) fn is_cue_of_people(word: &str) -> bool {
    let lower = word.to_lowercase();
    let is_initial = lower.chars().nth(1).is_none() && word != lower;
    !is_initial && (remark::is_cue(&lower) || name_word::is_cue(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cue_words_say_which_field_comes_next() {
        for word in
            ["In", "Hrsg", "eds", "pp", "vol", "Bd", "No", "edition", "Retrieved", "am", "th", "s"]
        {
            assert!(is_cue(word, ""), "{word}");
        }
        for word in ["erratum", "revised", "Library", "June", "12", "website", "x", "S", "with"] {
            assert!(!is_cue(word, "Li"), "{word}");
        }
        assert!(is_cue("S", "45-67"));
        for word in ["and", "with", "et", "al", "others", "PhD", "Dr", "trans", "von"] {
            assert!(is_cue_of_people(word), "{word}");
        }
        assert!(!["Y", "E", "Karl", "for"].into_iter().any(is_cue_of_people));
    }
}
