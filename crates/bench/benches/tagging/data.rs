//! CoNLL-2000 as attribute files, in a folder for them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bethe_tagging::data::{Format, Sequence, Sequences};

/// A folder that goes away.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bethe-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn read(path: &Path, format: Format) -> Vec<Sequence> {
    let sequences = Sequences::open(path, format).expect("the data set");
    sequences.collect::<Result<_, _>>().expect("well-formed data")
}

/// Writes the training and the test file; where they are.
pub fn attribute_files(data: &Path, folder: &Path) -> [PathBuf; 2] {
    ["train", "test"].map(|part| {
        let rows = read(&data.join(format!("conll2000/{part}.txt.gz")), Format::Columns);
        let path = folder.join(format!("{part}.attributes"));
        std::fs::write(&path, attributes(&rows)).expect("room in the temporary folder");
        path
    })
}

/// Words, parts of speech and their neighbours, as CRFsuite's chunking example has them.
fn attributes(sequences: &[Sequence]) -> String {
    let mut text = String::new();
    for sequence in sequences {
        let cell = |t: usize, row: isize, column: usize| {
            let at = t.checked_add_signed(row).filter(|&at| at < sequence.len())?;
            Some(sequence.cell(at, column).expect("three columns").replace('\\', "\\\\"))
        };
        for t in 0..sequence.len() {
            text.push_str(sequence.cell(t, 2).expect("a label"));
            let mut join = |name: &str, column: usize, rows: &[isize]| {
                let cells: Option<Vec<String>> =
                    rows.iter().map(|&row| cell(t, row, column)).collect();
                if let Some(cells) = cells {
                    let value = cells.join("|").replace(':', "\\:");
                    let _ = write!(text, "\t{name}{rows:?}={value}");
                }
            };
            (-2..=2).for_each(|row| join("w", 0, &[row]));
            (-1..=0).for_each(|row| join("w", 0, &[row, row + 1]));
            (-2..=2).for_each(|row| join("p", 1, &[row]));
            (-2..=1).for_each(|row| join("p", 1, &[row, row + 1]));
            (-2..=0).for_each(|row| join("p", 1, &[row, row + 1, row + 2]));
            text.push('\n');
        }
        text.push('\n');
    }
    text
}
