//! Real birds: weekly distributions of a species, and ringed birds that were seen twice.
//!
//! Routes of a year are fitted to the weekly distributions `d` with squared error, a cost of
//! distance and the entropy of routes (BirdFlow's objective, Fuentes et al. 2023, divided by the
//! weight of the entropy): `−H(μ) + c Σ distance^p + w Σ (μ − d)²/2`. The weights `(c, p, w)` are
//! chosen on half of the ringed birds and scored on the other half: the mean log-probability of the
//! second cell, given the first.

use std::path::Path;
use std::sync::Arc;

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, Settings};
use rayon::prelude::*;
use serde::Serialize;

use super::challenge::ChallengeError;
use super::files::Lines;
use bethe_flows::data::{Cells, Geometry, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowProblem, Flows};
use bethe_flows::model::{Feature, FeatureKind, Movement};

/// Share of the uniform distribution in every prediction, since a bird may be where no model
/// expects it.
const MIXED: f64 = 0.01;
/// The grid of settings: costs of distance by the grid's spacing, powers of distance, weights of
/// errors.
const COSTS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const POWERS: [f64; 2] = [0.5, 1.0];
const WEIGHTS: [f64; 2] = [1e3, 1e4];
/// Costs of distance that the kernel tries.
const KERNELS: [f64; 9] = [0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0];

/// The result for the birds.
#[derive(Clone, Debug, Serialize)]
pub struct Birds {
    /// The species.
    pub species: String,
    /// Cost of distance by the spacing of cells, power of distance, weight of errors.
    pub chosen: (f64, f64, f64),
    /// Correlation of the fitted with the given distribution, by week.
    pub correlations: Vec<f64>,
    /// Certified gap of the fit.
    pub gap: Option<f64>,
    /// Ringed birds scored.
    pub pairs: usize,
    /// Mean log-probability of the second cell given the first, on birds not used for choosing.
    pub log_likelihood: f64,
    /// The same for the second week's distribution alone.
    pub distribution_alone: f64,
    /// The same for a distance kernel alone.
    pub kernel_alone: f64,
    /// Those of the three for birds that were seen in another cell.
    pub moved: [f64; 3],
    /// How many these are.
    pub moved_pairs: usize,
}

/// How well the birds of the second half are predicted: mean log-probabilities.
pub(super) struct Score {
    pub name: &'static str,
    /// The score of all birds.
    pub all: f64,
    /// The score of those that were seen in another cell.
    pub moved: f64,
}

impl Birds {
    /// Routes and what they are compared with.
    pub(super) fn scores(&self) -> [Score; 3] {
        let [routes, distribution, kernel] = self.moved;
        [
            Score { name: "routes", all: self.log_likelihood, moved: routes },
            Score {
                name: "the second week's distribution alone",
                all: self.distribution_alone,
                moved: distribution,
            },
            Score { name: "a distance kernel alone", all: self.kernel_alone, moved: kernel },
        ]
    }
}

/// What is chosen on the first half of the birds.
#[derive(Clone, Copy)]
struct Setting {
    /// Cost of distance, by the spacing of cells.
    cost: f64,
    /// Power of distance.
    power: f64,
    /// Weight of errors.
    weight: f64,
}

impl Setting {
    /// All that are tried.
    fn grid() -> Vec<Self> {
        let mut grid = Vec::new();
        for cost in COSTS {
            for power in POWERS {
                grid.extend(WEIGHTS.map(|weight| Self { cost, power, weight }));
            }
        }
        grid
    }
}

/// A ringed bird: week and cell of both sightings.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: (usize, usize),
    to: (usize, usize),
}

