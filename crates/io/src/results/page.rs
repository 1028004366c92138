use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Table;
use crate::PendingFile;

/// A page that holds tables.
#[derive(Clone, Debug)]
pub struct Page {
    path: PathBuf,
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

impl Page {
    /// A page that has a place for each of these tables and can be written.
    ///
    /// # Errors
    /// If it cannot be read or written, or lacks the place of a table.
    pub fn open(path: &Path, names: &[&str]) -> Result<Self, PageError> {
        let page = Self { path: path.to_path_buf() };
        let text = page.read()?;
        if let Some(name) = names.iter().find(|name| place(&text, name).is_none()) {
            return Err(page.no_place(name));
        }
        drop(PendingFile::create(path).map_err(|source| page.failed(source))?);
        Ok(page)
    }

    /// Writes tables into their places, all or none.
    ///
    /// # Errors
    /// If the page cannot be read or written, or lacks the place of a table.
    pub fn write(&self, tables: &[Table]) -> Result<(), PageError> {
        let mut text = self.read()?;
        for table in tables {
            let place = place(&text, &table.name).ok_or_else(|| self.no_place(&table.name))?;
            text.replace_range(place, &table.to_string());
        }
        let written = PendingFile::create(&self.path).and_then(|file| file.finish(text.as_bytes()));
        written.map_err(|source| self.failed(source))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self) -> Result<String, PageError> {
        fs::read_to_string(&self.path).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> PageError {
        PageError::File { path: self.path.clone(), source }
    }

    fn no_place(&self, name: &str) -> PageError {
        PageError::NoPlace { path: self.path.clone(), name: name.to_string() }
    }
}

/// The bytes of a page between the markers of a table.
fn place(page: &str, name: &str) -> Option<Range<usize>> {
    let begin = page.find(&format!("<!-- begin {name}:"))?;
    let start = begin + page[begin..].find('\n')? + 1;
    let end = start + page[start..].find(&format!("<!-- end {name} -->"))?;
    Some(start..end)
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
        let open = Page::open(&page, &["a", "b"]).unwrap();
        open.write(&[table("a"), table("b")]).unwrap();
        let rows = "| x | y |\n| --- | --- |\n| 1 | 2 |\n";
        let expected = format!(
            "# Page\n\n<!-- begin a: run -->\n{rows}<!-- end a -->\n\nText.\n\
             <!-- begin b: run -->\n{rows}<!-- end b -->\n"
        );
        assert_eq!(fs::read_to_string(&page).unwrap(), expected);
        open.write(&[table("a")]).unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), expected, "written again, it is the same");
    }

    #[test]
    fn a_page_without_the_place_of_a_table_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        fs::write(&page, PAGE).unwrap();
        let error = Page::open(&page, &["a", "c"]).unwrap_err();
        assert!(error.to_string().contains("<!-- begin c: … -->"), "{error}");
        let open = Page::open(&page, &["a"]).unwrap();
        let error = open.write(&[table("a"), table("c")]).unwrap_err();
        assert!(error.to_string().contains("<!-- begin c: … -->"), "{error}");
        assert_eq!(fs::read_to_string(&page).unwrap(), PAGE);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
    }

    #[test]
    fn a_page_that_is_not_there_is_named() {
        let error = Page::open(Path::new("nowhere/page.md"), &["a"]).unwrap_err();
        assert!(error.to_string().starts_with("nowhere/page.md: "), "{error}");
    }
}
