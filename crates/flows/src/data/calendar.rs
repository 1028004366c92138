//! When times are, by their names: their order, and how long the steps between them are.

/// Steps are of clearly unequal length if the longest is more than this many times the shortest:
/// months of 28 to 31 days are equal.
const UNEVEN: f64 = 1.5;
/// Days of a mean year.
const YEAR: f64 = 365.25;

/// The order of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOrder {
    /// Times ascend. Numbers may begin again once, as weeks do after the end of a year.
    Ascending,
    /// Every time is before the one above it.
    Descending,
    /// This time is before the one above it, others are not.
    Mixed(usize),
    /// Dates whose day and month cannot be told apart.
    Ambiguous,
    /// Names that are neither numbers nor dates.
    Unknown,
}

/// Two steps of clearly unequal length, each by the place of the time at which it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnevenSteps {
    /// The shortest.
    pub shortest: usize,
    /// The longest.
    pub longest: usize,
    /// How many times as long it is.
    pub ratio: f64,
}

/// What the names of times say about when they are.
#[derive(Clone, Debug, PartialEq)]
enum Moments {
    Numbers(Vec<f64>),
    /// Days.
    Dates(Vec<f64>),
    Ambiguous,
    Unknown,
}

/// A way to read one name.
type Reading = fn(&str) -> Option<f64>;

impl Moments {
    fn of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let all = |read: Reading| names.clone().map(read).collect::<Option<Vec<f64>>>();
        if let Some(days) = [compact, iso_date, iso_week, european].into_iter().find_map(all) {
            return Self::Dates(days);
        }
        match (all(day_first), all(month_first)) {
            (Some(_), Some(_)) => return Self::Ambiguous,
            (Some(days), None) | (None, Some(days)) => return Self::Dates(days),
            (None, None) => {}
        }
        let prefix = prefix(names.clone());
        let number =
            |name: &str| name[prefix..].trim().parse().ok().filter(|n: &f64| n.is_finite());
        names.map(number).collect::<Option<Vec<f64>>>().map_or(Self::Unknown, Self::Numbers)
    }

    fn of_names(names: &[String]) -> Self {
        Self::of(names.iter().map(String::as_str))
    }
}

/// Sorts what has numbers or dates for names. Others stay as they came.
pub(super) fn sort<T>(times: &mut Vec<(String, T)>) {
    let moments = Moments::of(times.iter().map(|(time, _)| &time[..]));
    let (Moments::Numbers(moments) | Moments::Dates(moments)) = moments else { return };
    let mut known: Vec<_> = moments.into_iter().zip(times.drain(..)).collect();
    known.sort_by(|(a, (x, _)), (b, (y, _))| a.total_cmp(b).then_with(|| x.cmp(y)));
    times.extend(known.into_iter().map(|(_, own)| own));
}

/// The order in which times come, by their names.
pub fn time_order(times: &[String]) -> TimeOrder {
    let (moments, turns) = match Moments::of_names(times) {
        Moments::Numbers(numbers) => (numbers, 1),
        Moments::Dates(days) => (days, 0),
        Moments::Ambiguous => return TimeOrder::Ambiguous,
        Moments::Unknown => return TimeOrder::Unknown,
    };
    let back: Vec<usize> = (1..moments.len()).filter(|&t| moments[t] < moments[t - 1]).collect();
    match back.last() {
        Some(_) if back.len() + 1 == moments.len() => TimeOrder::Descending,
        Some(&last) if back.len() > turns => TimeOrder::Mixed(last),
        _ => TimeOrder::Ascending,
    }
}

/// Steps of clearly unequal length, if there are any. A step back in time goes on to the next year,
/// where times are dates; where they are numbers, its length is unknown.
pub fn uneven_steps(times: &[String]) -> Option<UnevenSteps> {
    let (moments, year) = match Moments::of_names(times) {
        Moments::Numbers(numbers) => (numbers, None),
        Moments::Dates(days) => (days, Some(YEAR)),
        Moments::Ambiguous | Moments::Unknown => return None,
    };
    let length = |pair: &[f64]| match pair[1] - pair[0] {
        back if back < 0.0 => year.map(|year| back.rem_euclid(year)),
        length => Some(length),
    };
    let steps = moments.windows(2).map(length).enumerate();
    let known = steps.filter_map(|(at, length)| Some((at, length.filter(|own| *own > 0.0)?)));
    let by_length = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    let (shortest, least) = known.clone().min_by(by_length)?;
    let (longest, most) = known.max_by(by_length)?;
    let ratio = most / least;
    (ratio > UNEVEN).then_some(UnevenSteps { shortest, longest, ratio })
}

