//! Tables as CSV.

use std::io::{self, Write};

use super::{Move, Movements, rounded};
use crate::data::{Cells, Observations};
use crate::infer::Flows;

/// Significant digits of numbers in tables.
const DIGITS: usize = 6;
/// Probabilities of at most this are left out of transitions.
const NEVER: f64 = 1e-6;

/// Writes `time,<cells>`, one row per time, as in observations. `values` are `[times][cells]`.
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

/// Writes `time,from,to,probability`: where individuals in a cell at a time go next, as
/// [`transitions`] visits them. `counts` are `[times][cells]`.
pub fn write_transitions(
    output: impl Write,
    cells: &Cells,
    times: &[String],
    found: (&mut Flows, &[f64]),
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    table.write_record(["time", "from", "to", "probability"])?;
    transitions(found, cells.len(), &mut |step, moves| {
        moves.iter().try_for_each(|&Move { from, to, count }| {
            let probability = rounded(count, DIGITS);
            let known = [&times[step], cells.name(from), cells.name(to), &probability];
            Ok(table.write_record(known)?)
        })
    })?;
    table.flush()
}

/// Visits, step by step, where individuals in a cell go next: moves whose count is a probability.
/// Those of at most a millionth are left out; the others from a cell sum to 1. `counts` are
/// `[times][cells]`.
pub fn transitions(
    (flows, counts): (&mut Flows, &[f64]),
    cells: usize,
    visit: &mut dyn FnMut(usize, &[Move]) -> io::Result<()>,
) -> io::Result<()> {
    let mut finish = |step: usize, moves: &mut Vec<Move>| {
        moves.sort_unstable_by_key(|own| (own.from, own.to));
        for own in moves.chunk_by_mut(|a, b| a.from == b.from) {
            let total: f64 = own.iter().map(|own| own.count).sum();
            own.iter_mut().for_each(|own| own.count /= total);
        }
        let visited = visit(step, moves);
        moves.clear();
        visited
    };
    let mut moves = Vec::new();
    let (mut current, mut outcome) = (0, Ok(()));
    flows.visit(&mut |step, from, to, count| {
        if step != current && outcome.is_ok() {
            outcome = finish(current, &mut moves);
        }
        current = step;
        if count > NEVER * counts[step * cells + from] {
            moves.push(Move { from, to, count });
        }
    });
    outcome?;
    finish(current, &mut moves)
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
