//! `bethe tag`: from sequences to labels.

mod flags;
mod text;
pub mod write;

pub use flags::Flags;

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use bethe_tagging::data::Sequence;
use bethe_tagging::{TagError, TagOptions, Tagged, Tagger};
use bethe_terminal::{Outcome, bad_input, check_apart, counted, prompt, say, shown};
use rayon::ThreadPool;

use crate::output::Output;
use crate::tagging::{Batches, FileProgress, Item, Scores, Statistics, tag_all};
use text::{Hint, Sentence, sentences};

/// How many sequences of scores to tag before writing.
const BATCH: usize = 256;

/// Tags a file, standard input, a text, or scores without a file.
pub fn run(flags: Flags) -> Result<Outcome> {
    flags.check()?;
    let tagger = flags.tagger.read_tagger("tag", flags.file.as_deref())?;
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
    let scores = match flags.text {
        Some(_) => None,
        None => flags.tagger.read_scores(&tagger)?,
    };
    if flags.force && scores.is_some() && flags.file.is_none() {
        return Err(bad_input(
            "--force with --scores also needs FILE, with the labels in its last column",
        ));
    }
    let mut command = Command {
        tagger: &tagger,
        options,
        pool,
        ranked: flags.n_best.is_some(),
        out: Output::open(flags.out.as_deref())?,
        statistics: Statistics::default(),
    };
    let begun = Instant::now();
    let hint = Hint::new(&flags, &tagger);
    match (&flags.text, &flags.file, &scores) {
        (Some(text), ..) => command.sentences(&sentences(text, &flags, &tagger)?)?,
        (None, None, Some(scores)) => command.scores_alone(scores)?,
        (None, file, scores) => {
            let path = file.as_deref().unwrap_or(Path::new("-"));
            prompt(path, "one token a line", flags.quiet);
            let (format, comments) = (tagger.parts().input.format(), flags.tagger.comments);
            let batches = Batches::open(path, format, comments, memory)?;
            match scores {
                Some(scores) => command.scored_rows(batches, path, scores)?,
                None => {
                    let progress = FileProgress::new("sequence", flags.quiet, flags.out.is_none());
                    command.rows(batches, hint, progress)?;
                }
            }
        }
    }
    let Command { out, statistics, .. } = command;
    out.finish()?;
    if !flags.quiet {
        summary(&statistics, begun.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}

impl Flags {
    /// Refuses what is wrong whatever the model holds.
    fn check(&self) -> Result<()> {
        if self.n_best == Some(0) {
            return Err(bad_input("--n-best: found 0, expected at least 1"));
        }
        let inputs = [Some(&self.tagger.model), self.file.as_ref(), self.tagger.scores.as_ref()];
        match &self.out {
            Some(out) => {
                check_apart("--out", out, inputs.into_iter().flatten().map(|path| &**path))
            }
            None => Ok(()),
        }
    }
}

struct Command<'a> {
    tagger: &'a Tagger,
    options: TagOptions,
    pool: ThreadPool,
    /// Whether to write ranks.
    ranked: bool,
    out: Output,
    statistics: Statistics,
}

/// The input lines of a sequence.
type Rows<'a> = Box<dyn Fn(usize) -> Option<&'a str> + 'a>;

fn rows_of(sequence: &Sequence) -> Rows<'_> {
    Box::new(|t| Some(sequence.row(t)))
}

impl Command<'_> {
    fn rows(
        &mut self,
        mut batches: Batches<Sequence>,
        hint: Hint,
        mut progress: FileProgress,
    ) -> Result<()> {
        while !self.out.is_closed() {
            let batch = batches.read().map_err(|error| hint.unread(error))?;
            if batch.is_empty() {
                break;
            }
            if self.statistics.sequences == 0 {
                hint.check(&batch)?;
            }
            let tagged = self.tagged(&Item::of_batch(&batch, 0, None)?);
            let tagged = tagged.map_err(|error| hint.untagged(error))?;
            self.write(batch.iter().map(rows_of).zip(&tagged))?;
            progress.add(batch.len(), batches.share());
        }
        Ok(())
    }

    fn sentences(&mut self, sentences: &[Sentence]) -> Result<()> {
        let items: Vec<Item> =
            sentences.iter().map(|sentence| Item::Rows(&sentence.sequence)).collect();
        let tagged = self.tagged(&items).map_err(wrong)?;
        let rows = |sentence| -> Rows<'_> { Box::new(move |t| Some(Sentence::token(sentence, t))) };
        self.write(sentences.iter().map(rows).zip(&tagged))
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
            let tagged = self.tagged(items).map_err(wrong)?;
            self.write(rows.iter().map(rows_of).zip(&tagged))?;
            if self.out.is_closed() {
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
            let tagged = self.tagged(&items).map_err(wrong)?;
            let none = |tagged| -> (Rows<'_>, _) { (Box::new(|_| None), tagged) };
            self.write(tagged.iter().map(none))?;
            if self.out.is_closed() {
                break;
            }
        }
        Ok(())
    }

    fn tagged(&self, items: &[Item]) -> Result<Vec<Tagged>, TagError> {
        tag_all(&self.pool, self.tagger, items, &self.options)
    }

    fn write<'b>(&mut self, tagged: impl Iterator<Item = (Rows<'b>, &'b Tagged)>) -> Result<()> {
        let mut text = String::new();
        for (row, tagged) in tagged {
            self.statistics.add(tagged);
            if self.options.explain {
                for line in self.tagger.explanation(tagged) {
                    text.extend(["# ", &shown(&line), "\n"]);
                }
            }
            write::sequence(&mut text, self.tagger, &row, tagged, self.ranked);
        }
        self.out.write(&text)
    }
}

fn wrong(error: TagError) -> anyhow::Error {
    bad_input(error.to_string())
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
