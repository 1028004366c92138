use std::str::FromStr;

use super::{COLUMNS, Fault, Image, LETTERS, ROWS};

/// Columns before the pixels.
const NAMED: usize = 6;
/// No file has more parts than this.
const MOST_FOLDS: usize = 1000;

/// One line of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    id: u64,
    pub(super) letter: u8,
    /// The id of the letter after it in its word.
    pub(super) next: Option<u64>,
    word: u64,
    position: u64,
    pub(super) fold: usize,
    pub(super) image: Image,
}

impl FromStr for Line {
    type Err = Fault;

    fn from_str(line: &str) -> Result<Self, Fault> {
        let found = line.split('\t').count();
        let expected = NAMED + ROWS * COLUMNS;
        if found != expected {
            return Err(Fault::Columns { found, expected });
        }
        let mut cells = line.split('\t').enumerate().map(|(at, cell)| Cell { at: at + 1, cell });
        let mut cell = || cells.next().expect("as many as were counted");
        let id = cell().number("id")?;
        let letter = cell().letter()?;
        let next = cell();
        let next = if next.cell == "-1" { None } else { Some(next.number("next id")?) };
        let (word, position) = (cell().number("word id")?, cell().number("position")?);
        let fold = cell();
        let fold = match fold.cell.parse() {
            Ok(number) if number < MOST_FOLDS => number,
            _ => return Err(fold.fault("fold", "a number below 1000")),
        };
        let mut image = Image::default();
        for pixel in 0..ROWS * COLUMNS {
            let cell = cell();
            match cell.cell {
                "0" => {}
                "1" => image.0 |= 1 << pixel,
                _ => return Err(cell.fault("pixel", "0 or 1")),
            }
        }
        Ok(Self { id, letter, next, word, position, fold, image })
    }
}

/// A cell and its column, from 1.
struct Cell<'a> {
    at: usize,
    cell: &'a str,
}

impl Cell<'_> {
    fn number(&self, what: &'static str) -> Result<u64, Fault> {
        self.cell.parse().map_err(|_| self.fault(what, "a whole number"))
    }

    fn letter(&self) -> Result<u8, Fault> {
        match self.cell.as_bytes() {
            [letter] if letter.is_ascii_lowercase() && letter - b'a' < LETTERS as u8 => {
                Ok(letter - b'a')
            }
            _ => Err(self.fault("letter", "one of a to z")),
        }
    }

    fn fault(&self, what: &'static str, expected: &'static str) -> Fault {
        Fault::Cell { column: self.at, what, found: self.cell.to_string(), expected }
    }
}

impl Line {
    /// Whether it may begin a word. (Positions count from 1, or from the letters that were cut
    /// off.)
    pub(super) fn check_first(&self) -> Result<(), Fault> {
        match self.position {
            0..=1 => Ok(()),
            found => Err(Fault::Order { what: "position", found, expected: 1 }),
        }
    }

    /// Whether it may come after another letter of the same word.
    pub(super) fn check_after(&self, before: &Self) -> Result<(), Fault> {
        let pairs = [
            ("id", self.id, before.next.unwrap_or(self.id)),
            ("word id", self.word, before.word),
            ("position", self.position, before.position + 1),
            ("fold", self.fold as u64, before.fold as u64),
        ];
        match pairs.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(Fault::Order { what, found, expected }),
            None => Ok(()),
        }
    }
}
