//! The look of a token, for references and addresses.

use super::derive::is_punctuation;

/// The first pattern that fits; punctuation around the token does not matter if letters or digits
/// decide.
pub(super) fn pattern(cell: &str) -> &'static str {
    let core = cell.trim_matches(is_punctuation);
    if core.is_empty() {
        return "punctuation";
    }
    if core.contains('@') {
        return "email";
    }
    if is_web_address(core) {
        return "web";
    }
    if core.starts_with(|c: char| c.is_ascii_digit()) && core.is_ascii() {
        return number(cell, core);
    }
    if core.contains(char::is_numeric) {
        return "mixed";
    }
    letters(core)
}

fn is_web_address(core: &str) -> bool {
    let bytes = core.as_bytes();
    let host = bytes.split(|&byte| byte == b'/').next().unwrap_or(bytes);
    let starts = |start: &str| {
        bytes.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start.as_bytes()))
    };
    let ends =
        |end: &[u8; 4]| host.last_chunk::<4>().is_some_and(|own| own.eq_ignore_ascii_case(end));
    core.contains([':', '.'])
        && (["http:", "https:", "ftp:", "www."].into_iter().any(starts)
            || [b".edu", b".com", b".org", b".net"].into_iter().any(ends))
}

/// The pattern of a token whose first character, punctuation aside, is a digit.
fn number(cell: &str, core: &str) -> &'static str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_number(core) {
        return match core {
            _ if core.len() == 4 && ("1500".."1900").contains(&core) => "old year",
            _ if core.len() == 4 && ("1900".."2100").contains(&core) => "year",
            _ if cell.starts_with('(') => "bracketed number",
            _ => "number",
        };
    }
    if let Some(year) = core.strip_suffix(|c: char| c.is_ascii_lowercase())
        && is_number(year)
    {
        return if pattern(year) == "year" { "year" } else { "mixed" };
    }
    let parts = |mark: char| core.split_once(mark);
    if let Some((volume, issue)) = parts('(')
        && is_number(volume)
        && is_number(issue)
    {
        return "volume(issue)";
    }
    match parts('-') {
        Some((first, last)) if is_number(first) && is_number(last.trim_start_matches('-')) => {
            "range"
        }
        _ => "mixed",
    }
}

/// The pattern of a token without digits.
fn letters(core: &str) -> &'static str {
    let mut characters = core.chars();
    let first = characters.next().unwrap_or_default();
    let (rest_is_lower, any_rest) =
        (characters.clone().all(char::is_lowercase), characters.next().is_some());
    let dotted = || core.split(['.', '-']).all(|part| part.chars().count() <= 1);
    match first.is_uppercase() {
        true if !any_rest => "initial",
        true if dotted() => "initials",
        true if core.bytes().all(|b| b"IVXLC".contains(&b)) => "roman",
        true if core.chars().all(char::is_uppercase) => "capitals",
        true if rest_is_lower => "capitalised",
        false if first.is_lowercase() && rest_is_lower => "lower",
        _ => "other",
    }
}
