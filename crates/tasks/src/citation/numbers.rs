//! Pages, volumes and numbers without the words before them.

use super::text::is_dash;
use super::tidy::tidy;

/// Words that announce pages, volumes and numbers.
const CUES: &[&str] = &[
    "pages", "page", "pp", "pgs", "pg", "p", "volume", "volumes", "vol", "vols", "v", "number",
    "num", "no", "nos", "nr", "issue", "iss", "n", "n°", "№", "bd", "band", "t", "tome", "s",
    "heft",
];

/// A page, a range `12--17`, or several: any dash is one between numbers.
pub fn pages(text: &str) -> String {
    let text = bare(text);
    let mut found = String::with_capacity(text.len() + 1);
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let digit_before = found.trim_end().ends_with(|c: char| c.is_alphanumeric());
        let dashes = rest.trim_start().trim_start_matches(is_dash);
        let is_range = digit_before
            && dashes.len() < rest.trim_start().len()
            && dashes.trim_start().starts_with(|c: char| c.is_alphanumeric());
        if is_range && (is_dash(c) || c.is_whitespace()) {
            found.truncate(found.trim_end().len());
            found.push_str("--");
            rest = dashes.trim_start();
        } else {
            found.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    found.truncate(found.trim_end_matches(|c: char| is_dash(c) || c.is_whitespace()).len());
    found
}

/// A volume, and the issue or the year that is written with it: `12 (3)`, `12, no. 3`, `36, 3 (1988)`.
pub fn volume_parts(text: &str) -> (&str, Option<String>, Option<u16>) {
    let Some(end) =
        text.find([' ', ',', '(']).filter(|_| text.starts_with(|c: char| c.is_alphanumeric()))
    else {
        return (text, None, None);
    };
    let (volume, rest) = text.split_at(end);
    let volume = volume.trim_end_matches([':', '.']);
    let (rest, year) = match rest.rsplit_once('(') {
        Some((before, year)) => match year.trim_end_matches(')').parse::<u16>() {
            Ok(year) if (1500..2100).contains(&year) => (before, Some(year)),
            _ => (rest, None),
        },
        None => (rest, None),
    };
    let number = bare(rest.trim_matches([' ', ',', ':']));
    let is_number = number.contains(char::is_numeric) && !number.contains(char::is_whitespace);
    match (volume.contains(char::is_numeric), number.is_empty()) {
        (true, true) => (volume, None, year),
        (true, false) if is_number => (volume, Some(number), year),
        _ => (text, None, None),
    }
}

/// The type of a report and its number behind it: `Technical Report TR 92-43`, `TR95-90`.
pub fn report_parts(text: &str) -> (&str, Option<&str>) {
    const TYPES: &[&str] = &["report", "reports", "rep", "memo", "memorandum", "paper", "note"];
    const BETWEEN: [char; 6] = [' ', ',', '#', '.', ':', '('];
    let ends = text.match_indices([' ', ',']).map(|(at, _)| at);
    let mut types = ends.filter(|&at| {
        let word = text[..at].rsplit(' ').next().unwrap_or_default();
        TYPES.contains(&word.trim_end_matches('.').to_lowercase().as_str())
    });
    let kind = match (types.next_back(), text.rsplit_once(' ')) {
        (Some(end), _) => &text[..end],
        (None, Some((kind, _))) => kind,
        (None, None) => "",
    };
    let number = bare(&text[kind.len()..]);
    let number = text.rfind(&number).map_or("", |at| &text[at..at + number.len()]);
    match number.contains(char::is_numeric) {
        true => (kind.trim_end_matches(BETWEEN), Some(number)),
        false => (text, None),
    }
}

/// A volume or a number: `no. 3,` and `(3)` are `3`.
pub fn bare(text: &str) -> String {
    let mut text = tidy(text);
    loop {
        let rest = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = rest.find(|c: char| !c.is_alphabetic() && c != '°').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start_matches(['.', ':', ' ', '\u{a0}']);
        if after.is_empty() || !CUES.contains(&word.to_lowercase().as_str()) {
            return strip_unit(&text);
        }
        text = tidy(after);
    }
}

/// Without a unit behind the number: `12-17 pp.`.
fn strip_unit(text: &str) -> String {
    let Some((number, unit)) = text.rsplit_once(' ') else { return text.to_string() };
    let unit = unit.trim_end_matches('.').to_lowercase();
    match matches!(unit.as_str(), "p" | "pp" | "pages" | "s") && number.ends_with(char::is_numeric)
    {
        true => number.to_string(),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dash_makes_a_range() {
        for (text, expected) in [
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
        ] {
            assert_eq!(pages(text), expected, "{text}");
        }
    }

    #[test]
    fn volumes_have_issues_and_years_beside_them() {
        let number = |text: &str| Some(text.to_string());
        assert_eq!(volume_parts("4 (2)"), ("4", number("2"), None));
        assert_eq!(volume_parts("74, No. 5"), ("74", number("5"), None));
        assert_eq!(volume_parts("36, 3 (1988)"), ("36", number("3"), Some(1988)));
        assert_eq!(volume_parts("114: 341"), ("114", number("341"), None));
        assert_eq!(volume_parts("12(1994)"), ("12", None, Some(1994)));
        assert_eq!(volume_parts("abs/1103.6246"), ("abs/1103.6246", None, None));
        assert_eq!(volume_parts("2 of many"), ("2 of many", None, None));
        assert_eq!(report_parts("Technical Report No. 92-43"), ("Technical Report", Some("92-43")));
        assert_eq!(report_parts("Tech. Rep. TR 9603"), ("Tech. Rep", Some("TR 9603")));
        assert_eq!(report_parts("TR95-90"), ("", Some("TR95-90")));
        assert_eq!(report_parts("Working Paper"), ("Working Paper", None));
    }

    #[test]
    fn numbers_lose_their_words() {
        for (text, expected) in [
            ("vol.527,", "527"),
            ("no. 1-2,", "1-2"),
            ("(3):", "3"),
            ("Volume 5124", "5124"),
            ("B299", "B299"),
            ("No", "No"),
            ("t. IV", "IV"),
        ] {
            assert_eq!(bare(text), expected, "{text}");
        }
    }
}
