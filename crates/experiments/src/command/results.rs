//! The page of the docs that an experiment writes its tables into.

use std::path::Path;

use anyhow::Result;
use bethe_io::results::{Page, Table};
use bethe_terminal::{bad_input, say};

/// The page of this name in the folder that `--results` names, once it is known to have a place for
/// each of these tables.
pub fn page(folder: Option<&Path>, name: &str, tables: &[&str]) -> Result<Option<Page>> {
    let open = |folder: &Path| Page::open(&folder.join(format!("{name}.md")), tables);
    folder.map(open).transpose().map_err(|error| bad_input(error.to_string()))
}

/// Writes the tables that were measured in full, and says which were not.
pub fn write(page: &Page, names: &[&str], tables: &[Table]) -> Result<()> {
    page.write(tables).map_err(|error| bad_input(error.to_string()))?;
    let is_missing = |name: &&&str| tables.iter().all(|table| table.name() != **name);
    for name in names.iter().filter(is_missing) {
        let page = page.path().display();
        say(&format!("{page}: {name} stays as it was, since data were missing"));
    }
    Ok(())
}