/// Fits a species of a folder and scores its ringed birds.
pub fn birds(folder: &Path, species: &str) -> Result<Birds, ChallengeError> {
    let cells = read_cells(&folder.join(format!("{species}_cells.csv")))?;
    let weeks = folder.join(format!("{species}_weekly_distribution.csv.gz"));
    let observations = read_weeks(&weeks, cells.len())?;
    let pairs = read_pairs(&folder.join(format!("{species}_banding_pairs.csv")), &observations)?;
    // Every other bird, in the order of the file.
    let half = |odd: usize| -> Vec<Pair> { pairs.iter().skip(odd).step_by(2).copied().collect() };
    let (choosing, scoring) = (half(0), half(1));
    let spacing = cells.spacing();
    let chosen = choose(&cells, &observations, &choosing)?;
    let mut flows = fit(&cells, &observations, chosen)?;
    let kernel = |cost: f64, pairs: &[Pair]| -> Vec<f64> {
        pairs.iter().map(|pair| kernel_alone(&cells, cost / spacing, pair)).collect()
    };
    let best_kernel = KERNELS
        .into_iter()
        .max_by(|a, b| mean(&kernel(*a, &choosing)).total_cmp(&mean(&kernel(*b, &choosing))))
        .expect("something was tried");
    let alone = |pair: &Pair| {
        let share = observations.at(pair.to.0)[pair.to.1].unwrap_or(0.0);
        mixed(share, cells.len())
    };
    let scores = [
        predictions(&flows, &scoring, cells.len()),
        scoring.iter().map(alone).collect(),
        kernel(best_kernel, &scoring),
    ];
    let has_moved = |pair: &Pair| pair.from.1 != pair.to.1;
    let moved = scores.each_ref().map(|scores| {
        let own = scores.iter().zip(&scoring).filter(|(_, pair)| has_moved(pair));
        mean(&own.map(|(score, _)| *score).collect::<Vec<f64>>())
    });
    let [log_likelihood, distribution_alone, kernel_alone] =
        scores.each_ref().map(|scores| mean(scores));
    Ok(Birds {
        species: species.to_string(),
        chosen: (chosen.cost, chosen.power, chosen.weight),
        correlations: correlations(&mut flows, &observations),
        gap: flows.solution.gap,
        pairs: scoring.len(),
        log_likelihood,
        distribution_alone,
        kernel_alone,
        moved,
        moved_pairs: scoring.iter().filter(|pair| has_moved(pair)).count(),
    })
}

/// The setting that predicts these birds best.
fn choose(
    cells: &Cells,
    observations: &Observations,
    birds: &[Pair],
) -> Result<Setting, ChallengeError> {
    let mut best: Option<(f64, Setting)> = None;
    for setting in Setting::grid() {
        let flows = fit(cells, observations, setting)?;
        let score = mean(&predictions(&flows, birds, cells.len()));
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, setting));
        }
    }
    Ok(best.expect("something was tried").1)
}

fn fit(
    cells: &Cells,
    observations: &Observations,
    setting: Setting,
) -> Result<Flows, ChallengeError> {
    let Setting { cost, power, weight } = setting;
    let spacing = cells.spacing();
    let value = |from: usize, to: usize| (cells.distance(from, to) / spacing).powf(power);
    let table = (0..cells.len())
        .flat_map(|from| (0..cells.len()).map(move |to| (from, to)))
        .map(|(from, to)| (from, to, value(from, to)))
        .collect();
    let kind = FeatureKind::Pairs(Arc::from([table]));
    let feature = Feature { name: "distance".to_string(), kind, weight: -cost };
    let movement = Movement { features: vec![feature], reach: None, normalised: false };
    let moves = movement.moves(cells, observations.times().len() - 1);
    let noise = Noise::Squared { weight };
    let problem = FlowProblem {
        moves: &moves,
        start: None,
        observations,
        noise: &noise,
        population: 1.0,
        cancel: Cancel::never(),
    };
    let settings = Settings { tolerance: 1e-4, ..Settings::default() };
    Ok(problem.solve(&settings, &mut Ignore)?)
}

