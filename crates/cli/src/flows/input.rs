//! From files and flags to a problem.

use std::fs;
use std::path::Path;

use anyhow::Result;
use bethe_core::Cancel;
use bethe_flows::data::{
    Cells, Geometry, Layout, Observations, Pair, TimeOrder, Unlisted, read_cell_values, read_cells,
    read_observations, read_pairs,
};
use bethe_flows::energy::{Excess, Noise};
use bethe_flows::infer::{FlowError, FlowProblem};
use bethe_flows::model::{Movement, Moves};
use bethe_flows::output::{for_people, individuals};
use bethe_terminal::{bad_input, say};

use super::config::Config;
use super::flags::{NoiseChoice, TuneChoice};
use super::movement::movement;
use super::oddities;
use super::seasons::{opened, season};
use crate::kind::{Kind, refuse};

/// Counts this many times above what the population explains are a mistake, not noise.
const SENSELESS: f64 = 10.0;
/// With more cells than this, tables of all moves fill gigabytes.
const MANY: usize = 5000;
/// How many times a warning names.
const NAMED: usize = 3;

/// A problem and its parts.
pub struct Input {
    pub cells: Cells,
    /// The cells by longitude and latitude, for `--geojson`, if they have both kinds of coordinates.
    pub degrees: Option<Cells>,
    /// As in the file.
    pub observations: Observations,
    /// As the noise needs them: shares for squared error.
    pub counts: Observations,
    pub movement: Movement,
    /// Which weights are learned. `[features]`
    pub learned: Vec<bool>,
    pub moves: Moves,
    /// Log-potentials of the first time's cells.
    pub start: Option<Vec<f64>>,
    /// Those that were given, whatever was learned.
    pub given_start: Option<Vec<f64>>,
    pub noise: Noise,
    /// Marked individuals: those to tune by, and those to score.
    pub pairs: [Vec<Pair>; 2],
    pub warnings: Vec<String>,
}

impl Input {
    pub fn read(config: &Config) -> Result<Self> {
        for path in [&config.observations, &config.cells] {
            refuse(path, &[Kind::Model, Kind::Json, Kind::Uai, Kind::Labelled], "a CSV table")?;
        }
        let cells = read_cells(&config.cells, config.geometry, config.memory)
            .map_err(|error| bad_input(format!("{error}{}", swapped(config))))?;
        let mut warnings: Vec<String> = oddities::same_places(config, &cells).into_iter().collect();
        let observations = observations(config, &cells, &mut warnings)?;
        let degrees = degrees(config, &cells, &mut warnings)?;
        let noise = noise(config, &cells, &observations)?;
        let counts = counts(config, &observations, &mut warnings);
        check_counted(config, &counts)?;
        check_population(config, &counts, &noise, &mut warnings)?;
        let (movement, learned) = movement(config, &cells, &observations)?;
        if config.reach.is_some_and(|reach| !cells.has_neighbours_within(reach)) && cells.len() > 1
        {
            warnings.push(format!(
                "--reach: found {}, less than the median distance {} of neighbouring cells: \
                 most individuals can only stay where they are",
                config.reach.unwrap_or_default(),
                for_people(cells.spacing(), 4)
            ));
        }
        if config.reach.is_none() && cells.len() > MANY {
            warnings.push(format!(
                "{} cells need memory for {} moves per step; --reach saves most of it",
                cells.len(),
                cells.len() * cells.len()
            ));
        }
        let steps = observations.times().len() - 1 + config.forecast;
        let moves = movement.moves_within(&cells, steps, config.memory).map_err(|error| {
            let file = config.cells.display();
            bad_input(format!("{file}: {error}; a shorter --reach allows more cells"))
        })?;
        let start = start(config, &cells)?;
        let given_start = start.clone();
        let pairs = pairs(config, &cells, &observations, &mut warnings)?;
        if let Some((cell, time)) = &config.given {
            place(&cells, &observations, cell, time)?;
        }
        Ok(Self {
            cells,
            degrees,
            observations,
            counts,
            movement,
            learned,
            moves,
            start,
            given_start,
            noise,
            pairs,
            warnings,
        })
    }

