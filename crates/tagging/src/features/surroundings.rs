//! The surroundings of each cell of a column: punctuation near it, quotation marks and brackets
//! around it, what came before it.

use super::clauses::Clauses;
use super::derive::{digit, is_punctuation};
use super::function::Function;
use super::pattern::pattern;

/// A run of this many lower-case words occurs in titles, not in names.
const TITLE_WORDS: usize = 2;
/// Larger counts are equal.
const MANY: u8 = 4;
/// The part of a sequence in which a year is early.
const EARLY: f64 = 0.45;

/// The surroundings of all cells of one column of a sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    rows: Vec<Row>,
    style: String,
    clauses: Clauses,
}

/// Those of one cell.
#[derive(Clone, Debug, Default)]
struct Row {
    pattern: &'static str,
    /// The mark that it ends with or consists of, if that ends a stretch of words.
    mark: Option<char>,
    /// The mark that its stretch comes after, `^` for none, and cells since.
    before: (char, usize),
    /// The mark that its stretch ends with, `$` for none, and cells until then.
    after: (char, usize),
    quoted: bool,
    bracketed: bool,
    /// Which of how many of its pattern.
    turn: (u8, u8),
    /// Sentences before, and other stretches since.
    stretch: (u8, u8),
    past: Past,
}

/// What came before a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    year: bool,
    title: bool,
    within: bool,
    number: bool,
    quote: bool,
}

impl Surroundings {
    /// Looks at a sequence's cells.
    pub(super) fn of<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Self {
        let look = |cell: &str| {
            let pattern = pattern(cell);
            Row { pattern, mark: mark(cell, pattern), ..Row::default() }
        };
        let mut own = Self { rows: cells.clone().map(look).collect(), ..Self::default() };
        let patterns = own.rows.iter().map(|row| row.pattern);
        own.clauses = Clauses::of(cells.clone().zip(patterns));
        own.measure_stretches();
        own.find_enclosed(cells.clone());
        own.count_turns();
        own.remember(cells);
        own.describe();
        own
    }

    /// Appends the function's text of a position; nothing where it is absent.
    pub(super) fn write(&self, function: Function, position: usize, output: &mut String) {
        let row = &self.rows[position];
        let count = |count: u8| digit(usize::from(count));
        match function {
            Function::Pattern => output.push_str(row.pattern),
            Function::Before => output.push(row.before.0),
            Function::Since => output.push(distance(row.before.1)),
            Function::After => output.push(row.after.0),
            Function::Until => output.push(distance(row.after.1)),
            Function::Inside => output.push_str(match (row.quoted, row.bracketed) {
                (true, true) => "both",
                (true, false) => "quotes",
                (false, true) => "brackets",
                (false, false) => "",
            }),
            Function::Turn if row.turn.1 == 0 => {}
            Function::Turn => {
                output.push_str(row.pattern);
                output.extend([' ', count(row.turn.0), ' ', 'o', 'f', ' ', count(row.turn.1)]);
            }
            Function::Stretch => {
                output.extend([count(row.stretch.0), '.', count(row.stretch.1)]);
            }
            Function::Past => row.past.write(output),
            Function::Start if self.may_start(position) => output.push_str("start"),
            Function::Start => {}
            Function::Style => output.push_str(&self.style),
            Function::Clause => self.clauses.write(position, 0, output),
            Function::LastClause => self.clauses.write(position, -1, output),
            Function::NextClause => self.clauses.write(position, 1, output),
            Function::Ahead => self.clauses.write_ahead(position, output),
            Function::Behind => self.clauses.write_behind(position, output),
            _ => unreachable!("not a function of surroundings"),
        }
    }

    fn measure_stretches(&mut self) {
        let (mut last, mut sentences, mut others) = (('^', 0), 0, 0);
        for (at, row) in self.rows.iter_mut().enumerate() {
            row.before = (last.0, at - last.1);
            row.stretch = (sentences, others);
            match row.mark {
                Some('.') => (sentences, others) = ((sentences + 1).min(MANY), 0),
                Some(_) => others = (others + 1).min(MANY),
                None => {}
            }
            if let Some(mark) = row.mark {
                last = (mark, at);
            }
        }
        let mut next = ('$', self.rows.len());
        for (at, row) in self.rows.iter_mut().enumerate().rev() {
            row.after = (next.0, next.1 - at);
            if let Some(mark) = row.mark {
                next = (mark, at);
            }
        }
    }

