use anyhow::Result;
use bethe_core::Problem;
use bethe_core::model::file::EnergiesFile;

use super::config::Config;
use crate::files::{self, Content, Source};

/// A checked problem and the name of the text it came from.
pub struct NamedProblem {
    pub source: String,
    pub problem: Problem,
}

/// Reads and checks every problem, with the further energies on each.
pub fn read(config: &Config) -> Result<Vec<NamedProblem>> {
    let sources = match files::read(&config.problem)? {
        Content::Single(source) => vec![source],
        Content::Lines(sources) => sources,
    };
    let further = match &config.energies {
        None => None,
        Some(path) => {
            let source = single(files::read(path)?)?;
            let file = EnergiesFile::from_json(&source.json).map_err(|e| source.mistake(e))?;
            Some((source, file))
        }
    };
    let several = sources.len() > 1;
    let read_one = |source: Source| {
        let mut problem = Problem::from_json(&source.json).map_err(|e| source.mistake(e))?;
        if let Some((energies_source, file)) = &further {
            problem.add_energies(file).map_err(|error| {
                let whose =
                    if several { format!(" (with {})", source.name) } else { String::new() };
                energies_source.wrong(format!("{error}{whose}"))
            })?;
        }
        Ok(NamedProblem { source: source.name, problem })
    };
    sources.into_iter().map(read_one).collect()
}

fn single(content: Content) -> Result<Source> {
    match content {
        Content::Single(source) => Ok(source),
        Content::Lines(mut sources) if sources.len() == 1 => Ok(sources.remove(0)),
        Content::Lines(sources) => Err(crate::outcome::bad_input(format!(
            "--energies: found {} JSON texts, expected one",
            sources.len()
        ))),
    }
}
