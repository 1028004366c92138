//! The whole comparison.

use std::path::Path;

use bethe_core::{Method, StepSchedule};

use super::accuracy::{Accuracy, accuracy};
use super::birds::{Birds, birds};
use super::challenge::{Challenge, ChallengeError, challenge};
use super::instance::{Instance, Variation, hard_set};
use super::interior_point::Formulation;
use super::trial::{Contender, Row, fill_speedups, interior_point, optimum, ours};

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Sides of the grids.
    pub sides: Vec<usize>,
    /// Seeds of each simulated family.
    pub trials: u64,
    /// Interior point on every trial, even on grids where it takes minutes.
    pub full: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { sides: vec![5, 10, 15], trials: 10, full: false }
    }
}

/// From this side on, interior point takes minutes: one trial by default.
const LARGE: usize = 15;
/// The grid of the hard set.
const HARD_SIDE: usize = 10;

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Solvers on problems.
    pub rows: Vec<Row>,
    /// Against the truth.
    pub accuracies: Vec<Accuracy>,
    /// Learned weights.
    pub challenges: Vec<Challenge>,
    /// Real birds.
    pub birds: Option<Birds>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
}

/// Runs everything that the data allows; `observe` is told about the progress.
pub fn run(
    options: &Options,
    data: Option<&Path>,
    observe: &mut dyn FnMut(&str),
) -> Result<Report, ChallengeError> {
    let mut report = Report::default();
    for &side in &options.sides {
        for seed in 0..options.trials {
            let name = format!("base-{seed}");
            let instance = Instance::simulated(&name, side, seed, Variation::default());
            let peer = side < LARGE || seed == 0 || options.full;
            compare(&instance, peer, &mut report, observe)?;
        }
    }
    let flows = data.map(|data| data.join("flows"));
    for &side in &options.sides {
        for seed in 0..options.trials {
            let file = format!("L{side}x{side}_M1000_T20_s{seed}");
            let folder = flows.as_ref().map(|flows| flows.join("synthetic"));
            let found = folder.filter(|folder| folder.join(format!("{file}.obs.csv.gz")).exists());
            let Some(folder) = found else {
                report.skipped.push(format!("synthetic/{file}: no such file"));
                continue;
            };
            let name = format!("synthetic-{seed}");
            let instance = Instance::recorded(&name, &folder, &file)?;
            compare(&instance, options.full || seed == 0, &mut report, observe)?;
        }
    }
    if options.sides.contains(&HARD_SIDE) {
        for (name, variation) in hard_set() {
            let instance = Instance::simulated(name, HARD_SIDE, 0, variation);
            compare(&instance, false, &mut report, observe)?;
        }
    }
    fill_speedups(&mut report.rows);
    learn_and_fit(flows.as_deref(), &mut report, observe)?;
    Ok(report)
}

/// All our solvers, interior point with `peer`, and the truth.
fn compare(
    instance: &Instance,
    peer: bool,
    report: &mut Report,
    observe: &mut dyn FnMut(&str),
) -> Result<(), ChallengeError> {
    observe(&format!("{} moves, {}", instance.size, instance.name));
    let best = optimum(instance)?;
    for contender in contenders() {
        report.rows.push(ours(instance, contender, best)?);
    }
    if peer {
        observe(&format!("{} moves, {}, interior point", instance.size, instance.name));
        let both = instance.observations.cells() < LARGE * LARGE;
        report.rows.push(interior_point(instance, Formulation::Nodes, both, best)?);
    }
    report.accuracies.push(accuracy(instance)?);
    Ok(())
}

/// Our solvers: the default first, then the paper's, then that of Sun, Sheldon and Kumar.
fn contenders() -> [Contender; 6] {
    [
        Contender::Solver(Method::Dual),
        Contender::Solver(Method::Adaptive),
        Contender::Solver(Method::Rda { beta: 0.0 }),
        Contender::Solver(Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) }),
        Contender::Solver(Method::AcceleratedRda { smoothness: None }),
        Contender::NonlinearBp,
    ]
}

/// A set of the public challenge data.
pub(super) struct ChallengeSet {
    folder: &'static str,
    prefix: &'static str,
    population: f64,
}

/// All that weights are learned from.
pub(super) const CHALLENGES: [ChallengeSet; 2] = [
    ChallengeSet { folder: "birds1M_10x10", prefix: "10x10x1000000", population: 1e6 },
    ChallengeSet { folder: "birds1000_10x10", prefix: "10x10x1000", population: 1e3 },
];

fn learn_and_fit(
    flows: Option<&Path>,
    report: &mut Report,
    observe: &mut dyn FnMut(&str),
) -> Result<(), ChallengeError> {
    for ChallengeSet { folder, prefix, population } in CHALLENGES {
        let folder = flows.map(|flows| flows.join("ppaml").join(folder));
        match folder.filter(|folder| folder.is_dir()) {
            None => report.skipped.push(format!("ppaml/{prefix}: no such folder")),
            Some(folder) => {
                observe(&format!("weights from {prefix}"));
                report.challenges.push(challenge(&folder, prefix, population)?);
            }
        }
    }
    let species = "rewbla";
    let folder = flows.map(|flows| flows.join("birds"));
    match folder.filter(|folder| folder.join(format!("{species}_cells.csv")).exists()) {
        None => report.skipped.push(format!("birds/{species}: no such files")),
        Some(folder) => {
            observe("real birds");
            report.birds = Some(birds(&folder, species)?);
        }
    }
    Ok(())
}