    fn find_enclosed<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        let (mut quoted, mut depth) = (false, 0usize);
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            let is_quote = |c: char| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
            let opens = cell.starts_with(is_quote) || cell.starts_with("``");
            let closes = cell.ends_with(is_quote) || cell.ends_with("''");
            let alone = opens && closes && cell.chars().count() == 1;
            let was_quoted = quoted;
            quoted |= opens;
            depth += cell.chars().filter(|c| matches!(c, '(' | '[' | '{')).count();
            (row.quoted, row.bracketed) = (quoted, depth > 0);
            if closes && (!alone || was_quoted) {
                quoted = false;
            }
            let ends = cell.chars().filter(|c| matches!(c, ')' | ']' | '}')).count();
            depth = depth.saturating_sub(ends);
        }
    }

    fn count_turns(&mut self) {
        for counted in ["year", "number", "range"] {
            let all = self.rows.iter().filter(|row| row.pattern == counted).count();
            let of_kind = self.rows.iter_mut().filter(|row| row.pattern == counted);
            for (place, row) in of_kind.enumerate() {
                row.turn = ((place + 1).min(3) as u8, all.min(3) as u8);
            }
        }
    }

    fn remember<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        let first = self.first_word();
        let (mut past, mut run) = (Past::default(), 0);
        let mut after_mark = false;
        for (at, (row, cell)) in self.rows.iter_mut().zip(cells).enumerate() {
            row.past = past;
            match row.pattern {
                "lower" => run += 1,
                _ if row.mark.is_some() => run = 0,
                _ => {}
            }
            past.title |= run >= TITLE_WORDS;
            past.year |= row.pattern == "year";
            past.number |= matches!(row.pattern, "number" | "range") && at > first;
            past.quote |= row.quoted;
            past.within |=
                after_mark && cell.trim_end_matches(is_punctuation).eq_ignore_ascii_case("in");
            after_mark = row.mark.is_some();
        }
    }

    /// The first cell that is neither punctuation nor a number: behind the marker of a list.
    fn first_word(&self) -> usize {
        let is_word = |row: &Row| {
            !matches!(row.pattern, "punctuation" | "number" | "bracketed number" | "year")
        };
        self.rows.iter().position(is_word).unwrap_or(0)
    }

    /// The style of the whole sequence.
    fn describe(&mut self) {
        let first = self.first_word();
        let pattern = |at: usize| self.rows.get(at).map_or("none", |row| row.pattern);
        let years = self.rows.iter().position(|row| row.pattern == "year");
        let year = match years {
            None => "no year",
            Some(at) if (at as f64) < EARLY * self.rows.len() as f64 => "early year",
            Some(_) => "late year",
        };
        let quotes = if self.rows.iter().any(|row| row.quoted) { "quotes" } else { "no quotes" };
        self.style = format!("{} {} {quotes} {year}", pattern(first), pattern(first + 1));
    }

    /// Whether something new may start here: after a mark, at an opening one, and at numbers and
    /// initials among other words.
    fn may_start(&self, position: usize) -> bool {
        let row = &self.rows[position];
        let Some(before) = position.checked_sub(1).map(|at| &self.rows[at]) else { return true };
        let apart =
            |pattern| matches!(pattern, "year" | "number" | "range" | "initial" | "initials");
        let opens = (row.quoted && !before.quoted) || (row.bracketed && !before.bracketed);
        let changes =
            row.pattern != before.pattern && (apart(row.pattern) || apart(before.pattern));
        before.mark.is_some() || opens || changes
    }
}

impl Past {
    fn write(self, output: &mut String) {
        let all = [
            (self.year, 'y'),
            (self.title, 't'),
            (self.within, 'i'),
            (self.number, 'n'),
            (self.quote, 'q'),
        ];
        output.extend(all.iter().filter(|(is_past, _)| *is_past).map(|(_, letter)| letter));
        if !all.iter().any(|(is_past, _)| *is_past) {
            output.push('-');
        }
    }
}

/// The punctuation mark that a cell ends with; a full stop after initials does not count.
fn mark(cell: &str, pattern: &str) -> Option<char> {
    let last = cell.chars().next_back()?;
    match last {
        _ if pattern == "punctuation" => Some(last),
        '.' => (!matches!(pattern, "initial" | "initials")).then_some('.'),
        ',' | ':' | ';' | ')' | '"' | '”' => Some(last),
        _ => None,
    }
}

/// Distances from four to seven are equal, and so are those beyond.
fn distance(cells: usize) -> char {
    digit(match cells {
        0..=3 => cells,
        4..=7 => 4,
        _ => 8,
    })
}
