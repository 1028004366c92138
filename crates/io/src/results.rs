//! Tables of results, and the pages they stand in.
//!
//! A page keeps a table between two lines, `<!-- begin NAME: COMMAND -->` and `<!-- end NAME -->`.
//! The command that measures the table writes it there, so that page and program cannot drift
//! apart.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::PendingFile;

/// A table of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    name: String,
    header: Vec<String>,
    /// `[rows][columns]`
    rows: Vec<Vec<String>>,
}

/// Why a page cannot take a table.
#[derive(Debug, Error)]
pub enum PageError {
    /// The page cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The page.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The page has no place for the table.
    #[error(
        "{}: found no lines `<!-- begin {name}: … -->` and `<!-- end {name} -->`, expected the \
         table {name} between them",
        path.display()
    )]
    NoPlace {
        /// The page.
        path: PathBuf,
        /// The table.
        name: String,
    },
}

impl Table {
    /// An empty table. Pages know it by its name.
    pub fn new(name: &str, header: &[&str]) -> Self {
        let header = header.iter().map(ToString::to_string).collect();
        Self { name: name.to_string(), header, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has another number of cells than the header.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        let row: Vec<String> = row.into_iter().collect();
        assert_eq!(row.len(), self.header.len(), "table {}", self.name);
        self.rows.push(row);
    }

    /// Writes tables into a page, all or none.
    ///
    /// # Errors
    /// If the page cannot be read or written, or lacks the place of a table.
    pub fn write_all(tables: &[Self], page: &Path) -> Result<(), PageError> {
        let failed = |source| PageError::File { path: page.to_path_buf(), source };
        let mut text = fs::read_to_string(page).map_err(failed)?;
        for table in tables {
            text = table.placed(&text).ok_or_else(|| PageError::NoPlace {
                path: page.to_path_buf(),
                name: table.name.clone(),
            })?;
        }
        PendingFile::create(page).and_then(|file| file.finish(text.as_bytes())).map_err(failed)
    }

    /// A page with this table in its place.
    fn placed(&self, page: &str) -> Option<String> {
        let begin = page.find(&format!("<!-- begin {}:", self.name))?;
        let start = begin + page[begin..].find('\n')? + 1;
        let end = start + page[start..].find(&format!("<!-- end {} -->", self.name))?;
        Some(format!("{}{self}{}", &page[..start], &page[end..]))
    }
}

/// As Markdown.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.header.join(" | "))?;
        writeln!(f, "| {} |", vec!["---"; self.header.len()].join(" | "))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
    }
}

/// A number with a comma between its thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 { format!("−{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n<!-- begin a: run -->\n| old |\n<!-- end a -->\n\nText.\n\
                        <!-- begin b: run -->\n<!-- end b -->\n";

    fn table(name: &str) -> Table {
        let mut table = Table::new(name, &["x", "y"]);
        table.push(["1".to_string(), "2".to_string()]);
        table
    }

    #[test]
    fn tables_take_the_place_between_their_markers_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        fs::write(&page, PAGE).unwrap();
        Table::write_all(&[table("a"), table("b")], &page).unwrap();
        let rows = "| x | y |\n| --- | --- |\n| 1 | 2 |\n";
        let expected = format!(
            "# Page\n\n<!-- begin a: run -->\n{rows}<!-- end a -->\n\nText.\n\
             <!-- begin b: run -->\n{rows}<!-- end b -->\n"
        );
        assert_eq!(fs::read_to_string(&page).unwrap(), expected);
        Table::write_all(&[table("a")], &page).unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), expected, "written again, it is the same");
    }

    #[test]
    fn a_page_without_the_place_of_a_table_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        fs::write(&page, PAGE).unwrap();
        let error = Table::write_all(&[table("a"), table("c")], &page).unwrap_err();
        assert!(error.to_string().contains("<!-- begin c: … -->"), "{error}");
        assert_eq!(fs::read_to_string(&page).unwrap(), PAGE);
    }

    #[test]
    fn thousands_are_grouped() {
        let texts = [0.0, 12.4, 999.6, 32_300.0, 1_234_567.0, -1500.0].map(grouped);
        assert_eq!(texts, ["0", "12", "1,000", "32,300", "1,234,567", "−1,500"]);
    }
}
