//! Which times there are, and which cells are open at each.

use std::fs;
use std::path::Path;

use anyhow::Result;
use bethe_flows::data::{Cells, Observations, Unlisted, read_observations};
use bethe_terminal::bad_input;

use super::config::Config;
use super::input::wrong;

/// The observations with the cells closed that --extent closes.
pub fn opened(
    config: &Config,
    cells: &Cells,
    mut observations: Observations,
    warnings: &mut Vec<String>,
) -> Result<Observations> {
    let (times, text) = (observations.times().len(), &config.extent[..]);
    let places = || (0..times).flat_map(|time| (0..cells.len()).map(move |cell| (time, cell)));
    let is_positive = |from: &Observations, (time, cell): (usize, usize)| {
        from.at(time)[cell].is_none_or(|value| value > 0.0)
    };
    let closed: Vec<(usize, usize)> = match text {
        "all" => return Ok(observations),
        "counted" => places().filter(|&place| !is_positive(&observations, place)).collect(),
        _ if fs::metadata(text).is_err() => {
            return Err(bad_input(format!(
                "--extent: found {text:?}, expected all, counted, or a file laid out as the counts"
            )));
        }
        _ => {
            let source = (cells, config.cells.as_path());
            let (path, unlisted) = (Path::new(text), Unlisted::Unobserved);
            let (open, _) =
                read_observations(path, source, unlisted, config.memory).map_err(wrong)?;
            if let Some(time) =
                observations.times().iter().find(|time| !open.times().contains(time))
            {
                return Err(bad_input(format!(
                    "{text}: the time {time:?} is missing, expected all times of {}",
                    config.observations.display()
                )));
            }
            let row = |time: usize| {
                let name = &observations.times()[time];
                open.times().iter().position(|own| own == name).expect("all are there")
            };
            let rows: Vec<usize> = (0..times).map(row).collect();
            places().filter(|&(time, cell)| !is_positive(&open, (rows[time], cell))).collect()
        }
    };
    let is_counted = |&(time, cell): &(usize, usize)| {
        observations.at(time)[cell].is_some_and(|count| count > 0.0)
    };
    let left_out: Vec<&(usize, usize)> = closed.iter().filter(|place| is_counted(place)).collect();
    if let Some(&&(time, cell)) = left_out.first() {
        warnings.push(format!(
            "{text}: closes cells where individuals were counted; {} of these counts are left out, the \
             first at the time {:?} in {:?}",
            left_out.len(),
            observations.times()[time],
            cells.name(cell)
        ));
    }
    closed.into_iter().for_each(|(time, cell)| observations.close(time, cell));
    let shut = |time: &usize| (0..cells.len()).all(|cell| !observations.is_open(*time, cell));
    match (0..times).find(shut) {
        Some(time) => Err(bad_input(format!(
            "--extent: no cell is open at the time {:?}, expected at least one",
            observations.times()[time]
        ))),
        None => Ok(observations),
    }
}

/// The observations of the season, and the first time again if the year closes.
pub fn season(config: &Config, observations: Observations) -> Result<Observations> {
    let times = observations.times();
    let find = |flag: &str, name: &Option<String>, default: usize| match name {
        None => Ok(default),
        Some(name) => times.iter().position(|time| time == name).ok_or_else(|| {
            let (first, last) = (&times[0], &times[times.len() - 1]);
            bad_input(format!(
                "{flag}: found {name:?}, expected one of the times {first:?} to {last:?}"
            ))
        }),
    };
    let [first, last] = &config.season;
    let (first, last) = (find("--first", first, 0)?, find("--last", last, times.len() - 1)?);
    let mut chosen: Vec<usize> = match first <= last {
        true => (first..=last).collect(),
        false => (first..times.len()).chain(0..=last).collect(),
    };
    if config.close_year {
        chosen.push(first);
    }
    if !config.close_year && chosen.len() == times.len() && first == 0 {
        return Ok(observations);
    }
    if chosen.len() < 2 {
        return Err(bad_input("--first and --last: found one time, expected at least two"));
    }
    Ok(observations.select(&chosen))
}
