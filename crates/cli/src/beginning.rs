//! What a CSV table or a JSON text holds, by its first lines: for messages about a file in the wrong
//! place.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bethe_io::without_mark;

use crate::kind::LOOKED_AT;

/// Fields of problems and of energies.
const OF_PROBLEMS: [&str; 3] = ["\"variables\"", "\"factors\"", "\"energies\""];

/// Names of columns that only cells have, in pairs.
const PLACES: [[&str; 2]; 3] = [["x", "y"], ["lon", "lat"], ["longitude", "latitude"]];

/// The first lines of a plain file, without one that is cut. A pipe is read only once.
fn lines(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    let mut text = String::from_utf8_lossy(without_mark(&bytes)).into_owned();
    if bytes.len() as u64 == LOOKED_AT {
        text.truncate(text.rfind('\n').unwrap_or(text.len()));
    }
    Some(text)
}

/// Whether JSON has a field of problems near its beginning.
pub fn is_problem(path: &Path) -> bool {
    lines(path).is_some_and(|text| OF_PROBLEMS.iter().any(|field| text.contains(field)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Counts per time and cell: numbers in the last column.
    Counts,
    /// Cells and where they are.
    Cells,
    /// Words, such as tokens and labels.
    Words,
}

impl Table {
    /// What a plain file holds, if it is a table.
    pub fn of(path: &Path) -> Option<Self> {
        Self::of_text(&lines(path)?)
    }

    fn of_text(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let header = lines.next()?;
        let separator = if header.contains(';') { ';' } else { ',' };
        let names: Vec<String> =
            header.split(separator).map(|name| plain(name).to_lowercase()).collect();
        let has = |name: &str| names.iter().any(|own| own == name);
        if !has("count")
            && !has("time")
            && PLACES.iter().any(|pair| pair.iter().all(|own| has(own)))
        {
            return Some(Self::Cells);
        }
        let last: Vec<&str> =
            lines.map(|line| plain(line.rsplit(separator).next().unwrap_or(""))).collect();
        let number = |value: &&str| value.replacen(',', ".", 1).parse::<f64>().is_ok();
        let missing = |value: &&str| value.is_empty() || value.eq_ignore_ascii_case("na");
        let is_counts =
            last.iter().any(number) && last.iter().all(|value| number(value) || missing(value));
        Some(if is_counts { Self::Counts } else { Self::Words })
    }
}

/// A value without what quotes it.
fn plain(value: &str) -> &str {
    value.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn tables_of_counts_cells_and_words_are_told_apart() {
        for (text, expected) in [
            ("time,A,B\n1,10,0\n2,5,\n", Some(Table::Counts)),
            ("time;A;B\n1;10;0,5\n2;5;NA\n", Some(Table::Counts)),
            ("time,cell,count\n1,A,10\n", Some(Table::Counts)),
            ("time,x,y,count\n1,0,0,10\n", Some(Table::Counts)),
            ("cell,x,y\nA,0,0\n", Some(Table::Cells)),
            ("\"Cell\";\"Lon\";\"Lat\";name\nA;0,5;7;Bonn\n", Some(Table::Cells)),
            ("token,label\nKaya,B-author\nand,O\n", Some(Table::Words)),
            ("Kaya;B-author\nand;O\n", Some(Table::Words)),
            ("", None),
        ] {
            assert_eq!(Table::of_text(text), expected, "{text}");
        }
    }
}
