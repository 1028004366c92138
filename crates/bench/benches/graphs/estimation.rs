//! Estimation from noisy tables: how long until the loss is within one part in a hundred of the
//! best.

use std::ops::ControlFlow;
use std::time::Duration;

use bethe_core::solve::{Record, Task, solve};
use bethe_core::{Energy, Model, Problem, Settings, Tables};
use bethe_io::results::{Table, duration, rounded};
use serde_json::json;

use crate::models::Shape;
use crate::peer::{Folder, run};
use crate::usage::processor_seconds;

pub const TABLE: &str = "graphs-estimation";
const TOTAL: f64 = 10_000.0;
const DEVIATION: f64 = 10.0;
/// The other side's.
const ESTIMATORS: [&str; 5] =
    ["mirror descent", "dual averaging", "interior gradient", "L-BFGS", "universal accelerated"];
/// Entropy counts as much as records do at 1; at this, tables are met to within a part in a
/// thousand of what least squares alone would.
const SCALES: [f64; 3] = [1.0, 30.0, 1000.0];
/// Seconds for each of the other side's estimators, and for each run of ours.
const LIMIT: f64 = 30.0;
/// A loss is good if it is at most so many times the best known.
const GOOD: f64 = 1.01;
/// The other side's estimators end early where their loss is at most so many times what is proved
/// to be a lower bound on every loss: the best known cannot change much any more.
const ENOUGH: f64 = 1.001;

/// Seconds and losses after each iteration.
type Curve = Vec<(f64, f64)>;

/// How an estimation went.
struct Run {
    curve: Curve,
    /// No loss is below this.
    lower_bound: f64,
    /// What was proved in the end, and after how long.
    status: String,
}

/// One estimator on one model.
struct Attempt {
    /// The estimator of `mbi`; `None` for `bethe`.
    estimator: Option<&'static str>,
    /// What else there is to say.
    note: String,
    curve: Curve,
}

impl Attempt {
    /// Seconds until a loss is good.
    fn reached(&self, best: f64) -> Option<f64> {
        self.curve.iter().find(|&&(_, loss)| loss <= GOOD * best).map(|&(seconds, _)| seconds)
    }

    fn lowest(&self) -> f64 {
        self.curve.iter().map(|&(_, loss)| loss).fold(f64::INFINITY, f64::min)
    }
}

/// How both sides did on one model.
pub struct Outcome {
    model: &'static str,
    /// Seconds of ours.
    ours: f64,
    theirs: Option<Theirs>,
}

/// The fastest estimator of `mbi`.
struct Theirs {
    seconds: f64,
    /// Its name; `None` where no estimator arrived in `seconds`.
    estimator: Option<&'static str>,
}

/// Both sides on one model.
pub fn compare(shape: &Shape) -> Outcome {
    println!("{}: noisy tables, until the loss is within 1 % of the best known", shape.name);
    let tables = shape.measure(TOTAL, DEVIATION, 3);
    let mut attempts = Vec::new();
    let mut least = 0.0f64;
    for scale in SCALES {
        eprintln!("    … {}, weights × {scale}: at most {LIMIT} s", shape.name);
        let run = ours(shape, &tables, scale);
        least = least.max(run.lower_bound);
        eprintln!("    … {}", run.status);
        let note = format!("weights × {scale}: {}", run.status);
        attempts.push(Attempt { estimator: None, note, curve: run.curve });
    }
    println!("  every loss is at least {least:.3}");
    attempts.extend(theirs(shape, &tables, ENOUGH * least));
    outcome(shape, &attempts)
}

/// The estimators of `mbi`, each in a process of its own: compiling some of them takes more memory
/// than there may be. They end early at a loss of `enough`.
fn theirs(shape: &Shape, tables: &[Vec<f64>], enough: f64) -> Vec<Attempt> {
    let folder = Folder::new();
    folder.write("tables.f64", &tables.concat());
    let deviations = vec![DEVIATION; shape.scopes.len()];
    folder.write_json(
        "model.json",
        &json!({"sizes": shape.sizes, "scopes": shape.scopes, "deviations": deviations, "total": TOTAL}),
    );
    let path = folder.path().display().to_string();
    let (limit, enough) = (LIMIT.to_string(), enough.to_string());
    let attempt = |name: &'static str| {
        let found = run("private_pgm.py", &["estimate", &path, name, &limit, &enough])?;
        let point = |point: &serde_json::Value| Some((point[0].as_f64()?, point[1].as_f64()?));
        let curve = found["curve"].as_array().expect("what was reached").iter();
        let compile = found["compile"].as_f64().unwrap_or(f64::NAN);
        let note = format!("compiled in {compile:.1} s");
        Some(Attempt { estimator: Some(name), note, curve: curve.filter_map(point).collect() })
    };
    ESTIMATORS.into_iter().filter_map(attempt).collect()
}

