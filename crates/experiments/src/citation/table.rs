//! Rows of the table.

use serde::{Deserialize, Serialize};

/// A model and how good it is on test references. Scores are in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The model.
    pub model: String,
    /// F1 of the segments of the last tags, as CoNLL's script counts them.
    pub leaf_f1: f64,
    /// F1 of the segments of every level.
    pub all_f1: f64,
    /// Precision of the segments of every level.
    pub precision: f64,
    /// Recall of the segments of every level.
    pub recall: f64,
    /// The 95 % interval of how much higher `all_f1` is than that of the base model that this one
    /// is built on, in points, by the paired bootstrap; none for a base model.
    pub interval: Option<[f64; 2]>,
    /// The same of `leaf_f1`.
    pub leaf_interval: Option<[f64; 2]>,
    /// `leaf_f1` without the test references that also occur in train or dev.
    pub leaf_f1_without_leaked: Option<f64>,
    /// What the paper quotes for such a model.
    pub paper: Option<f64>,
    /// Mean oracle calls of inference by `auto` to a gap of 1e-4; decodings for `soft-dd`.
    pub mean_oracle_calls: Option<f64>,
    /// Share (0 to 1) of the references where 40 calls are enough for that; for `soft-dd`, where
    /// the labels are proven best.
    pub converged_share: Option<f64>,
}

/// What the paper quotes for a model, in percent.
pub(super) fn paper(model: &str) -> Option<f64> {
    match model {
        "base-simple" => Some(94.47),
        "paper-recipe" | "all" => Some(95.47),
        "soft-dd" => Some(95.39),
        _ => None,
    }
}

/// A ratio in percent, to a thousandth.
pub(super) fn percent(ratio: f64) -> f64 {
    (1e5 * ratio).round() / 1e3
}

/// The table for people.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| model | leaf F1 | gain, 95 % interval | all-level F1 | gain, 95 % interval | precision | recall \
         | leaf F1 without leaked | paper | oracle calls | converged |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let number =
            |value: Option<f64>| value.map_or("".to_string(), |value| format!("{value:.2}"));
        let interval = |ends: Option<[f64; 2]>| {
            ends.map_or(String::new(), |[low, high]| format!("[{low:+.2}, {high:+.2}]"))
        };
        let share = row.converged_share.map(|share| format!("{:.1} %", 100.0 * share));
        let cells = [
            row.model.clone(),
            number(Some(row.leaf_f1)),
            interval(row.leaf_interval),
            number(Some(row.all_f1)),
            interval(row.interval),
            number(Some(row.precision)),
            number(Some(row.recall)),
            number(row.leaf_f1_without_leaked),
            number(row.paper),
            number(row.mean_oracle_calls),
            share.unwrap_or_default(),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// Rows as a JSON array, one a line.
pub(super) fn json(rows: &[Row]) -> String {
    let row = |row: &Row| serde_json::to_string(row).expect("numbers and names");
    format!("[\n{}\n]\n", rows.iter().map(row).collect::<Vec<_>>().join(",\n"))
}
