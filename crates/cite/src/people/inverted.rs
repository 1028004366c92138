//! Names with a comma inside, in lists separated by commas.

use super::name::Name;
use super::name_word::{
    is_degree, is_initials, is_particle, is_prefix, is_short_capitals, is_suffix,
    joins_family_names,
};
use super::organisation::{is_company_form, is_organisation};
use super::pieces::Piece;

/// The order of first and family names in a list.
pub(crate) struct Order {
    /// Whether the name after `and` has a comma inside; then all have.
    is_inverted: bool,
    /// Whether some name has its first name first.
    pub(crate) is_direct: bool,
    /// How many pieces look like `F. Last`.
    abbreviated: usize,
}

impl Order {
    pub(crate) fn of(pieces: &[Piece]) -> Self {
        let last = pieces.iter().rposition(|piece| !piece.comma).unwrap_or(0);
        let is_inverted = match &pieces[last..] {
            [_, given] if last > 0 => {
                !is_suffix(given.text) && !is_degree(given.text) && !is_company_form(given.text)
            }
            _ => false,
        };
        let is_abbreviated = |piece: &&Piece| {
            let mut words = piece.text.split_whitespace();
            words.next().is_some_and(is_initials) && words.any(|word| !is_initials(word))
        };
        let abbreviated = pieces.iter().filter(is_abbreviated).count();
        Self { is_inverted, is_direct: false, abbreviated }
    }
}

/// A name with a comma inside that starts at a piece, `Last, First` or `Last, Jr., First`, and its
/// end.
pub(crate) fn inverted(
    pieces: &[Piece],
    at: usize,
    order: &Order,
) -> Option<(Option<Name>, usize)> {
    let family = &pieces[at];
    let behind = |at: usize| pieces.get(at).filter(|piece| piece.comma);
    let suffix = behind(at + 1).filter(|piece| is_suffix(piece.text));
    let end = at + 1 + usize::from(suffix.is_some());
    let given = behind(end)?;
    let is_certain = suffix.is_none() || family.is_one_word();
    (is_certain && belongs(family.text, given.text, order)).then(|| {
        let name = Name::inverted(family.text, given.text);
        let name = match suffix {
            Some(suffix) => name.map(|name| name.with_suffix(suffix.text)),
            None => name,
        };
        (name, end + 1)
    })
}

/// People with commas where there should be none and none where there should be, `Rowan, D. Hartley,
/// K. Tanner, T.`, and the end of their list: a piece that is only initials.
pub(crate) fn chained(pieces: &[Piece], at: usize) -> Option<(Vec<Name>, usize)> {
    /// Longer lists are not looked through from every name on.
    const MOST: usize = 200;
    let mut family = pieces[at].text.to_string();
    if pieces[at].has_initials() || is_organisation(&family) {
        return None;
    }
    let mut names = Vec::new();
    for (p, piece) in pieces.iter().enumerate().skip(at + 1).take(MOST) {
        let words: Vec<&str> = piece.text.split_whitespace().collect();
        let initials = words.iter().take_while(|word| is_initials(word)).count();
        let (given, next) = words.split_at(initials);
        let is_of_family = |word: &&str| {
            is_particle(word) || word.starts_with(char::is_uppercase) && !is_suffix(word)
        };
        if !piece.comma || given.is_empty() || !next.iter().all(is_of_family) {
            return None;
        }
        names.extend(Name::inverted(&family, &given.join(" ")));
        if next.is_empty() {
            return (names.len() > 1).then_some((names, p + 1));
        }
        family = next.join(" ");
    }
    None
}

/// Whether the text behind a comma is the first name of the family name before it.
fn belongs(family: &str, given: &str, order: &Order) -> bool {
    let family_words: Vec<&str> = family.split_whitespace().collect();
    let mut given: Vec<&str> = given.split_whitespace().collect();
    // `Beethoven, Ludwig van`
    while given.last().is_some_and(|word| is_particle(word)) {
        given.pop();
    }
    let cased = family.contains(|c: char| c.is_lowercase() || c.is_uppercase());
    let is_complete = is_complete(family, &given.join(" "));
    // The words of a family name: `Ramón y` is incomplete without `Cajal`.
    let own = (0..family_words.len()).filter(|&w| {
        let joins = family_words.get(w + 1).is_some_and(|next| joins_family_names(next));
        let word = family_words[w];
        word.starts_with(char::is_uppercase) && !is_suffix(word) && !joins
    });
    let own = own.count();
    if given.is_empty() || is_suffix(given[0]) || !cased || is_complete || is_organisation(family) {
        return false;
    }
    if is_degree(&given.concat()) && own > 1 {
        return false;
    }
    if order.is_inverted || given.iter().all(|word| is_initials(word)) {
        return true;
    }
    let names = given.iter().filter(|word| !is_initials(word)).count();
    let starts_with_name = !is_initials(given[0]);
    let has_particle = given.iter().any(|word| is_particle(word));
    match own {
        // A family name of one word cannot stand alone, `Silva, Helena Maria Barbosa`; `J. Robert`
        // could, but in a list of such names.
        1 if starts_with_name => names <= 3,
        1 => names == 1 && !order.is_direct && order.abbreviated == 1 && !has_particle,
        // `García Márquez, Gabriel`: nor can a first name.
        2 | 3 => names == 1 && starts_with_name && !order.is_direct,
        _ => false,
    }
}

/// Whether a name has its first name already, given what is behind its comma.
pub(crate) fn is_complete(family: &str, behind: &str) -> bool {
    let words: Vec<&str> = family.split_whitespace().collect();
    match words[..] {
        // `LI, Y.`, `E, Weinan`: all that could be initials is the family name.
        [word] => is_initials(word) && word.contains(['.', '-']),
        // `Petrov IV, Lewis CS`
        [_, last] if is_short_capitals(last) => {
            let last = behind.split_whitespace().next_back();
            last.is_some_and(|last| !last.contains(char::is_lowercase))
        }
        // `DE LA CRUZ, M.`
        [_, .., last] => {
            is_initials(last) || words.iter().any(|word| is_initials(word) && !is_prefix(word))
        }
        [] => false,
    }
}
