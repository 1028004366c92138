//! Which field a piece is, and which words belong to it.

use super::Piece;

/// Words of theses, reports and other kinds of work.
const KINDS: [&str; 17] = [
    "thesis",
    "dissertation",
    "theses",
    "diss",
    "dissertations",
    "mémoire",
    "habilitation",
    "diplomarbeit",
    "masterarbeit",
    "thèse",
    "tesis",
    "report",
    "reports",
    "rep",
    "tr",
    "memo",
    "memorandum",
];
const EDITIONS: [&str; 6] = ["ed", "edn", "edition", "aufl", "auflage", "édition"];
const SUPPLEMENTS: [&str; 3] = ["suppl", "supplement", "supp"];
const LOOKED_AT: [&str; 5] = ["accessed", "retrieved", "consulté", "abgerufen", "visited"];
const EDITORS: [&str; 8] = ["eds", "ed", "editors", "editor", "hrsg", "hg", "dir", "coord"];
const ADDRESSES: [&str; 4] = ["http", "https", "ftp", "www"];
/// A longer note is a sentence about the reference, not its edition.
const LONGEST_EDITION: usize = 6;

/// Gives pieces the field that the guideline has for them.
pub(super) fn rename(pieces: &mut [Piece]) {
    for at in 0..pieces.len() {
        let first = at == 0 || at == 1 && pieces[0].is("citation-number");
        let after_volume = at > 0 && pieces[at - 1].is("volume");
        let piece = &mut pieces[at];
        let field = match piece.field.as_str() {
            "publisher" if first => "author",
            "director" | "producer" if first => "author",
            "director" | "producer" | "source" | "medium" => "note",
            "date" if piece.has(&LOOKED_AT) => "note",
            "note" if after_volume && piece.has(&SUPPLEMENTS) => "volume",
            "note" if piece.has(&KINDS) => "genre",
            "note" if piece.tokens.len() <= LONGEST_EDITION && is_edition(piece) => "edition",
            _ => continue,
        };
        piece.field = field.to_string();
    }
}

/// `8th ed.`, but not `(ed.)`.
fn is_edition(piece: &Piece) -> bool {
    let numbered = |token: &String| {
        token.contains(|c: char| c.is_ascii_digit())
            || ["second", "third", "fourth", "fifth", "revised", "rev", "first"]
                .contains(&token.to_lowercase().as_str())
    };
    piece.has(&EDITIONS) && piece.tokens.iter().any(numbered)
}

/// Moves words to the field they speak of.
pub(super) fn move_words(pieces: &mut Vec<Piece>) {
    number_first(pieces);
    for next in 1..pieces.len() {
        let (before, after) = pieces.split_at_mut(next);
        let (before, after) = (&mut before[next - 1], &mut after[0]);
        let own = match before.field.as_str() {
            "author" | "editor" if after.tokens[0].eq_ignore_ascii_case("et") => {
                et_al(&after.tokens)
            }
            "editor" => editors_mark(&after.tokens),
            _ => 0,
        };
        before.tokens.extend(after.tokens.drain(..own));
        if before.is("note") && before.tokens.iter().all(|token| is_in(token)) {
            after.tokens.splice(..0, before.tokens.drain(..));
        }
    }
    words_before_addresses(pieces);
}

/// A number in brackets before everything else is the reference's own.
fn number_first(pieces: &mut Vec<Piece>) {
    let Some(first) = pieces.first_mut().filter(|first| !first.is("citation-number")) else {
        return;
    };
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let [open, number, close, ..] = &first.tokens[..] else { return };
    if open != "[" || close != "]" || !is_number(number) {
        return;
    }
    let comma = usize::from(first.tokens.get(3).is_some_and(|token| token == ","));
    let tokens: Vec<String> = first.tokens.drain(..3 + comma).collect();
    pieces.insert(0, Piece { field: "citation-number".to_string(), tokens });
}

/// Tokens of `et al.,` at the start.
fn et_al(tokens: &[String]) -> usize {
    match tokens.get(1).is_some_and(|al| ["al", "alii"].contains(&al.as_str())) {
        true => 2 + tokens[2..].iter().take_while(|token| is_mark(token)).count(),
        false => 0,
    }
}

/// Tokens of `editors,` or `(eds.),` at the start.
pub(super) fn editors_mark(tokens: &[String]) -> usize {
    let opened = usize::from(tokens.first().is_some_and(|token| token == "(" || token == "["));
    let is_word = |token: &String| EDITORS.contains(&token.to_lowercase().as_str());
    // `Ed.` alone may begin the name of an editor.
    let is_word = |token: &String| is_word(token) && (opened == 1 || token.len() > 2);
    match tokens.get(opened).is_some_and(is_word) {
        true => {
            let from = opened + 1;
            from + tokens[from..].iter().take_while(|token| is_mark(token)).count()
        }
        false => 0,
    }
}

fn is_mark(token: &str) -> bool {
    matches!(token, "." | "," | ";" | ":" | ")" | "]")
}

fn is_in(token: &str) -> bool {
    matches!(token.to_lowercase().as_str(), "in" | ":" | "dans" | "en")
}

/// `Available at` before an address is a note.
fn words_before_addresses(pieces: &mut Vec<Piece>) {
    let mut at = 0;
    while at < pieces.len() {
        let piece = &mut pieces[at];
        let is_address = |token: &String| ADDRESSES.contains(&token.to_lowercase().as_str());
        let start = piece.tokens.iter().position(is_address).unwrap_or(0);
        let is_word = |token: &String| token.chars().all(char::is_alphabetic);
        let is_bracket = |token: &String| token == "<" || token == "(" || token == "[";
        let start = match start > 0 && is_bracket(&piece.tokens[start - 1]) {
            true => start - 1,
            false => start,
        };
        if piece.is("url")
            && piece.tokens[..start].iter().any(|t| is_word(t) && t.to_lowercase() != "url")
        {
            let tokens: Vec<String> = piece.tokens.drain(..start).collect();
            pieces.insert(at, Piece { field: "note".to_string(), tokens });
            at += 1;
        }
        at += 1;
    }
}
