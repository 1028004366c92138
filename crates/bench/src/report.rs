use std::process::exit;

use bethe_io::results::{Page, PageError, Table};

use crate::flags::folder;

/// Where the tables of a benchmark go: to standard output and, with `--results DIR`, into the page
/// that they stand in.
pub struct Report {
    page: Option<Page>,
}

impl Report {
    /// Tables of the page `DIR/NAME.md`. Ends the program with exit code 2 where that has no place
    /// for one of them: better now than after an hour.
    pub fn new(page: &str, tables: &[&str]) -> Self {
        let path = folder("--results").map(|folder| folder.join(format!("{page}.md")));
        let page = path.map(|path| Page::open(&path, tables).unwrap_or_else(refuse));
        Self { page }
    }

    /// Prints tables, and writes them into the page.
    pub fn finish(&self, tables: &[Table]) {
        print(tables);
        let Some(page) = self.page.as_ref().filter(|_| !tables.is_empty()) else { return };
        page.write(tables).unwrap_or_else(refuse);
        let names: Vec<&str> = tables.iter().map(Table::name).collect();
        println!("written to {}: {}", page.path().display(), names.join(", "));
    }
}

/// Prints tables, each below its name.
pub fn print(tables: &[Table]) {
    for table in tables {
        println!("\n{}\n\n{table}", table.name());
    }
}

fn refuse<T>(error: PageError) -> T {
    eprintln!("error: {error}");
    exit(2)
}
