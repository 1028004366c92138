//! Years, months and days in the text of a date.

use super::access::{is_looked_at, words};
use crate::text::characters::is_dash;

/// A date as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: Option<u16>,
    /// The month, from 1.
    pub month: Option<u8>,
    /// The day, from 1.
    pub day: Option<u8>,
    /// The season of a quarterly.
    pub season: Option<Season>,
    /// What tells works of one year apart: the letter of `2006a`.
    pub letter: Option<char>,
}

/// A season.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Season {
    /// March to May in the north.
    Spring,
    /// June to August.
    Summer,
    /// September to November.
    Autumn,
    /// December to February.
    Winter,
}

/// Names of seasons: English, German, French, Spanish, Italian, Portuguese, Dutch.
#[rustfmt::skip]
const SEASONS: [(Season, &[&str]); 4] = [
    (Season::Spring, &["spring", "frühling", "frühjahr", "printemps", "primavera", "lente"]),
    (Season::Summer, &["summer", "sommer", "été", "verano", "estate", "verão", "zomer"]),
    (Season::Autumn, &["autumn", "fall", "herbst", "automne", "otoño", "autunno", "outono", "herfst"]),
    (Season::Winter, &["winter", "hiver", "invierno", "inverno"]),
];

impl Season {
    /// Its name in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spring => "Spring",
            Self::Summer => "Summer",
            Self::Autumn => "Autumn",
            Self::Winter => "Winter",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        SEASONS.iter().find(|(_, names)| names.contains(&word.as_str())).map(|&(season, _)| season)
    }
}

/// Names of months: English, German, French, Spanish, Italian, Portuguese, Dutch.
#[rustfmt::skip]
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "februar", "février", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "märz", "mars", "marzo", "março", "maart"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "diciembre", "dicembre", "dezembro"],
];

/// A number or a word of a date.
#[derive(Clone, Copy)]
enum Piece {
    Year(u16),
    Month(u8),
    /// A number of one or two digits.
    Number(u8),
    /// One that can only be a day: `12th`.
    Day(u8),
}

impl Date {
    /// The first year, month and day in a text.
    pub fn read(text: &str) -> Self {
        let pieces = pieces(text);
        let year = pieces.iter().find_map(|&(piece, _)| match piece {
            Piece::Year(year) => Some(year),
            _ => None,
        });
        let named = pieces.iter().find_map(|&(piece, _)| match piece {
            Piece::Month(month) => Some(month),
            _ => None,
        });
        let first_day = pieces.iter().find_map(|&(piece, _)| match piece {
            Piece::Number(day) | Piece::Day(day) => Some(day).filter(|day| (1..=31).contains(day)),
            _ => None,
        });
        let (month, day) = match named {
            Some(month) => (Some(month), first_day),
            None => in_numbers(&pieces),
        };
        let day = day.filter(|&day| month.is_some_and(|month| is_day(day, month, year)));
        let season = words(text).find_map(Season::of).filter(|_| month.is_none());
        let letter = year.and_then(|year| letter(text, year));
        Self { year, month, day, season, letter }
    }

    /// As far as it is known, `2020-05-12`; `None` without a year.
    pub fn in_numbers(self) -> Option<String> {
        let mut text = self.year?.to_string();
        for part in [self.month, self.day].into_iter().map_while(|part| part) {
            text.push_str(&format!("-{part:02}"));
        }
        Some(text)
    }

    /// The name of the month as BibTeX knows it.
    pub fn month_name(self) -> Option<&'static str> {
        Some(&MONTHS.get(usize::from(self.month?.checked_sub(1)?))?[0][..3])
    }

    /// The name of the month in English.
    pub(crate) fn month_in_words(self) -> Option<String> {
        let name = MONTHS.get(usize::from(self.month?.checked_sub(1)?))?[0];
        Some(name[..1].to_uppercase() + &name[1..])
    }
}

/// Month and day of a numeric date: `2011-05-12`, `2011-05`, `05/2011`, `31.12.1999` (day first),
/// `05/13/2011` (month first if both could be a month).
fn in_numbers(pieces: &[(Piece, char)]) -> (Option<u8>, Option<u8>) {
    use Piece::{Number, Year};
    let month = |number: u8| Some(number).filter(|number| (1..=12).contains(number));
    for at in 0..pieces.len() {
        let found = match pieces[at..] {
            [(Year(_), a), (Number(m), b), (Number(d), _), ..] if a == b && a != ' ' => {
                (month(m), Some(d))
            }
            [(Year(_), '年' | '-'), (Number(m), _), ..] => (month(m), None),
            [(Number(d), '.'), (Number(m), '.'), (Year(_), _), ..] => (month(m), Some(d)),
            [(Number(a), s), (Number(b), t), (Year(_), _), ..] if s == t && s != ' ' => {
                if month(a).is_some() { (month(a), Some(b)) } else { (month(b), Some(a)) }
            }
            [(Number(m), '/' | '.' | '-'), (Year(_), _), ..] => (month(m), None),
            _ => continue,
        };
        if found.0.is_some() {
            return found;
        }
    }
    (None, None)
}

