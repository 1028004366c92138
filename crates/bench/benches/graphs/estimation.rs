//! Estimation from noisy tables: how long until the loss is within one part in a hundred of the
//! best.

use std::ops::ControlFlow;
use std::time::Duration;

use bethe_bench::Verdicts;
use bethe_core::solve::{Record, Task, solve};
use bethe_core::{Energy, Model, Problem, Settings, Tables};
use serde_json::json;

use crate::models::Shape;
use crate::peer::{Folder, run};
use crate::usage::processor_seconds;

const TOTAL: f64 = 10_000.0;
const DEVIATION: f64 = 10.0;
/// The other side's.
const ESTIMATORS: [&str; 5] =
    ["mirror descent", "dual averaging", "interior gradient", "L-BFGS", "universal accelerated"];
/// How much faster estimation should be than the best of the other side's.
const TARGET: f64 = 8.0;
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

pub fn compare<'a>(shapes: impl Iterator<Item = &'a Shape>, verdicts: &mut Verdicts) {
    println!("estimation from noisy tables, until the loss is within 1 % of the best known");
    for shape in shapes {
        let tables = shape.measure(TOTAL, DEVIATION, 3);
        let mut curves: Vec<(String, Curve)> = Vec::new();
        let mut least = 0.0f64;
        for scale in SCALES {
            eprintln!("    … {}, weights × {scale}: at most {LIMIT} s", shape.name);
            let run = ours(shape, &tables, scale);
            least = least.max(run.lower_bound);
            eprintln!("    … {}", run.status);
            curves.push((format!("ours, weights × {scale}: {}", run.status), run.curve));
        }
        println!("  {}: every loss is at least {least:.3}", shape.name);
        let folder = Folder::new();
        folder.write("tables.f64", &tables.concat());
        let deviations = vec![DEVIATION; shape.scopes.len()];
        folder.write_json(
            "model.json",
            &json!({"sizes": shape.sizes, "scopes": shape.scopes, "deviations": deviations, "total": TOTAL}),
        );
        let path = folder.path().display().to_string();
        let (limit, enough) = (LIMIT.to_string(), (ENOUGH * least).to_string());
        // Each in a process of its own: compiling some of them takes more memory than there may be.
        for name in ESTIMATORS {
            let arguments = ["estimate", &path, name, &limit, &enough];
            let Some(found) = run("private_pgm.py", &arguments) else { continue };
            let point = |point: &serde_json::Value| Some((point[0].as_f64()?, point[1].as_f64()?));
            let curve = found["curve"].as_array().expect("what was reached").iter();
            let compile = found["compile"].as_f64().unwrap_or(f64::NAN);
            let name = format!("mbi, {name} (compiled in {compile:.1} s)");
            curves.push((name, curve.filter_map(point).collect()));
        }
        report(shape, &curves, verdicts);
    }
}

fn report(shape: &Shape, curves: &[(String, Curve)], verdicts: &mut Verdicts) {
    let losses = curves.iter().flat_map(|(_, curve)| curve.iter().map(|&(_, loss)| loss));
    let best = losses.filter(|loss| loss.is_finite()).fold(f64::INFINITY, f64::min);
    println!("  {}: best loss {best:.3}", shape.name);
    let (mut own, mut other) = (f64::INFINITY, f64::INFINITY);
    for (name, curve) in curves {
        let reached =
            curve.iter().find(|&&(_, loss)| loss <= GOOD * best).map(|&(seconds, _)| seconds);
        let lowest = curve.iter().map(|&(_, loss)| loss).fold(f64::INFINITY, f64::min);
        let reached_text = reached.map_or("never".to_string(), |seconds| format!("{seconds:.3} s"));
        println!("    {name:<75} loss {lowest:>12.3}, within 1 % after {reached_text}");
        let side = if name.starts_with("ours") { &mut own } else { &mut other };
        *side = side.min(reached.unwrap_or(f64::INFINITY));
    }
    // Where nothing of theirs arrives, all that is known is that they take longer than they were
    // given.
    let given = curves.iter().filter(|(name, _)| name.starts_with("mbi"));
    let given = given.filter_map(|(_, curve)| Some(curve.last()?.0)).fold(f64::NAN, f64::max);
    let (least, theirs) = if other.is_finite() { ("", other) } else { ("at least ", given) };
    if theirs.is_nan() {
        println!("    not compared: mbi is not there, or none of its estimators ran");
    } else {
        let name = format!("estimation, mbi's best over ours, {least}{}", shape.name);
        verdicts.at_least(&name, theirs / own, TARGET);
    }
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
