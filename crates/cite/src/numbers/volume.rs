//! Volumes and numbers without the words before them.

use std::borrow::Cow;

use super::pages::pages;
use crate::text::characters::is_dash;
use crate::text::tidy::tidy;

/// Words that announce pages, volumes and numbers.
const CUES: &[&str] = &[
    "pages", "page", "pp", "pgs", "pg", "p", "págs", "pág", "volume", "volumes", "vol", "vols",
    "v", "number", "num", "no", "nos", "nr", "issue", "iss", "n", "n°", "№", "band", "bd", "heft",
    "h", "jahrgang", "jg", "tome", "t", "s", "с", "стр", "том", "т", "вып", "núm", "número", "nº",
    "numéro", "numero",
];

/// Words that announce chapters.
const CHAPTERS: &[&str] = &[
    "chapter",
    "chapters",
    "chap",
    "chaps",
    "chapt",
    "ch",
    "kapitel",
    "kap",
    "chapitre",
    "capítulo",
    "capitolo",
    "cap",
    "глава",
    "гл",
];

/// Words that announce editions, or stand behind their number.
const EDITIONS: &[&str] = &["ed", "edn", "edition", "aufl", "auflage"];

/// Words that stand behind numbers of pages and volumes.
const UNITS: &[&str] =
    &["seiten", "jahrg", "jahrgang", "권", "호", "쪽", "卷", "期", "号", "號", "页", "頁", "巻"];

/// Whether a word, in lower case, announces a number or stands behind one.
pub(crate) fn is_cue(word: &str) -> bool {
    [CUES, CHAPTERS, EDITIONS, UNITS].iter().any(|words| words.contains(&word))
}

/// The edition without the word for it: `2nd ed.`
pub(crate) fn edition(text: &str) -> &str {
    let is_word = |word: &str| EDITIONS.contains(&&*word.trim_end_matches('.').to_lowercase());
    match text.rsplit_once(' ') {
        Some((which, word)) if is_word(word) => which.trim_end_matches([',', '.']),
        _ => text,
    }
}

/// A volume and what is written with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeParts<'a> {
    /// `12`; the whole text where it has no such parts.
    pub volume: &'a str,
    /// `3`.
    pub number: Option<String>,
    /// `45--67`.
    pub pages: Option<String>,
    /// `1988`.
    pub year: Option<u16>,
}

/// The parts of `12 (3)`, `12, no. 3`, `36, 3 (1988)`, `12(3):45-67`, `2011;60(43)`.
pub fn volume_parts(text: &str) -> VolumeParts<'_> {
    // The text before a semicolon is the rest of a date.
    if let Some((date, rest)) = text.split_once(';')
        && date.split(' ').all(|word| word.len() <= 4 && word.contains(char::is_alphanumeric))
        && rest.contains(char::is_numeric)
    {
        let year = date.parse().ok().filter(|year| (1500..2100).contains(year));
        let parts = volume_parts(rest.trim_start());
        return VolumeParts { year: parts.year.or(year), ..parts };
    }
    let whole = VolumeParts { volume: text, ..VolumeParts::default() };
    // `4.1` is the first issue of volume 4.
    if let Some((volume, number)) = text.split_once('.')
        && [volume, number].iter().all(|own| is_short_number(own))
    {
        return VolumeParts { volume, number: Some(number.to_string()), ..whole };
    }
    let Some(end) =
        text.find([' ', ',', '(', ':']).filter(|_| text.starts_with(char::is_alphanumeric))
    else {
        return whole;
    };
    let (volume, rest) = text.split_at(end);
    let volume = volume.trim_end_matches('.');
    let (rest, year) = without_year(rest);
    let (rest, found) = match rest.rsplit_once(':') {
        Some((number, found)) if is_range(found) => (number, Some(pages(found))),
        _ => (&*rest, None),
    };
    let number = with_closed_dashes(&bare(rest.trim_matches([' ', ',', ':'])));
    let is_number = number.contains(char::is_numeric) && !number.contains(char::is_whitespace);
    // `II 305` is the volume of a series.
    let is_roman = volume.chars().all(|c| "IVXLC".contains(c))
        && !rest.trim_start().starts_with(char::is_numeric);
    match (is_roman || volume.contains(char::is_numeric), number.is_empty()) {
        (true, true) => VolumeParts { volume, number: None, pages: found, year },
        (true, false) if is_number => {
            VolumeParts { volume, number: Some(number), pages: found, year }
        }
        _ => whole,
    }
}

