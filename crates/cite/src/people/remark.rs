//! Remarks in a list of people, such as `(eds.)`.

use super::name_word::{is_and, is_initials};
use super::organisation::is_organisation;

/// Words about a list of people that are not names, in lower case.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "author", "authors", "by", "coord", "coords", "dans", "dir", "dirs", "ed", "edited", "editor",
    "editors", "eds", "herausgegeben", "hg", "hgg", "hrg", "hrsg", "hrsgg", "in", "org", "orgs", "red",
    "trans", "transl", "translated", "translator", "translators", "éd", "édit", "éditeur", "éditeurs", "éds",
];

/// Those that are never names.
#[rustfmt::skip]
const NO_NAMES: &[&str] = &[
    "edited", "editor", "editors", "eds", "herausgegeben", "hgg", "hrg", "hrsg", "hrsgg", "transl",
    "translated", "translator", "translators", "éd", "édit", "éditeur", "éditeurs", "éds",
];

/// Words before a list that say what its people did.
const INTRODUCTIONS: &[&str] =
    &["sous la direction de ", "sous la dir. de ", "a cura di ", "unter mitarbeit von "];

/// What stands for people who are not named.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "et al", "et. al", "and others", "et alii", "u. a.", "u.a.", "and coworkers", "и др", "a kol", "et coll",
    "y otros", "e outros",
];

/// Whether a word, in lower case, says what people did, or that there are others.
pub(crate) fn is_cue(word: &str) -> bool {
    let of = |phrases: &[&str]| {
        phrases.iter().any(|phrase| phrase.split([' ', '.']).any(|own| own == word))
    };
    ABOUT.contains(&word) || of(INTRODUCTIONS) || of(OTHERS) || stands_for_others(word)
}

/// Words between what people did and their names.
const BY: &[&str] = &["by", "par", "por"];

/// An introduction such as `selected and translated by` has at most so many words.
const LONGEST_ROLE: usize = 5;

/// Without `(eds.)`, `edited by`, `In`, and without brackets.
pub(crate) fn without_remarks(list: &str) -> String {
    let list = without_brackets(list);
    let list = without_introduction(list.trim_start());
    let words: Vec<&str> = list.split_whitespace().collect();
    let first = leading(&words);
    let end = other_role(&words, first);
    let kept = (first..end).filter(|&w| !is_remark(&words, w)).map(|w| words[w]);
    kept.collect::<Vec<_>>().join(" ")
}

fn without_introduction(list: &str) -> &str {
    let is_own =
        |start: &&&str| list.get(..start.len()).is_some_and(|own| own.to_lowercase() == **start);
    INTRODUCTIONS.iter().find(is_own).map_or(list, |start| &list[start.len()..])
}

/// How many words at the start introduce the names.
fn leading(words: &[&str]) -> usize {
    let by = (1..words.len().min(LONGEST_ROLE)).find(|&at| is_role(words, at));
    let mut count = by.filter(|&by| words[1..by].iter().all(is_small)).map_or(0, |by| by + 1);
    while let Some(word) = words.get(count) {
        let lower = bare(word).to_lowercase();
        // `Hrsg. von A. Müller`
        let by = lower == "von" && count > 0;
        let is_name = word.ends_with(',') || *word == "Ed" || *word == "Red";
        if is_name || !(by || ABOUT.contains(&lower.as_str())) {
            break;
        }
        count += 1;
    }
    if count == words.len() { 0 } else { count }
}

/// Where the people who did something else begin: `Basil Creighton; revised by Joseph Mileck`. They are
/// not of the list.
fn other_role(words: &[&str], first: usize) -> usize {
    let by = (first + 2..words.len()).find(|&at| is_role(words, at) && is_small(&words[at - 1]));
    let Some(by) = by else { return words.len() };
    let names = (first..by).rev().find(|&at| !is_small(&words[at]) || ends_piece(words[at]));
    names.map_or(words.len(), |last| last + 1)
}

/// Whether a word is the `by` of what people did, which the word before it says.
fn is_role(words: &[&str], at: usize) -> bool {
    const SHORTEST: usize = 4;
    let did = words[at - 1];
    let is_word = did.chars().count() >= SHORTEST && did.chars().all(char::is_alphabetic);
    is_word && (BY.contains(&words[at]) || words[at] == "von" && is_small(&did))
}

fn is_small(word: &&str) -> bool {
    word.starts_with(char::is_lowercase)
}

fn ends_piece(word: &str) -> bool {
    word.ends_with([',', ';'])
}

/// Whether a word inside or after a list is about the list.
fn is_remark(words: &[&str], at: usize) -> bool {
    let own = bare(words[at]);
    let lower = own.to_lowercase();
    let small = own == lower && ABOUT.contains(&own);
    small || NO_NAMES.contains(&lower.as_str()) || is_short_remark(words, at)
}

/// `Ed.` behind a name, but not where it would be the first name: `Catmull, Ed.`
fn is_short_remark(words: &[&str], at: usize) -> bool {
    let own = words[at].trim_end_matches(',');
    if !matches!(own, "Ed." | "Hg." | "Trans." | "Red.") {
        return false;
    }
    let before = |back: usize| at.checked_sub(back).map(|at| words[at]);
    let ends_name = |word: &str| word.ends_with([',', ';']) || is_and(word, false);
    let family = before(1).is_some_and(|word| word.ends_with(',') && !is_initials(word));
    !(family && before(2).is_none_or(ends_name))
}

