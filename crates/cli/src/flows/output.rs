//! The files of `--out`. Each appears whole, and none before all are written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bethe_flows::infer::Flows;
use bethe_flows::output::{
    Movements, Picture, Summary, stream, write_counts, write_moves, write_net, write_routes,
};
use bethe_terminal::{Folder, PendingFile, bad_input, check_apart};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::config::Config;
use super::input::Input;

/// A folder and the files to be written into it.
pub struct Output {
    // Dropped in this order: unwritten files first, then the folders that this leaves empty.
    files: Vec<(PathBuf, PendingFile)>,
    frames: Folder,
    folder: Folder,
}

impl Output {
    /// Creates the folder, so that a failure shows before any work is done.
    pub fn create(folder: &Path) -> Result<Self> {
        let (folder, frames) = (Folder::create(folder)?, folder.join("frames"));
        let mut output = Self { files: Vec::new(), frames: Folder::create(&frames)?, folder };
        output.add("summary.json")?;
        Ok(output)
    }

    fn add(&mut self, name: &str) -> Result<&mut PendingFile> {
        let path = self.folder.path().join(name);
        let file = PendingFile::create(&path)?;
        self.files.push((path, file));
        Ok(&mut self.files.last_mut().expect("just added").1)
    }

    fn text(&mut self, name: &str, content: &str) -> Result<()> {
        self.add(name)?.fill(|file| file.write_all(content.as_bytes()))
    }

    /// Writes everything that was asked for.
    pub fn write(
        &mut self,
        config: &Config,
        input: &Input,
        flows: &mut Flows,
        (counts, summary): (&[f64], &Summary),
    ) -> Result<Movements> {
        let (cells, times) = (&input.cells, input.observations.times());
        let given = input.given(config)?;
        self.add("counts.csv")?.fill(|file| write_counts(file, cells, times, counts))?;
        let movements = self.moves(config, input, flows)?;
        self.add("net.csv")?.fill(|file| write_net(file, cells, times, &movements))?;
        if let Some((number, seed)) = config.sample {
            let mut rng = StdRng::seed_from_u64(seed);
            let routes = (0..number).map(|_| flows.sample(&mut || rng.random()));
            self.add("routes.csv")?.fill(|file| write_routes(file, cells, times, routes))?;
        }
        if config.forecast > 0 {
            let forecast = flows.forecast(&input.moves, config.forecast);
            let names = input.observations.following(config.forecast);
            self.add("forecast.csv")?.fill(|file| write_counts(file, cells, &names, &forecast))?;
        }
        if let Some((time, cell)) = given {
            let number = counts[time * cells.len() + cell];
            let shares = flows.given(time, cell).ok_or_else(|| {
                bad_input(format!(
                    "--from {}: nobody can be there at {}",
                    cells.name(cell),
                    times[time]
                ))
            })?;
            let numbers: Vec<f64> = shares.iter().map(|share| share * number).collect();
            self.add("given.csv")?.fill(|file| write_counts(file, cells, times, &numbers))?;
        }
        self.pictures(config, input, counts, &movements)?;
        let json = serde_json::to_string_pretty(summary)? + "\n";
        self.files[0].1.fill(|file| file.write_all(json.as_bytes()))?;
        Ok(movements)
    }

    /// Streams the flows.
    fn moves(&mut self, config: &Config, input: &Input, flows: &mut Flows) -> Result<Movements> {
        let (cells, times) = (&input.cells, input.observations.times());
        let kept = (config.threshold, Picture::arrows(times.len() - 1));
        #[cfg(feature = "parquet")]
        let path = self.folder.path().join("flows.parquet");
        #[cfg(feature = "parquet")]
        let mut columns = match config.parquet {
            true => Some(super::parquet::Columns::new(PendingFile::create(&path)?)?),
            false => None,
        };
        let movements = self.add("flows.csv")?.fill(|file| {
            let mut table = csv::Writer::from_writer(file);
            table.write_record(["time", "from", "to", "count"])?;
            let movements = stream(flows, cells.len(), kept, &mut |step, moves| {
                #[cfg(feature = "parquet")]
                if let Some(columns) = &mut columns {
                    columns.write(cells, &times[step], moves)?;
                }
                write_moves(&mut table, cells, &times[step], moves)
            })?;
            table.flush()?;
            Ok(movements)
        })?;
        #[cfg(feature = "parquet")]
        if let Some(columns) = columns {
            self.files.push((path, columns.finish()?));
        }
        Ok(movements)
    }

    fn pictures(
        &mut self,
        config: &Config,
        input: &Input,
        counts: &[f64],
        movements: &Movements,
    ) -> Result<()> {
        let times = input.observations.times().len();
        let title = title(&config.observations);
        let note = format!(
            "{} individuals, {} cells, {times} times: expected counts and flows",
            config.population,
            input.cells.len()
        );
        let picture =
            Picture::new((&title, &note), &input.cells, &input.observations, counts, movements);
        self.text("index.html", &picture.page())?;
        let digits = times.to_string().len().max(3);
        for time in 0..times {
            let name = format!("frames/{:0digits$}.svg", time + 1);
            self.text(&name, &picture.frame(time))?;
        }
        Ok(())
    }

    /// Gives all files their names, unless one of them is an input.
    pub fn publish(mut self, inputs: &[&Path]) -> Result<Vec<String>> {
        for (path, _) in &self.files {
            check_apart("--out", path, inputs.iter().copied())?;
        }
        self.remove_old_frames();
        let mut names = Vec::new();
        for (path, file) in std::mem::take(&mut self.files) {
            file.publish()?;
            let name = path.strip_prefix(self.folder.path()).unwrap_or(&path).display().to_string();
            if !name.starts_with("frames") {
                names.push(name);
            }
        }
        names.push("frames/".to_string());
        Ok(names)
    }

    /// Removes frames that an earlier run left for times that this run does not have.
    fn remove_old_frames(&self) {
        let Ok(entries) = fs::read_dir(self.frames.path()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_frame = path.extension().is_some_and(|extension| extension == "svg")
                && path
                    .file_stem()
                    .is_some_and(|stem| stem.to_string_lossy().chars().all(|c| c.is_ascii_digit()));
            if is_frame && !self.files.iter().any(|(own, _)| *own == path) {
                let _ = fs::remove_file(path);
            }
        }
    }
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

/// The summary on standard output.
pub fn print(summary: &Summary) -> Result<()> {
    let json = serde_json::to_string(summary)? + "\n";
    bethe_terminal::print(&json).context("standard output")
}
