//! The tables of the results page.

use bethe_io::results::{Table, duration, grouped, rounded, signed};

use super::birds::Score;
use super::report::mean;
use super::run::{CHALLENGES, Report};
use super::trial::Row;

/// Names of all tables that the page has.
pub const TABLES: [&str; 3] = ["flows-solvers", "flows-learning", "flows-birds"];

impl Report {
    /// The tables of the page, without those for which data were missing.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.solvers()];
        if self.challenges.len() == CHALLENGES.len() {
            tables.push(self.learning());
        }
        tables.extend(self.ringed());
        tables
    }

    /// Solvers on the paper's family, by size.
    fn solvers(&self) -> Table {
        let columns = ["cells", "solver", "certified 1e-6", "oracle calls", "speed-up", "paper"];
        let mut table = Table::new(TABLES[0], &columns);
        for group in self.groups().iter().filter(|group| group.family == "base") {
            let side = (group.size as f64).powf(0.25).round();
            let mean = |value: fn(&Row) -> Option<f64>| {
                mean(group.rows.iter().filter_map(|row| value(row)))
            };
            let text =
                |value: Option<f64>, form: fn(f64) -> String| value.map_or(String::new(), form);
            // Interior point proves nothing about the gap: what counts is its distance to the optimum.
            let is_peer = group.solver == "interior-point";
            let seconds = mean(match is_peer {
                true => |row| row.seconds_to_1e_6,
                false => |row| row.certified_seconds_to_1e_6,
            });
            let calls =
                mean(|row| row.certified_seconds_to_1e_6.and(row.oracle_calls).map(|n| n as f64));
            let speedup = if is_peer { seconds.map(|_| 1.0) } else { mean(|row| row.speedup) };
            table.push([
                format!("{side} × {side}"),
                solver(group.solver).to_string(),
                seconds.map_or_else(|| short_of_1e_6(&group.rows), duration),
                text(calls, grouped),
                text(speedup, if is_peer { grouped } else { rounded }),
                text(group.rows.iter().find_map(|row| row.paper), |seconds| format!("{seconds} s")),
            ]);
        }
        table
    }

    /// Weights of movement.
    fn learning(&self) -> Table {
        let columns = ["data", "stride", "goal", "wind", "stay", "largest error", "rate"];
        let mut table = Table::new(TABLES[1], &columns);
        for one in &self.challenges {
            let weights = one.weights.iter().map(|weight| format!("{weight:.3}"));
            let mut row = vec![format!("{} birds", grouped(one.population))];
            row.extend(weights);
            row.push(format!("{:.2} %", 100.0 * one.largest_error));
            row.push(format!("{:.4}", one.rate));
            table.push(row);
        }
        table
    }

    /// Ringed birds.
    fn ringed(&self) -> Option<Table> {
        let birds = self.birds.as_ref()?;
        let all = format!("all {}", grouped(birds.pairs as f64));
        let elsewhere = format!("seen elsewhere: {}", grouped(birds.moved_pairs as f64));
        let mut table = Table::new(TABLES[2], &["", &all, &elsewhere]);
        for Score { name, all, moved } in birds.scores() {
            table.push([name.to_string(), signed(all, 2), signed(moved, 2)]);
        }
        Some(table)
    }
}

/// How far a solver got that never reached the tolerance, if it stops by a test of its own.
fn short_of_1e_6(rows: &[&Row]) -> String {
    let last = |row: &&Row| row.runs.last().copied();
    match rows.iter().find_map(last) {
        Some((seconds, error)) => format!("{} to {error:.0e}", duration(seconds)),
        None => "never".to_string(),
    }
}

/// A solver with what was set.
fn solver(name: &str) -> &str {
    match name {
        "mirror-descent" => "mirror-descent, 0.1",
        "interior-point" => "interior point",
        other => other,
    }
}
