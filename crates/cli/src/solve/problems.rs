use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use bethe_core::model::uai::{Evidence, Ignored, Sample, read_model};
use bethe_core::problem::file::EnergiesFile;
use bethe_core::{MemoryLimit, Problem};
use bethe_terminal::{bad_input, prompt, say};

use crate::estimate;
use crate::input::{self, Content, LineError, Lines, Source};
use crate::kind::Kind;
use crate::mistakes::is_evidence;

/// The files of a problem.
pub struct Inputs<'a> {
    pub problem: &'a Path,
    pub energies: Option<&'a Path>,
    pub evidence: Option<&'a Path>,
    /// No notes on standard error.
    pub quiet: bool,
    /// The memory limit of the text of each file.
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

    /// A model is no evidence.
    fn check_kinds(&self) -> Result<()> {
        let Some(path) = self.evidence.filter(|path| Kind::of(path) == Some(Kind::Uai)) else {
            return Ok(());
        };
        let meant = format!("{} --evidence {}", path.display(), self.problem.display());
        let meant = match is_evidence(self.problem) {
            true => format!(". Did you mean `{meant}`?"),
            false => String::new(),
        };
        let path = path.display();
        Err(bad_input(format!("{path}: found a UAI model, expected evidence{meant}")))
    }
}

/// A checked problem and the name of its source.
pub struct NamedProblem {
    pub source: String,
    pub problem: Problem,
    /// How long it took to parse.
    pub parsing: Duration,
}

/// What a file of problems holds.
pub enum Problems {
    /// One problem, or one for each sample of evidence; all checked.
    Whole(Vec<NamedProblem>),
    /// One per line, read on demand.
    Lines(Lines, Arc<Additions>),
}

/// Opens a file of problems.
pub fn open(inputs: &Inputs) -> Result<Problems> {
    inputs.check()?;
    inputs.check_kinds()?;
    let files = [Some(inputs.problem), inputs.energies, inputs.evidence];
    files.into_iter().flatten().for_each(|path| prompt(path, "JSON or UAI", inputs.quiet));
    let content = input::read(inputs.problem, inputs.memory)?;
    let additions = Additions::read(inputs)?;
    let whole = |source: Source, is_uai| -> Result<Problems> {
        additions.added(&source, is_uai, false).map(Problems::Whole)
    };
    match content {
        Content::Single(source) => whole(source, false),
        Content::Uai(source) => whole(source, true),
        Content::Lines(lines) => Ok(Problems::Lines(lines, Arc::new(additions))),
    }
}

/// Reads and checks every problem, with the energies of `--energies`, once for each sample of the
/// evidence.
pub fn read(inputs: &Inputs) -> Result<Vec<NamedProblem>> {
    match open(inputs)? {
        Problems::Whole(problems) => Ok(problems),
        Problems::Lines(lines, additions) => collected(lines, &additions, inputs.problem),
    }
}

/// The problems of all lines at once.
pub fn collected(lines: Lines, additions: &Additions, path: &Path) -> Result<Vec<NamedProblem>> {
    let is_open = lines.may_be_one_text();
    let mut sources = lines.collect::<Result<Vec<Source>, LineError>>()?;
    if is_open && sources.len() == 1 {
        sources = vec![sources.remove(0).alone(path)];
    }
    let several = sources.len() > 1;
    let mut problems = Vec::with_capacity(sources.len());
    for source in sources {
        problems.extend(additions.problems(&source, several)?);
    }
    Ok(problems)
}

/// What is added to every problem: energies, and samples of evidence.
pub struct Additions {
    /// For each text, with what is made of it.
    memory: MemoryLimit,
    energies: Option<(Source, EnergiesFile)>,
    evidence: Option<(Source, Evidence)>,
    /// No notes on standard error.
    quiet: bool,
}

