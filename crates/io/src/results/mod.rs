//! Tables of results, and the pages they stand in.
//!
//! A page keeps a table between two lines, `<!-- begin NAME: COMMAND -->` and `<!-- end NAME -->`.
//! The command that measures the table writes it there, so that page and program cannot drift
//! apart.

mod number;
mod page;

pub use number::{duration, grouped, rounded, signed};
pub use page::{Page, PageError};

use std::fmt;

/// A table of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    name: String,
    header: Vec<String>,
    /// `[rows][columns]`
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, header: &[&str]) -> Self {
        let header = header.iter().map(ToString::to_string).collect();
        Self { name: name.to_string(), header, rows: Vec::new() }
    }

    /// What pages know it by.
    pub fn name(&self) -> &str {
        &self.name
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
}

/// As Markdown.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.header.join(" | "))?;
        writeln!(f, "| {} |", vec!["---"; self.header.len()].join(" | "))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
    }
}