/// The bytes of what all names begin with, up to the number: `week ` of `week 9`, `t-` of `t-9`.
fn prefix<'a>(mut names: impl Iterator<Item = &'a str> + Clone) -> usize {
    let Some(first) = names.clone().next() else { return 0 };
    let letters = first.find(|c: char| !(c.is_alphabetic() || matches!(c, ' ' | '_')));
    let letters = letters.unwrap_or(0);
    let letters = letters + usize::from(letters > 0 && first[letters..].starts_with('-'));
    if names.all(|name| name.starts_with(&first[..letters])) { letters } else { 0 }
}

/// Days of a date, counted from some day long ago. Nothing if there is no such date.
fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get((month as usize).checked_sub(1)?)?;
    let before: u32 = lengths[..month as usize - 1].iter().sum();
    (1..=length).contains(&day).then(|| first_day(year) + f64::from(before + day - 1))
}

/// Days before a year.
fn first_day(year: u32) -> f64 {
    let before = year.saturating_sub(1);
    f64::from(before) * 365.0 + f64::from(before / 4) - f64::from(before / 100)
        + f64::from(before / 400)
}

/// `20240131`
fn compact(name: &str) -> Option<f64> {
    let is_date = name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_digit());
    let part = |from: usize, to: usize| name[from..to].parse().ok();
    let year =
        if is_date { part(0, 4) } else { None }.filter(|year| (1500..2500).contains(year))?;
    days(year, part(4, 6)?, part(6, 8)?)
}

/// `2024-01-31`, `2024/1/31`, `2024-01`, or `2024-031` for a day of the year; perhaps with a time of day.
fn iso_date(name: &str) -> Option<f64> {
    let (date, clock) = split_clock(name);
    let separator = if date.contains('/') { '/' } else { '-' };
    let parts: Vec<&str> = date.split(separator).collect();
    let year = digits(parts[0], 4..=4)?;
    let date = match parts[1..] {
        [day] if day.len() == 3 => digits(day, 3..=3)
            .filter(|day| (1..=366).contains(day))
            .map(|day| first_day(year) + f64::from(day - 1)),
        [month] => days(year, digits(month, 2..=2)?, 1),
        [month, day] => days(year, digits(month, 1..=2)?, digits(day, 1..=2)?),
        _ => None,
    };
    Some(date? + clock)
}

/// `2024-W05` or `2024-05`: the Monday of a week.
fn iso_week(name: &str) -> Option<f64> {
    let (year, week) = name.split_once('-')?;
    let (year, week) = (digits(year, 4..=4)?, digits(week.trim_start_matches(['W', 'w']), 1..=2)?);
    // The week of January 4 is the first; day 0 was a Monday.
    let fourth = first_day(year) + 3.0;
    let monday = fourth - fourth.rem_euclid(7.0);
    (1..=53).contains(&week).then(|| monday + 7.0 * f64::from(week - 1))
}

/// `31.01.2024`
fn european(name: &str) -> Option<f64> {
    in_parts(name, '.', |day, month, year| days(year, month, day))
}

/// `31/01/2024`
fn day_first(name: &str) -> Option<f64> {
    in_parts(name, '/', |day, month, year| days(year, month, day))
}

/// `01/31/2024`
fn month_first(name: &str) -> Option<f64> {
    in_parts(name, '/', |month, day, year| days(year, month, day))
}

fn in_parts(
    name: &str,
    separator: char,
    date: impl Fn(u32, u32, u32) -> Option<f64>,
) -> Option<f64> {
    let (words, clock) = split_clock(name);
    let mut parts = words.split(separator);
    let [first, second] = [parts.next()?, parts.next()?].map(|part| digits(part, 1..=2));
    let year = digits(parts.next()?, 4..=4)?;
    if parts.next().is_some() { None } else { Some(date(first?, second?, year)? + clock) }
}

/// A date, and the part of the day that has passed; what is no time of day counts as none.
fn split_clock(name: &str) -> (&str, f64) {
    let Some((date, clock)) = name.split_once(['T', ' ']) else { return (name, 0.0) };
    let clock = clock.trim_end_matches('Z');
    let units = clock.split(':').zip([24.0, 24.0 * 60.0, 24.0 * 3600.0]);
    let parts = units.map(|(part, unit)| Some(part.parse::<f64>().ok()? / unit));
    let passed = parts.sum::<Option<f64>>().unwrap_or(0.0);
    (date, if (0.0..=1.0).contains(&passed) { passed } else { 0.0 })
}

