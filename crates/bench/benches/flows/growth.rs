//! How time and memory grow with the map and with time.

use std::process::Command;
use std::time::Instant;

use bethe_bench::exponent;
use bethe_bench::usage::{peak_memory, thread_seconds};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Cancel, Method, Settings};
use bethe_flows::data::{Cells, Geometry, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::FlowProblem;
use bethe_flows::model::{Feature, FeatureKind, Movement};
use bethe_io::results::{Table, grouped};
use serde_json::{Value, json};

use crate::instance::{PAPER, Recipe};

pub const TABLE: &str = "flows-size";
/// Iterations of a solve whose time is measured: as many, whatever the size.
const ITERATIONS: usize = 10;
/// Cells within this distance are about 60.
const REACH: f64 = 4.4;

/// Prints how time grows with the number of times and of cells.
pub fn exponents() {
    println!("\ntime of {ITERATIONS} iterations, ms");
    // Tables of 51 to 205 megabytes: what fits a cache is faster, which is no growth.
    let times = [640, 1280, 2560];
    let taken = times.map(|times| seconds(Recipe { times, ..PAPER }));
    row("times (10 × 10 cells, dense)", &times, &taken);
    let sides = [76, 108, 152, 216];
    let taken = sides.map(|side| seconds(Recipe { side, times: 6, reach: Some(REACH), ..PAPER }));
    row("cells (6 times, reach 4.4)", &sides.map(|side| side * side), &taken);
}

fn row(name: &str, sizes: &[usize], seconds: &[f64]) {
    let exponent = exponent(sizes, seconds);
    let cells = sizes.iter().zip(seconds).map(|(size, s)| format!("{size}: {:.2}", 1e3 * s));
    println!("  {name:<30} {}   exponent {exponent:.2}", cells.collect::<Vec<_>>().join("  "));
}

/// The least of a few runs.
fn seconds(recipe: Recipe) -> f64 {
    let instance = recipe.instance();
    let settings = Settings {
        method: Method::Dual,
        tolerance: 1e-12,
        max_iterations: ITERATIONS,
        ..Settings::default()
    };
    let run = || {
        let mut bound = instance.problem().bind().expect("counts that are possible");
        let start = thread_seconds();
        let task = Task::new(&mut bound.chain, &mut bound.energies);
        solve(task, &settings, &mut Ignore).expect("solved");
        thread_seconds() - start
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// A large map.
#[derive(Clone, Copy)]
pub struct Large {
    /// The argument that runs it.
    pub name: &'static str,
    columns: usize,
    rows: usize,
    /// So many cells of the grid, column after column.
    cells: usize,
    reach: Option<f64>,
    /// What the table says of it beside the number of cells.
    moves: &'static str,
}

/// 1,706 cells of weekly abundance with a dense kernel; 20,000 cells with about 60 in reach of
/// each.
pub const LARGE: [Large; 2] = [
    Large { name: "dense", columns: 42, rows: 41, cells: 1706, reach: None, moves: "dense" },
    Large {
        name: "reach",
        columns: 200,
        rows: 100,
        cells: 20_000,
        reach: Some(REACH),
        moves: "60 neighbours each",
    },
];

const WEEKS: usize = 52;
const TOLERANCE: f64 = 1e-4;

/// Time and memory of large maps, each in a process of its own, whose memory can be read.
pub fn large_maps() -> Table {
    println!("\nlarge maps, {WEEKS} weeks, squared error, in processes of their own");
    let mut table = Table::new(TABLE, &["map", "moves per step", "seconds", "memory"]);
    for large in LARGE {
        let own = std::env::current_exe().expect("the benchmark itself");
        let output = Command::new(own).arg(large.name).output().expect("it starts");
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        println!("  {}: {found}", large.name);
        let number = |field: &str| found[field].as_f64().expect("a number");
        let megabytes = found["megabytes"].as_f64();
        table.push([
            format!("{} cells, {}", grouped(large.cells as f64), large.moves),
            format!("{:.1} million", 1e-6 * number("moves")),
            grouped(number("seconds")),
            megabytes.map_or("not known".to_string(), |number| format!("{} MB", grouped(number))),
        ]);
    }
    table
}

impl Large {
    /// Solves it, and prints what that took as JSON.
    pub fn run(&self) {
        let start = Instant::now();
        let grid = Cells::grid(self.columns, self.rows);
        let named = (0..self.cells).map(|cell| (grid.name(cell).to_string(), grid.place(cell)));
        let cells = Cells::new(Geometry::Plane, named).expect("cells of a grid");
        let feature =
            Feature { name: "distance".into(), kind: FeatureKind::Distance, weight: -0.5 };
        let movement = Movement { features: vec![feature], reach: self.reach, normalised: true };
        let moves = movement.moves(&cells, WEEKS - 1);
        let observations = self.year(&cells);
        let noise = Noise::Squared { weight: 100.0 * cells.len() as f64 };
        let problem = FlowProblem {
            moves: &moves,
            start: None,
            observations: &observations,
            noise: &noise,
            population: 1e6,
            cancel: Cancel::never(),
        };
        let settings = Settings { tolerance: TOLERANCE, ..Settings::default() };
        let mut flows = problem.solve(&settings, &mut Ignore).expect("solved");
        let (mut written, mut moved) = (0usize, 0.0);
        flows.visit(&mut |_, from, to, number| {
            written += usize::from(number > 10.0);
            moved += if from == to { 0.0 } else { number };
        });
        assert!(moved > 0.0);
        let solution = &flows.solution;
        let gap = solution.gap.unwrap_or(f64::INFINITY) / solution.objective.abs().max(1.0);
        assert!(gap <= TOLERANCE, "{}: {gap:e}", solution.status.name());
        let found = json!({
            "moves": moves.tables[0].len(),
            "oracle_calls": solution.oracle_calls,
            "relative_gap": gap,
            "flows_above_10": written,
            "seconds": start.elapsed().as_secs_f64(),
            "megabytes": peak_memory().map(|bytes| bytes / 1048576.0),
        });
        println!("{found}");
    }

    /// A hump of individuals that wanders over the map in a year, every week a distribution.
    fn year(&self, cells: &Cells) -> Observations {
        let mut observations = Observations::new(cells.len());
        for week in 0..WEEKS {
            let phase = std::f64::consts::TAU * week as f64 / WEEKS as f64;
            let (x, y) = (
                self.columns as f64 * (0.5 - 0.1 * phase.cos()),
                self.rows as f64 * (0.5 + 0.2 * phase.sin()),
            );
            let width = self.columns as f64 / 8.0;
            let hump = |cell: usize| {
                let (u, v) = cells.place(cell);
                (-((u - x).powi(2) + (v - y).powi(2)) / (2.0 * width * width)).exp() + 1e-4
            };
            let total: f64 = (0..cells.len()).map(hump).sum();
            let shares = (0..cells.len()).map(|cell| Some(hump(cell) / total));
            observations.push(week.to_string(), shares);
        }
        observations
    }
}