fn is_short_number(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is of two pages and a dash.
fn is_range(text: &str) -> bool {
    let ends = pages(text);
    ends.split_once("--").is_some_and(|(first, last)| {
        let is_page =
            |page: &str| page.contains(char::is_numeric) && page.chars().all(char::is_alphanumeric);
        is_page(first) && is_page(last)
    })
}

/// `1 – 2` as `1–2`.
fn with_closed_dashes(text: &str) -> String {
    let mut closed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !closed.is_empty() && !closed.ends_with(is_dash) && !word.starts_with(is_dash) {
            closed.push(' ');
        }
        closed.push_str(word);
    }
    closed
}

/// The text without a year in brackets, `(1988)`, and the year.
fn without_year(text: &str) -> (Cow<'_, str>, Option<u16>) {
    let found = text.rsplit_once('(').map(|(before, inside)| {
        let (year, after) = inside.split_once(')').unwrap_or((inside, ""));
        (before, year.parse::<u16>(), after)
    });
    match found {
        Some((before, Ok(year), after)) if (1500..2100).contains(&year) => {
            (Cow::Owned([before, after].concat()), Some(year))
        }
        _ => (Cow::Borrowed(text), None),
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
    let number = number.trim_start_matches(['#', ' ']);
    // More words are a title.
    let is_number = number.contains(char::is_numeric) && number.split_whitespace().count() <= 4;
    match is_number {
        true => (kind.trim_end_matches(BETWEEN), Some(number)),
        false => (text, None),
    }
}

/// A volume or a number: `no. 3,` and `(3)` are `3`.
pub fn bare(text: &str) -> String {
    without_cues(text, CUES)
}

/// Whether a number is announced as an issue, `n°149`, `no. 3`, and no volume is beside it.
pub(crate) fn is_issue(text: &str) -> bool {
    const ISSUES: &[&str] = &[
        "n°", "nº", "no", "nos", "nr", "núm", "número", "numéro", "numero", "num", "number",
        "issue", "iss", "heft", "№", "вып",
    ];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '№').to_lowercase();
    let end =
        text.find(|c: char| !c.is_alphabetic() && !matches!(c, '°' | '№')).unwrap_or(text.len());
    // `n ° 149`
    let word = text[..end].to_string();
    let word = if word == "n" && text[end..].trim_start().starts_with('°') {
        "n°".to_string()
    } else {
        word
    };
    let has_volume = ["vol", "bd", "band", "tome", "jg"].iter().any(|volume| text.contains(volume));
    ISSUES.contains(&word.as_str()) && text.contains(char::is_numeric) && !has_volume
}

