//! DOIs, numbers at arXiv and web addresses, recognised in plain text.

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
        // Nearly all references have none: look once before looking closely.
        if !["/", "www.", "rXiv", "rxiv", "RXIV"].iter().any(|mark| line.contains(mark)) {
            return found;
        }
        let mut announced = false;
        for word in line.split_whitespace() {
            let word = word.trim_start_matches(['(', '[', '<', '{', '"', '“', '\'']);
            found.doi = found.doi.or_else(|| doi(word));
            found.arxiv = found.arxiv.or_else(|| arxiv(word, announced));
            found.url = found.url.or_else(|| url(word));
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            announced = bare.eq_ignore_ascii_case("arxiv") || (announced && bare.is_empty());
        }
        found
    }
}

/// The end of an identifier is not that of its sentence, and a bracket that it did not open is not its.
fn ended(text: &str) -> &str {
    let mut text = text;
    loop {
        let before = text;
        text = text.trim_end_matches(['.', ',', ';', ':', '"', '”', '\'', '>', '}', '。', '，']);
        for (open, close) in [('(', ')'), ('[', ']')] {
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
    let start = word.match_indices("10.").map(|(at, _)| at).find(|&at| {
        let digits =
            word[at + 3..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let before = word[..at].chars().next_back();
        digits >= 4
            && word[at + 3 + digits..].starts_with('/')
            && before.is_none_or(|c| !c.is_ascii_digit() && c != '.')
    })?;
    let doi = ended(&word[start..]);
    doi.split_once('/').filter(|(_, suffix)| !suffix.is_empty()).map(|_| doi.to_string())
}

fn arxiv(word: &str, announced: bool) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let marks = ["arxiv:", "arxiv.org/abs/", "arxiv.org/pdf/"];
    let after = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len()));
    let number = ended(&word[after.unwrap_or(0)..]);
    let number = number.strip_suffix(".pdf").unwrap_or(number);
    let old = number.split_once('/').is_some_and(|(archive, digits)| {
        is_archive(archive)
            && digits.len() >= 7
            && digits.bytes().take(7).all(|b| b.is_ascii_digit())
    });
    let new = number.split_once('.').is_some_and(|(month, rest)| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let version = &rest[digits..];
        month.len() == 4
            && month.bytes().all(|b| b.is_ascii_digit())
            && (4..=5).contains(&digits)
            && (version.is_empty() || version.starts_with('v') || version.starts_with('['))
    });
    let told = after.is_some() || announced;
    let number = number.split('[').next().unwrap_or(number);
    (old || new && told).then(|| number.to_string())
}

/// Archives from the time when numbers had their name before them.
fn is_archive(name: &str) -> bool {
    const ARCHIVES: &[&str] = &[
        "astro-ph", "cond-mat", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph",
        "nucl-ex", "nucl-th", "quant-ph", "math", "cs", "physics", "q-bio", "nlin", "q-fin",
        "stat",
    ];
    let archive = name.split('.').next().unwrap_or(name);
    ARCHIVES.contains(&archive.to_ascii_lowercase().as_str())
}

fn url(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://"];
    let start = schemes.iter().filter_map(|scheme| lower.find(scheme)).min();
    let address = match start {
        Some(at) => ended(&word[at..]).to_string(),
        None if lower.starts_with("www.") => format!("http://{}", ended(word)),
        None => return None,
    };
    let host = address.split_once("://").map_or("", |(_, rest)| rest);
    let is_resolver =
        ["doi.org/10.", "dx.doi.org/10.", "www.doi.org/10."].iter().any(|r| host.starts_with(r));
    (host.contains('.') && !is_resolver).then_some(address)
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
}