impl Additions {
    fn read(inputs: &Inputs) -> Result<Self> {
        let evidence = inputs.evidence.map(|path| read_evidence(path, inputs)).transpose()?;
        let energies = match inputs.energies {
            None => None,
            Some(path) => {
                let source = single(input::read(path, inputs.memory)?, path)?;
                estimate::check_json(&source.bytes, inputs.memory).map_err(|e| source.wrong(e))?;
                let file = EnergiesFile::from_json(&source.bytes).map_err(|e| source.mistake(e))?;
                Some((source, file))
            }
        };
        Ok(Self { memory: inputs.memory, energies, evidence, quiet: inputs.quiet })
    }

    /// How many answers a problem gets.
    pub fn answers(&self) -> usize {
        self.evidence.as_ref().map_or(1, |(_, evidence)| evidence.samples().len())
    }

    /// The problems of a JSON text; `several` says whether it is one of many.
    pub fn problems(&self, source: &Source, several: bool) -> Result<Vec<NamedProblem>> {
        self.added(source, false, several)
    }

    /// The problems of a text.
    fn added(&self, source: &Source, is_uai: bool, several: bool) -> Result<Vec<NamedProblem>> {
        let start = Instant::now();
        let mut problem = read_problem(source, is_uai, self.quiet, self.memory)?;
        if let Some((energies, file)) = &self.energies {
            problem.add_energies(file).map_err(|error| {
                let whose =
                    if several { format!(" (with {})", source.name) } else { String::new() };
                energies.wrong(format!("{error}{whose}"))
            })?;
        }
        let (name, parsing) = (source.name.clone(), start.elapsed());
        let named = NamedProblem { source: name, problem, parsing };
        let Some((source, evidence)) = &self.evidence else { return Ok(vec![named]) };
        let samples = evidence.samples();
        let number = |index| (samples.len() > 1).then_some(index);
        let observed = samples.iter().enumerate();
        observed.map(|(index, sample)| named.observe(source, sample, number(index))).collect()
    }
}

/// Reads one problem that fits into the limit. A note says what a UAI file has after its end, unless
/// it is to be quiet.
pub fn read_problem(
    source: &Source,
    is_uai: bool,
    quiet: bool,
    memory: MemoryLimit,
) -> Result<Problem> {
    let checked = match is_uai {
        true => estimate::check_uai(&source.bytes, memory),
        false => estimate::check_json(&source.bytes, memory),
    };
    checked.map_err(|error| source.wrong(error))?;
    if !is_uai {
        return Problem::from_json(&source.bytes).map_err(|e| source.mistake(e));
    }
    let (model, ignored) = read_model(&source.bytes).map_err(|e| source.wrong(e))?;
    note(source, ignored.as_ref(), quiet);
    Ok(Problem::new(model, Vec::new()).expect("no energies"))
}

/// Reads evidence. A note says what the file has after its end, unless it is to be quiet.
fn read_evidence(path: &Path, inputs: &Inputs) -> Result<(Source, Evidence)> {
    let source = Source::whole(path, inputs.memory)?;
    estimate::check_evidence(&source.bytes, inputs.memory).map_err(|e| source.wrong(e))?;
    let evidence = Evidence::from_uai(&source.bytes).map_err(|e| source.wrong(e))?;
    note(&source, evidence.ignored(), inputs.quiet);
    Ok((source, evidence))
}

/// Says what was ignored. If standard error is closed, there is nobody to tell.
pub fn note(source: &Source, ignored: Option<&Ignored>, quiet: bool) {
    if let Some(ignored) = ignored.filter(|_| !quiet) {
        say(&format!("note: {}: {ignored}", source.name));
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

fn single(content: Content, path: &Path) -> Result<Source> {
    match content {
        Content::Single(source) | Content::Uai(source) => Ok(source),
        Content::Lines(mut lines) => {
            let is_open = lines.may_be_one_text();
            let first = lines.next().transpose()?;
            let more = lines.try_fold(0, |count, line| line.map(|_| count + 1))?;
            match first {
                Some(first) if more == 0 && is_open => Ok(first.alone(path)),
                Some(first) if more == 0 => Ok(first),
                first => {
                    let found = more + usize::from(first.is_some());
                    let what = format!("--energies: found {found} JSON texts, expected one");
                    Err(bad_input(what))
                }
            }
        }
    }
}
