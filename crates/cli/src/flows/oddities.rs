//! What is odd about times and places.

use bethe_flows::data::{
    Cells, Layout, Observations, TimeOrder, UnevenSteps, time_order, uneven_steps,
};
use bethe_flows::output::for_people;

use super::config::Config;

/// How many pairs of places a warning names.
const NAMED: usize = 3;

/// The order of the times of a file, and a warning if it is not that of time.
pub fn order(
    config: &Config,
    (observations, layout): (&Observations, Layout),
) -> (TimeOrder, Option<String>) {
    let (file, times) = (config.observations.display(), observations.times());
    let order = time_order(times);
    let warning = match (order, layout) {
        (TimeOrder::Descending, _) => Some(format!(
            "{file}: rows are in descending order: reverse them; times are taken in the order of rows, \
             so these flows go back in time, from {:?} to {:?}",
            times[0],
            times[times.len() - 1]
        )),
        (TimeOrder::Mixed(at), _) => Some(format!(
            "{file}: rows are not in order: {:?} comes after {:?}; sort them, because times are taken in \
             the order of rows",
            times[at],
            times[at - 1]
        )),
        (TimeOrder::Ambiguous, Layout::Long { .. }) => Some(format!(
            "{file}: times such as {:?} may begin with the day or with the month, so they stay in the \
             order of their first rows; dates such as 2024-01-31 are sorted",
            times[0]
        )),
        _ => None,
    };
    (order, warning)
}

/// A warning if times that ascend in their file are not equally far apart.
pub fn unequal(config: &Config, observations: &Observations) -> Option<String> {
    let times = observations.times();
    let last = times.len() - usize::from(config.close_year);
    let UnevenSteps { shortest, longest, ratio } = uneven_steps(&times[..last])?;
    let step = |at: usize| format!("from {:?} to {:?}", times[at], times[at + 1]);
    Some(format!(
        "{}: every step counts as equally long, but the step {} is {} times as long as the one {}; add \
         the times in between, without counts",
        config.observations.display(),
        step(longest),
        for_people(ratio, 3),
        step(shortest)
    ))
}

/// A warning if places lie on top of each other.
pub fn same_places(config: &Config, cells: &Cells) -> Option<String> {
    let pairs = cells.at_same_place();
    let name = |&(first, other): &(usize, usize)| {
        format!("{:?} those of {:?}", cells.name(other), cells.name(first))
    };
    let named: Vec<String> = pairs.iter().take(NAMED).map(name).collect();
    let more = if pairs.len() > NAMED { ", …" } else { "" };
    let (has, these) = match pairs.len() {
        0 => return None,
        1 => ("a cell has", "these two"),
        _ => ("cells have", "such cells"),
    };
    Some(format!(
        "{}: {has} the coordinates of another: {}{more}; flows between {these} cannot be drawn",
        config.cells.display(),
        named.join(", ")
    ))
}
