//! The files of `--out`. The folder appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use bethe_flows::data::Observations;
use bethe_flows::infer::Flows;
use bethe_flows::output::{
    Lines, Movements, Picture, Summary, individuals, move_columns, stream, tuning_picture,
    write_counts, write_fit, write_moves, write_net, write_routes, write_transitions, write_tuning,
};
use bethe_flows::uncertainty::StandardErrors;
use bethe_terminal::{Folder, bad_input, check_apart, counted};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::config::Config;
use super::csv_names::CsvNames;
use super::input::Input;

/// Files that every run writes.
const ALWAYS: [&str; 6] =
    ["summary.json", "counts.csv", "fit.csv", "flows.csv", "net.csv", "index.html"];

/// Standard errors of the counts.
const ERRORS: &str = "errors.csv";

/// What was found.
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    /// `[times][cells]`
    pub counts: &'a [f64],
    pub summary: &'a Summary,
    pub errors: Option<&'a StandardErrors>,
}

impl Answer<'_> {
    /// Standard errors of the flows; empty if they are not known.
    fn flow_errors(&self) -> &[f64] {
        self.errors.map_or(&[], |errors| &errors.flows)
    }
}

/// The folder, while it is being filled.
pub struct Output {
    folder: Folder,
    /// What was written, without frames.
    names: Vec<String>,
}

impl Output {
    /// Opens the folder, so that a failure shows before any work is done.
    pub fn create(folder: &Path, config: &Config, times: usize) -> Result<Self> {
        let output = Self { folder: Folder::create(folder)?, names: Vec::new() };
        let inputs = config.inputs();
        let asked = [
            (config.sample.is_some(), "routes.csv"),
            (config.forecast > 0, "forecast.csv"),
            (config.given.is_some(), "given.csv"),
            (config.geojson, "flows.geojson"),
            (config.transitions, "transitions.csv"),
            (config.errors != Some(false), ERRORS),
            (config.tune.is_some(), "tuning.csv"),
            (config.tune.is_some(), "tuning.svg"),
            #[cfg(feature = "parquet")]
            (config.parquet, "flows.parquet"),
        ];
        let asked = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| name);
        for name in ALWAYS.into_iter().chain(asked) {
            check_apart("--out", &folder.join(name), inputs.iter().copied())?;
            output.folder.claim(name)?;
        }
        (0..times).try_for_each(|time| output.folder.claim(&frame(time, times)))?;
        output.folder.check_apart("--out", inputs)?;
        Ok(output)
    }

    fn fill<T>(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T> {
        self.names.push(name.to_string());
        self.folder.fill(name, write)
    }

    /// Writes everything that is wanted.
    pub fn write(
        &mut self,
        config: &Config,
        input: &Input,
        flows: &mut Flows,
        answer: Answer,
    ) -> Result<Movements> {
        let CsvNames { cells, times } = &CsvNames::new(config, input);
        let counts = answer.counts;
        let given = input.given(config)?;
        let json = serde_json::to_string_pretty(answer.summary)? + "\n";
        self.fill("summary.json", |file| file.write_all(json.as_bytes()))?;
        self.fill("counts.csv", |file| write_counts(file, cells, times, counts))?;
        let expected = expected(config, input, counts);
        let observed = input.counts.renamed(times);
        self.fill("fit.csv", |file| write_fit(file, cells, &observed, &expected))?;
        if let Some(errors) = answer.errors {
            self.fill(ERRORS, |file| write_counts(file, cells, times, &errors.counts))?;
        }
        let movements = self.moves(config, input, flows, answer)?;
        if config.transitions {
            let found = (&mut *flows, counts);
            self.fill("transitions.csv", |file| write_transitions(file, cells, times, found))?;
        }
        self.fill("net.csv", |file| write_net(file, cells, times, &movements))?;
        if let Some((number, seed)) = config.sample {
            let mut rng = StdRng::seed_from_u64(seed);
            let routes = (0..number).map(|_| flows.sample(&mut || rng.random()));
            self.fill("routes.csv", |file| write_routes(file, cells, times, routes))?;
        }
        if config.forecast > 0 {
            let forecast = flows.forecast(&input.moves, config.forecast);
            let names = config.csv_names(&input.observations.following(config.forecast));
            self.fill("forecast.csv", |file| write_counts(file, cells, &names, &forecast))?;
        }
        if let Some((time, cell)) = given {
            let number = counts[time * cells.len() + cell];
            let shares = flows.given(time, cell).ok_or_else(|| {
                bad_input(format!(
                    "--from {}: nobody can be there at {}",
                    input.cells.name(cell),
                    input.observations.times()[time]
                ))
            })?;
            let numbers: Vec<f64> = shares.iter().map(|share| share * number).collect();
            self.fill("given.csv", |file| write_counts(file, cells, times, &numbers))?;
        }
        let tuning = &answer.summary.tuning;
        if !tuning.is_empty() {
            self.fill("tuning.csv", |file| write_tuning(file, tuning))?;
            let picture = tuning_picture(tuning);
            self.fill("tuning.svg", |file| file.write_all(picture.as_bytes()))?;
        }
        self.pictures(config, input, answer, &movements)?;
        Ok(movements)
    }

    /// Streams the flows.
    fn moves(
        &mut self,
        config: &Config,
        input: &Input,
        flows: &mut Flows,
        answer: Answer,
    ) -> Result<Movements> {
        let CsvNames { cells, times } = &CsvNames::new(config, input);
        let all_errors = answer.flow_errors();
        let kept = Picture::kept(times.len() - 1, cells, config.threshold);
        #[cfg(feature = "parquet")]
        let mut columns = match config.parquet {
            true => Some(super::parquet::Columns::new(
                self.folder.file("flows.parquet")?,
                !all_errors.is_empty(),
            )?),
            false => None,
        };
        let mut lines = match config.geojson {
            true => {
                let file = BufWriter::new(self.folder.file("flows.geojson")?);
                Some(Lines::new(file, config.crs).context("flows.geojson: cannot be written")?)
            }
            false => None,
        };
        let mut written = 0;
        let movements = self.fill("flows.csv", |file| {
            let mut table = csv::Writer::from_writer(file);
            table.write_record(move_columns(!all_errors.is_empty()))?;
            let movements = stream(flows, cells.len(), &kept, &mut |step, moves| {
                let errors = all_errors.get(written..written + moves.len()).unwrap_or(&[]);
                written += moves.len();
                let time = &input.observations.times()[step];
                #[cfg(feature = "parquet")]
                if let Some(columns) = &mut columns {
                    columns.write(&input.cells, time, moves, errors)?;
                }
                if let Some(lines) = &mut lines {
                    lines.write(
                        input.degrees.as_ref().unwrap_or(&input.cells),
                        time,
                        moves,
                        errors,
                    )?;
                }
                write_moves(&mut table, cells, &times[step], moves, errors)
            })?;
            table.flush()?;
            Ok(movements)
        })?;
        if let Some(lines) = lines {
            lines.finish().context("flows.geojson: cannot be written")?;
            self.names.push("flows.geojson".to_string());
        }
        #[cfg(feature = "parquet")]
        if let Some(columns) = columns {
            columns.finish()?;
            self.names.push("flows.parquet".to_string());
        }
        Ok(movements)
    }

    fn pictures(
        &mut self,
        config: &Config,
        input: &Input,
        answer: Answer,
        movements: &Movements,
    ) -> Result<()> {
        let times = input.observations.times().len();
        let seen = input.observed_individuals(config);
        let words = words(config, input);
        let picture = picture(&words, input, &seen, answer, movements);
        self.fill("index.html", |file| file.write_all(picture.page().as_bytes()))?;
        (0..times).try_for_each(|time| self.folder.text(&frame(time, times), &picture.frame(time)))
    }

    /// Puts the folder in its place. Returns the names of what it holds.
    pub fn publish(mut self) -> Result<Vec<String>> {
        self.folder.publish()?;
        self.names.push("frames/".to_string());
        Ok(self.names)
    }
}

