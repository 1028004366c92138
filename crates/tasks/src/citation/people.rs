//! Lists of people as they are written.

use super::person::{Name, People, is_initials, is_suffix};
use super::tidy::tidy;

/// Words between names.
const AND: &[&str] = &["and", "&", "et", "und", "y", "en", "＆", "and/or"];

/// Words about a list of people that are no names.
const ABOUT: &[&str] = &[
    "ed",
    "eds",
    "edited",
    "editor",
    "editors",
    "hg",
    "hrsg",
    "by",
    "in",
    "trans",
    "transl",
    "translated",
    "translator",
    "translators",
    "red",
    "herausgegeben",
    "von",
    "vom",
    "with",
    "author",
    "authors",
];

/// One name or a part of one between commas; what stands before it.
struct Piece<'a> {
    text: &'a str,
    /// Whether only a comma is between it and the piece before.
    comma: bool,
}

/// The people in a list: `A. Cau, R. Kuiper, and W.-P. de Roever`, `Romero, C., & Dweck, C.`, `Smith JK,
/// Doe A`, `Liu, Bing; Wang, Chao`, `王明、李雷`, `Smith et al.`
pub fn people(list: &str) -> People {
    let list = without_remarks(list);
    let (list, others) = without_others(&list);
    let mut names = Vec::new();
    let groups: Vec<&str> =
        list.split([';', '；', '、', '·']).filter(|g| !g.trim().is_empty()).collect();
    let one_each = groups.len() > 1;
    for group in groups {
        let pieces = pieces(group);
        match pieces[..] {
            [Piece { text: family, .. }, Piece { text: given, comma: true }]
                if one_each && !is_suffix(given) =>
            {
                names.extend(Name::inverted(family, given));
            }
            _ => assemble(&pieces, &mut names),
        }
    }
    People { names, others }
}

fn assemble(pieces: &[Piece], names: &mut Vec<Name>) {
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        at += 1;
        if is_suffix(piece.text) {
            if let Some(name) = names.last_mut() {
                name.suffix =
                    Name::of_parts("", "x", piece.text).map_or_else(String::new, |n| n.suffix);
            }
            continue;
        }
        let next = pieces.get(at).filter(|next| next.comma);
        match next {
            Some(next) if belongs(piece.text, next.text) => {
                names.extend(Name::inverted(piece.text, next.text));
                at += 1;
            }
            _ => names.extend(Name::of_words(piece.text)),
        }
    }
}

/// Whether the text behind a comma is the first name of the family name before it.
fn belongs(family: &str, given: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let (family, given) = (words(family), words(given));
    let cased = |words: &[String]| {
        words
            .iter()
            .any(|word| word.contains(char::is_lowercase) || word.contains(char::is_uppercase))
    };
    if is_suffix(&given[0]) || !cased(&family) || family.iter().any(|word| is_initials(word)) {
        return false;
    }
    if given.iter().all(|word| is_initials(word)) {
        return true;
    }
    // A family name of one word, or with particles, cannot stand alone.
    let alone = family.iter().filter(|word| word.starts_with(char::is_uppercase)).count() == 1;
    let first = given.iter().filter(|word| !is_initials(word)).count();
    alone && first <= 2 && (given.len() == 1 || !is_initials(&given[0]))
}

/// The text between commas and words such as `and`.
fn pieces(list: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut comma = false;
    let mut start = None;
    let from = list.as_ptr() as usize;
    let mut end = 0;
    let mut close = |start: &mut Option<usize>, end: usize, comma: bool| {
        if let Some(first) = start.take() {
            let text = list[first..end].trim();
            if text.contains(char::is_alphanumeric) {
                pieces.push(Piece { text, comma });
                return true;
            }
        }
        false
    };
    for word in list.split_inclusive([',', '，', '،', ' ', '\t', '\u{a0}']) {
        let at = word.as_ptr() as usize - from;
        let ends = word.ends_with([',', '，', '،']);
        let bare = word.trim_end_matches([',', '，', '،', ' ', '\t', '\u{a0}']);
        if AND.contains(&bare.to_lowercase().as_str()) && bare != "Y" && bare != "En" {
            close(&mut start, end, comma);
            comma = false;
            continue;
        }
        if !bare.is_empty() {
            start.get_or_insert(at);
            end = at + bare.len();
        }
        if ends && close(&mut start, end, comma) {
            comma = true;
        }
    }
    close(&mut start, end, comma);
    pieces
}

