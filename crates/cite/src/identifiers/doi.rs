//! DOIs.

use super::address::{ended, is_resolver};

/// The DOI of a word.
pub(super) fn doi(word: &str) -> Option<String> {
    if !word.contains("10.") {
        return None;
    }
    // As addresses may have it.
    let word = &word.replace("%2F", "/").replace("%2f", "/");
    let start = word.match_indices("10.").map(|(at, _)| at).find(|&at| {
        let before = word[..at].chars().next_back();
        begins_doi(&word[at..]) && before.is_none_or(|c| !c.is_ascii_digit() && c != '.')
    })?;
    let doi = ended(&word[start..]);
    let host = word[..start].split_once("://").map(|(_, rest)| rest);
    let doi = if host.is_some_and(|host| !is_resolver(host)) { of_page(doi) } else { doi };
    doi.split_once('/').filter(|(_, suffix)| !suffix.is_empty()).map(|_| doi.to_string())
}

/// Whether a text begins with a DOI.
pub(super) fn begins_doi(text: &str) -> bool {
    text.strip_prefix("10.").is_some_and(|rest| {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        rest.len() - behind.len() >= 4 && behind.starts_with('/')
    })
}

/// A DOI in the address of a publisher's page, without the page suffix.
fn of_page(doi: &str) -> &str {
    #[rustfmt::skip]
    const PAGES: &[&str] = &[
        ".pdf", ".html", ".full", ".abstract", ".short", "/full", "/fulltext", "/abstract", "/pdf",
        "/epdf", "/html", "/meta", "/summary", "/references", "/",
    ];
    let mut doi = doi.split(['?', '&', '#']).next().unwrap_or(doi);
    while let Some(rest) = PAGES.iter().find_map(|page| doi.strip_suffix(page)) {
        doi = rest;
    }
    // Versions at preprint servers are not part of it: `10.1101/2020.01.01.123456v2`.
    let version = doi.rsplit_once('v').filter(|(rest, version)| {
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        doi.starts_with("10.1101/")
            && !version.is_empty()
            && is_number(version)
            && rest.ends_with(|c: char| c.is_ascii_digit())
    });
    version.map_or(doi, |(rest, _)| rest)
}
