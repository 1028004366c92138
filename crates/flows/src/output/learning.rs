use std::io::{self, Write};

use bethe_io::plot::{Chart, curves};
use serde::Serialize;

use super::rounded;

/// What was learned from counts.
#[derive(Clone, Debug, Serialize)]
pub struct Learning {
    /// The weights of all features.
    pub weights: Vec<LearnedWeight>,
    /// Standard deviations of the pulls of places and of their change in a step; `None` if there are
    /// no pulls.
    pub pulls: Option<[f64; 2]>,
    /// The standard deviation of drifts; `None` if there are none.
    pub drift: Option<f64>,
    /// How well each kind of pulls predicts counts that were held out.
    pub tried: Vec<Tried>,
    /// Problems that were solved.
    pub solves: usize,
    /// Whether the last rounds changed little.
    pub converged: bool,
    /// Time taken.
    pub seconds: f64,
}

/// The weight of a feature.
#[derive(Clone, Debug, Serialize)]
pub struct LearnedWeight {
    /// The feature.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// Whether it was given, not learned.
    pub given: bool,
    /// `None` if the weight was given, or there was no time.
    pub standard_error: Option<f64>,
    /// What was added against the bias of hard EM; `None` if nothing was.
    pub correction: Option<f64>,
    /// The exponent of distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// `None` if the exponent was given, or there was no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent_standard_error: Option<f64>,
}

/// Pulls that were tried.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// As [`Learning::pulls`].
    pub pulls: Option<[f64; 2]>,
    /// As [`Learning::drift`].
    pub drift: Option<f64>,
    /// Mean deviance of counts that were held out.
    pub held_out_deviance: f64,
}

/// Weights that were tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// The weights, in words.
    pub weights: String,
    /// The mean log-probability of marked individuals, or minus the mean deviance of counts that were
    /// held out: the higher, the better. Not finite where these weights explain nothing.
    pub score: f64,
    /// Whether these are the best.
    pub chosen: bool,
}

/// Writes `weights,score,chosen`.
pub fn write_tuning(output: impl Write, tuned: &[Tuned]) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(["weights", "score", "chosen"])?;
    for Tuned { weights, score, chosen } in tuned {
        let chosen = if *chosen { "yes" } else { "no" };
        table.write_record([weights, &rounded(*score, 6), chosen])?;
    }
    table.flush()
}

/// A picture of the scores, in the order in which weights were tried.
pub fn tuning_picture(tuned: &[Tuned]) -> String {
    let x: Vec<f64> = (1..=tuned.len()).map(|number| number as f64).collect();
    let scores =
        tuned.iter().map(|own| Some(own.score).filter(|score| score.is_finite())).collect();
    let chosen = tuned.iter().find(|own| own.chosen);
    let note = chosen.map_or(String::new(), |own| format!("best: {}", own.weights));
    curves(&Chart {
        title: "Weights that were tried",
        note: &note,
        across: "weights, by the row of tuning.csv",
        up: "score",
        x: &x,
        series: &[("score", scores)],
    })
}

/// How standard errors were found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// `curvature` or `bootstrap`.
    pub method: &'static str,
    /// Populations of the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicates: Option<usize>,
    /// Of their true counts, how many are within two standard errors by the curvature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Standard errors by the curvature over those of the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}