/// Without brackets, and without their content if it is a remark. Brackets of an organisation's place,
/// `Met Office (UK)`, stay.
fn without_brackets(list: &str) -> String {
    const BRACKETS: [char; 4] = ['(', ')', '[', ']'];
    if !list.contains(BRACKETS) {
        return list.to_string();
    }
    let mut kept = String::with_capacity(list.len());
    for (p, piece) in list.split_inclusive(BRACKETS).enumerate() {
        let inner = piece.trim_end_matches(BRACKETS);
        let in_brackets = p > 0 && piece.ends_with([')', ']']);
        let is_about = |word: &str| {
            let lower = bare(word).to_lowercase();
            ABOUT.contains(&lower.as_str()) || is_and(&lower, false) || lower.is_empty()
        };
        let is_remark = inner.split_whitespace().all(is_about)
            || is_short_for(inner, &kept)
            || inner.trim_start().starts_with("sous la dir");
        if in_brackets && !is_remark && piece.ends_with(')') && ends_with_organisation(&kept) {
            kept.truncate(kept.trim_end().len());
            kept.push_str(&format!(" ({inner})"));
        } else if !(in_brackets && is_remark) {
            kept.push_str(inner);
        }
        kept.push(' ');
    }
    kept
}

fn ends_with_organisation(list: &str) -> bool {
    let last = list.trim_end().rsplit([',', ';']).next();
    last.is_some_and(is_organisation)
}

/// Whether a word of capitals is made of first letters of the words before it: `(CDC)`.
pub(crate) fn is_short_for(word: &str, before: &str) -> bool {
    let mut initials = before.split_whitespace().filter_map(|word| word.chars().next());
    let is_short = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    is_short && word.chars().all(|letter| initials.any(|initial| initial == letter))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// The list without `et al.`, and whether there are others. An ellipsis, `A. Li, …, Z. Xu`, becomes
/// an `and`.
pub(crate) fn without_others(list: &str) -> (String, Option<String>, bool) {
    const ELLIPSES: &[&str] = &["…", ". . .", "..."];
    let lower = list.to_ascii_lowercase();
    let found = OTHERS.iter().filter_map(|others| {
        let mut places = lower.match_indices(others).map(|(at, _)| (at, at + others.len()));
        places.find(|&(start, end)| {
            let is_name = list[start..end].split_whitespace().all(is_initials); // `U. A. Wiedemann`
            let before = list[..start].chars().next_back();
            let after = list[end..].chars().next();
            !is_name
                && before.is_none_or(|c| !c.is_alphanumeric())
                && after.is_none_or(|c| !c.is_alphanumeric())
        })
    });
    let (mut named, rest) = match found.min() {
        Some((start, end)) => {
            let rest = list[end..].trim_start_matches(|c: char| !c.is_alphanumeric());
            (list[..start].trim_end_matches([',', ' ', '&']).to_string(), Some(rest.to_string()))
        }
        None => (list.to_string(), None),
    };
    let mut others = rest.is_some();
    for ellipsis in ELLIPSES {
        if named.contains(ellipsis) {
            named = named.replace(ellipsis, " and ");
            others = true;
        }
    }
    (named, rest, others)
}

/// Whether a piece of a list stands for others: `12 others`, `Others`, `colleagues`.
pub(crate) fn stands_for_others(piece: &str) -> bool {
    let words = piece.split_whitespace().map(|word| bare(word).to_lowercase());
    let mut words = words.filter(|word| !word.chars().all(|c| c.is_ascii_digit())).peekable();
    words.peek().is_some()
        && words.all(|word| {
            matches!(word.as_str(), "others" | "other" | "more" | "colleagues" | "coworkers")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_told_from_names() {
        for (list, expected) in [
            ("In A. Doe and B. Roe (Eds.),", "A. Doe and B. Roe ,"),
            ("edited by J. Diaz", "J. Diaz"),
            ("(J. Diaz, ed.)", "J. Diaz,"),
            ("Hrsg. von A. Müller", "A. Müller"),
            ("Compiled by J. Diaz", "J. Diaz"),
            ("Selected and translated by J. Diaz", "J. Diaz"),
            ("Basil Creighton; revised by Joseph Mileck", "Basil Creighton;"),
            ("A. Doe, with an introduction by B. Roe", "A. Doe,"),
            ("Traduit par J. Diaz et revu par B. Roe", "J. Diaz"),
            ("A. Doe, übersetzt von B. Roe", "A. Doe,"),
            ("Werner von Siemens", "Werner von Siemens"),
            ("J. Diaz, Ed.", "J. Diaz,"),
            ("Doe, J., ed.", "Doe, J.,"),
            ("Catmull, Ed", "Catmull, Ed"),
            ("Catmull, Ed.", "Catmull, Ed."),
            ("Ed Catmull", "Ed Catmull"),
            ("Red Adair", "Red Adair"),
            ("Office for Statistics (UK)", "Office for Statistics (UK)"),
            ("vom Berg, A.", "vom Berg, A."),
            ("von Neumann, J.", "von Neumann, J."),
            ("Kim, In", "Kim, In"),
            ("By, Author", "By, Author"),
        ] {
            assert_eq!(without_remarks(list), expected, "{list}");
        }
    }

    #[test]
    fn others_are_recognised() {
        let (named, rest, others) = without_others("A. Li et al. (NuTeV)");
        assert_eq!((named.as_str(), rest.as_deref(), others), ("A. Li", Some("NuTeV)"), true));
        assert!(without_others("A. Li u. a.").2 && !without_others("B. Xu and U. A. Li").2);
        assert!(without_others("A. Li, ..., Z. Xu").2 && !without_others("Set Alan").2);
        assert!(stands_for_others("12 others") && !stands_for_others("12"));
    }
}
