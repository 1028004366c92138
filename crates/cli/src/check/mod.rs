//! `bethe check`: is this file valid, and what does it hold?

mod describe;
mod problem;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::model::uai::Evidence;
use bethe_core::problem::file::EnergiesFile;
use bethe_core::{MemoryLimit, OracleKind};
use bethe_tagging::Tagger;
use bethe_tagging::data::{Format, Sequences};
use bethe_tagging::features::Template;
use bethe_tagging::rules::{RULES_SHARE, parse_rules_of_any_labels};
use bethe_terminal::{Outcome, bad_input, check_apart, prompt};
use clap::Args;
use serde::de::IgnoredAny;

use crate::estimate;
use crate::input::{Content, Source, Stream};
use crate::kind::{Kind, is_model, mistaken};
use crate::memory::MemoryFlag;
use crate::report::ReportFlags;
use crate::solve::problems::{note, read_problem};
use crate::tagging::read_tagger;
use describe::Description;

/// What can be checked.
const EXPECTED: &str = "a problem, a model, tokens, a template or rules";
/// How many bytes tell a model from other files.
const START: usize = 9;

/// Check a file and say what it holds.
#[derive(Args)]
pub struct Flags {
    /// Problem (.json, .jsonl, .uai), energies, evidence (.evid), tokens with or without labels,
    /// tagging model, template, rules (.toml), or - for standard input
    file: PathBuf,

    /// Skip lines of tokens that start with this character
    #[arg(long, value_name = "CHAR")]
    comments: Option<char>,

    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    memory: MemoryFlag,
}

pub fn run(flags: Flags) -> Result<Outcome> {
    if let Some(out) = &flags.report.out {
        check_apart("--out", out, [&*flags.file])?;
    }
    let found = described(&flags.file, &flags, flags.memory.limit()?)?;
    flags.report.print(|| found.text.clone(), || Ok(found.whole_json().to_string()))?;
    Ok(Outcome::Done)
}

/// What a file holds. It is read once, from start to end, as a pipe must be.
fn described(path: &Path, flags: &Flags, memory: MemoryLimit) -> Result<Description> {
    prompt(path, "a file to check", false);
    let ending = Ending::of(path);
    let kind = Kind::of(path);
    // Tokens are read as they are needed, one sequence at a time.
    if kind == Some(Kind::Labelled) || kind == Some(Kind::Tokens) && matches!(ending, Ending::Other)
    {
        let sequences = Sequences::open(path, Format::Columns);
        let sequences = sequences.map_err(|error| bad_input(error.to_string()))?;
        return describe::tokens(path, sequences.comments(flags.comments).within(memory));
    }
    let mut stream = Stream::open(path, memory)?;
    if matches!(ending, Ending::Model) || is_model(&stream.start(START)?) {
        return model(path, stream, memory);
    }
    let mut stream = stream.without_mark()?;
    match ending {
        Ending::Problem => problem(path, stream.content(path)?, memory),
        Ending::Rules => rules(&stream.rest(Vec::new())?, memory),
        Ending::Evidence => evidence(&stream.rest(Vec::new())?, memory),
        // So is JSON, one line at a time.
        Ending::Other if stream.start(1)? == b"{" && path.extension().is_none() => {
            problem(path, stream.content(path)?, memory)
        }
        Ending::Model | Ending::Other => {
            by_content(path, stream.rest(Vec::new())?, flags.comments, memory)
        }
    }
}

/// What a text holds whose name does not tell.
fn by_content(
    path: &Path,
    source: Source,
    comments: Option<char>,
    memory: MemoryLimit,
) -> Result<Description> {
    match Kind::of_text(&source.bytes) {
        Some(Kind::Template) => template(&source, memory),
        Some(Kind::Rules) => rules(&source, memory),
        Some(Kind::Evidence) if path.extension().is_none() => evidence(&source, memory),
        Some(Kind::Labelled | Kind::Tokens | Kind::Evidence) => {
            let sequences = Sequences::new(&*source.bytes, &source.name, Format::Columns);
            describe::tokens(Path::new(&source.name), sequences.comments(comments).within(memory))
        }
        Some(Kind::Json | Kind::Uai) | None => problem(path, source.content(path)?, memory),
        Some(kind) => Err(mistaken(path, kind, EXPECTED, None)),
    }
}

