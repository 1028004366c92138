//! Years, months and days in the text of a date.

/// A date as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: Option<u16>,
    /// The month, from 1.
    pub month: Option<u8>,
    /// The day, from 1.
    pub day: Option<u8>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl Date {
    /// The first year, month and day in a text.
    pub fn read(text: &str) -> Self {
        let mut date = Self::default();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut numbers = Vec::new();
        for word in words {
            match (word.parse::<u16>(), year(word), month(word)) {
                (_, Some(year), _) if date.year.is_none() => date.year = Some(year),
                (_, _, Some(month)) if date.month.is_none() => date.month = Some(month),
                (Ok(number), None, _) => numbers.push(number),
                _ => {}
            }
        }
        let is_numeric = date.month.is_none() && numbers.len() == 2;
        if is_numeric && date.year.is_some() && (1..=12).contains(&numbers[0]) {
            // 2011-05-12
            date.month = u8::try_from(numbers.remove(0)).ok();
        }
        let day = numbers.first().filter(|day| (1..=31).contains(*day));
        if date.month.is_some() {
            date.day = day.and_then(|&day| u8::try_from(day).ok());
        }
        date
    }

    /// The name of the month as BibTeX knows it.
    pub fn month_name(self) -> Option<&'static str> {
        MONTHS.get(usize::from(self.month?.checked_sub(1)?)).map(|name| &name[..3])
    }
}

/// 1000 to 2999, perhaps with a letter that tells works of one year apart, or as in `2007年`.
fn year(word: &str) -> Option<u16> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let rest = word.len() - digits.len();
    let is_year = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) && rest <= 3;
    digits.parse().ok().filter(|year| is_year && (1000..3000).contains(year))
}

/// A month's English name or a beginning of it of three letters or more.
fn month(word: &str) -> Option<u8> {
    let word = word.to_lowercase();
    let named = word.chars().count() >= 3;
    let at = MONTHS.iter().position(|name| named && name.starts_with(&word))?;
    u8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        let date = |year: u16, month: u8, day: u8| Date {
            year: Some(year),
            month: (month > 0).then_some(month),
            day: (day > 0).then_some(day),
        };
        for (text, expected) in [
            ("(1993),", date(1993, 0, 0)),
            ("2004a", date(2004, 0, 0)),
            ("May 12, 2011", date(2011, 5, 12)),
            ("12 Sept. 1999", date(1999, 9, 12)),
            ("2011-05-12", date(2011, 5, 12)),
            ("2007年", date(2007, 0, 0)),
            ("1927/1986", date(1927, 0, 0)),
            ("1985, 17", date(1985, 0, 0)),
        ] {
            assert_eq!(Date::read(text), expected, "{text}");
        }
        assert_eq!(Date::read("in press, ma 12345"), Date::default());
        assert_eq!(Date::read("dec").month_name(), Some("dec"));
    }
}
