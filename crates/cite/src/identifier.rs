//! DOIs, numbers at arXiv and web addresses, recognised in plain text.

use std::borrow::Cow;

/// What a reference says of where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    /// `10.1000/182`.
    pub doi: Option<String>,
    /// `0705.1234` or `hep-th/9711200`, with a version if it is given.
    pub arxiv: Option<String>,
    /// The first address that is not that of the DOI.
    pub url: Option<String>,
}

impl Identifiers {
    /// Those of a line.
    pub fn find(line: &str) -> Self {
        let mut found = Self::default();
        if !may_have(line) {
            return found;
        }
        let mut announced = false;
        for word in line.split_whitespace().flat_map(pieces) {
            found.doi = found.doi.or_else(|| doi(word));
            found.arxiv = found.arxiv.or_else(|| arxiv(word, announced));
            found.url = found.url.or_else(|| url(word));
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            announced = bare.eq_ignore_ascii_case("arxiv") || (announced && bare.is_empty());
        }
        found
    }
}

/// Nearly all references have none: look once before looking closely.
fn may_have(text: &str) -> bool {
    ["/", "www.", "rXiv", "rxiv", "RXIV"].iter().any(|mark| text.contains(mark))
}

fn opened(word: &str) -> &str {
    word.trim_start_matches(['(', '[', '<', '{', '"', '“', '\''])
}

/// The identifiers of a word that stand in it one behind the other, `doi:10.1000/182,http://a.org`.
/// Commas and stops are also inside identifiers: something must begin behind them.
fn pieces(word: &str) -> Vec<&str> {
    let word = opened(word);
    let mut pieces = Vec::with_capacity(1);
    let mut from = 0;
    let mut before = ' ';
    for (at, c) in word.char_indices() {
        let rest = &word[at..];
        let begins = match before {
            ',' | ';' => is_announced(rest) || begins_doi(rest) || arxiv(rest, false).is_some(),
            '.' | ')' | ']' => is_announced(rest),
            // But for an address in another, `/web/http://a.org`.
            _ => before.is_alphanumeric() && starts_with_any(rest, &["http://", "https://"]),
        };
        if begins {
            pieces.push(&word[from..at]);
            from = at;
        }
        before = c;
    }
    pieces.push(&word[from..]);
    pieces
}

/// Whether a text begins with what is before identifiers.
fn is_announced(text: &str) -> bool {
    const NAMES: &[&str] =
        &["http://", "https://", "ftp://", "www.", "doi:", "arxiv:", "pmid:", "pmcid:", "url:"];
    starts_with_any(text, NAMES)
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    let starts_with =
        |start: &&str| text.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    starts.iter().any(starts_with)
}

/// A text without the identifiers in it and the words that announce them: `12--17, doi:
/// 10.1000/182.`
pub(super) fn without_identifiers(text: &str) -> Cow<'_, str> {
    without(text, |piece, announced| {
        doi(piece).is_some()
            || arxiv(piece, announced).is_some()
            || address(piece).is_some_and(|address| address.contains('.'))
    })
}

/// What is said beside an address, and is no DOI or number at arXiv: also a second address.
pub(super) fn beside_address<'a>(text: &'a str, known: &str) -> Cow<'a, str> {
    without(text, |piece, announced| match url(piece) {
        Some(address) => address == known,
        None => doi(piece).is_some() || arxiv(piece, announced).is_some(),
    })
}

/// A text without some identifiers and the words that announce them.
fn without(text: &str, is_identifier: impl Fn(&str, bool) -> bool) -> Cow<'_, str> {
    /// Words before an identifier that say nothing without it.
    const BEFORE: &[&str] =
        &["doi", "url", "at", "from", "available", "online", "retrieved", "arxiv", "via", "see"];
    if !may_have(text) {
        return Cow::Borrowed(text);
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
    if removed { Cow::Owned(kept.join(" ")) } else { Cow::Borrowed(text) }
}

