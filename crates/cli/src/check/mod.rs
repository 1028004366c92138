//! `bethe check`: is this file right, and what does it hold?

mod describe;

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use bethe_core::Problem;
use bethe_core::model::file::EnergiesFile;
use clap::Args;
use serde::de::IgnoredAny;

use crate::files::{self, Content, Source};
use crate::outcome::{Outcome, print};

/// Check a problem, energies or .jsonl file and say what it holds.
#[derive(Args)]
pub struct Flags {
    /// Problem file, energies file, .jsonl file, or - for standard input
    file: PathBuf,
}

pub fn run(flags: Flags) -> Result<Outcome> {
    let text = match files::read(&flags.file)? {
        Content::Single(source) if is_energies_file(&source) => {
            let file = EnergiesFile::from_json(&source.json).map_err(|e| source.mistake(e))?;
            describe::energies_file(&source.name, &file)
        }
        Content::Single(source) => {
            let problem = read_problem(&source)?;
            describe::problem(&source.name, &problem).map_err(|e| source.wrong(e))?
        }
        Content::Lines(sources) => {
            let mut problems = Vec::with_capacity(sources.len());
            for source in &sources {
                let problem = read_problem(source)?;
                problem.check_solvable().map_err(|e| source.wrong(e))?;
                problems.push(problem);
            }
            describe::problems(&flags.file.display().to_string(), &problems)
        }
    };
    print(&text).context("standard output")?;
    Ok(Outcome::Done)
}

fn read_problem(source: &Source) -> Result<Problem> {
    Problem::from_json(&source.json).map_err(|e| source.mistake(e))
}

/// An object that has energies and nothing of a model.
fn is_energies_file(source: &Source) -> bool {
    let fields: Result<HashMap<String, IgnoredAny>, _> = serde_json::from_slice(&source.json);
    let model = ["variables", "factors", "evidence"];
    fields.is_ok_and(|f| f.contains_key("energies") && !model.iter().any(|m| f.contains_key(*m)))
}
