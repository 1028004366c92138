//! The tables of the results page.

use bethe_io::results::{Table, signed};

use super::{Row, SETS};

/// Names of all tables that the page has.
pub const TABLES: [&str; 3] = ["rules-curve", "rules-noise", "rules-others"];

/// The tables of the page, without those that no row is for.
pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let is_other = |row: &&Row| SETS.contains(&&row.training[..]);
    let is_clean = |row: &&Row| !is_other(row) && row.test == "as it is";
    let others: Vec<&Row> = rows.iter().filter(is_other).collect();
    let curve: Vec<&Row> = rows.iter().filter(is_clean).collect();
    let noise: Vec<&Row> = rows.iter().filter(|row| !is_other(row) && !is_clean(row)).collect();
    let tables = [
        table(TABLES[0], "features", &curve, |row| row.features.to_string()),
        table(TABLES[1], "test references", &noise, |row| row.test.clone()),
        table(TABLES[2], "test", &others, |_| "held out".to_string()),
    ];
    let complete = [!curve.is_empty(), !noise.is_empty(), others.len() + 1 == SETS.len()];
    tables.into_iter().zip(complete).filter(|(_, complete)| *complete).map(|(t, _)| t).collect()
}

fn table(name: &str, about: &str, rows: &[&Row], of: fn(&Row) -> String) -> Table {
    let columns = [
        "trained on",
        about,
        "F1 without rules",
        "with",
        "gain, 95 % interval",
        "whole sequences, %",
        "break a near-certain rule",
        "labels wrongly repeated",
        "rules",
        "training time",
    ];
    let mut table = Table::new(name, &columns);
    for row in rows {
        let it = &row.comparison;
        let ([plain, ruled], [low, high], whole) = (it.f1(), it.interval(), it.whole());
        let counts = |[plain, ruled]: [usize; 2]| format!("{plain} → {ruled}");
        let rules: Vec<String> = it.rules.iter().map(usize::to_string).collect();
        table.push([
            row.training.clone(),
            of(row),
            format!("{plain:.2}"),
            format!("{ruled:.2}"),
            format!("{} [{}, {}]", signed(ruled - plain, 2), signed(low, 2), signed(high, 2)),
            format!("{:.1} → {:.1}", whole[0], whole[1]),
            counts(it.broken),
            counts(it.repeated),
            rules.join(", "),
            format!("× {:.1}", it.seconds[1] / it.seconds[0]),
        ]);
    }
    table
}