/// The title of the map, and a note.
pub fn words(config: &Config, input: &Input) -> [String; 2] {
    let (cells, times) = (input.cells.len(), input.observations.times().len());
    let who = individuals(config.population, 15);
    let note = format!("{who}, {}, {}", counted(cells, "cell"), counted(times, "time"));
    [title(&config.observations), note]
}

/// The map of what was found beside what was seen.
pub fn picture<'a>(
    [title, note]: &'a [String; 2],
    input: &'a Input,
    seen: &'a Observations,
    answer: Answer<'a>,
    movements: &'a Movements,
) -> Picture<'a> {
    Picture::new((title, note), &input.cells, seen, answer.counts, movements)
        .with_errors(answer.errors)
}

/// What each count was expected to be. `[times][cells]`
pub fn expected(config: &Config, input: &Input, counts: &[f64]) -> Vec<f64> {
    let of_cell = |(at, count): (usize, &f64)| {
        input.noise.expected(at % input.cells.len(), *count, config.population)
    };
    counts.iter().enumerate().map(of_cell).collect()
}

/// The picture of a time.
fn frame(time: usize, times: usize) -> String {
    let digits = times.to_string().len().max(3);
    format!("frames/{:0digits$}.svg", time + 1)
}

/// The name of the observations without `.csv` and `.gz`.
fn title(path: &Path) -> String {
    if path == Path::new("-") {
        return "flows".to_string();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".csv").unwrap_or(name).to_string()
}