/// Without `(eds.)`, `edited by`, `In`.
fn without_remarks(list: &str) -> String {
    let is_about = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        ABOUT.contains(&bare.as_str())
    };
    let list = list.replace(['(', ')', '[', ']'], " ");
    let words: Vec<&str> = list.split_whitespace().collect();
    let first = words.iter().take_while(|word| is_about(word)).count();
    // `von` at the start is a remark only behind another.
    let first = if first == 1 && words[0].eq_ignore_ascii_case("von") { 0 } else { first };
    let rest = &words[first..];
    let is_remark = |word: &&str| {
        is_about(word) && !word.chars().all(|c| c.is_lowercase() && "von".contains(c))
    };
    let kept: Vec<&str> = rest.iter().copied().filter(|word| !is_remark(word)).collect();
    kept.join(" ")
}

/// The list before `et al.`, `and others`, `…`; and whether there was one.
fn without_others(list: &str) -> (&str, bool) {
    const OTHERS: &[&str] = &[
        "et al",
        "et. al",
        "and others",
        "et alii",
        "u. a.",
        "u.a.",
        "…",
        "...",
        "and coworkers",
        "и др",
    ];
    let lower = list.to_ascii_lowercase();
    let at = OTHERS.iter().filter_map(|others| {
        lower.match_indices(others).map(|(at, _)| at).find(|&at| {
            let before = list[..at].chars().next_back();
            let after = list[at + others.len()..].chars().next();
            before.is_none_or(|c| !c.is_alphanumeric())
                && after.is_none_or(|c| !c.is_alphanumeric())
        })
    });
    match at.min() {
        Some(at) => (list[..at].trim_end_matches([',', ' ', '&']), true),
        None => (list, false),
    }
}

/// Whether text between names says that there are others.
pub(super) fn says_others(text: &str) -> bool {
    without_others(&tidy(text)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `family|given` of each, with `particle` and `suffix` beside the family name.
    fn read(list: &str) -> String {
        let people = people(list);
        let shown = |name: &Name| {
            let family = format!("{} {} {}", name.particle, name.family, name.suffix);
            format!("{}|{}", family.trim(), name.given)
        };
        let mut names: Vec<String> = people.names.iter().map(shown).collect();
        names.extend(people.others.then(|| "others".to_string()));
        names.join("; ")
    }

    #[test]
    fn lists_are_read_as_styles_write_them() {
        for (list, expected) in [
            ("A. Cau, R. Kuiper, and W.-P. de Roever.", "Cau|A.; Kuiper|R.; de Roever|W.-P."),
            ("Romero, C., Paunesku, D., & Dweck, C.", "Romero|C.; Paunesku|D.; Dweck|C."),
            ("Heidegger M.,", "Heidegger|M."),
            ("Smith JK, Doe A", "Smith|JK; Doe|A"),
            ("Smith, John and Doe, Jane", "Smith|John; Doe|Jane"),
            ("Smith, John, Jane Doe, and Mark Lee", "Smith|John; Doe|Jane; Lee|Mark"),
            ("Liu, Bing; Wang, Chao M.", "Liu|Bing; Wang|Chao M."),
            (
                "Phillip Colella, Milo R. Dorr, and Daniel F. Martin.",
                "Colella|Phillip; Dorr|Milo R.; Martin|Daniel F.",
            ),
            (
                "van den Bosch F. C., De Lucia G., Mo H. J.",
                "van den Bosch|F. C.; De Lucia|G.; Mo|H. J.",
            ),
            ("Smith, J., Jr., and King, M. L.", "Smith Jr.|J.; King|M. L."),
            ("P´erez-Gonz´alez P. G. et al.,", "Pérez-González|P. G.; others"),
            ("T. Jacobson et L. Smolin", "Jacobson|T.; Smolin|L."),
            (
                "In C. B. Jones, R. C. Shaw, and T. Denvir, editors,",
                "Jones|C. B.; Shaw|R. C.; Denvir|T.",
            ),
            ("edited by J. Diaz (Eds.)", "Diaz|J."),
            ("王明、李雷", "王明|; 李雷|"),
            ("王明, 李雷", "王明|; 李雷|"),
            ("Шевченко, Т. Г.", "Шевченко|Т. Г."),
            ("von Neumann, J.", "von Neumann|J."),
            ("Plato", "Plato|"),
            ("", ""),
            ("et al.", "others"),
            (", , &", ""),
        ] {
            assert_eq!(read(list), expected, "{list}");
        }
    }
}
