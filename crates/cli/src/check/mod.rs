//! `bethe check`: is this file valid, and what does it hold?

mod describe;

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bethe_core::problem::file::EnergiesFile;
use bethe_core::{MemoryLimit, OracleKind};
use bethe_tagging::features::Template;
use bethe_tagging::rules::rules_of_any_labels;
use bethe_terminal::{Outcome, bad_input, print};
use clap::Args;
use serde::de::IgnoredAny;

use crate::input::{self, Content, Source};
use crate::inspect::summary;
use crate::memory::MemoryFlag;
use crate::solve::problems::{Reading, read_evidence, read_problem};
use crate::tagging::read_tagger;

/// Check a file and say what it holds.
#[derive(Args)]
pub struct Flags {
    /// Problem (.json, .jsonl, .uai), energies, evidence (.evid), tagging model, template, rules
    /// (.toml), or - for standard input
    file: PathBuf,

    #[command(flatten)]
    memory: MemoryFlag,
}

pub fn run(flags: Flags) -> Result<Outcome> {
    let memory = flags.memory.limit()?;
    if is_model(&flags.file) {
        let tagger = read_tagger(&flags.file)?;
        print(&summary(&flags.file.display().to_string(), &tagger)).context("standard output")?;
        return Ok(Outcome::Done);
    }
    if flags.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("evid")) {
        let (source, evidence) = read_evidence(&flags.file, Reading { memory, quiet: false })?;
        print(&describe::evidence(&source.name, &evidence)).context("standard output")?;
        return Ok(Outcome::Done);
    }
    if let Some(text) = tagging_file(&flags.file)? {
        print(&text).context("standard output")?;
        return Ok(Outcome::Done);
    }
    let text = match input::read(&flags.file, memory)? {
        Content::Single(source) if is_energies_file(&source) => {
            let file = EnergiesFile::from_json(&source.bytes).map_err(|e| source.mistake(e))?;
            describe::energies_file(&source.name, &file)
        }
        Content::Single(source) => described(&source, false, memory)?,
        Content::Uai(source) => described(&source, true, memory)?,
        Content::Lines(sources) => {
            let mut problems = Vec::with_capacity(sources.len());
            for source in &sources {
                let problem = read_problem(source, false, false)?;
                problem.check_solvable(OracleKind::Auto, memory).map_err(|e| source.wrong(e))?;
                problems.push(problem);
            }
            describe::problems(&flags.file.display().to_string(), &problems)
        }
    };
    print(&text).context("standard output")?;
    Ok(Outcome::Done)
}

/// What a rules file or a template holds; `None` for other files.
fn tagging_file(path: &Path) -> Result<Option<String>> {
    let name = path.display().to_string();
    if path.extension().is_some_and(|extension| extension == "toml") {
        let read = rules_of_any_labels(path).map_err(|error| bad_input(error.to_string()))?;
        return Ok(Some(describe::rules(&name, &read.0, &read.1)));
    }
    if !is_template(path) {
        return Ok(None);
    }
    let template = Template::read(path).map_err(|error| bad_input(error.to_string()))?;
    Ok(Some(describe::template(&name, &template)))
}

/// Whether the first line that is neither blank nor a comment starts like a template's. Problem
/// files and standard input do not.
fn is_template(path: &Path) -> bool {
    let json =
        path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
    if json || !path.is_file() {
        return false;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let bigram = |line: &str| line.trim_end() == "B" || line.starts_with("B%");
    let unigram = |line: &str| line.starts_with(['U', 'R', 'L']);
    let tells = |line: &str| bigram(line) || unigram(line) && line.contains(['%', ':']);
    let first = lines.next();
    // A name alone, `Ubias`, may be any word: then the other lines tell.
    first.is_some_and(|line| {
        tells(line) || unigram(line) && lines.clone().count() > 0 && lines.all(tells)
    })
}

/// Whether a file is a safetensors file by its name or its start: the length of the JSON header.
fn is_model(path: &Path) -> bool {
    let mut start = [0; 9];
    let opened = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    let length = u64::from_le_bytes(start[..8].try_into().expect("eight bytes"));
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    let named = path.extension().is_some_and(|extension| extension == "safetensors");
    named || opened.is_ok() && start[8] == b'{' && length < size
}

fn described(source: &Source, is_uai: bool, memory: MemoryLimit) -> Result<String> {
    let problem = read_problem(source, is_uai, false)?;
    describe::problem(&source.name, &problem, memory).map_err(|e| source.wrong(e))
}

/// Whether it is an object with energies and no part of a model.
fn is_energies_file(source: &Source) -> bool {
    let fields: Result<HashMap<String, IgnoredAny>, _> = serde_json::from_slice(&source.bytes);
    let model = ["variables", "factors", "evidence"];
    fields.is_ok_and(|f| f.contains_key("energies") && !model.iter().any(|m| f.contains_key(*m)))
}
