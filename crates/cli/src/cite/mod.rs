//! `bethe cite`: references in plain text to bibliography entries.

mod flags;
mod inputs;
mod lines;
mod unwrap;
mod write;

pub use flags::{Flags, Format};
pub use lines::Line;
pub use write::{Place, Writer};
#[cfg(feature = "serve")]
pub use {flags::Unwrap, lines::Lines, unwrap::References, write::Record};

use std::time::Instant;

use anyhow::Result;
use bethe_cite::{Parsed, Parser, Parsing, Refusal, SameAuthors};
use bethe_tagging::{TagError, TagOptions, Tagger};
use bethe_terminal::{Outcome, bad_input, counted, say, threads};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::output::Output;
use crate::tagging::{Batches, FileProgress, SHARE, Statistics, read_tagger};
use inputs::Input;

/// Reads files, standard input or a text.
pub fn run(flags: Flags) -> Result<Outcome> {
    flags.check()?;
    inputs::check_kinds(&flags)?;
    let pool = threads::pool(flags.threads)?;
    let tagger = tagger(&flags)?;
    let memory = flags.limits.memory(pool.current_num_threads())?;
    let options = TagOptions {
        memory_limit: memory,
        // BibTeX says which entries are worth checking.
        marginals: flags.marginals || flags.format == Format::Bibtex,
        explain: flags.explain,
        ..flags.limits.options(&tagger)?
    };
    let parser = Parser::new(&tagger, flags.tokens.dialect(&tagger, &flags.model_name())?);
    check_labels(&flags, &parser)?;
    // A missing file is reported before anything is written.
    let inputs = inputs::all(&flags, memory);
    let opened = inputs.iter().map(Input::open).collect::<Result<Vec<_>>>()?;
    let mut out = Output::open(flags.out.as_deref())?;
    let mut citing = Citing {
        pool: &pool,
        parser: &parser,
        options: &options,
        writer: Writer::new(&parser, flags.format, flags.explain),
        counts: Counts::default(),
        progress: FileProgress::new("reference", flags.quiet, flags.out.is_none()),
    };
    let begun = Instant::now();
    for (input, batches) in inputs.iter().zip(opened) {
        if let Err(error) = citing.read(input, batches, &mut out) {
            // Close the JSON array even after an error.
            if citing.writer.has_begun() && flags.out.is_none() {
                out.write(citing.writer.end())?;
            }
            return Err(error);
        }
    }
    out.write(citing.writer.end())?;
    out.finish()?;
    citing.progress.end();
    if !flags.quiet {
        citing.counts.print(begun.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}

/// The model: the built-in one unless another is given.
fn tagger(flags: &Flags) -> Result<Tagger> {
    let limit = flags.limits.whole_memory()?;
    match &flags.model {
        Some(path) => read_tagger(path, limit),
        None => Ok(Parser::embedded().tagger().clone()),
    }
}

/// Formats of references need labels that mean fields of references.
fn check_labels(flags: &Flags, parser: &Parser) -> Result<()> {
    let of_references = matches!(flags.format, Format::Bibtex | Format::CslJson | Format::Ris);
    match of_references && !parser.meanings().has_fields() {
        true => Err(bad_input(format!(
            "{}: found the labels {}, expected fields of references among them, such as author, title \
             and year (--format json and conll write any labels)",
            flags.model_name(),
            some_labels(parser.tagger())
        ))),
        false => Ok(()),
    }
}

/// What reading a file takes, and what came out so far.
struct Citing<'a> {
    pool: &'a ThreadPool,
    parser: &'a Parser,
    options: &'a TagOptions,
    writer: Writer<'a>,
    counts: Counts,
    progress: FileProgress,
}

impl Citing<'_> {
    fn read(&mut self, input: &Input, mut batches: Batches<Line>, out: &mut Output) -> Result<()> {
        let mut same = SameAuthors::default();
        while !out.is_closed() {
            let batch = batches.next()?;
            if batch.is_empty() {
                break;
            }
            let lines: Vec<&Line> =
                batch.iter().filter(|line| self.counts.takes(line, input)).collect();
            let parse =
                |parsing: &mut Parsing, line: &&Line| parsing.parse(&line.text, self.options);
            let parsed: Result<Vec<Parsed>, TagError> = self.pool.install(|| {
                let lines = lines.par_iter().with_min_len(SHARE);
                lines.map_init(|| Parsing::new(self.parser), parse).collect()
            });
            let mut text = String::new();
            for (line, mut parsed) in lines.iter().zip(parsed?) {
                same.fill(&mut parsed.entry);
                self.counts.add(line, &parsed, input);
                self.writer.add(
                    &mut text,
                    &Place { file: input.name(), line: line.number },
                    &parsed,
                );
            }
            out.write(&text)?;
            self.progress.add(batch.len(), batches.share());
        }
        Ok(())
    }
}

/// Some of a model's labels.
fn some_labels(tagger: &Tagger) -> String {
    const SHOWN: usize = 5;
    let states = tagger.states();
    let shown = (0..states.len().min(SHOWN)).map(|state| states.label(state));
    let more = if states.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// Counts for the summary.
#[derive(Default)]
struct Counts {
    entries: usize,
    /// Entries that only hold the text of their line.
    unparsed: usize,
    blank: usize,
    /// Lines that hold several references, and the first of them.
    several: usize,
    first_several: String,
    /// Lines that were not UTF-8, and the first of them.
    replaced: usize,
    first_replaced: String,
    statistics: Statistics,
}

impl Counts {
    /// Counts a line. Returns whether it holds a reference.
    fn takes(&mut self, line: &Line, input: &Input) -> bool {
        if line.replaced {
            self.replaced += 1;
            if self.replaced == 1 {
                self.first_replaced = input.place(line.number);
            }
        }
        let is_blank = bethe_cite::clean(&line.text).is_empty();
        self.blank += usize::from(is_blank);
        !is_blank
    }

    fn add(&mut self, line: &Line, parsed: &Parsed, input: &Input) {
        self.entries += 1;
        if parsed.refused == Some(Refusal::Several) {
            self.several += 1;
            if self.several == 1 {
                self.first_several = input.place(line.number);
            }
        }
        self.unparsed += usize::from(parsed.entry.unparsed.is_some());
        if let Some(tagged) = &parsed.tagged {
            self.statistics.add(tagged);
        }
    }

    fn print(&self, seconds: f64) {
        let speed = self.entries as f64 / seconds.max(1e-9);
        let references = counted(self.entries, "reference");
        let mut text = format!("{references} in {seconds:.2} s, {speed:.0} references/s");
        if self.blank > 0 {
            text.push_str(&format!("\n{} skipped", counted(self.blank, "blank line")));
        }
        match self.unparsed {
            0 => {}
            1 => text.push_str("\n1 line could not be parsed; its entry holds the text"),
            count => text.push_str(&format!(
                "\n{count} lines could not be parsed; their entries hold the text"
            )),
        }
        if self.several > 0 {
            text.push_str(&format!(
                "\nwarning: {} with several references, first in {}; give each a line of its own, \
                 or marks such as [1]",
                counted(self.several, "line"),
                self.first_several
            ));
        }
        if self.replaced > 0 {
            text.push_str(&format!(
                "\nwarning: {} not UTF-8 and read as Windows-1252, first in {}",
                counted(self.replaced, "line"),
                self.first_replaced
            ));
        }
        if let Some(rules) = self.statistics.in_words() {
            text.push_str(&format!("\n{rules}"));
        }
        say(&text);
    }
}
