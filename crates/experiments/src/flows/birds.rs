//! BirdFlow's loss on Red-winged Blackbird, and its weights tuned by ringed birds.

use std::path::Path;
use std::time::Instant;

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, MemoryLimit, Settings};
use bethe_flows::birdflow::Weights;
use bethe_flows::data::{Cells, Observations, Unlisted, read_cells, read_observations, read_pairs};
use bethe_flows::infer::{FlowError, FlowProblem, Flows};
use bethe_flows::validate::{Validation, score, validate};
use serde::Serialize;

use super::Error;
use crate::cgm::FileError;

/// Those of BirdFlow's demo.
const DEMO: &str = "obs=1,distance=5e-3,entropy=1.125e-3,power=.45";
/// Of fits that are compared, and of those that are reported.
const COARSE: f64 = 1e-4;

/// A fit of BirdFlow's loss.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// Whose weights.
    pub weights: &'static str,
    /// As BirdFlow adds it up.
    pub loss: f64,
    /// The certified gap over the objective.
    pub relative_gap: f64,
    /// Oracle calls.
    pub calls: usize,
    /// Seconds.
    pub seconds: f64,
}

/// Weights tuned on half of the ringed birds.
#[derive(Clone, Debug, Serialize)]
pub struct Tuned {
    /// The weights, in words.
    pub weights: String,
    /// How many were tried.
    pub tried: usize,
    /// On the other half.
    pub validation: Validation,
}

/// Solves BirdFlow's problem for weekly distributions.
pub(super) fn solve(
    weights: &Weights,
    (cells, shares): (&Cells, &Observations),
    tolerance: f64,
) -> Result<Flows, FlowError> {
    let moves = weights.movement(cells, None).moves(cells, shares.times().len() - 1);
    let noise = weights.noise();
    let problem = FlowProblem {
        moves: &moves,
        start: None,
        observations: shares,
        noise: &noise,
        population: 1.0,
        cancel: Cancel::never(),
    };
    let settings = Settings { tolerance, polish: true, ..Settings::default() };
    problem.solve(&settings, &mut Ignore)
}

/// Solves at these weights, and reports the fit.
pub(super) fn fitted(
    (name, weights): (&'static str, &Weights),
    known: (&Cells, &Observations),
) -> Result<Fitted, FlowError> {
    let begun = Instant::now();
    let mut flows = solve(weights, known, COARSE)?;
    let seconds = begun.elapsed().as_secs_f64();
    let solution = &flows.solution;
    let relative_gap = solution.gap.unwrap_or(f64::INFINITY) / solution.objective.abs().max(1.0);
    let calls = solution.oracle_calls;
    let loss = weights.loss(known.0, known.1, &mut flows).total;
    Ok(Fitted { weights: name, loss, relative_gap, calls, seconds })
}

/// Fits at BirdFlow's weights, and weights that are tuned.
pub(super) fn birds(folder: &Path) -> Result<(Vec<Fitted>, Option<Tuned>), Error> {
    let file = |what: &str| folder.join(format!("rewbla_{what}"));
    let wrong = |path: &Path, error: &dyn std::fmt::Display| FileError::Content {
        path: path.to_path_buf(),
        line: 1,
        found: error.to_string(),
        expected: "cells, weekly distributions and ringed birds".to_string(),
    };
    let (places, weeks, ringed) =
        (file("cells.csv"), file("weekly_distribution.csv.gz"), file("banding_pairs.csv"));
    let memory = MemoryLimit::default();
    let cells = read_cells(&places, None, memory).map_err(|error| wrong(&places, &error))?;
    let source = (&cells, places.as_path());
    let (shares, _) = read_observations(&weeks, source, Unlisted::Unobserved, memory)
        .map_err(|error| wrong(&weeks, &error))?;
    let pairs = read_pairs(&ringed, source, (shares.times(), false), memory)
        .map_err(|error| wrong(&ringed, &error))?;
    let (defaults, known) = (Weights::default(), (&cells, &shares));
    let demo = Weights::parse(DEMO).expect("weights are numbers");
    let fits = [("its defaults", &defaults), ("its demo's", &demo)];
    let fits = fits.into_iter().map(|own| fitted(own, known)).collect::<Result<_, _>>()?;
    // Every other bird, in the order of the file.
    let half = |odd: usize| pairs.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>();
    let (choosing, scoring) = (half(0), half(1));
    let candidates = defaults.candidates(&cells);
    let mut best: Option<(f64, Weights, Flows)> = None;
    for weights in &candidates {
        let flows = solve(weights, known, COARSE)?;
        let own = score(&flows, &choosing, cells.len());
        if best.as_ref().is_none_or(|(highest, ..)| own > *highest) {
            best = Some((own, *weights, flows));
        }
    }
    let tuned = best.map(|(_, weights, flows)| Tuned {
        weights: weights.to_string(),
        tried: candidates.len(),
        validation: validate(&flows, known, &scoring, &choosing),
    });
    Ok((fits, tuned))
}
