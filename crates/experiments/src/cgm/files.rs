//! The simulator's files: counts, winds and true flows on square grids.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bethe_io::{OpenError, in_words, open};
use thiserror::Error;

use bethe_flows::data::{Cells, Observations};
use bethe_flows::model::{Feature, FeatureKind, Movement, Winds};
use bethe_flows::simulate::Simulated;

/// Why a file of the simulator cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// It does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error("{}: {}", path.display(), in_words(error))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}:{line}: found {found:?}, expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}

/// Counts of one season, with the wind of each night.
#[derive(Clone, Debug)]
pub struct RecordedSeason {
    /// What was counted.
    pub observations: Observations,
    /// Where the wind blew.
    pub winds: Winds,
}

/// The lines of a file, perhaps packed, in cells; the first line is kept separately.
pub(super) struct Lines {
    path: PathBuf,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Lines {
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let mut text = String::new();
        open(path)?
            .read_to_string(&mut text)
            .map_err(|error| FileError::Read { path: path.to_path_buf(), error })?;
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_string()).collect();
        let mut lines = text.lines().map(cells);
        let header = lines.next().unwrap_or_default();
        Ok(Self { path: path.to_path_buf(), header, rows: lines.collect() })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Columns of the first line.
    pub(super) fn width(&self) -> usize {
        self.header.len()
    }

    /// The column of a name.
    pub(super) fn column(&self, name: &str) -> Result<usize, FileError> {
        let found = self.header.iter().position(|own| own == name);
        found.ok_or_else(|| FileError::Content {
            path: self.path.clone(),
            line: 1,
            found: self.header.join(","),
            expected: format!("a column {name}"),
        })
    }

    pub(super) fn text(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).map_or("", String::as_str)
    }

    pub(super) fn wrong(&self, row: usize, found: &str, expected: impl Into<String>) -> FileError {
        FileError::Content {
            path: self.path.clone(),
            line: row + 2,
            found: found.to_string(),
            expected: expected.into(),
        }
    }

    /// A finite number.
    pub(super) fn signed(&self, row: usize, column: usize) -> Result<f64, FileError> {
        let found = self.text(row, column);
        let number = found.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.wrong(row, found, "a number"))
    }

    /// A finite number of at least 0.
    pub(super) fn number(&self, row: usize, column: usize) -> Result<f64, FileError> {
        let number = self.signed(row, column)?;
        let found = self.text(row, column);
        if number >= 0.0 { Ok(number) } else { Err(self.wrong(row, found, "at least 0")) }
    }

    /// Columns before those of the cells: the day, and perhaps the year.
    fn keys(&self) -> usize {
        self.header.iter().take_while(|name| matches!(&name[..], "Year" | "Day")).count()
    }
}

/// The seasons of counts and winds of two files; one if they give no years.
pub fn read_seasons(counts: &Path, winds: &Path) -> Result<Vec<RecordedSeason>, FileError> {
    let (counts, winds) = (Lines::read(counts)?, Lines::read(winds)?);
    let (keys, cells) = (counts.keys(), counts.header.len() - counts.keys());
    if keys == 0 || cells == 0 || !is_square(cells) {
        let found = counts.header.join(",");
        let expected = "Day or Year,Day and then the cells of a square grid";
        let line = 1;
        let path = counts.path;
        return Err(FileError::Content { path, line, found, expected: expected.to_string() });
    }
    let year = |lines: &Lines, row: usize| match keys {
        1 => String::new(),
        _ => lines.rows[row].first().cloned().unwrap_or_default(),
    };
    type Year = (String, Observations, Vec<(f64, f64)>);
    let mut seasons: Vec<Year> = Vec::new();
    for row in 0..counts.rows.len() {
        let name = year(&counts, row);
        if seasons.last().is_none_or(|(last, ..)| *last != name) {
            seasons.push((name, Observations::new(cells), Vec::new()));
        }
        let (_, season, _) = seasons.last_mut().expect("a season was just begun");
        let numbers: Result<Vec<f64>, _> =
            (0..cells).map(|cell| counts.number(row, keys + cell)).collect();
        season.push(&*counts.rows[row][keys - 1], numbers?.into_iter().map(Some));
    }
    for row in 0..winds.rows.len() {
        let found = winds.text(row, keys);
        let Some(wind) = direction(found) else {
            return Err(winds.wrong(row, found, "calm, E, N, W or S"));
        };
        let name = year(&winds, row);
        let season = seasons.iter_mut().find(|(own, ..)| *own == name);
        let Some((_, _, own)) = season else {
            return Err(winds.wrong(row, &name, "a year of the counts"));
        };
        own.push(wind);
    }
    let mut recorded = Vec::with_capacity(seasons.len());
    for (name, observations, season_winds) in seasons {
        let steps = observations.times().len() - 1;
        if season_winds.len() < steps {
            let found = format!("{} nights of {name}", season_winds.len());
            let row = winds.rows.len().saturating_sub(1);
            return Err(winds.wrong(row, &found, format!("{steps}, one between any two days")));
        }
        recorded.push(RecordedSeason { observations, winds: Arc::from(&season_winds[..]) });
    }
    Ok(recorded)
}

/// The true movement of a simulated season.
pub fn read_truth(counts: &Path, flows: &Path) -> Result<Simulated, FileError> {
    let (counts, flows) = (Lines::read(counts)?, Lines::read(flows)?);
    let keys = counts.keys();
    let mut truth = Simulated { counts: Vec::new(), flows: Vec::new() };
    for row in 0..counts.rows.len() {
        for column in keys..counts.header.len() {
            truth.counts.push(counts.number(row, column)? as u64);
        }
    }
    for row in 0..flows.rows.len() {
        let number = |column| flows.number(row, column).map(|number| number as usize);
        let (day, from, to, moved) = (number(0)?, number(1)?, number(2)?, number(3)?);
        if day == 0 || from == 0 || to == 0 {
            return Err(flows.wrong(row, "0", "days and cells counted from 1"));
        }
        truth.flows.push((day - 1, from - 1, to - 1, moved as u64));
    }
    Ok(truth)
}

/// The simulator's movement on a grid: how far birds like to fly, the upper right corner, the wind
/// and staying.
pub fn simulator(cells: &Cells, winds: Winds, weights: [f64; 4], reach: Option<f64>) -> Movement {
    let kinds = [
        ("stride", FeatureKind::Stride),
        ("goal", FeatureKind::Goal(cells.len() - 1)),
        ("wind", FeatureKind::Wind(winds)),
        ("stay", FeatureKind::Stay(2.0)),
    ];
    let feature = |((name, kind), weight): ((&str, FeatureKind), f64)| Feature {
        name: name.to_string(),
        kind,
        weight,
    };
    Movement {
        features: kinds.into_iter().zip(weights).map(feature).collect(),
        reach,
        normalised: true,
    }
}

/// All start in the first cell.
pub fn start_in_first(cells: usize) -> Vec<f64> {
    let mut start = vec![f64::NEG_INFINITY; cells];
    start[0] = 0.0;
    start
}

/// The side of a square grid with this many cells.
pub fn side(cells: usize) -> usize {
    (cells as f64).sqrt().round() as usize
}

fn is_square(cells: usize) -> bool {
    side(cells).pow(2) == cells
}

fn direction(name: &str) -> Option<(f64, f64)> {
    Some(match name {
        "calm" => (0.0, 0.0),
        "E" => (1.0, 0.0),
        "N" => (0.0, 1.0),
        "W" => (-1.0, 0.0),
        "S" => (0.0, -1.0),
        _ => return None,
    })
}