/// A text with its addresses whole again that a line's end cut in two: behind a hyphen or the like,
/// or at a slash.
pub(super) fn with_whole_addresses(text: &str) -> String {
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

/// The end of an identifier is not that of its sentence, and a bracket that it did not open is not
/// its.
fn ended(text: &str) -> &str {
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

fn doi(word: &str) -> Option<String> {
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

fn begins_doi(text: &str) -> bool {
    text.strip_prefix("10.").is_some_and(|rest| {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        rest.len() - behind.len() >= 4 && behind.starts_with('/')
    })
}

/// A DOI in the address of a publisher's page, without what tells which page it is.
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
    // Versions at preprint servers are no part of it: `10.1101/2020.01.01.123456v2`.
    let version = doi.rsplit_once('v').filter(|(rest, version)| {
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        doi.starts_with("10.1101/")
            && !version.is_empty()
            && is_number(version)
            && rest.ends_with(|c: char| c.is_ascii_digit())
    });
    version.map_or(doi, |(rest, _)| rest)
}

fn arxiv(word: &str, announced: bool) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let marks = ["arxiv:", "arxiv.org/abs/", "arxiv.org/pdf/"];
    let after = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len()));
    let number = &word[after.unwrap_or(0)..];
    let told = after.is_some() || announced;
    let end = old_number(number).or_else(|| new_number(number).filter(|_| told))?;
    let version = number[end..].strip_prefix('v').map_or(0, digits);
    let end = if version > 0 { end + 1 + version } else { end };
    // What goes on is something else.
    (!number[end..].starts_with(char::is_alphanumeric)).then(|| number[..end].to_string())
}

/// Where `hep-th/9711200` ends, at the start of a text.
fn old_number(text: &str) -> Option<usize> {
    let (archive, rest) = text.split_once('/')?;
    (is_archive(archive) && digits(rest) == 7).then_some(archive.len() + 1 + 7)
}