fn outcome(shape: &Shape, attempts: &[Attempt]) -> Outcome {
    let losses = attempts.iter().map(Attempt::lowest);
    let best = losses.filter(|loss| loss.is_finite()).fold(f64::INFINITY, f64::min);
    println!("  best loss {best:.3}");
    for attempt in attempts {
        let side = attempt.estimator.map_or("bethe".to_string(), |name| format!("mbi, {name}"));
        let name = format!("{side} ({})", attempt.note);
        let reached = attempt.reached(best).map_or("never".to_string(), |s| format!("{s:.3} s"));
        let lowest = attempt.lowest();
        println!("    {name:<75} loss {lowest:>12.3}, within 1 % after {reached}");
    }
    let own = attempts.iter().filter(|attempt| attempt.estimator.is_none());
    let others = || attempts.iter().filter(|attempt| attempt.estimator.is_some());
    let arrived = others()
        .filter_map(|other| {
            Some(Theirs { seconds: other.reached(best)?, estimator: other.estimator })
        })
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    // Where none arrives, all that is known is that they take longer than they were given.
    let given = others().filter_map(|other| Some(other.curve.last()?.0)).reduce(f64::max);
    Outcome {
        model: shape.name,
        ours: own.filter_map(|own| own.reached(best)).fold(f64::INFINITY, f64::min),
        theirs: arrived.or(given.map(|seconds| Theirs { seconds, estimator: None })),
    }
}

/// The outcomes, if `mbi` ran on all models.
pub fn table(outcomes: &[Outcome]) -> Option<Table> {
    let columns = ["model", "bethe", "`mbi`", "its estimator", "`mbi` over bethe"];
    let mut table = Table::new(TABLE, &columns);
    for Outcome { model, ours, theirs } in outcomes {
        let Theirs { seconds, estimator } = theirs.as_ref()?;
        let least = if estimator.is_some() { "" } else { "more than " };
        table.push([
            model.to_string(),
            duration(*ours),
            format!("{least}{}", duration(*seconds)),
            estimator.unwrap_or("none arrived").to_string(),
            format!("{least}{}", rounded(seconds / ours)),
        ]);
    }
    Some(table)
}

/// Our solver, from the tables on.
fn ours(shape: &Shape, tables: &[Vec<f64>], scale: f64) -> Run {
    let start = processor_seconds();
    let weight = scale / (DEVIATION * DEVIATION);
    let energies: Vec<Energy> = shape.energies(tables, weight, TOTAL);
    let model = Model::new(&shape.sizes).expect("sizes");
    let problem = Problem::new(model, energies).expect("tables that fit");
    let mut bound = problem.bind().expect("narrow enough");
    let mut curve = Vec::new();
    let mut aside = 0.0;
    let targets = tables.concat();
    let mut observer = |_: &Record, marginals: &[f64]| {
        let now = processor_seconds();
        // What it takes to see the loss is not the estimator's.
        let residual = |(m, t): (&f64, &f64)| (TOTAL * m - t) / DEVIATION;
        let loss: f64 =
            0.5 * marginals.iter().zip(&targets).map(residual).map(|r| r * r).sum::<f64>();
        curve.push((now - start - aside, loss));
        aside += processor_seconds() - now;
        ControlFlow::Continue(())
    };
    let settings =
        Settings { time_limit: Some(Duration::from_secs_f64(LIMIT)), ..Settings::default() };
    let task = Task { marginals: Tables::None, ..bound.task() };
    let solution = solve(task, &settings, &mut observer).expect("a convex problem");
    let seconds = curve.last().map_or(0.0, |&(seconds, _)| seconds);
    let gap = solution.gap.unwrap_or(f64::INFINITY) / solution.objective.abs().max(1.0);
    let status = format!("gap {gap:.0e} after {} calls, {seconds:.2} s", solution.oracle_calls);
    // The objective is the loss times the scale less an entropy that is not negative.
    let lower_bound = solution.lower_bound.unwrap_or(f64::NEG_INFINITY) / scale;
    Run { curve, lower_bound, status }
}
