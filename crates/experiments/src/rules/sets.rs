//! The data, as words and labels.

use std::fmt::Write as _;
use std::path::Path;

use bethe_tagging::data::{Format, Sequence, Sequences};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::RulesSettings;
use crate::citation::{ExperimentError, Splits};

/// Parts of a set without a split of its own.
const FOLDS: usize = 5;

/// Sequences to train on and to test with.
pub struct Split {
    pub train: Vec<Sequence>,
    pub test: Vec<Sequence>,
}

/// The UMass references.
pub struct References {
    /// Train and dev.
    pub train: Vec<Sequence>,
    pub test: Vec<Sequence>,
}

impl References {
    /// `None` where there are none.
    pub fn read(data: &Path) -> Result<Option<Self>, ExperimentError> {
        let folder = data.join("citation/umass");
        if !folder.exists() {
            return Ok(None);
        }
        let splits = Splits::read(&folder)?;
        let [train, test] = [&splits.train_and_dev(), &splits.test].map(|all| {
            let last = |one: &Sequence| one.columns(0) - 1;
            columns(all, &last)
        });
        Ok(Some(Self { train, test }))
    }

    /// Training sets of a size, each with the test references. All references are one set.
    pub fn subsets(&self, size: usize, settings: &RulesSettings) -> Vec<Split> {
        let count = if size < self.train.len() { settings.subsets } else { 1 };
        let subset = |number: usize| {
            let seed = settings.seed ^ (size as u64) << 16 ^ number as u64;
            let mut train = self.train.clone();
            train.shuffle(&mut StdRng::seed_from_u64(seed));
            train.truncate(size);
            Split { train, test: self.test.clone() }
        };
        (0..count).map(subset).collect()
    }
}

/// The splits of another set; `None` where its files are missing.
pub fn splits(data: &Path, set: &str, seed: u64) -> Result<Option<Vec<Split>>, ExperimentError> {
    let read = |path: &Path| -> Result<Vec<Sequence>, ExperimentError> {
        Ok(Sequences::open(path, Format::Columns)?.collect::<Result<_, _>>()?)
    };
    if set == "anystyle" {
        let path = data.join("citation/anystyle/core.conll");
        if !path.exists() {
            return Ok(None);
        }
        let mut all = read(&path)?;
        all.shuffle(&mut StdRng::seed_from_u64(seed));
        let fold = |fold: usize| {
            let own = |(at, _): &(usize, &Sequence)| at % FOLDS == fold;
            let (test, train): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(own);
            let [train, test] =
                [train, test].map(|part| part.into_iter().map(|(_, one)| one.clone()).collect());
            Split { train, test }
        };
        return Ok(Some((0..FOLDS).map(fold).collect()));
    }
    let paths = ["train", "test"].map(|part| data.join(format!("conll2000/{part}.txt.gz")));
    if !paths.iter().all(|path| path.exists()) {
        return Ok(None);
    }
    let [train, test] = paths.map(|path| read(&path));
    let (train, test) = (train?, test?);
    let split = match set {
        "chunks" => Split { train, test },
        _ => Split { train: columns(&train, &|_| 1), test: columns(&test, &|_| 1) },
    };
    Ok(Some(vec![split]))
}

/// The words of sequences, with the labels of some column.
fn columns(sequences: &[Sequence], label: &dyn Fn(&Sequence) -> usize) -> Vec<Sequence> {
    let rows = sequences.iter().map(|one| {
        let cell = |t: usize, column: usize| one.cell(t, column).unwrap_or_default().to_string();
        (0..one.len()).map(|t| [cell(t, 0), cell(t, label(one))]).collect()
    });
    from_rows(&rows.collect::<Vec<Vec<[String; 2]>>>())
}

/// Sequences of words and labels.
pub(super) fn from_rows(sequences: &[Vec<[String; 2]>]) -> Vec<Sequence> {
    let mut text = String::new();
    for rows in sequences {
        for [word, label] in rows {
            let _ = writeln!(text, "{word}\t{label}");
        }
        text.push('\n');
    }
    let sequences = Sequences::new(text.as_bytes(), "made", Format::Columns);
    sequences.collect::<Result<_, _>>().expect("rows of two cells")
}
