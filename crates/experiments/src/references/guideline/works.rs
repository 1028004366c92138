//! What a work is in: books and series that stand where a container does, and volumes with pages.

use super::Piece;
use super::fields::editors_mark;

/// Gives containers, volumes and editors the field that the guideline has for them.
pub(super) fn settle(pieces: &mut Vec<Piece>) {
    name_editors(pieces);
    name_books(pieces);
    name_series(pieces);
    join_names(pieces);
    let mut at = 0;
    while at < pieces.len() {
        at += 1 + usize::from(split_numbers(pieces, at));
    }
}

/// People before `(ed.)` are editors.
fn name_editors(pieces: &mut [Piece]) {
    for next in 1..pieces.len() {
        let (before, after) = pieces.split_at_mut(next);
        if before[next - 1].is("author") && editors_mark(&after[0].tokens) > 0 {
            before[next - 1].field = "editor".to_string();
        }
    }
}

/// A title or series behind the editors of a book that something else is in is that book.
fn name_books(pieces: &mut [Piece]) {
    if pieces.iter().any(|piece| piece.is("container-title") || piece.is("journal")) {
        return;
    }
    for next in 1..pieces.len() {
        let (before, after) = pieces.split_at_mut(next);
        let is_inside = before[..next - 1].iter().any(|piece| piece.is("author"));
        let book = &mut after[0];
        let is_name = book.is("title") || book.is("collection-title");
        let follows_editors = before[next - 1].is("editor") && begins_with_in(&before[next - 1]);
        if is_name && is_inside && (follows_editors || begins_with_in(book)) {
            book.field = "container-title".to_string();
            return;
        }
    }
}

/// A periodical behind the book is the book's series; a series with volume and pages is a periodical,
/// if there is no other container.
fn name_series(pieces: &mut [Piece]) {
    let find = |field: &str| pieces.iter().position(|piece| piece.is(field));
    let [book, journal, series, volume, pages] =
        ["container-title", "journal", "collection-title", "volume", "pages"].map(find);
    match (book, journal, series) {
        (Some(book), Some(journal), None) if book < journal => {
            pieces[journal].field = "collection-title".to_string();
        }
        (None, None, Some(series))
            if volume == Some(series + 1) && pages.is_some_and(|pages| pages > series) =>
        {
            pieces[series].field = "journal".to_string();
        }
        _ => {}
    }
}

/// A place or a society behind a journal is part of its name: `J . Phys . ( Paris )` before volume, date
/// or pages, `J . Struct . Eng . , ASCE ,` before the volume.
fn join_names(pieces: &mut Vec<Piece>) {
    for at in (1..pieces.len().saturating_sub(1)).rev() {
        let next = |fields: &[&str]| fields.iter().any(|field| pieces[at + 1].is(field));
        let is_part = match pieces[at].field.as_str() {
            "location" => next(&["volume", "date", "pages"]),
            "publisher" => next(&["volume"]),
            _ => false,
        };
        if is_part && pieces[at - 1].is("journal") {
            let part = pieces.remove(at);
            pieces[at - 1].tokens.extend(part.tokens);
        }
    }
}

/// Whether a piece with the volume and the first page of an article, `554 , L23`, became two.
fn split_numbers(pieces: &mut Vec<Piece>, at: usize) -> bool {
    const BEFORE: [&str; 2] = ["journal", "date"];
    let others = ["volume", "pages"].into_iter().filter(|field| !pieces[at].is(field));
    let is_alone = others.clone().count() == 1
        && others.clone().all(|field| pieces.iter().all(|piece| !piece.is(field)));
    let follows = at.checked_sub(1).is_some_and(|at| BEFORE.contains(&pieces[at].field.as_str()));
    let [volume, mark, page, rest @ ..] = &pieces[at].tokens[..] else { return false };
    let is_number = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let is_mark = |token: &String| !token.contains(char::is_alphanumeric);
    let splits = mark == "," || mark == ":";
    if !is_alone || !follows || !splits || !is_number(volume) || !is_number(page) {
        return false;
    }
    if !rest.iter().all(is_mark) || !pieces.iter().any(|piece| piece.is("journal")) {
        return false;
    }
    let tokens = pieces[at].tokens.split_off(2);
    pieces[at].field = "volume".to_string();
    pieces.insert(at + 1, Piece { field: "pages".to_string(), tokens });
    true
}

fn begins_with_in(piece: &Piece) -> bool {
    piece.tokens[0].eq_ignore_ascii_case("in")
}
