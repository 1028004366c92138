//! Pages: one, a range `12--17`, or several.

use std::ops::Range;

use super::volume::bare;
use crate::text::characters::is_dash;

/// A page, a range `12--17`, or several. Dashes separate the ends of a range; a hyphen may also be
/// part of a page number, `A-12`, `045103-1`, and stays.
pub fn pages(text: &str) -> String {
    let text = bare(text);
    let links = links(&text);
    let mut found = String::with_capacity(text.len() + links.len());
    let mut copied = 0;
    for chain in links.chunk_by(|link, next| is_word(&text[link.end..next.start])) {
        for (l, link) in chain.iter().enumerate() {
            found.push_str(&text[copied..link.start]);
            found.push_str(if is_range(&text, chain, l) { "--" } else { "-" });
            copied = link.end;
        }
    }
    found.push_str(&text[copied..]);
    found.truncate(found.trim_end_matches(|c: char| is_dash(c) || c.is_whitespace()).len());
    found
}

/// Dashes between pages, with the spaces around them.
fn links(text: &str) -> Vec<Range<usize>> {
    let mut links = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(is_dash) {
        let (before, after) = text.split_at(from + at);
        let behind = after.trim_start_matches(|c: char| is_dash(c) || c.is_whitespace());
        let link = before.trim_end().len()..text.len() - behind.len();
        from = link.end;
        if before.trim_end().ends_with(char::is_alphanumeric)
            && behind.starts_with(char::is_alphanumeric)
        {
            links.push(link);
        }
    }
    links
}

/// Whether a dash of `045103-1–045103-7` is that of the range: of hyphens and other dashes, one of
/// the others; of three alike, the middle one; a hyphen only between possible pages.
fn is_range(text: &str, chain: &[Range<usize>], at: usize) -> bool {
    let is_hyphen = |link: &Range<usize>| matches!(&text[link.clone()], "-" | "\u{2010}");
    let hyphens = chain.iter().filter(|link| is_hyphen(link)).count();
    if chain.len() == 3 && matches!(hyphens, 0 | 3) {
        return at == 1;
    }
    let link = &chain[at];
    if !is_hyphen(link) || hyphens < chain.len() {
        return !is_hyphen(link);
    }
    let is_mark = |c: char| !c.is_alphanumeric();
    let first = text[..link.start].rsplit(is_mark).next().unwrap_or_default();
    let last = text[link.end..].split(is_mark).next().unwrap_or_default();
    are_ends(first, last)
}

/// Whether these may be the first and the last page of a range: not in `A-12`, `CD-ROM`. No journal
/// counts its pages to six digits: `045103-1` is the first page of an article that has a number.
fn are_ends(first: &str, last: &str) -> bool {
    let is_roman = |page: &str| {
        ["ivxlc", "IVXLC"].iter().any(|digits| page.chars().all(|c| digits.contains(c)))
    };
    let is_small_roman = |page: &str| is_roman(page) && page.starts_with(char::is_lowercase);
    let is_article = first.len() >= 6
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && last.len() < first.len();
    match [first, last].map(|page| page.contains(char::is_numeric)) {
        [true, true] => !is_article,
        [false, true] => is_small_roman(first),
        [false, false] => is_roman(first) && is_roman(last),
        [true, false] => false,
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(pages(text), *expected, "{text}");
        }
    }

    #[test]
    fn dashes_between_pages_make_ranges() {
        check(&[
            ("pp. 179-192.", "179--192"),
            ("371-- 408", "371--408"),
            ("12 – 17", "12--17"),
            ("L529—534", "L529--534"),
            ("S. 5–7, 9", "5--7, 9"),
            ("1086", "1086"),
            ("e1000217", "e1000217"),
            ("pages 1−2", "1--2"),
            ("pp 895--924", "895--924"),
            ("12-17 pp.", "12--17"),
            ("p. iv", "iv"),
            ("473--", "473"),
            ("S123–S130.", "S123--S130"),
            ("pp. S12-S19", "S12--S19"),
            ("P03001", "P03001"),
            ("v–xii", "v--xii"),
            ("p305-322", "305--322"),
            ("págs. 45-67", "45--67"),
            ("12-17, 19 - 23; 31–3", "12--17, 19--23; 31--3"),
            ("e12-e19, e21", "e12--e19, e21"),
            ("iv-xii, xiv-3", "iv--xii, xiv--3"),
        ]);
    }

    #[test]
    fn hyphens_inside_a_page_stay() {
        check(&[
            ("A-12", "A-12"),
            ("CD-ROM", "CD-ROM"),
            ("045103-1–045103-7", "045103-1--045103-7"),
            ("045103-1-045103-7", "045103-1--045103-7"),
            ("3-1–3-15, 4-1", "3-1--3-15, 4--1"),
            ("B-1 to B-12", "B-1 to B-12"),
            ("B‐1 - B‐12", "B-1--B-12"),
            ("026103-1-4", "026103-1--4"),
            ("117203-1", "117203-1"),
            ("102345-102351", "102345--102351"),
        ]);
    }
}