    pub fn problem(&self, config: &Config, cancel: Cancel) -> FlowProblem<'_> {
        FlowProblem {
            moves: &self.moves,
            start: self.start.as_deref(),
            observations: &self.counts,
            noise: &self.noise,
            population: config.population,
            cancel,
        }
    }

    /// Says that something is odd, now and in the summary.
    pub fn warn(&mut self, config: &Config, warning: String) {
        if !config.quiet {
            say(&format!("warning: {warning}"));
        }
        self.warnings.push(warning);
    }

    /// An error about the counts, with names from the files.
    pub fn mistake(&self, config: &Config, error: FlowError) -> anyhow::Error {
        let file = config.observations.display();
        match error {
            FlowError::Impossible { time, cell, count } => bad_input(format!(
                "{file}: time {:?}, cell {:?}: found a count of {}, but no sequence of moves leads \
                 there from the start; allow more with a longer --reach or another --start",
                self.observations.times()[time],
                self.cells.name(cell),
                for_people(count, 6)
            )),
            FlowError::Closed { time } => bad_input(format!(
                "{file}: time {:?}: found no open cell that a sequence of moves leads to, expected at least \
                 one; allow more with a longer --reach, another --start or another --extent",
                self.observations.times()[time],
            )),
            other => bad_input(format!("{file}: {other}")),
        }
    }

    /// What was observed, in individuals.
    pub fn observed_individuals(&self, config: &Config) -> Observations {
        let mut seen = Observations::new(self.cells.len());
        for (time, name) in self.counts.times().iter().enumerate() {
            let own = self.counts.at(time).iter().enumerate();
            let individuals = |(cell, count): (usize, &Option<f64>)| {
                let count = (*count)?;
                Some(match &self.noise {
                    Noise::Poisson { rate } | Noise::Gaussian { rate, .. } => {
                        count / rate[cell.min(rate.len() - 1)]
                    }
                    Noise::Squared { .. } => count * config.population,
                })
            };
            seen.push(name.clone(), own.map(individuals));
        }
        seen
    }

    /// The cell and the time of --from and --at.
    pub fn given(&self, config: &Config) -> Result<Option<(usize, usize)>> {
        let given = config.given.as_ref();
        given.map(|(cell, time)| place(&self.cells, &self.observations, cell, time)).transpose()
    }
}

pub fn wrong(error: impl std::fmt::Display) -> anyhow::Error {
    bad_input(error.to_string())
}

/// A hint for when the file of counts is really one of cells.
fn swapped(config: &Config) -> String {
    let readable = [&config.observations, &config.cells].iter().all(|path| path.is_file());
    match readable && read_cells(&config.observations, None, config.memory).is_ok() {
        true => format!(
            "; {} has cells: are the files swapped? Counts come first, cells after --cells",
            config.observations.display()
        ),
        false => String::new(),
    }
}

/// Reads the counts, and says what a long file leaves out.
fn observations(
    config: &Config,
    cells: &Cells,
    warnings: &mut Vec<String>,
) -> Result<Observations> {
    let meaning = config.unlisted.unwrap_or(Unlisted::Unobserved);
    let source = (cells, config.cells.as_path());
    let (observations, layout) =
        read_observations(&config.observations, source, meaning, config.memory).map_err(wrong)?;
    let file = config.observations.display();
    match layout {
        Layout::Wide if config.unlisted.is_some() => {
            return Err(bad_input(format!(
                "{file}: --unlisted is for counts as time,cell,count; found a column per cell, where \
                 an empty value means not observed and 0 means nobody"
            )));
        }
        Layout::Long { unlisted } if unlisted > 0 && config.unlisted.is_none() => {
            warnings.push(format!(
                "{file}: {unlisted} of {} pairs of a time and a cell have no row and count as not \
                 observed; if nobody was there, add --unlisted zero",
                observations.times().len() * cells.len()
            ));
        }
        _ => {}
    }
    let (order, disorder) = oddities::order(config, (&observations, layout));
    warnings.extend(disorder);
    let chosen = season(config, opened(config, cells, observations, warnings)?)?;
    if order == TimeOrder::Ascending {
        warnings.extend(oddities::unequal(config, &chosen));
    }
    Ok(chosen)
}

