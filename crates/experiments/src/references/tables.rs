//! What came out, for people.

use bethe_io::results::Table;

use super::Measured;
use super::judge::{ASPECTS, Judged, percent};

/// Names of the tables.
pub const TABLES: [&str; 3] = ["entries", "rules", "fields"];

/// Entries with and without rules, and fields, by source.
pub fn tables(measured: &[Measured]) -> Vec<Table> {
    let rows = |of: fn(&Measured) -> &Judged| -> Vec<(&str, &Judged)> {
        measured.iter().map(|measured| (measured.source.name(), of(measured))).collect()
    };
    let (with, without) = (rows(|measured| &measured.judged), rows(|it| &it.without_rules));
    vec![entries(TABLES[0], &with), entries(TABLES[1], &without), fields(&with)]
}

/// Entries of each source, in a table of this name.
pub fn entries(name: &str, judged: &[(&str, &Judged)]) -> Table {
    let header: Vec<&str> = ["references of", "number", "whole entries", "letter for letter"]
        .into_iter()
        .chain(ASPECTS)
        .chain(["segment F1"])
        .collect();
    let mut table = Table::new(name, &header);
    for (source, judged) in judged {
        let shares = judged.right.map(|right| percent(right, judged.references));
        let f1 = 100.0 * judged.score.leaf().f1();
        let wholes = [judged.whole(), percent(judged.exact, judged.references)];
        let numbers = wholes.into_iter().chain(shares).chain([f1]);
        let names = [source.to_string(), judged.references.to_string()];
        table.push(names.into_iter().chain(numbers.map(|number| format!("{number:.2}"))));
    }
    table
}

/// F1 of segments by field, of the fields that some source has often enough.
fn fields(judged: &[(&str, &Judged)]) -> Table {
    let names: Vec<&str> = judged.iter().map(|(source, _)| *source).collect();
    let header: Vec<&str> = [&["field"][..], &names].concat();
    let mut table = Table::new(TABLES[2], &header);
    let mut fields: Vec<&String> =
        judged.iter().flat_map(|(_, judged)| judged.score.per_label().keys()).collect();
    fields.sort_unstable();
    fields.dedup();
    for field in fields {
        let cell = |(_, judged): &(&str, &Judged)| {
            let counts = judged.score.per_label().get(field).copied().unwrap_or_default();
            match counts.gold {
                0 => "–".to_string(),
                gold => format!("{:.1} of {gold}", 100.0 * counts.f1()),
            }
        };
        table.push([field.clone()].into_iter().chain(judged.iter().map(cell)));
    }
    table
}