fn digits(text: &str, number: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let fits = number.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{Moments, TimeOrder, UnevenSteps, sort, time_order, uneven_steps};

    fn names(text: &str) -> Vec<String> {
        text.split(", ").map(str::to_string).collect()
    }

    fn sorted(text: &str) -> String {
        let mut times: Vec<_> = names(text).into_iter().map(|name| (name, ())).collect();
        sort(&mut times);
        let sorted: Vec<String> = times.into_iter().map(|(name, ())| name).collect();
        sorted.join(", ")
    }

    #[test]
    fn dates_sort_however_they_are_written() {
        let cases = [
            ("01.03.2024, 01.02.2024, 15.1.2024", "15.1.2024, 01.02.2024, 01.03.2024"),
            ("2024-03-01, 2024-02-29, 2023-12-31", "2023-12-31, 2024-02-29, 2024-03-01"),
            ("2024-10, 2024-09", "2024-09, 2024-10"),
            ("2024/10/1, 2024/9/1", "2024/9/1, 2024/10/1"),
            ("31/01/2024, 01/02/2023", "01/02/2023, 31/01/2024"),
            ("01/31/2024, 02/01/2023", "02/01/2023, 01/31/2024"),
            ("20240201, 20240131", "20240131, 20240201"),
            ("2024-W10, 2024-W9", "2024-W9, 2024-W10"),
            ("2024-31, 2024-09", "2024-09, 2024-31"),
            ("2024-101, 2024-032", "2024-032, 2024-101"),
            ("2024-01-01T18:00, 2024-01-01T06:00", "2024-01-01T06:00, 2024-01-01T18:00"),
            ("W9, W10, W8", "W8, W9, W10"),
            ("week-10, week-9", "week-9, week-10"),
            ("10, 9.5, -1", "-1, 9.5, 10"),
        ];
        for (given, expected) in cases {
            assert_eq!(sorted(given), expected);
        }
        for kept in ["may, april", "01/02/2024, 03/01/2024", "2024-02-30, 2024-01-01", "1, a"] {
            assert_eq!(sorted(kept), kept);
        }
    }

    #[test]
    fn a_day_follows_the_one_before() {
        let text = "2023-12-31, 2024-01-01, 2024-02-28, 2024-02-29, 2024-03-01";
        let Moments::Dates(days) = Moments::of_names(&names(text)) else { panic!("dates") };
        let from_first: Vec<f64> = days.iter().map(|day| day - days[0]).collect();
        assert_eq!(from_first, [0.0, 1.0, 59.0, 60.0, 61.0]);
        let text = "2023-W52, 2024-W01, 2024-W53, 2025-W1";
        let Moments::Dates(days) = Moments::of_names(&names(text)) else { panic!("weeks") };
        assert_eq!((days[1] - days[0], days[3] - days[1]), (7.0, 364.0));
    }

    #[test]
    fn rows_that_go_back_in_time_are_told() {
        let cases = [
            ("1, 2, 3", TimeOrder::Ascending),
            ("3, 2, 1", TimeOrder::Descending),
            ("51, 52, 1, 2", TimeOrder::Ascending),
            ("1, 3, 2, 5, 4", TimeOrder::Mixed(4)),
            ("2024-01-01, 2024-03-01, 2024-02-01", TimeOrder::Mixed(2)),
            ("01.03.2024, 01.02.2024, 01.01.2024", TimeOrder::Descending),
            ("01/02/2024, 03/01/2024", TimeOrder::Ambiguous),
            ("spring, autumn", TimeOrder::Unknown),
            ("1", TimeOrder::Ascending),
        ];
        for (text, order) in cases {
            assert_eq!(time_order(&names(text)), order, "{text}");
        }
    }

    #[test]
    fn steps_of_unequal_length_are_found() {
        let even = [
            "2024-01, 2024-02, 2024-03",
            "2019, 2020, 2021",
            "51, 52, 1, 2",
            "2024-12-16, 2024-12-23, 2024-01-01, 2024-01-08",
            "spring, autumn",
            "1",
            "7, 007, 8, 9",
        ];
        for text in even {
            assert_eq!(uneven_steps(&names(text)), None, "{text}");
        }
        let cases = [
            ("2024-01-01, 2024-01-02, 2024-12-31", (0, 1, 364.0)),
            ("1, 2, 3, 5, 6", (0, 2, 2.0)),
            ("2024-01-01T00:00, 2024-01-01T12:00, 2024-01-02T12:00", (0, 1, 2.0)),
        ];
        for (text, (shortest, longest, ratio)) in cases {
            assert_eq!(uneven_steps(&names(text)), Some(UnevenSteps { shortest, longest, ratio }));
        }
        let season = uneven_steps(&names("2024-11, 2024-12, 2024-03, 2024-04")).unwrap();
        assert_eq!(season.longest, 1, "from December to March of the next year");
    }
}
