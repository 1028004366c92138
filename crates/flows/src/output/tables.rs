//! Tables as CSV.

use std::io::{self, Write};

use super::{Move, Movements, rounded};
use crate::data::{Cells, Observations};
use crate::infer::Flows;

/// Significant digits of numbers in tables.
const DIGITS: usize = 6;
/// Probabilities of at most this are left out of transitions.
const NEVER: f64 = 1e-6;

/// Writes `time,<cells>`, a row a time, as observations are. `values` are `[times][cells]`.
pub fn write_counts(
    output: impl Write,
    cells: &Cells,
    times: &[String],
    values: &[f64],
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(std::iter::once("time").chain(cells.names().iter().map(String::as_str)))?;
    for (time, own) in times.iter().zip(values.chunks(cells.len())) {
        let numbers = own.iter().map(|value| rounded(*value, DIGITS));
        table.write_record(std::iter::once(time.clone()).chain(numbers))?;
    }
    table.flush()
}

/// Writes `time,cell,observed,expected` for every count, in the units of the observations: `expected`
/// is what they were expected to be. `[times][cells]`
pub fn write_fit(
    output: impl Write,
    cells: &Cells,
    observations: &Observations,
    expected: &[f64],
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(["time", "cell", "observed", "expected"])?;
    for (time, own) in expected.chunks(cells.len()).enumerate() {
        let counts = observations.at(time).iter().zip(own).enumerate();
        for (cell, (count, expected)) in counts {
            let Some(count) = count else { continue };
            let [count, expected] = [*count, *expected].map(|number| rounded(number, DIGITS));
            table.write_record([
                &observations.times()[time],
                cells.name(cell),
                &count,
                &expected,
            ])?;
        }
    }
    table.flush()
}

/// The columns of flows: standard errors where they are known.
pub fn move_columns(has_errors: bool) -> &'static [&'static str] {
    const COLUMNS: [&str; 5] = ["time", "from", "to", "count", "standard_error"];
    if has_errors { &COLUMNS } else { &COLUMNS[..4] }
}

/// Writes the moves of one step as [`move_columns`]; `errors` has one for each, or is empty.
pub fn write_moves<W: Write>(
    table: &mut csv::Writer<W>,
    cells: &Cells,
    time: &str,
    moves: &[Move],
    errors: &[f64],
) -> io::Result<()> {
    for (place, &Move { from, to, count }) in moves.iter().enumerate() {
        let error = errors.get(place).map(|error| rounded(*error, DIGITS));
        let count = rounded(count, DIGITS);
        let known = [time, cells.name(from), cells.name(to), &count];
        table.write_record(known.into_iter().chain(error.as_deref()))?;
    }
    Ok(())
}

/// Writes `time,from,to,probability`: where individuals in a cell at a time go next. Probabilities of
/// at most a millionth are left out; the others from a cell sum to 1. `counts` are `[times][cells]`.
pub fn write_transitions(
    output: impl Write,
    cells: &Cells,
    times: &[String],
    (flows, counts): (&mut Flows, &[f64]),
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(["time", "from", "to", "probability"])?;
    let mut write = |step: usize, moves: &mut Vec<Move>| -> io::Result<()> {
        moves.sort_unstable_by_key(|own| (own.from, own.to));
        for own in moves.chunk_by(|a, b| a.from == b.from) {
            let total: f64 = own.iter().map(|own| own.count).sum();
            for &Move { from, to, count } in own {
                let probability = rounded(count / total, DIGITS);
                let known = [&times[step], cells.name(from), cells.name(to), &probability];
                table.write_record(known)?;
            }
        }
        moves.clear();
        Ok(())
    };
    let mut moves = Vec::new();
    let (mut current, mut outcome) = (0, Ok(()));
    flows.visit(&mut |step, from, to, count| {
        if step != current && outcome.is_ok() {
            outcome = write(current, &mut moves);
        }
        current = step;
        if count > NEVER * counts[step * cells.len() + from] {
            moves.push(Move { from, to, count });
        }
    });
    outcome?;
    write(current, &mut moves)?;
    table.flush()
}

/// Writes `time,cell,arrivals,departures,net`: what changed in each cell from a time to the next.
pub fn write_net(
    output: impl Write,
    cells: &Cells,
    times: &[String],
    movements: &Movements,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(["time", "cell", "arrivals", "departures", "net"])?;
    let steps =
        movements.arrivals.chunks(cells.len()).zip(movements.departures.chunks(cells.len()));
    for (time, (arrivals, departures)) in times.iter().zip(steps) {
        for (cell, (came, left)) in arrivals.iter().zip(departures).enumerate() {
            let [a, d, net] = [*came, *left, came - left].map(|number| rounded(number, DIGITS));
            table.write_record([time, cells.name(cell), &a, &d, &net])?;
        }
    }
    table.flush()
}

/// Writes `route,<times>`: the cells of each route, a row each.
pub fn write_routes(
    output: impl Write,
    cells: &Cells,
    times: &[String],
    routes: impl Iterator<Item = Vec<usize>>,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(std::iter::once("route").chain(times.iter().map(String::as_str)))?;
    for (number, route) in routes.enumerate() {
        let number = (number + 1).to_string();
        let names = route.iter().map(|&cell| cells.name(cell));
        table.write_record(std::iter::once(&number[..]).chain(names))?;
    }
    table.flush()
}