/// Longitude and latitude of the cells, for `--geojson`, unless they are used anyway.
fn degrees(config: &Config, cells: &Cells, warnings: &mut Vec<String>) -> Result<Option<Cells>> {
    if !config.geojson {
        return Ok(None);
    }
    let (file, is_globe) = (config.cells.display(), cells.geometry() == Geometry::Globe);
    if is_globe && config.crs.is_some() {
        return Err(bad_input(format!(
            "--crs is for x and y; the cells of {file} have longitude and latitude"
        )));
    }
    if is_globe || config.crs.is_some() {
        return Ok(None);
    }
    let again = (config.cells != Path::new("-"))
        .then(|| read_cells(&config.cells, Some(Geometry::Globe), config.memory).ok());
    let degrees = again.flatten().filter(|again| again.names() == cells.names());
    if degrees.is_none() {
        warnings.push(format!(
            "{file}: flows.geojson has x and y of the cells, which maps take for longitude and \
             latitude; say what they are with --crs EPSG:CODE, or add columns lon and lat"
        ));
    }
    Ok(degrees)
}

fn place(
    cells: &Cells,
    observations: &Observations,
    cell: &str,
    time: &str,
) -> Result<(usize, usize)> {
    let own = cells.find(cell).ok_or_else(|| {
        bad_input(format!("--from: {cell:?} is not one of the {} cells", cells.len()))
    })?;
    let at = observations.times().iter().position(|name| name == time).ok_or_else(|| {
        let times = observations.times();
        let (first, last) = (&times[0], &times[times.len() - 1]);
        bad_input(format!("--at: found {time:?}, expected one of the times {first:?} to {last:?}"))
    })?;
    Ok((at, own))
}

/// Marked individuals. Where weights are tuned by them, every second one is kept for scoring.
fn pairs(
    config: &Config,
    cells: &Cells,
    observations: &Observations,
    warnings: &mut Vec<String>,
) -> Result<[Vec<Pair>; 2]> {
    let Some(path) = &config.pairs else { return Ok(Default::default()) };
    let some = config.season.iter().any(Option::is_some);
    let times = (observations.times(), some);
    let mut all = read_pairs(path, (cells, &config.cells), times, config.memory).map_err(wrong)?;
    warnings.extend(leave_out_backwards(&mut all, &path.display().to_string())?);
    if config.tune != Some(TuneChoice::Pairs) {
        return Ok([all.clone(), all]);
    }
    if all.len() < 2 {
        let file = path.display();
        return Err(bad_input(format!("{file}: found one individual, --tune needs at least two")));
    }
    let half = |odd: usize| all.iter().skip(odd).step_by(2).copied().collect();
    Ok([half(0), half(1)])
}

/// Leaves out second sightings that are not later than the first, and says how many these are.
fn leave_out_backwards(pairs: &mut Vec<Pair>, file: &str) -> Result<Option<String>> {
    let all = pairs.len();
    pairs.retain(|pair| pair.from.0 < pair.to.0);
    match all - pairs.len() {
        0 => Ok(None),
        out if out == all => Err(bad_input(format!(
            "{file}: found no second sighting that is later than the first, expected at least one"
        ))),
        out => Ok(Some(format!(
            "{file}: {out} of {all} individuals are left out: their second sighting is not later than \
             their first"
        ))),
    }
}

fn noise(config: &Config, cells: &Cells, observations: &Observations) -> Result<Noise> {
    if let Some(weights) = config.birdflow {
        return Ok(weights.noise());
    }
    Ok(match config.noise {
        NoiseChoice::Poisson => Noise::Poisson { rate: rate(config, cells)? },
        NoiseChoice::Gaussian => {
            let counts = (0..observations.times().len()).flat_map(|time| observations.at(time));
            let counts: Vec<f64> = counts.copied().flatten().collect();
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            let default = if mean > 0.0 { mean } else { 1.0 };
            let variance = config.variance.unwrap_or(default);
            Noise::Gaussian { rate: rate(config, cells)?, variance }
        }
        NoiseChoice::Squared => {
            Noise::Squared { weight: config.weight.unwrap_or(100.0 * cells.len() as f64) }
        }
    })
}

