//! Who moved where, as a short table for people.

use std::fmt::Write;

use bethe_flows::infer::Flows;
use bethe_flows::output::{Kept, Move, for_people, stream};
use bethe_terminal::{counted, shown};

use super::input::Input;

/// Moves that are listed.
const LISTED: usize = 10;
/// Longer names are cut.
const LONGEST: usize = 24;

/// The largest moves between different places, and how many moved and stayed in all.
pub fn table(input: &Input, flows: &mut Flows, population: f64) -> String {
    let (times, cells) = (input.observations.times(), &input.cells);
    let steps = times.len() - 1;
    if steps == 0 {
        return String::new();
    }
    let kept = Kept { threshold: f64::INFINITY, strongest: LISTED, ..Kept::default() };
    let movements = stream(flows, cells.len(), &kept, &mut |_, _| Ok(()));
    let movements = movements.expect("nothing is written");
    let moved: f64 = movements.departures.iter().sum();
    let of_steps = movements.strongest.iter().enumerate();
    let mut largest: Vec<(usize, Move)> =
        of_steps.flat_map(|(step, moves)| moves.iter().map(move |own| (step, *own))).collect();
    largest.sort_by(|a, b| b.1.count.total_cmp(&a.1.count));
    largest.truncate(LISTED);
    let row = |&(step, own): &(usize, Move)| {
        let time = |at: usize| name(&times[at]);
        let places = [own.from, own.to].map(|cell| name(cells.name(cell)));
        let [from, to] = places;
        [format!("{} → {}", time(step), time(step + 1)), from, to, for_people(own.count, 3)]
    };
    let head = ["time", "from", "to", "individuals"].map(str::to_string);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(largest.iter().map(row)).collect();
    let all = population * steps as f64;
    let share = for_people(100.0 * moved / all, 2);
    let mut text = format!(
        "{}: {} moves to another place ({share} %), {} times an individual stayed\n",
        counted(steps, "step"),
        for_people(moved, 3),
        for_people((all - moved).max(0.0), 3)
    );
    if !largest.is_empty() {
        text += "the largest moves:\n";
        aligned(&mut text, &rows);
    }
    text
}

/// A name for one column.
fn name(own: &str) -> String {
    let own = shown(own);
    match own.chars().count() > LONGEST {
        true => own.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => own.into_owned(),
    }
}

/// Columns under each other: words to the left, the numbers of the last one to the right.
fn aligned(text: &mut String, rows: &[[String; 4]]) {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(width);
    for [time, from, to, count] in rows {
        let _ = writeln!(text, "  {time:a$}  {from:b$}  {to:c$}  {count:>d$}");
    }
}
