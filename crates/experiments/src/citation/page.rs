//! The tables of the results page.

use bethe_io::results::{Table, signed};

use super::convergence::{Answer, CAPS, Look, Mean};
use super::table::Row;
use super::umass::Outcome;
use super::{FLAT, Flat};

/// Names of all tables that the page has.
pub const TABLES: [&str; 4] =
    ["citation-scores", "citation-convergence", "citation-caps", "citation-others"];

/// The tables of the page, without those for which data were missing.
pub(super) fn tables(umass: &Outcome, others: &[Flat]) -> Vec<Table> {
    let looks = &umass.looks;
    let mut tables = vec![scores(&umass.rows), convergence(looks), caps(looks)];
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
        "gain, 95 % interval",
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
            interval(row.leaf_interval),
            number(Some(row.all_f1)),
            interval(row.interval),
            number(row.leaf_f1_without_leaked),
            number(row.paper),
            number(row.mean_oracle_calls),
            share.unwrap_or_default(),
        ]);
    }
    table
}

/// Iterations by rules, solver and references.
fn convergence(looks: &[Look]) -> Table {
    let columns = ["rules of", "solver", "references", "iterations", "oracle calls", "converged"];
    let mut table = Table::new(TABLES[1], &columns);
    for (model, efforts) in
        looks.iter().flat_map(|look| look.efforts.iter().map(|e| (look.model, e)))
    {
        for (which, only_active) in [("all", false), ("with an active rule", true)] {
            let Mean { references, iterations, calls, converged } = efforts.mean(only_active);
            table.push([
                format!("`{model}`"),
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

/// F1 where inference is stopped early.
fn caps(looks: &[Look]) -> Table {
    let caps: Vec<String> = CAPS.iter().map(usize::to_string).collect();
    let columns: Vec<&str> =
        ["rules of", "solver"].into_iter().chain(caps.iter().map(String::as_str)).collect();
    let mut table = Table::new(TABLES[2], &columns);
    for look in looks {
        for (answer, f1) in Answer::ALL.iter().zip(&look.capped) {
            let names = [format!("`{}`", look.model), answer.name().to_string()];
            table.push(names.into_iter().chain(f1.iter().map(|f1| format!("{f1:.2}"))));
        }
    }
    table
}

/// References with flat labels, a row each.
fn flat(others: &[Flat]) -> Table {
    let models: Vec<String> = others[0].rows.iter().map(|row| format!("`{}`", row.model)).collect();
    let [base, ruled] = &models[..] else { unreachable!("two models are compared") };
    let mut table = Table::new(TABLES[3], &["set", base, ruled, "gain, 95 % interval"]);
    for Flat { name, rows } in others {
        let [base, ruled] = [&rows[0], &rows[1]].map(|row| format!("{:.2}", row.all_f1));
        table.push([name.to_string(), base, ruled, interval(rows[1].interval)]);
    }
    table
}

/// The interval of a gain; nothing for a base model.
fn interval(ends: Option<[f64; 2]>) -> String {
    let shown = |[low, high]: [f64; 2]| format!("[{}, {}]", signed(low, 2), signed(high, 2));
    ends.map_or(String::new(), shown)
}
