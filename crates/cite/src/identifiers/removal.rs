//! Text without the identifiers in it.

use std::borrow::Cow;

use super::address::address;
use super::arxiv::arxiv;
use super::doi::doi;
use super::{may_have, pieces};

/// A text without the identifiers in it and the words that announce them: `12--17, doi:
/// 10.1000/182.`
pub(crate) fn without_identifiers(text: &str) -> Cow<'_, str> {
    let (kept, removed) = kept(text);
    if removed { Cow::Owned(kept.join(" ")) } else { Cow::Borrowed(text) }
}

/// The words of a text that are neither identifiers nor announce them, as parts of it.
pub(crate) fn beside_identifiers(text: &str) -> Vec<&str> {
    kept(text).0
}

/// The words that stay, and whether others were removed.
fn kept(text: &str) -> (Vec<&str>, bool) {
    /// Words that introduce an identifier.
    const BEFORE: &[&str] =
        &["doi", "url", "at", "from", "available", "online", "retrieved", "arxiv", "via", "see"];
    if !may_have(text) {
        return (text.split_whitespace().collect(), false);
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut kept: Vec<&str> = Vec::new();
    let mut removed = false;
    let mut behind = false; // an identifier is before this word
    for word in text.split_whitespace() {
        let announced = kept.last().is_some_and(|before| bare(before) == "arxiv");
        // `arXiv:1412.6980 [cs.LG]`
        let is_class = behind && word.starts_with('[') && word.contains(']');
        let pieces = pieces(word);
        behind = is_class || pieces.iter().any(|piece| is_identifier(piece, announced));
        if !behind {
            kept.push(word);
            continue;
        }
        removed = true;
        for piece in pieces {
            if !is_class && !is_identifier(piece, announced) {
                kept.extend(piece.contains(char::is_alphanumeric).then_some(piece));
                continue;
            }
            while kept.last().is_some_and(|before| BEFORE.contains(&bare(before).as_str())) {
                kept.pop();
            }
        }
    }
    (kept, removed)
}

fn is_identifier(piece: &str, announced: bool) -> bool {
    doi(piece).is_some()
        || arxiv(piece, announced).is_some()
        || address(piece).is_some_and(|address| address.contains('.'))
}
