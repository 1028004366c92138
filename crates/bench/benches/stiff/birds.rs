//! A year of weekly distributions on a map, at the weights that BirdFlow has by default: potentials
//! of −100·d^0.4 with `d` in 100 km, squared errors of weight 20,000, and others around them.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bethe_core::energy::{Energies, Measurements};
use bethe_core::oracle::{Chain, ChainModel};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Penalty, Settings, Solution, Support, Tables};
use bethe_io::results::{Table, grouped};

use crate::effort;

const COST: f64 = 100.0;
const POWER: f64 = 0.4;
const WEIGHT: f64 = 20_000.0;
const WEEKS: usize = 52;
/// Of the simulated map, in 100 km.
const SPACING: f64 = 2.5;
const SIDE: usize = 16;

/// Cells, and a distribution over them for every week.
struct Year {
    name: &'static str,
    /// In 100 km.
    cells: Vec<(f64, f64)>,
    weeks: Vec<Vec<f64>>,
}

/// How much distance, errors and an answer matter.
struct Setting {
    /// Of distance, as a multiple of the default.
    cost: f64,
    /// Of errors, as a multiple of the default.
    weight: f64,
    tolerance: f64,
}

/// The defaults, and a tenth and ten times of them.
fn settings() -> Vec<Setting> {
    let mut settings = vec![Setting { cost: 1.0, weight: 1.0, tolerance: 1e-4 }];
    for cost in [0.1, 1.0, 10.0] {
        let others = [0.1, 1.0, 10.0].map(|weight| Setting { cost, weight, tolerance: 1e-6 });
        settings.extend(others.into_iter().filter(|other| (cost, other.weight) != (1.0, 1.0)));
    }
    settings
}

pub fn table(name: &str, data: Option<&Path>) -> Table {
    let columns = ["map", "cost", "weight", "relative gap", "calls", "products", "seconds"];
    let mut table = Table::new(name, &columns);
    let mut years = vec![made()];
    years.extend(data.map(blackbirds));
    for year in years {
        for Setting { cost, weight, tolerance } in settings() {
            let found = year.solve(cost * COST, weight * WEIGHT, tolerance);
            let gap = found.gap.unwrap_or(f64::INFINITY) / found.objective.abs().max(1.0);
            println!(
                "{}, cost × {cost}, weight × {weight}: {} {}, objective {:.4}, gap {gap:.1e}, {} \
                 calls and products, {:.2} s",
                year.name,
                found.solver,
                found.status.name(),
                found.objective,
                effort(&found),
                found.seconds
            );
            table.push([
                format!("{}, {} cells", year.name, year.cells.len()),
                grouped(cost * COST),
                grouped(weight * WEIGHT),
                format!("{gap:.0e}"),
                grouped(found.oracle_calls as f64),
                grouped(found.products as f64),
                format!("{:.2}", found.seconds),
            ]);
        }
    }
    table
}

/// A hump that wanders over a grid in a year.
fn made() -> Year {
    let cells: Vec<(f64, f64)> = (0..SIDE * SIDE)
        .map(|cell| (SPACING * (cell % SIDE) as f64, SPACING * (cell / SIDE) as f64))
        .collect();
    let reach = SPACING * SIDE as f64;
    let week = |week: usize| {
        let phase = std::f64::consts::TAU * week as f64 / WEEKS as f64;
        let (x, y) = (reach * (0.5 + 0.1 * phase.sin()), reach * (0.5 - 0.3 * phase.cos()));
        let hump = |&(u, v): &(f64, f64)| {
            let square = ((u - x) / (0.2 * reach)).powi(2) + ((v - y) / (0.12 * reach)).powi(2);
            (-0.5 * square).exp()
        };
        let total: f64 = cells.iter().map(hump).sum();
        cells.iter().map(|cell| hump(cell) / total).collect()
    };
    Year { name: "made", weeks: (0..WEEKS).map(week).collect(), cells }
}

fn blackbirds(data: &Path) -> Year {
    let folder = data.join("flows/birds");
    let text = |name: &str| {
        let path = folder.join(name);
        let mut file = bethe_io::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let mut text = String::new();
        file.read_to_string(&mut text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text
    };
    let numbers = |line: &str| -> Vec<f64> {
        line.split(',').map(|word| word.trim().parse().expect("a number")).collect()
    };
    let cells = text("rewbla_cells.csv");
    // Cell, row, column, then metres to the east and north.
    let cells = cells.lines().skip(1).map(numbers).map(|row| (row[3] / 1e5, row[4] / 1e5));
    let weeks = text("rewbla_weekly_distribution.csv.gz");
    let weeks = weeks.lines().skip(1).map(|line| numbers(line)[1..].to_vec());
    Year { name: "blackbirds", cells: cells.collect(), weeks: weeks.collect() }
}

impl Year {
    fn solve(&self, cost: f64, weight: f64, tolerance: f64) -> Solution {
        let states = self.cells.len();
        let mut potentials = Vec::with_capacity(states * states);
        for (x, y) in &self.cells {
            let distances = self.cells.iter().map(|(u, v)| (u - x).hypot(v - y));
            potentials.extend(distances.map(|distance| -cost * distance.powf(POWER)));
        }
        let model = ChainModel::homogeneous(states, &potentials).expect("one table");
        let (mut support, mut measurements) = (Support::new(), Measurements::default());
        for (week, shares) in self.weeks.iter().enumerate() {
            let block = support.add(vec![week], states);
            let first = support.blocks()[block].start;
            for (cell, share) in shares.iter().enumerate() {
                let range = (-share, 1.0 - share);
                measurements.rows_mut().push([(first + cell, 1.0)], &[-share], range);
                measurements.push(weight, Penalty::Squared);
            }
        }
        let mut energies = Energies::of_measurements(support.clone(), measurements);
        let scores = vec![0.0; states * self.weeks.len()];
        let mut chain = Chain::new(Arc::new(model), &scores, support).expect("a score each");
        let settings = Settings { tolerance, polish: false, ..Settings::default() };
        let task = Task { marginals: Tables::None, ..Task::new(&mut chain, &mut energies) };
        solve(task, &settings, &mut Ignore).expect("measurements are served")
    }
}
