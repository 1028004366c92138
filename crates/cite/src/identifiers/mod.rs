//! DOIs, numbers at arXiv and web addresses, recognised in plain text.

mod address;
mod arxiv;
mod doi;
mod removal;

use address::url;
use arxiv::arxiv;
use doi::{begins_doi, doi};

pub(crate) use address::{is_broken_address, with_whole_addresses};
pub(crate) use removal::{beside_identifiers, without_identifiers};

/// Identifiers of a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    /// `10.1000/182`.
    pub doi: Option<String>,
    /// `0705.1234` or `hep-th/9711200`, with a version if it is given.
    pub arxiv: Option<String>,
    /// The first address that is not that of the DOI.
    pub url: Option<String>,
    /// Further DOIs, numbers at arXiv and addresses.
    pub others: Vec<String>,
}

impl Identifiers {
    /// The identifiers of a line.
    pub fn find(line: &str) -> Self {
        let mut found = Self::default();
        if !may_have(line) {
            return found;
        }
        let mut announced = false;
        for word in line.split_whitespace().flat_map(pieces) {
            let doi = another(&mut found.doi, doi(word)).map(|more| format!("doi:{more}"));
            let arxiv = another(&mut found.arxiv, arxiv(word, announced));
            let arxiv = arxiv.map(|more| format!("arXiv:{more}"));
            let url = another(&mut found.url, url(word));
            for more in [doi, arxiv, url].into_iter().flatten() {
                if !found.others.contains(&more) {
                    found.others.push(more);
                }
            }
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            announced = bare.eq_ignore_ascii_case("arxiv") || (announced && bare.is_empty());
        }
        found
    }
}

/// Keeps the first of its kind; returns one that differs from it.
fn another(first: &mut Option<String>, found: Option<String>) -> Option<String> {
    match (&first, found) {
        (Some(first), Some(found)) => {
            Some(found).filter(|found| !found.eq_ignore_ascii_case(first))
        }
        (None, found) => {
            *first = found;
            None
        }
        (Some(_), None) => None,
    }
}

/// A quick check, since nearly all references have none.
fn may_have(text: &str) -> bool {
    ["/", "www.", "rXiv", "rxiv", "RXIV"].iter().any(|mark| text.contains(mark))
}

fn opened(word: &str) -> &str {
    word.trim_start_matches(['(', '[', '<', '{', '"', '“', '\'', '#'])
}

/// Identifiers written together in one word, `doi:10.1000/182,http://a.org`. Commas and stops also
/// occur inside identifiers, so another one must start after them.
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
            // Except for an address inside another, `/web/http://a.org`.
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

/// Whether a text starts with an identifier's prefix.
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
    fn a_second_identifier_of_a_kind_is_not_lost() {
        let others = |line: &str| Identifiers::find(line).others;
        assert_eq!(others("doi:10.1000/182 and doi:10.1000/183."), ["doi:10.1000/183"]);
        assert_eq!(others("doi:10.1000/AB, https://doi.org/10.1000/ab"), [""; 0]);
        assert_eq!(others("hep-th/9711200, gr-qc/9310026"), ["arXiv:gr-qc/9310026"]);
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