/// What the end of a file's name says.
enum Ending {
    Problem,
    Evidence,
    Rules,
    Model,
    Other,
}

impl Ending {
    fn of(path: &Path) -> Self {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("json" | "jsonl" | "uai") => Self::Problem,
            Some("evid") => Self::Evidence,
            Some("toml") => Self::Rules,
            Some("safetensors") => Self::Model,
            _ => Self::Other,
        }
    }
}

fn model(path: &Path, stream: Stream, memory: MemoryLimit) -> Result<Description> {
    let tagger = if path.is_file() {
        read_tagger(path, memory)?
    } else {
        let source = stream.rest(Vec::new())?;
        let read = Tagger::from_bytes_within(&source.bytes, memory);
        read.map_err(|error| source.wrong(error))?
    };
    Ok(describe::model(&path.display().to_string(), &tagger))
}

fn template(source: &Source, memory: MemoryLimit) -> Result<Description> {
    let text = std::str::from_utf8(&source.bytes).map_err(|error| source.wrong(error))?;
    let bytes = Template::estimated_bytes(text);
    memory.check("the template", bytes).map_err(|error| source.wrong(error))?;
    let template = text.parse::<Template>().map_err(|error| source.wrong(error))?;
    Ok(describe::template(&source.name, &template))
}

fn evidence(source: &Source, memory: MemoryLimit) -> Result<Description> {
    estimate::check_evidence(&source.bytes, memory).map_err(|error| source.wrong(error))?;
    let evidence = Evidence::from_uai(&source.bytes).map_err(|e| source.wrong(e))?;
    note(source, evidence.ignored(), false);
    Ok(describe::evidence(&source.name, &evidence))
}

fn rules(source: &Source, memory: MemoryLimit) -> Result<Description> {
    let bytes = RULES_SHARE * source.bytes.len() as f64;
    memory.check("the file", bytes).map_err(|error| source.wrong(error))?;
    let text = std::str::from_utf8(&source.bytes).map_err(|error| source.wrong(error))?;
    let read = parse_rules_of_any_labels(&source.name, text);
    let (rules, states) = read.map_err(|error| bad_input(error.to_string()))?;
    Ok(describe::rules(&source.name, &rules, &states))
}

fn problem(path: &Path, content: Content, memory: MemoryLimit) -> Result<Description> {
    match content {
        Content::Single(source) => single(&source, memory),
        Content::Uai(source) => alone(&source, true, memory),
        Content::Lines(mut lines) => {
            let is_open = lines.may_be_one_text();
            let Some(first) = lines.next().transpose()? else {
                return Ok(describe::Batch::default().described(&path.display().to_string()));
            };
            let second = lines.next().transpose()?;
            if is_open && second.is_none() {
                return single(&first.alone(path), memory);
            }
            let mut batch = describe::Batch::default();
            for source in [first].into_iter().chain(second).map(Ok).chain(lines) {
                let source = source?;
                let problem = read_problem(&source, false, false, memory)?;
                problem.check_solvable(OracleKind::Auto, memory).map_err(|e| source.wrong(e))?;
                batch.add(&problem);
            }
            Ok(batch.described(&path.display().to_string()))
        }
    }
}

fn single(source: &Source, memory: MemoryLimit) -> Result<Description> {
    estimate::check_json(&source.bytes, memory).map_err(|error| source.wrong(error))?;
    if !is_energies_file(source) {
        return alone(source, false, memory);
    }
    let file = EnergiesFile::from_json(&source.bytes).map_err(|e| source.mistake(e))?;
    Ok(describe::energies_file(&source.name, &file))
}

/// A file that holds one problem.
fn alone(source: &Source, is_uai: bool, memory: MemoryLimit) -> Result<Description> {
    let problem = read_problem(source, is_uai, false, memory)?;
    problem::problem(&source.name, &problem, memory).map_err(|e| source.wrong(e))
}

/// Whether it is an object with energies and no part of a model.
fn is_energies_file(source: &Source) -> bool {
    let fields: Result<HashMap<String, IgnoredAny>, _> = serde_json::from_slice(&source.bytes);
    let model = ["variables", "factors", "evidence"];
    fields.is_ok_and(|f| f.contains_key("energies") && !model.iter().any(|m| f.contains_key(*m)))
}
