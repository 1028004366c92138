//! How close inferred flows and counts are to what really happened.

use std::collections::HashMap;

use bethe_core::Settings;
use bethe_core::solve::Ignore;
use serde::Serialize;

use super::instance::Instance;
use bethe_flows::infer::{FlowError, Flows};

/// Normalised absolute errors, `Σ |estimate − truth| / Σ truth`.
#[derive(Clone, Debug, Serialize)]
pub struct Accuracy {
    /// The problem.
    pub instance: String,
    /// Error of the flows inferred from counts.
    pub flows: f64,
    /// Error of the flows that the model expects without counts.
    pub flows_without_counts: f64,
    /// Error of the inferred counts.
    pub counts: f64,
    /// Error of the counts as observed, over the rate.
    pub observed_counts: f64,
    /// Error of the counts that the model expects without observations.
    pub counts_without_observations: f64,
}

/// Compares with the truth.
pub fn accuracy(instance: &Instance) -> Result<Accuracy, FlowError> {
    let noise = instance.noise();
    let settings = Settings::default();
    let mut inferred = instance.problem(&noise).solve(&settings, &mut Ignore)?;
    let mut blind = instance.clone();
    for time in 0..blind.observations.times().len() {
        for cell in 0..blind.observations.cells() {
            blind.observations.forget(time, cell);
        }
    }
    let mut expected = blind.problem(&noise).solve(&settings, &mut Ignore)?;
    let truth: Vec<f64> = instance.truth.counts.iter().map(|&count| count as f64).collect();
    let cells = instance.observations.cells();
    let observed: Vec<f64> = (0..truth.len())
        .map(|at| instance.observations.at(at / cells)[at % cells].unwrap_or(0.0) / instance.rate)
        .collect();
    Ok(Accuracy {
        instance: instance.name.clone(),
        flows: flow_error(instance, &mut inferred),
        flows_without_counts: flow_error(instance, &mut expected),
        counts: error(&inferred.counts(), &truth),
        observed_counts: error(&observed, &truth),
        counts_without_observations: error(&expected.counts(), &truth),
    })
}

fn error(estimate: &[f64], truth: &[f64]) -> f64 {
    let off: f64 = estimate.iter().zip(truth).map(|(a, b)| (a - b).abs()).sum();
    off / truth.iter().sum::<f64>()
}

fn flow_error(instance: &Instance, flows: &mut Flows) -> f64 {
    let key = |&(step, from, to, number): &(usize, usize, usize, u64)| ((step, from, to), number);
    let mut left: HashMap<_, u64> = instance.truth.flows.iter().map(key).collect();
    let total: u64 = left.values().sum();
    let mut off = 0.0;
    flows.visit(&mut |step, from, to, number| {
        let truth = left.remove(&(step, from, to)).unwrap_or(0);
        off += (number - truth as f64).abs();
    });
    (off + left.values().sum::<u64>() as f64) / total as f64
}