/// The letter behind a year.
fn letter(text: &str, year: u16) -> Option<char> {
    let word = words(text).find_map(|word| word.strip_prefix(&year.to_string()))?;
    let mut letters = word.chars();
    letters.next().filter(char::is_ascii_lowercase).filter(|_| letters.next().is_none())
}

/// The year in which a work first appeared, and the text without it: `2001[1953]`, `[1953] 2001`.
pub(crate) fn original(text: &str) -> Option<(u16, String)> {
    const MOST_BRACKETS: usize = 4;
    text.match_indices('[').take(MOST_BRACKETS).find_map(|(at, _)| {
        let (inside, behind) = text[at + 1..].split_once(']')?;
        let digits = inside.trim_start_matches(|c: char| !c.is_ascii_digit()).trim();
        let year = digits.parse().ok().filter(|_| digits.len() == 4)?;
        let rest = format!("{} {behind}", text[..at].trim_end());
        // The other year is that of a later edition.
        Date::read(&rest).year.filter(|&newer| newer > year && year >= 1000)?;
        Some((year, rest))
    })
}

/// Whether a word is of one of these dates: its year, month, day or season.
pub(crate) fn is_of(word: &str, dates: &[Date]) -> bool {
    let pieces = pieces(word);
    let is_told = |&(piece, _): &(Piece, char)| {
        dates.iter().any(|date| match piece {
            Piece::Year(year) => date.year == Some(year),
            Piece::Month(month) => date.month == Some(month),
            Piece::Number(number) => [date.month, date.day].contains(&Some(number)),
            Piece::Day(day) => date.day == Some(day),
        })
    };
    let season = Season::of(word);
    season.is_some_and(|season| dates.iter().any(|date| date.season == Some(season)))
        || !pieces.is_empty() && pieces.iter().all(is_told)
}

/// Whether a word, in lower case, only goes with the numbers of dates: the end of `12 th`.
pub(crate) fn is_cue(word: &str) -> bool {
    matches!(word, "st" | "nd" | "rd" | "th" | "年" | "月" | "日")
}

/// Numbers and months, each with the mark after it: a space if there are none or several, `-` for
/// any dash, `年` for any of `年月日`.
fn pieces(text: &str) -> Vec<(Piece, char)> {
    let mut pieces: Vec<(Piece, char)> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let gap: &str = &rest[..start];
        if let Some((_, mark)) = pieces.last_mut()
            && *mark == ' '
        {
            *mark = separator(gap);
        }
        rest = &rest[start..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if let Some(mark) = rest[digits..].chars().next().filter(|c| "年月日년월일".contains(*c))
            && digits > 0
        {
            pieces.extend(number(&rest[..digits]).map(|piece| (piece, '年')));
            rest = &rest[digits + mark.len_utf8()..];
            continue;
        }
        let own = &rest[..word];
        if is_looked_at(own) {
            break;
        }
        pieces.extend(piece(own).map(|piece| (piece, ' ')));
        rest = &rest[word..];
    }
    pieces
}

/// The one mark between two numbers.
fn separator(gap: &str) -> char {
    let mut marks = gap.trim().chars();
    match (marks.next(), marks.next()) {
        (Some(mark), None) if is_dash(mark) => '-',
        (Some(mark @ ('/' | '.')), None) => mark,
        _ => ' ',
    }
}

fn piece(word: &str) -> Option<Piece> {
    // `c2004`: the copyright year.
    let word = match word.strip_prefix(['c', 'p']) {
        Some(year) if year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) => year,
        _ => word,
    };
    let digits = word.trim_end_matches(char::is_alphabetic);
    let behind = &word[digits.len()..];
    match behind.to_lowercase().as_str() {
        "" => number(word).or_else(|| month(word).map(Piece::Month)),
        "st" | "nd" | "rd" | "th" => digits.parse().ok().map(Piece::Day),
        // A letter tells works of one year apart: `2004a`.
        _ if behind.len() <= 3 && !digits.is_empty() => {
            number(digits).filter(|piece| matches!(piece, Piece::Year(_)))
        }
        _ => month(word).map(Piece::Month),
    }
}

