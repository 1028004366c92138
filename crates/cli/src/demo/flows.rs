//! Movement of birds, inferred from counts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use bethe_flows::data::Cells;
use bethe_flows::model::{Feature, Movement, Moves};
use bethe_flows::output::write_counts;
use bethe_flows::simulate::{Simulated, simulate};
use bethe_terminal::Folder;
use clap::Parser;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::report::{WIDTH, bar};
use crate::flows;
use crate::wrap::wrapped;

const SIDE: usize = 8;
pub const DAYS: usize = 14;
const BIRDS: u64 = 1000;
const CELLS: &str = "birds-cells.csv";
const COUNTS: &str = "birds-counts.csv";
pub const FOLDER: &str = "birds";
pub const TITLE: &str = "Birds that are only counted";
const REACH: f64 = 3.0;
/// How the birds fly; inference knows it.
const FEATURES: &str = "stay=0.5,distance=-1.2,goal:Cell64=1.5";
/// How many moves to show.
const SHOWN: usize = 5;

/// The flags of `bethe flows`, to run the command itself.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    flags: flows::Flags,
}

/// Simulates birds, counts them and infers their movement.
pub fn birds(out: &Folder) -> Result<String> {
    let cells = Cells::grid(SIDE, SIDE);
    let features = Feature::parse_list(FEATURES, &cells, &[])?;
    let movement = Movement { features, reach: Some(REACH), normalised: true };
    let moves = movement.moves(&cells, DAYS - 1);
    let (truth, counted) = simulated(&cells, &moves);
    write_files(out, &cells, &counted)?;
    let command = command_in(out.staging());
    flows::run(Line::parse_from(command.iter().map(String::as_str).chain(["--quiet"])).flags)?;
    let mut text = format!(
        "{TITLE}\n\n\
         A thousand simulated birds cross a map of 64 cells in two weeks. There is a\n\
         noisy count for each cell and day; the flows between cells are inferred.\n\n"
    );
    let inferred = numbers(&out.staging().join(FOLDER).join("counts.csv"))?;
    let error = |found: &[f64]| -> f64 {
        found.iter().zip(&truth.counts).map(|(found, true_)| (found - *true_ as f64).abs()).sum()
    };
    let all = (BIRDS * DAYS as u64) as f64;
    let [raw, better] = [&counted, &inferred].map(|found| 100.0 * error(found) / all);
    writeln!(text, "  birds in the wrong cell: {raw:.1}% by the counts, {better:.1}% inferred\n")?;
    writeln!(text, "  the largest flows of day 5: inferred, and the true number of birds")?;
    for (from, to, number) in strongest(&out.staging().join(FOLDER).join("flows.csv"), "5")? {
        let cell = |name: &str| cells.find(name).context("a cell of the grid");
        let key = (4, cell(&from)?, cell(&to)?);
        let flown = truth.flows.iter().find(|(step, from, to, _)| (*step, *from, *to) == key);
        let flown = flown.map_or(0, |(_, _, _, number)| *number);
        let share = number / BIRDS as f64 * 10.0;
        writeln!(text, "  {from:>8} to {to:<8}{number:>7.1}  {}  {flown:>4}", bar(share.min(1.0)))?;
    }
    let folder = out.path().join(FOLDER);
    let mut command = command_in(out.path());
    command.insert(1, "flows".to_string());
    let command = wrapped(command.iter().map(String::as_str), ("        ", " \\"), WIDTH);
    writeln!(
        text,
        "\n  an animated map: {}/index.html\n\n  try   {}\n",
        folder.display(),
        command.trim_start()
    )?;
    Ok(text)
}

/// The command whose files are in this folder; no part needs quotes.
fn command_in(folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let words = ["bethe", &path(COUNTS), "--cells", &path(CELLS)].map(str::to_string);
    let flags = [
        ("--population", BIRDS.to_string()),
        ("--reach", REACH.to_string()),
        ("--features", FEATURES.to_string()),
        ("--start", "Cell1".to_string()),
        ("--out", path(FOLDER)),
    ];
    let flags = flags.into_iter().flat_map(|(flag, value)| [flag.to_string(), value]);
    words.into_iter().chain(flags).collect()
}

/// Birds that start in the first cell, and their noisy counts.
fn simulated(cells: &Cells, moves: &Moves) -> (Simulated, Vec<f64>) {
    let mut rng = StdRng::seed_from_u64(5);
    let mut born = vec![0; cells.len()];
    born[0] = BIRDS;
    let truth = simulate(moves, &born, DAYS - 1, &mut rng);
    let observed = truth.observe(cells.len(), 1.0, &mut rng);
    let counted = (0..DAYS).flat_map(|day| observed.at(day)).map(|count| count.unwrap_or(0.0));
    let counted = counted.collect();
    (truth, counted)
}

fn write_files(out: &Folder, cells: &Cells, counted: &[f64]) -> Result<()> {
    let days: Vec<String> = (1..=DAYS).map(|day| day.to_string()).collect();
    out.fill(COUNTS, |file| write_counts(file, cells, &days, counted))?;
    let row = |cell: usize| {
        let (x, y) = cells.place(cell);
        format!("{},{x},{y}\n", cells.name(cell))
    };
    let rows: String = (0..cells.len()).map(row).collect();
    out.text(CELLS, &format!("cell,x,y\n{rows}"))
}

fn lines(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text.lines().skip(1).map(str::to_string).collect())
}

/// All numbers of a table of counts.
fn numbers(path: &Path) -> Result<Vec<f64>> {
    let mut numbers = Vec::new();
    for line in lines(path)? {
        for cell in line.split(',').skip(1) {
            numbers.push(cell.parse()?);
        }
    }
    Ok(numbers)
}

/// The largest moves between cells on a day.
fn strongest(path: &Path, day: &str) -> Result<Vec<(String, String, f64)>> {
    let mut moves = Vec::new();
    for line in lines(path)? {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == day && cells[1] != cells[2] {
            moves.push((cells[1].to_string(), cells[2].to_string(), cells[3].parse::<f64>()?));
        }
    }
    moves.sort_by(|a, b| b.2.total_cmp(&a.2));
    moves.truncate(SHOWN);
    Ok(moves)
}
