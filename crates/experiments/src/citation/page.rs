//! The tables of the results page.

use bethe_io::results::{Table, signed};

use super::convergence::{Efforts, Mean};
use super::table::Row;
use super::umass::Outcome;
use super::{FLAT, Flat};

/// Names of all tables that the page has.
pub const TABLES: [&str; 3] = ["citation-scores", "citation-convergence", "citation-others"];

/// The tables of the page, without those for which data were missing.
pub(super) fn tables(umass: &Outcome, others: &[Flat]) -> Vec<Table> {
    let mut tables = vec![scores(&umass.rows), convergence(&umass.ours.efforts)];
    if others.len() == FLAT.len() {
        tables.push(flat(others));
    }
    tables
}

/// The models of the UMass references.
fn scores(rows: &[Row]) -> Table {
    let columns = [
        "model",
        "leaf F1",
        "all-level F1",
        "gain, 95 % interval",
        "leaf F1 without leaked",
        "paper",
        "oracle calls",
        "converged",
    ];
    let mut table = Table::new(TABLES[0], &columns);
    for row in rows {
        let number =
            |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        let share = row.converged_share.map(|share| format!("{:.1} %", 100.0 * share));
        table.push([
            format!("`{}`", row.model),
            number(Some(row.leaf_f1)),
            number(Some(row.all_f1)),
            interval(row),
            number(row.leaf_f1_without_leaked),
            number(row.paper),
            number(row.mean_oracle_calls),
            share.unwrap_or_default(),
        ]);
    }
    table
}

/// Iterations by solver and references.
fn convergence(efforts: &[Efforts]) -> Table {
    let columns = ["solver", "references", "iterations", "oracle calls", "converged"];
    let mut table = Table::new(TABLES[1], &columns);
    for efforts in efforts {
        for (which, only_active) in [("all", false), ("with an active rule", true)] {
            let Mean { references, iterations, calls, converged } = efforts.mean(only_active);
            table.push([
                format!("`{}`, {}", efforts.run.solver(), efforts.run.end()),
                format!("{which}: {references}"),
                format!("{iterations:.2}"),
                format!("{calls:.2}"),
                format!("{converged:.1} %"),
            ]);
        }
    }
    table
}

/// References with flat labels, a row each.
fn flat(others: &[Flat]) -> Table {
    let models: Vec<String> = others[0].rows.iter().map(|row| format!("`{}`", row.model)).collect();
    let [base, ruled] = &models[..] else { unreachable!("two models are compared") };
    let mut table = Table::new(TABLES[2], &["set", base, ruled, "gain, 95 % interval"]);
    for Flat { name, rows } in others {
        let [base, ruled] = [&rows[0], &rows[1]].map(|row| format!("{:.2}", row.all_f1));
        table.push([name.to_string(), base, ruled, interval(&rows[1])]);
    }
    table
}

/// The interval of a gain; nothing for a base model.
fn interval(row: &Row) -> String {
    let ends = |[low, high]: [f64; 2]| format!("[{}, {}]", signed(low, 2), signed(high, 2));
    row.interval.map_or(String::new(), ends)
}