/// A year from 1000 to 2999, or a number of one or two digits.
fn number(digits: &str) -> Option<Piece> {
    let number: u16 = digits.parse().ok()?;
    match digits.len() {
        4 if (1000..3000).contains(&number) => Some(Piece::Year(number)),
        1 | 2 => u8::try_from(number).ok().map(Piece::Number),
        _ => None,
    }
}

/// A month's name, or at least its first three letters.
fn month(word: &str) -> Option<u8> {
    let word = word.to_lowercase();
    let named = word.chars().count() >= 3;
    let is_one = |names: &&[&str]| named && names.iter().any(|name| name.starts_with(&word));
    u8::try_from(MONTHS.iter().position(is_one)? + 1).ok()
}

/// Whether a month has that day.
fn is_day(day: u8, month: u8, year: Option<u16>) -> bool {
    let is_leap = year.is_none_or(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, year, month, day) in [
            ("(1993),", 1993, 0, 0),
            ("2004a", 2004, 0, 0),
            ("c2004", 2004, 0, 0),
            ("©2004", 2004, 0, 0),
            ("May 12, 2011", 2011, 5, 12),
            ("12 Sept. 1999", 1999, 9, 12),
            ("May 12th, 2004", 2004, 5, 12),
            ("MAY 12TH, 2004", 2004, 5, 12),
            ("5. Dezember 1999", 1999, 12, 5),
            ("août 2003", 2003, 8, 0),
            ("June 12-15, 2004", 2004, 6, 12),
            ("2011-05-12", 2011, 5, 12),
            ("2011 / 05 / 12", 2011, 5, 12),
            ("2011-05", 2011, 5, 0),
            ("05/2011", 2011, 5, 0),
            ("31.12.1999", 1999, 12, 31),
            ("05.12.1999", 1999, 12, 5),
            ("05/13/2011", 2011, 5, 13),
            ("13/05/2011", 2011, 5, 13),
            ("2007年", 2007, 0, 0),
            ("2004年5月12日", 2004, 5, 12),
            ("2004年5月", 2004, 5, 0),
            ("1927/1986", 1927, 0, 0),
            ("1998-99", 1998, 0, 0),
            ("1998/12", 1998, 0, 0),
            ("1985, 17", 1985, 0, 0),
            ("2004 (accessed 3 January 2005)", 2004, 0, 0),
            ("February 31, 2004", 2004, 2, 0),
            ("29 February 2003", 2003, 2, 0),
            ("May 12", 0, 5, 12),
        ] {
            let found = Date::read(text);
            let shown = (found.year.unwrap_or(0), found.month.unwrap_or(0), found.day.unwrap_or(0));
            assert_eq!(shown, (year, month, day), "{text}");
        }
        let letter = |text: &str| Date::read(text).letter;
        assert_eq!(
            (letter("2006a"), letter("(2006b)."), letter("2006"), letter("2006th")),
            (Some('a'), Some('b'), None, None)
        );
        let season = |text: &str| Date::read(text).season;
        assert_eq!(
            (season("Spring 2004"), season("Herbst 1999")),
            (Some(Season::Spring), Some(Season::Autumn))
        );
        assert_eq!((season("May 2004"), season("2004")), (None, None));
        assert_eq!(Date::read("12 May 2004").in_numbers().as_deref(), Some("2004-05-12"));
        assert_eq!(Date::read("2004").in_numbers().as_deref(), Some("2004"));
        assert_eq!(Date::read("in press, ma 12345"), Date::default());
        assert_eq!(Date::read("dec").month_name(), Some("dec"));
    }

    #[test]
    fn the_year_of_the_first_edition_stands_in_brackets() {
        for (text, year, rest) in [
            ("2001[1953]", 1953, "2001"),
            ("(2001 [1953]).", 1953, "2001"),
            ("[orig. 1953] 2001", 1953, "2001"),
        ] {
            let (found, newer) = original(text).unwrap();
            assert_eq!(
                (found, Date::read(&newer).in_numbers().as_deref()),
                (year, Some(rest)),
                "{text}"
            );
        }
        for text in ["(2001)", "2001", "[2001] 1953", "(1953), 2001", "1980 (1971)", "2001 [x]"] {
            assert_eq!(original(text), None, "{text}");
        }
        let dates = [Date::read("(2004), May 2004, 1-2")];
        assert!(["2004a", "May", "05", "1st"].into_iter().all(|word| is_of(word, &dates)));
        assert!(!["1918", "June", "2", "Spring", "of"].into_iter().any(|word| is_of(word, &dates)));
    }
}
