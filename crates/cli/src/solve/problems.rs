use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use bethe_core::model::uai::{Evidence, Ignored, Sample, read_model};
use bethe_core::problem::file::EnergiesFile;
use bethe_core::{MemoryLimit, Problem};
use bethe_terminal::bad_input;

use crate::input::{self, Content, Source};

/// The files of a problem.
pub struct Inputs<'a> {
    pub problem: &'a Path,
    pub energies: Option<&'a Path>,
    pub evidence: Option<&'a Path>,
    /// No notes on standard error.
    pub quiet: bool,
    /// For the text of each.
    pub memory: MemoryLimit,
}

impl Inputs<'_> {
    /// Standard input can serve as only one of the files.
    fn check(&self) -> Result<()> {
        let is_standard_input = |path: Option<&Path>| path == Some(Path::new("-"));
        let problem = is_standard_input(Some(self.problem));
        let energies = is_standard_input(self.energies);
        for (flag, twice) in [
            ("--energies", problem && energies),
            ("--evidence", (problem || energies) && is_standard_input(self.evidence)),
        ] {
            if twice {
                return Err(bad_input(format!(
                    "{flag}: standard input (-) can be used for only one file"
                )));
            }
        }
        Ok(())
    }
}

/// A checked problem and the name of its source.
pub struct NamedProblem {
    pub source: String,
    pub problem: Problem,
    /// How long it took to parse.
    pub parsing: Duration,
}

/// Reads and checks every problem, with the energies of `--energies`, once for each sample of the
/// evidence.
pub fn read(inputs: &Inputs) -> Result<Vec<NamedProblem>> {
    inputs.check()?;
    let (sources, is_uai) = match input::read(inputs.problem, inputs.memory)? {
        Content::Single(source) => (vec![source], false),
        Content::Uai(source) => (vec![source], true),
        Content::Lines(sources) => (sources, false),
    };
    let reading = Reading { memory: inputs.memory, quiet: inputs.quiet };
    let evidence = inputs.evidence.map(|path| read_evidence(path, reading)).transpose()?;
    let further = match inputs.energies {
        None => None,
        Some(path) => {
            let source = single(input::read(path, inputs.memory)?)?;
            let file = EnergiesFile::from_json(&source.bytes).map_err(|e| source.mistake(e))?;
            Some((source, file))
        }
    };
    let several = sources.len() > 1;
    let read_one = |source: Source| {
        let start = Instant::now();
        let mut problem = read_problem(&source, is_uai, inputs.quiet)?;
        if let Some((energies_source, file)) = &further {
            problem.add_energies(file).map_err(|error| {
                let whose =
                    if several { format!(" (with {})", source.name) } else { String::new() };
                energies_source.wrong(format!("{error}{whose}"))
            })?;
        }
        Ok(NamedProblem { source: source.name, problem, parsing: start.elapsed() })
    };
    let problems = sources.into_iter().map(read_one).collect::<Result<Vec<_>>>()?;
    let Some((source, evidence)) = evidence else { return Ok(problems) };
    let mut observed = Vec::with_capacity(problems.len() * evidence.samples().len());
    for named in problems {
        for (index, sample) in evidence.samples().iter().enumerate() {
            let number = (evidence.samples().len() > 1).then_some(index);
            observed.push(named.observe(&source, sample, number)?);
        }
    }
    Ok(observed)
}

/// Reads one problem. A note says what a UAI file has after its end, unless it is to be quiet.
pub fn read_problem(source: &Source, is_uai: bool, quiet: bool) -> Result<Problem> {
    if !is_uai {
        return Problem::from_json(&source.bytes).map_err(|e| source.mistake(e));
    }
    let (model, ignored) = read_model(&source.bytes).map_err(|e| source.wrong(e))?;
    note(source, ignored.as_ref(), quiet);
    Ok(Problem::new(model, Vec::new()).expect("no energies"))
}

/// How a file is read.
#[derive(Clone, Copy)]
pub struct Reading {
    pub memory: MemoryLimit,
    /// No notes on standard error.
    pub quiet: bool,
}

/// Reads evidence. A note says what the file has after its end, unless it is to be quiet.
pub fn read_evidence(path: &Path, reading: Reading) -> Result<(Source, Evidence)> {
    let Reading { memory, quiet } = reading;
    let source = Source::whole(path, memory)?;
    let evidence = Evidence::from_uai(&source.bytes).map_err(|e| source.wrong(e))?;
    note(&source, evidence.ignored(), quiet);
    Ok((source, evidence))
}

/// Says what was ignored. If standard error is closed, there is nobody to tell.
fn note(source: &Source, ignored: Option<&Ignored>, quiet: bool) {
    if let Some(ignored) = ignored.filter(|_| !quiet) {
        let _ = writeln!(io::stderr(), "note: {}: {ignored}", source.name);
    }
}

impl NamedProblem {
    /// The same with a sample of evidence; `number` is given if there are several.
    fn observe(&self, evidence: &Source, sample: &Sample, number: Option<usize>) -> Result<Self> {
        let mut problem = self.problem.clone();
        problem.observe(sample).map_err(|error| evidence.wrong(error))?;
        let number = number.map_or(String::new(), |number| format!("sample {number} of "));
        let source = format!("{} with {number}{}", self.source, evidence.name);
        Ok(Self { source, problem, parsing: self.parsing })
    }
}

fn single(content: Content) -> Result<Source> {
    match content {
        Content::Single(source) | Content::Uai(source) => Ok(source),
        Content::Lines(mut sources) if sources.len() == 1 => Ok(sources.remove(0)),
        Content::Lines(sources) => {
            Err(bad_input(format!("--energies: found {} JSON texts, expected one", sources.len())))
        }
    }
}
