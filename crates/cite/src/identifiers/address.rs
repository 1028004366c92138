//! Web addresses.

use super::doi::{begins_doi, doi};
use super::{opened, pieces};

/// The address of a page, except that of a DOI, which has a field of its own.
pub(super) fn url(word: &str) -> Option<String> {
    let address = address(word)?;
    let (_, page) = address.split_once("://")?;
    let is_bare = page.split_once('/').is_none_or(|(_, path)| path.is_empty());
    let is_of_doi = is_resolver(page) && (is_bare || doi(word).is_some());
    (page.contains('.') && !is_of_doi).then_some(address)
}

/// Any address.
pub(super) fn address(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://"];
    match schemes.iter().filter_map(|scheme| lower.find(scheme)).min() {
        Some(at) => Some(ended(&word[at..]).to_string()),
        None if lower.starts_with("www.") => Some(format!("http://{}", ended(word))),
        None => None,
    }
}

/// Whether an address, without its scheme, is that of the DOI resolver.
pub(super) fn is_resolver(address: &str) -> bool {
    let host = address.split('/').next().unwrap_or(address);
    ["doi.org", "dx.doi.org", "www.doi.org"].iter().any(|own| host.eq_ignore_ascii_case(own))
}

/// An identifier without the punctuation of its sentence and without unmatched closing brackets.
pub(super) fn ended(text: &str) -> &str {
    let mut text = text;
    loop {
        let before = text;
        text = text.trim_end_matches(['.', ',', ';', ':', '"', '”', '\'', '>', '。', '，']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            if text.matches(close).count() > text.matches(open).count() {
                text = text.strip_suffix(close).unwrap_or(text);
            }
        }
        if text == before {
            return text;
        }
    }
}

/// A text with addresses joined that a line end broke after a hyphen or the like, or at a slash.
pub(crate) fn with_whole_addresses(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut in_address = false;
    for word in text.split_whitespace() {
        let begins = pieces(word).into_iter().any(|piece| address(piece).is_some());
        let is_path = word.trim_end_matches(['.', ',', ';']).contains(['/', '.']);
        let continues = match whole.chars().next_back() {
            Some('-' | '_' | '=' | '&' | '?') => is_path || !word.starts_with(char::is_uppercase),
            Some('/') => is_path,
            _ => word.starts_with('/'),
        };
        let is_of_address = |c: char| c == '/' || c.is_alphanumeric();
        let joins = in_address && !begins && continues && word.starts_with(is_of_address);
        whole.push_str(if joins || whole.is_empty() { "" } else { " " });
        whole.push_str(word);
        in_address = begins || joins;
    }
    whole
}

/// Whether the first word of a line goes on with the address or DOI that ends the line before.
pub(crate) fn is_broken_address(last: &str, next: &str) -> bool {
    let lower = last.to_ascii_lowercase();
    if lower.ends_with("http:") || lower.ends_with("https:") {
        return next.starts_with("//");
    }
    let names_doi = last.match_indices("10.").any(|(at, _)| begins_doi(&last[at..]));
    let is_address = pieces(last).into_iter().any(|piece| address(piece).is_some());
    let begins_another = address(opened(next)).is_some_and(|_| !lower.ends_with("://"));
    if !(names_doi || is_address) || begins_another {
        return false;
    }
    let word = next.trim_end_matches(['.', ',', ';', ':', ')', ']', '>']);
    let is_path = word.contains(['/', '.', '_', '=']);
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match last.chars().next_back() {
        Some('-' | '_' | '=' | '&' | '?' | '%' | '~') => {
            is_path || !next.starts_with(char::is_uppercase)
        }
        // A number behind an address may be a year.
        Some('/') => lower.ends_with("://") || is_path || names_doi && is_number,
        // `doi:10.1016/j.` `2004.03.001`, but `http://a.org.` `2nd`.
        Some('.') => is_path && word.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit()),
        _ => next.starts_with('/'),
    }
}
