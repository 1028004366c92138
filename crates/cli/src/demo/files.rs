//! The names of all files of the tour, which are checked before any of them is made.

use anyhow::Result;
use bethe_cite::lexicons;

use super::flows::{DAYS, FOLDER};

const NAMES: [&str; 30] = [
    "report.html",
    "references-train.txt",
    "references-test.txt",
    "template.txt",
    "plain.safetensors",
    "rules.safetensors",
    "citations-train.txt",
    "citations.txt",
    "citations-template.txt",
    "citations.safetensors",
    "birds-cells.csv",
    "birds-counts.csv",
    "birds/summary.json",
    "birds/counts.csv",
    "birds/errors.csv",
    "birds/fit.csv",
    "birds/flows.csv",
    "birds/net.csv",
    "birds/index.html",
    "titles.json",
    "titles-rda.svg",
    "titles-mirror-descent.svg",
    "titles-accelerated-rda.svg",
    "titles-adaptive.svg",
    "titles-dual.svg",
    "words.json",
    "grid.json",
    "census.json",
    "ring.uai",
    "ring.evid",
];

/// Every file of the tour.
pub fn names() -> Result<Vec<String>> {
    let none: [&str; 0] = [];
    let cues = lexicons(&none)?;
    let cues = cues.lists().map(|(name, _)| format!("cues/{name}.txt"));
    let frames = (1..=DAYS).map(|day| format!("{FOLDER}/frames/{day:03}.svg"));
    Ok(NAMES.into_iter().map(str::to_string).chain(cues).chain(frames).collect())
}
