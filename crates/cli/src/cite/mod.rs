//! `bethe cite`: references in plain text to bibliography entries.

mod flags;
mod lines;
mod unwrap;
mod write;

pub use flags::Flags;
use flags::{Format, Unwrap};

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use bethe_cite::{Dialect, DialectError, Parsed, Parser, Parsing, Refusal, SameAuthors};
use bethe_tagging::{TagError, TagOptions, Tagger};
use bethe_terminal::{Outcome, bad_input, counted, say, threads};
use rayon::prelude::*;

use crate::tagging::{Batches, SHARE, Statistics, read_tagger};
use lines::{Line, Lines};
use unwrap::References;
use write::Writer;

/// Reads a file or standard input.
pub fn run(flags: Flags) -> Result<Outcome> {
    flags.check()?;
    let tagger = read_tagger(&flags.model, flags.limits.whole_memory()?)?;
    let pool = threads::pool(flags.threads)?;
    let memory = flags.limits.memory(pool.current_num_threads())?;
    let options = TagOptions {
        memory_limit: memory,
        marginals: flags.marginals,
        explain: flags.explain,
        ..flags.limits.options(&tagger)?
    };
    let parser = Parser::new(&tagger, dialect(&flags, &tagger)?);
    let of_references = matches!(flags.format, Format::Bibtex | Format::CslJson | Format::Ris);
    if of_references && !parser.meanings().has_fields() {
        return Err(bad_input(format!(
            "{}: found the labels {}, expected fields of references among them, such as author, title \
             and year (--format json and conll write any labels)",
            flags.model.display(),
            some_labels(&tagger)
        )));
    }
    // Whoever sends line by line waits for no more than the line.
    let unwrap = match flags.unwrap {
        Unwrap::Auto if flags.file == Path::new("-") => Unwrap::Never,
        unwrap => unwrap,
    };
    let mut batches = Batches::of(&flags.file, move |input, path| {
        References::new(Lines::new(input, path, memory), unwrap)
    })?;
    let mut same = SameAuthors::default();
    let mut writer = Writer::new(&parser, flags.format, flags.explain);
    let mut out = Output { out: io::stdout().lock(), closed: false };
    let mut counts = Counts::default();
    let begun = Instant::now();
    while !out.closed {
        let batch = match batches.next() {
            // Close the JSON array even after an error.
            Err(error) if writer.has_begun() => {
                out.write(writer.end())?;
                return Err(error);
            }
            batch => batch?,
        };
        if batch.is_empty() {
            out.write(writer.end())?;
            break;
        }
        let lines: Vec<&Line> = batch.iter().filter(|line| counts.takes(line)).collect();
        let parse = |parsing: &mut Parsing, line: &&Line| parsing.parse(&line.text, &options);
        let parsed: Result<Vec<Parsed>, TagError> = pool.install(|| {
            let lines = lines.par_iter().with_min_len(SHARE);
            lines.map_init(|| Parsing::new(&parser), parse).collect()
        });
        let mut parsed = parsed?;
        parsed.iter_mut().for_each(|parsed| same.fill(&mut parsed.entry));
        let mut text = String::new();
        for (line, parsed) in lines.iter().zip(&parsed) {
            counts.add(line, parsed);
            writer.add(&mut text, line, parsed);
        }
        out.write(&text)?;
    }
    if !flags.quiet {
        counts.print(begun.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}

/// Some of a model's labels.
fn some_labels(tagger: &Tagger) -> String {
    const SHOWN: usize = 5;
    let states = tagger.states();
    let shown = (0..states.len().min(SHOWN)).map(|state| states.label(state));
    let more = if states.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// How the model expects text to be split.
fn dialect(flags: &Flags, tagger: &Tagger) -> Result<Dialect> {
    Dialect::of(tagger, flags.tokens.told()).map_err(|error| {
        let place = match error {
            DialectError::NoWords => "--tokens".to_string(),
            _ => flags.model.display().to_string(),
        };
        bad_input(format!("{place}: {error}"))
    })
}

/// Standard output; its reader may close the pipe.
struct Output<W> {
    out: W,
    closed: bool,
}

impl<W: Write> Output<W> {
    fn write(&mut self, text: &str) -> Result<()> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            result => result.context("standard output")?,
        }
        Ok(())
    }
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
    first_several: usize,
    /// Lines that were not UTF-8, and the first of them.
    replaced: usize,
    first_replaced: usize,
    statistics: Statistics,
}

impl Counts {
    /// Counts a line. Returns whether it holds a reference.
    fn takes(&mut self, line: &Line) -> bool {
        if line.replaced {
            self.replaced += 1;
            if self.replaced == 1 {
                self.first_replaced = line.number;
            }
        }
        let is_blank = bethe_cite::clean(&line.text).is_empty();
        self.blank += usize::from(is_blank);
        !is_blank
    }

    fn add(&mut self, line: &Line, parsed: &Parsed) {
        self.entries += 1;
        if parsed.refused == Some(Refusal::Several) {
            self.several += 1;
            if self.several == 1 {
                self.first_several = line.number;
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
                "\nwarning: {} with several references, first line {}; give each a line of its own, \
                 or marks such as [1]",
                counted(self.several, "line"),
                self.first_several
            ));
        }
        if self.replaced > 0 {
            text.push_str(&format!(
                "\nwarning: {} not UTF-8 and read as Windows-1252, first in line {}",
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