/// Where `0705.1234` ends, at the start of a text.
fn new_number(text: &str) -> Option<usize> {
    let (month, rest) = text.split_once('.')?;
    let is_number = month.len() == 4 && digits(month) == 4 && (4..=5).contains(&digits(rest));
    is_number.then(|| month.len() + 1 + digits(rest))
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Archives from the time when numbers had their name before them.
fn is_archive(name: &str) -> bool {
    const ARCHIVES: &[&str] = &[
        "astro-ph", "cond-mat", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph",
        "nucl-ex", "nucl-th", "quant-ph", "math", "cs", "physics", "q-bio", "nlin", "q-fin",
        "stat", "alg-geom", "chao-dyn", "cmp-lg", "dg-ga", "funct-an", "patt-sol", "q-alg",
        "solv-int",
    ];
    let (archive, class) = name.split_once('.').unwrap_or((name, ""));
    let is_class = class.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    is_class && ARCHIVES.contains(&archive.to_ascii_lowercase().as_str())
}

/// The address of a page, but for that of a DOI, which has a field of its own.
fn url(word: &str) -> Option<String> {
    let address = address(word)?;
    let (_, page) = address.split_once("://")?;
    let is_bare = page.split_once('/').is_none_or(|(_, path)| path.is_empty());
    let is_of_doi = is_resolver(page) && (is_bare || doi(word).is_some());
    (page.contains('.') && !is_of_doi).then_some(address)
}

/// Any address.
fn address(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://"];
    match schemes.iter().filter_map(|scheme| lower.find(scheme)).min() {
        Some(at) => Some(ended(&word[at..]).to_string()),
        None if lower.starts_with("www.") => Some(format!("http://{}", ended(word))),
        None => None,
    }
}

/// Whether an address behind its scheme is that of the service which resolves DOIs.
fn is_resolver(address: &str) -> bool {
    let host = address.split('/').next().unwrap_or(address);
    ["doi.org", "dx.doi.org", "www.doi.org"].iter().any(|own| host.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, doi: &str, arxiv: &str, url: &str) {
        let found = Identifiers::find(line);
        let shown = |value: Option<String>| value.unwrap_or_default();
        let found = (shown(found.doi), shown(found.arxiv), shown(found.url));
        assert_eq!(found, (doi.to_string(), arxiv.to_string(), url.to_string()), "{line}");
    }

    #[test]
    fn identifiers_are_found_in_running_text() {
        check("A title, doi:10.1000/182.", "10.1000/182", "", "");
        check(
            "(https://doi.org/10.1016/S0140-6736(04)15627-0)",
            "10.1016/S0140-6736(04)15627-0",
            "",
            "",
        );
        check("at <http://a.org/b_c?d=1>, 2004", "", "", "http://a.org/b_c?d=1");
        check("www.lpga.com.", "", "", "http://www.lpga.com");
        check("arXiv:0705.1234v2 [hep-th]", "", "0705.1234v2", "");
        check("arXiv preprint arXiv:1412.6980, 2014", "", "1412.6980", "");
        check("preprint hep-th/9711200;", "", "hep-th/9711200", "");
        check("(math.QA/9806043)", "", "math.QA/9806043", "");
        check(
            "https://arxiv.org/abs/1706.03762",
            "",
            "1706.03762",
            "https://arxiv.org/abs/1706.03762",
        );
        check("Report 1234.5678, 10.5/3, and/or", "", "", "");
        check("版本10.1234/文档。", "10.1234/文档", "", "");
    }

    #[test]
    fn identifiers_that_are_written_together_are_told_apart() {
        check("doi:10.1000/182,http://x.org/y.", "10.1000/182", "", "http://x.org/y");
        check("https://doi.org/10.1000/182https://x.org", "10.1000/182", "", "https://x.org");
        check("hep-th/9711200,gr-qc/9310026", "", "hep-th/9711200", "");
        check("arXiv:1706.03762;doi:10.1000/182", "10.1000/182", "1706.03762", "");
        check("doi:10.1000/182;10.1000/183", "10.1000/182", "", "");
        check("DOI:10.1000/182.PMID:12345", "10.1000/182", "", "");
        // What only looks like an end is inside.
        check("10.1002/(SICI)1<1::A-B>3.0.CO;2-2", "10.1002/(SICI)1<1::A-B>3.0.CO;2-2", "", "");
        check("http://a.org/b,c;d", "", "", "http://a.org/b,c;d");
        check("http://a.org/web/http://b.org/c", "", "", "http://a.org/web/http://b.org/c");
        check("(doi:10.1000/a{b}).", "10.1000/a{b}", "", "");
        check("{10.1000/a}", "10.1000/a", "", "");
    }

    #[test]
    fn numbers_at_arxiv_end_where_they_must() {
        check("arXiv:hep-th/9711200v2[hep-th]", "", "hep-th/9711200v2", "");
        check("(gr-qc/9310026)", "", "gr-qc/9310026", "");
        for line in ["gr-qc/9310026gr&x", "gr-qc/93100261", "math.&/9806043", "arXiv:1706.037621"] {
            check(line, "", "", "");
        }
    }

    #[test]
    fn addresses_are_whole_again() {
        for (text, expected) in [
            ("http://a.org/long- path/b.html", "http://a.org/long-path/b.html"),
            ("http://a.org/ b/c.html, 2001", "http://a.org/b/c.html, 2001"),
            ("http://a.org /b", "http://a.org/b"),
            ("http://a.org/ Accessed 2001", "http://a.org/ Accessed 2001"),
            ("http://a.org/, http://b.org/", "http://a.org/, http://b.org/"),
            ("pre- and post-", "pre- and post-"),
        ] {
            assert_eq!(with_whole_addresses(text), expected);
        }
    }

    #[test]
    fn a_doi_in_an_address_ends_where_the_page_begins() {
        let doi = |address: &str| Identifiers::find(address).doi.unwrap_or_default();
        for (address, expected) in [
            ("https://a.org/articles/10.3389/fpsyg.2019.00123/full", "10.3389/fpsyg.2019.00123"),
            ("https://a.com/pdf/10.1007/s00453-020-00123-4.pdf", "10.1007/s00453-020-00123-4"),
            ("https://a.org/article?id=10.1371/pone.01&type=printable", "10.1371/pone.01"),
            ("https://a.org/10.1101/2020.01.02.123456v2.full", "10.1101/2020.01.02.123456"),
            ("https://doi.org/10.1000/a.pdf", "10.1000/a.pdf"),
            ("doi:10.1000/a&b/full", "10.1000/a&b/full"),
        ] {
            assert_eq!(doi(address), expected, "{address}");
        }
        assert_eq!(doi("https://doi.org/10.3389%2Ffpsyg.2019.1"), "10.3389/fpsyg.2019.1");
        assert_eq!(Identifiers::find("https://doi.org/").url, None);
        // A short one is an address like others.
        let short = "https://doi.org/10/gfz6hk";
        assert_eq!(Identifiers::find(short).url.as_deref(), Some(short));
    }

    #[test]
    fn identifiers_leave_the_text_they_are_in() {
        for (text, expected) in [
            ("2278-2324, doi: 10.1109/5.726791.", "2278-2324,"),
            ("Available at: http://x.org/y", ""),
            ("arXiv preprint arXiv:1412.6980v3 [cs.LG]", "arXiv preprint"),
            ("arXiv: 1412.6980, 2014", "2014"),
            ("12-17,doi:10.1000/182", "12-17,"),
            ("either/or at 12", "either/or at 12"),
            ("for the www.", "for the www."),
        ] {
            assert_eq!(without_identifiers(text), expected, "{text}");
        }
    }
}