/// How many pages a text counts: `670 p.`, `312 Seiten`; `None` if it names pages.
pub(crate) fn page_total(text: &str) -> Option<String> {
    let text = tidy(text);
    let text = text.strip_suffix('.').unwrap_or(&text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let unit = text[end..].trim().to_lowercase();
    let is_unit = matches!(
        unit.as_str(),
        "p" | "pp" | "pages" | "pgs" | "s" | "seiten" | "págs" | "pág" | "с"
    );
    (end > 1 && is_unit).then(|| text[..end].to_string())
}

/// The number of a chapter: `Chap. 3`.
pub fn chapter(text: &str) -> String {
    bare(&without_cues(text, CHAPTERS))
}

fn without_cues(text: &str, cues: &[&str]) -> String {
    let in_cue = |c: char| c.is_alphabetic() || matches!(c, '°' | '№');
    // `n ° 3` as some text has it.
    let mut text = tidy(&text.replace("n °", "n°").replace("N °", "N°"));
    loop {
        let rest = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '№');
        let end = rest.find(|c: char| !in_cue(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let after = behind.trim_start_matches(['.', ':', ' ', '\u{a0}']);
        let is_cue = cues.contains(&word.to_lowercase().as_str()) && is_apart(word, behind);
        if after.is_empty() || !is_cue {
            return strip_unit(&text);
        }
        text = tidy(after);
    }
}

/// Whether a word is separate from the number after it. A single letter belongs to the number in
/// `S123`, `P03001`, `v–xii`, but not a small one in `p17`, `v3`, nor a sign in `№2`.
fn is_apart(word: &str, behind: &str) -> bool {
    let small = matches!(word, "p" | "v" | "№") && behind.starts_with(|c: char| c.is_ascii_digit());
    word.chars().nth(1).is_some() || small || behind.starts_with(['.', ':', ' ', '\u{a0}'])
}

/// Without a unit after the number: `12-17 pp.`.
fn strip_unit(text: &str) -> String {
    let Some((number, unit)) = text.rsplit_once(' ') else { return text.to_string() };
    let unit = unit.trim_end_matches('.').to_lowercase();
    // `10. Jg.`
    if matches!(unit.as_str(), "jg" | "jahrg" | "jahrgang") {
        return number.trim_end_matches('.').to_string();
    }
    match matches!(unit.as_str(), "p" | "pp" | "pages" | "s" | "seiten")
        && number.ends_with(char::is_numeric)
    {
        true => number.to_string(),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_have_issues_and_years_beside_them() {
        for (text, volume, [number, pages], year) in [
            ("4 (2)", "4", ["2", ""], 0),
            ("74, No. 5", "74", ["5", ""], 0),
            ("36, 3 (1988)", "36", ["3", ""], 1988),
            ("114: 341", "114", ["341", ""], 0),
            ("51: 197 – 204", "51", ["", "197--204"], 0),
            ("12(3):45-67", "12", ["3", "45--67"], 0),
            ("12 (3) : 45 - 67", "12", ["3", "45--67"], 0),
            ("12(Suppl):S45–S67", "12(Suppl):S45–S67", ["", ""], 0),
            ("12(1994)", "12", ["", ""], 1994),
            ("12 (2004), no. 3", "12", ["3", ""], 2004),
            ("12, H. 3 – 4", "12", ["3–4", ""], 0),
            ("2011;60(43):1487-92", "60", ["43", "1487--92"], 2011),
            ("May 12;357(9267)", "357", ["9267", ""], 0),
            ("2011;60", "60", ["", ""], 2011),
            ("XXIV (3)", "XXIV", ["3", ""], 0),
            ("XII, no. 4", "XII", ["4", ""], 0),
            ("XII(3):45-67", "XII", ["3", "45--67"], 0),
            ("II 305", "II 305", ["", ""], 0),
            ("C 12", "C 12", ["", ""], 0),
            ("12, núm. 4", "12", ["4", ""], 0),
            ("21. – № 2", "21", ["2", ""], 0),
            ("21. – №. 2", "21", ["2", ""], 0),
            ("abs/1103.6246", "abs/1103.6246", ["", ""], 0),
            ("2 of many", "2 of many", ["", ""], 0),
        ] {
            let found = volume_parts(text);
            let [own_number, own_pages] =
                [&found.number, &found.pages].map(|part| part.as_deref().unwrap_or_default());
            assert_eq!((found.volume, own_number, own_pages), (volume, number, pages), "{text}");
            assert_eq!(found.year.unwrap_or(0), year, "{text}");
        }
        assert_eq!(report_parts("Technical Report No. 92-43"), ("Technical Report", Some("92-43")));
        assert_eq!(report_parts("Tech. Rep. TR 9603"), ("Tech. Rep", Some("TR 9603")));
        assert_eq!(report_parts("TR95-90"), ("", Some("TR95-90")));
        assert_eq!(report_parts("Working Paper"), ("Working Paper", None));
        assert_eq!(report_parts("Tech Report # 296"), ("Tech Report", Some("296")));
        let long = "Technical Report on a Study of the Task 8";
        assert_eq!(report_parts(long), (long, None));
    }

    #[test]
    fn words_beside_a_number_say_what_it_is() {
        for text in ["n°149", "n ° 149", "nº 3", "no. 3,", "(Nr. 7)", "№2", "Heft 3"] {
            assert!(is_issue(text), "{text}");
        }
        for text in ["149", "vol. 12, no. 3", "Bd. 3", "n", "no", "12(3)", "Bd. 12, Heft 3"] {
            assert!(!is_issue(text), "{text}");
        }
        for text in ["670 p.", "(670 pages)", "670 Seiten.", "670pp"] {
            assert_eq!(page_total(text).as_deref(), Some("670"), "{text}");
        }
        for text in ["p. 670", "12-17 pp.", "670", "pp. 12", "5 p. 12", "p", ""] {
            assert_eq!(page_total(text), None, "{text}");
        }
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
            ("(S1)", "S1"),
            ("Bd. 12", "12"),
            ("№2", "2"),
            ("n ° 58", "58"),
            ("10. Jg.", "10"),
            ("ch. 4", "ch. 4"),
        ] {
            assert_eq!(bare(text), expected, "{text}");
        }
        for (text, expected) in [
            ("chapter 3,", "3"),
            ("Chap. IV", "IV"),
            ("ch. 4-5", "4-5"),
            ("no. 3", "3"),
            ("C", "C"),
        ] {
            assert_eq!(chapter(text), expected, "{text}");
        }
    }
}