/// The log-probability of each bird's second cell, given its first.
fn predictions(flows: &Flows, pairs: &[Pair], cells: usize) -> Vec<f64> {
    let one = |pair: &Pair| {
        let (week, cell) = pair.from;
        let shares = flows.given(week, cell);
        let share = shares.map_or(0.0, |shares| shares[pair.to.0 * cells + pair.to.1]);
        mixed(share, cells)
    };
    pairs.par_iter().map(one).collect()
}

fn kernel_alone(cells: &Cells, cost: f64, pair: &Pair) -> f64 {
    let weight = |to: usize| (-cost * cells.distance(pair.from.1, to)).exp();
    let total: f64 = (0..cells.len()).map(weight).sum();
    mixed(weight(pair.to.1) / total, cells.len())
}

fn mixed(share: f64, cells: usize) -> f64 {
    ((1.0 - MIXED) * share + MIXED / cells as f64).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn correlations(flows: &mut Flows, observations: &Observations) -> Vec<f64> {
    let counts = flows.counts();
    let weeks = counts.chunks(observations.cells()).enumerate();
    let one = |(week, fitted): (usize, &[f64])| {
        let given: Vec<f64> = observations.at(week).iter().map(|d| d.unwrap_or(0.0)).collect();
        let (mean_fitted, mean_given) = (mean(fitted), mean(&given));
        let centred =
            || fitted.iter().map(|a| a - mean_fitted).zip(given.iter().map(|b| b - mean_given));
        let product: f64 = centred().map(|(a, b)| a * b).sum();
        let squares = centred().fold((0.0, 0.0), |(x, y), (a, b)| (x + a * a, y + b * b));
        product / (squares.0 * squares.1).sqrt()
    };
    weeks.map(one).collect()
}

fn read_cells(path: &Path) -> Result<Cells, ChallengeError> {
    let lines = Lines::read(path)?;
    let [name, x, y] = ["cell", "x", "y"].map(|column| lines.column(column));
    let (name, x, y) = (name?, x?, y?);
    let mut cells = Vec::new();
    for row in 0..lines.rows() {
        let place = (lines.signed(row, x)?, lines.signed(row, y)?);
        cells.push((lines.text(row, name).to_string(), place));
    }
    Cells::new(Geometry::Plane, cells).map_err(|error| {
        lines.wrong(0, &error.to_string(), "cells with coordinates, each once").into()
    })
}

/// Weeks with their distributions; the columns after the first are the cells in order.
fn read_weeks(path: &Path, cells: usize) -> Result<Observations, ChallengeError> {
    let lines = Lines::read(path)?;
    if lines.width() != cells + 1 {
        let found = format!("{} columns", lines.width());
        return Err(lines.wrong(0, &found, format!("a week and {cells} cells")).into());
    }
    let mut observations = Observations::new(cells);
    for row in 0..lines.rows() {
        let shares: Result<Vec<f64>, _> = (1..=cells).map(|cell| lines.number(row, cell)).collect();
        observations.push(lines.text(row, 0), shares?.into_iter().map(Some));
    }
    Ok(observations)
}

fn read_pairs(path: &Path, observations: &Observations) -> Result<Vec<Pair>, ChallengeError> {
    let (weeks, cells) = (observations.times().len(), observations.cells());
    let lines = Lines::read(path)?;
    let columns = ["week_from", "cell_from", "week_to", "cell_to"].map(|name| lines.column(name));
    let [week_from, cell_from, week_to, cell_to] = columns;
    let columns = [week_from?, cell_from?, week_to?, cell_to?];
    let mut pairs = Vec::new();
    for row in 0..lines.rows() {
        let mut numbers = [0; 4];
        for ((number, column), limit) in
            numbers.iter_mut().zip(columns).zip([weeks, cells, weeks, cells])
        {
            *number = lines.number(row, column)? as usize;
            if *number >= limit {
                let found = number.to_string();
                return Err(lines.wrong(row, &found, format!("a number below {limit}")).into());
            }
        }
        pairs.push(Pair { from: (numbers[0], numbers[1]), to: (numbers[2], numbers[3]) });
    }
    Ok(pairs)
}