/// `α` for all cells, or one each.
fn rate(config: &Config, cells: &Cells) -> Result<Vec<f64>> {
    let Some(text) = &config.rate else { return Ok(vec![1.0]) };
    let expected = "expected a positive number, or a file of cell,rate";
    if let Ok(number) = text.parse::<f64>() {
        if number.is_finite() && number > 0.0 {
            return Ok(vec![number]);
        }
        return Err(bad_input(format!("--rate: found {text}, {expected}")));
    }
    if !Path::new(text).exists() {
        return Err(bad_input(format!("--rate: found {text:?}, {expected}")));
    }
    let rates = read_cell_values(Path::new(text), "rate", cells, &config.cells, config.memory)
        .map_err(wrong)?;
    match rates.iter().position(|rate| *rate <= 0.0) {
        Some(cell) => Err(bad_input(format!(
            "{text}: cell {:?}: found the rate {}, expected a positive number",
            cells.name(cell),
            rates[cell]
        ))),
        None => Ok(rates),
    }
}

/// The counts as the noise takes them.
fn counts(
    config: &Config,
    observations: &Observations,
    warnings: &mut Vec<String>,
) -> Observations {
    if config.noise != NoiseChoice::Squared {
        return observations.clone();
    }
    let totals: Vec<f64> =
        (0..observations.times().len()).map(|time| observations.counted(time)).collect();
    if config.shares {
        if let Some(time) = totals.iter().position(|total| *total == 0.0) {
            warnings.push(format!(
                "{}: time {:?}: all counts are 0 and have no shares; treated as not observed",
                config.observations.display(),
                observations.times()[time]
            ));
        }
        return observations.map(|time, y| (totals[time] > 0.0).then(|| y / totals[time]));
    }
    // Distributions sum to 1, up to rounding in the file.
    if totals.iter().all(|total| *total <= 1.001) {
        return observations.clone();
    }
    observations.map(|_, y| Some(y / config.population))
}

/// Refuses counts that are all missing.
fn check_counted(config: &Config, counts: &Observations) -> Result<()> {
    let mut times = 0..counts.times().len();
    match times.any(|time| counts.at(time).iter().any(Option::is_some)) {
        true => Ok(()),
        false => Err(bad_input(format!(
            "{}: found no count at any time, expected counts of two times or more",
            config.observations.display()
        ))),
    }
}

/// Counts above the population give a warning, far above an error.
fn check_population(
    config: &Config,
    counts: &Observations,
    noise: &Noise,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let excess = noise.excess(counts, config.population);
    let Some(worst) = excess.iter().max_by(|a, b| a.counted.total_cmp(&b.counted)) else {
        return Ok(());
    };
    let (file, time) = (config.observations.display(), &counts.times()[worst.time]);
    let unit = if config.noise == NoiseChoice::Squared { config.population } else { 1.0 };
    let sums = [worst.counted, worst.explained].map(|sum| for_people(sum * unit, 6));
    if worst.counted > SENSELESS * worst.explained {
        return Err(bad_input(format!(
            "{file}: time {time:?}: counts sum to {}, expected at most about {} for --population \
             {}; check --population and --rate",
            sums[0], sums[1], config.population
        )));
    }
    let named: Vec<&str> = excess
        .iter()
        .take(NAMED)
        .map(|&Excess { time, .. }| counts.times()[time].as_str())
        .collect();
    let more = if excess.len() > NAMED { ", …" } else { "" };
    warnings.push(format!(
        "{file}: counts sum to more than a population of {} explains at {} of {} times \
         ({}{more}): up to {}, where {} are expected; the flows still have {}",
        config.population,
        excess.len(),
        counts.times().len(),
        named.join(", "),
        sums[0],
        sums[1],
        individuals(config.population, 15)
    ));
    Ok(())
}
fn start(config: &Config, cells: &Cells) -> Result<Option<Vec<f64>>> {
    let text = &config.start;
    if text == "free" {
        return Ok(None);
    }
    if let Some(own) = cells.find(text) {
        let score = |cell: usize| if cell == own { 0.0 } else { f64::NEG_INFINITY };
        return Ok(Some((0..cells.len()).map(score).collect()));
    }
    if fs::metadata(text).is_err() {
        return Err(bad_input(format!(
            "--start: found {text:?}, expected free, the name of a cell, or a file of cell,weight"
        )));
    }
    let weights = read_cell_values(Path::new(text), "weight", cells, &config.cells, config.memory)
        .map_err(wrong)?;
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(bad_input(format!("{text}: found no positive weight, expected at least one")));
    }
    Ok(Some(weights.iter().map(|weight| (weight / total).ln()).collect()))
}
