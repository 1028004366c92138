//! Which field a mark between two fields belongs to.

use super::Piece;

/// Marks end the field before them.
const ENDS: [&str; 4] = [",", ".", ";", ":"];
const OPENS: [&str; 6] = ["(", "[", "“", "„", "«", "‘"];
const CLOSES: [&str; 5] = [")", "]", "”", "»", "’"];
/// Quotation marks that look the same on both sides.
const STRAIGHT: [&str; 3] = ["\"", "'", "``"];

/// Moves opening marks to the field that follows, and closing ones to the field before.
pub(super) fn move_marks(pieces: &mut Vec<Piece>) {
    for next in 1..pieces.len() {
        let (before, after) = pieces.split_at_mut(next);
        let (before, after) = (&mut before[next - 1].tokens, &mut after[0].tokens);
        if opens_at_end(before) {
            after.insert(0, before.pop().expect("it has a last token"));
        }
        if before.is_empty() {
            continue;
        }
        let closing = closing_marks(before, after);
        before.extend(after.drain(..closing));
    }
    pieces.retain(|piece| !piece.tokens.is_empty());
}

fn opens_at_end(tokens: &[String]) -> bool {
    let Some((last, rest)) = tokens.split_last() else { return false };
    let last = last.as_str();
    if OPENS.contains(&last) {
        return true;
    }
    let after_mark = rest
        .last()
        .is_some_and(|before| ENDS.contains(&before.as_str()) || CLOSES.contains(&before.as_str()));
    let alone = rest.is_empty();
    STRAIGHT.contains(&last) && (after_mark || alone) && count(rest, last).is_multiple_of(2)
}

/// How many tokens at the start of a field close the one before it.
fn closing_marks(before: &[String], after: &[String]) -> usize {
    let mut closing = 0;
    let mut is_closed = false;
    for token in after {
        let token = token.as_str();
        let closes_quote =
            !is_closed && STRAIGHT.contains(&token) && !count(before, token).is_multiple_of(2);
        if !(ENDS.contains(&token) || CLOSES.contains(&token) || closes_quote) {
            break;
        }
        is_closed |= closes_quote;
        closing += 1;
    }
    closing
}

fn count(tokens: &[String], token: &str) -> usize {
    tokens.iter().filter(|own| *own == token).count()
}
