//! Clauses: runs of words between marks, where every mark may be a cell of its own. Stops of initials
//! and of short abbreviations end none, nor do hyphens and apostrophes.

use super::derive::{digit, is_punctuation};

/// A capitalised word of at most this many letters may be an abbreviation.
const LONGEST_ABBREVIATION: usize = 4;
/// Words that may be in lower case in a name.
const SMALL: [&str; 26] = [
    "a", "an", "and", "at", "d", "da", "de", "del", "der", "des", "di", "die", "du", "el", "et",
    "for", "für", "in", "la", "le", "of", "on", "the", "und", "van", "y",
];

/// The clauses of a sequence, and the numbers around each cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Clauses {
    all: Vec<Clause>,
    /// Which clause a cell is in. `[positions]`
    of: Vec<usize>,
    /// The next number from a cell on. `[positions]`
    ahead: Vec<Number>,
    /// The last one before it. `[positions]`
    behind: Vec<Number>,
}

/// A run of words and the mark that ends it.
#[derive(Clone, Copy, Debug)]
struct Clause {
    words: usize,
    /// Words in lower case that names do not have.
    lower: usize,
    initials: usize,
    numbers: usize,
    end: char,
}

/// A number seen from a cell.
#[derive(Clone, Copy, Debug)]
struct Number {
    pattern: &'static str,
    words: usize,
    /// Whether all words between are as in a name.
    named: bool,
}

const NO_CLAUSE: Clause = Clause { words: 0, lower: 0, initials: 0, numbers: 0, end: '$' };
const NO_NUMBER: Number = Number { pattern: "none", words: 0, named: true };

impl Clauses {
    /// Looks at a sequence's cells and their patterns.
    pub(super) fn of<'a>(cells: impl Iterator<Item = (&'a str, &'static str)>) -> Self {
        let cells: Vec<(&str, &'static str)> = cells.collect();
        let mut own = Self::default();
        let mut clause = NO_CLAUSE;
        for (at, &(cell, pattern)) in cells.iter().enumerate() {
            own.of.push(own.all.len());
            clause.count(cell, pattern);
            let before = at.checked_sub(1).map_or(("", ""), |before| cells[before]);
            if let Some(end) = ending(cell, pattern, before) {
                own.all.push(Clause { end, ..clause });
                clause = NO_CLAUSE;
            }
        }
        own.all.push(clause);
        own.ahead = seen(cells.iter().rev());
        own.ahead.reverse();
        own.behind = seen(cells.iter());
        own
    }

    /// Appends what is known of the clause that is this many clauses further on.
    pub(super) fn write(&self, position: usize, further: isize, output: &mut String) {
        let at = self.of[position].checked_add_signed(further);
        match at.and_then(|at| self.all.get(at)) {
            Some(clause) => clause.write(output),
            None => output.push('^'),
        }
    }

    /// Appends the next number from a position on.
    pub(super) fn write_ahead(&self, position: usize, output: &mut String) {
        self.ahead[position].write(output);
    }

    /// Appends the last number before a position.
    pub(super) fn write_behind(&self, position: usize, output: &mut String) {
        let before = position.checked_sub(1);
        before.map_or(NO_NUMBER, |before| self.behind[before]).write(output);
    }
}

impl Clause {
    fn count(&mut self, cell: &str, pattern: &str) {
        match pattern {
            "punctuation" => return,
            "number" | "year" | "old year" | "range" | "bracketed number" | "volume(issue)"
            | "mixed" => self.numbers += 1,
            "initial" | "initials" => self.initials += 1,
            "lower" if !is_small(cell) => self.lower += 1,
            _ => {}
        }
        self.words += 1;
    }

    /// How it looks, how long it is, and how it ends: `l4,`.
    fn write(&self, output: &mut String) {
        let look = match *self {
            Self { words: 0, .. } => '-',
            Self { lower, .. } if lower > 1 => 'l',
            Self { numbers, words, .. } if 2 * numbers >= words => 'n',
            Self { initials, .. } if initials > 0 => 'i',
            Self { lower: 1, .. } => 's',
            Self { numbers, .. } if numbers > 0 => 'm',
            _ => 'c',
        };
        output.extend([look, count(self.words), self.end]);
    }
}

impl Number {
    fn write(self, output: &mut String) {
        output.extend([if self.named { 'c' } else { 'l' }, count(self.words)]);
        output.push_str(self.pattern);
    }
}

/// For each cell the last number until it, and the words since.
fn seen<'a>(cells: impl Iterator<Item = &'a (&'a str, &'static str)>) -> Vec<Number> {
    let mut last = NO_NUMBER;
    let look = |&(cell, pattern): &(&str, &'static str)| {
        match pattern {
            "punctuation" => {}
            "number" | "year" | "old year" | "range" | "bracketed number" | "volume(issue)"
            | "mixed" => last = Number { pattern, ..NO_NUMBER },
            _ => {
                last.words += 1;
                last.named &= pattern != "lower" || is_small(cell);
            }
        }
        last
    };
    cells.map(look).collect()
}

/// The mark with which a cell ends a clause.
fn ending(cell: &str, pattern: &str, before: (&str, &str)) -> Option<char> {
    let last = cell.chars().next_back()?;
    let word = if pattern == "punctuation" { before.0 } else { cell };
    match last {
        '.' => (!is_short(word.trim_matches(is_punctuation))).then_some('.'),
        ',' | ':' | ';' | '?' | '!' | '(' | ')' | '[' | ']' | '"' | '“' | '”' | '«' | '»' => {
            Some(last)
        }
        _ => None,
    }
}

/// Initials and short words with a capital, such as `Phys`.
fn is_short(word: &str) -> bool {
    word.chars().count() <= LONGEST_ABBREVIATION
        && word.starts_with(char::is_uppercase)
        && word.chars().all(char::is_alphabetic)
}

fn is_small(cell: &str) -> bool {
    SMALL.contains(&cell.trim_matches(is_punctuation).to_lowercase().as_str())
}

/// Up to three as it is, then 4 for up to six, 7 for more.
fn count(words: usize) -> char {
    digit(match words {
        0..=3 => words,
        4..=6 => 4,
        _ => 7,
    })
}
