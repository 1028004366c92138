//! `bethe tag`: from sequences to labels.

mod flags;
pub mod write;

pub use flags::Flags;

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use bethe_tagging::data::Sequence;
use bethe_tagging::{TagOptions, Tagged, Tagger};
use bethe_terminal::{Outcome, bad_input, counted, say, shown};
use rayon::ThreadPool;

use crate::tagging::{Batches, Item, Scores, Statistics, tag_all};

/// How many sequences of scores to tag before writing.
const BATCH: usize = 256;

/// Tags a file, standard input, or scores without a file.
pub fn run(flags: Flags) -> Result<Outcome> {
    let tagger = flags.tagger.read_tagger()?;
    if flags.n_best == Some(0) {
        return Err(bad_input("--n-best: found 0, expected at least 1"));
    }
    let pool = flags.tagger.pool()?;
    let memory = flags.tagger.limits.memory(pool.current_num_threads())?;
    let options = TagOptions {
        memory_limit: memory,
        force: flags.force,
        marginals: flags.marginals,
        n_best: flags.n_best.unwrap_or(1),
        explain: flags.explain,
        ..flags.tagger.limits.options(&tagger)?
    };
    let scores = flags.tagger.read_scores(&tagger)?;
    if flags.force && scores.is_some() && flags.file.is_none() {
        return Err(bad_input(
            "--force with --scores also needs FILE, with the labels in its last column",
        ));
    }
    let out = io::BufWriter::new(io::stdout().lock());
    let ranked = flags.n_best.is_some();
    let begun = Instant::now();
    let mut command = Command {
        tagger: &tagger,
        options,
        pool,
        ranked,
        out,
        closed: false,
        statistics: Statistics::default(),
    };
    match (&flags.file, &scores) {
        (None, Some(scores)) => command.scores_alone(scores)?,
        (file, scores) => {
            let path = file.as_deref().unwrap_or(Path::new("-"));
            let (format, comments) = (tagger.parts().input.format(), flags.tagger.comments);
            let batches = Batches::open(path, format, comments, memory)?;
            match scores {
                Some(scores) => command.scored_rows(batches, path, scores)?,
                None => command.rows(batches)?,
            }
        }
    }
    if !flags.quiet {
        summary(&command.statistics, begun.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}

struct Command<'a, W> {
    tagger: &'a Tagger,
    options: TagOptions,
    pool: ThreadPool,
    /// Whether to write ranks.
    ranked: bool,
    out: W,
    /// Whether the reader closed the pipe.
    closed: bool,
    statistics: Statistics,
}

impl<W: Write> Command<'_, W> {
    fn rows(&mut self, mut batches: Batches<Sequence>) -> Result<()> {
        while !self.closed {
            let batch = batches.next()?;
            if batch.is_empty() {
                break;
            }
            let items = Item::of_batch(&batch, 0, None)?;
            let tagged = tag_all(&self.pool, self.tagger, &items, &self.options)?;
            self.write(batch.iter().map(Some).zip(&tagged))?;
        }
        Ok(())
    }

    /// Reads all rows before tagging, as all scores are: there must be equally many.
    fn scored_rows(
        &mut self,
        mut batches: Batches<Sequence>,
        path: &Path,
        scores: &Scores,
    ) -> Result<()> {
        let mut rows: Vec<Sequence> = Vec::new();
        loop {
            let batch = batches.next()?;
            if batch.is_empty() {
                break;
            }
            rows.extend(batch);
        }
        let items = Item::of_batch(&rows, 0, Some(scores))?;
        scores.check_all_used(rows.len(), path)?;
        for (rows, items) in rows.chunks(BATCH).zip(items.chunks(BATCH)) {
            let tagged = tag_all(&self.pool, self.tagger, items, &self.options)?;
            self.write(rows.iter().map(Some).zip(&tagged))?;
            if self.closed {
                break;
            }
        }
        Ok(())
    }

    fn scores_alone(&mut self, scores: &Scores) -> Result<()> {
        let all: Vec<usize> = (0..scores.len()).collect();
        for batch in all.chunks(BATCH) {
            let items: Vec<Item> =
                batch.iter().map(|&sequence| Item::Scores(scores.values(sequence), None)).collect();
            let tagged = tag_all(&self.pool, self.tagger, &items, &self.options)?;
            self.write(tagged.iter().map(|tagged| (None, tagged)))?;
            if self.closed {
                break;
            }
        }
        Ok(())
    }

    fn write<'b>(
        &mut self,
        tagged: impl Iterator<Item = (Option<&'b Sequence>, &'b Tagged)>,
    ) -> Result<()> {
        let mut text = String::new();
        for (sequence, tagged) in tagged {
            self.statistics.add(tagged);
            if self.options.explain {
                for line in self.tagger.explanation(tagged) {
                    text.extend(["# ", &shown(&line), "\n"]);
                }
            }
            let row = |t: usize| sequence.map(|sequence| sequence.row(t));
            write::sequence(&mut text, self.tagger, &row, tagged, self.ranked);
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            result => result.context("standard output")?,
        }
        Ok(())
    }
}

fn summary(statistics: &Statistics, seconds: f64) {
    let Statistics { sequences, tokens, .. } = statistics;
    let speed = *tokens as f64 / seconds.max(1e-9);
    say(&format!(
        "{}, {} in {seconds:.2} s, {speed:.0} tokens/s",
        counted(*sequences, "sequence"),
        counted(*tokens, "token")
    ));
    statistics.in_words().iter().for_each(|text| say(text));
}
