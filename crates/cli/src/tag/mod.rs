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
            prompt(path, "one token per line", flags.quiet);
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
        if let Some(file) = self.file.as_deref().filter(|file| !file.exists()) {
            let name = file.display().to_string();
            if name.contains(char::is_whitespace) {
                let hint = self.sentence(&name);
                return Err(bad_input(format!("{name}: there is no such file. {hint}")));
            }
        }
        let inputs = [Some(&self.tagger.model), self.file.as_ref(), self.tagger.scores.as_ref()];
        match &self.out {
            Some(out) => {
                check_apart("--out", out, inputs.into_iter().flatten().map(|path| &**path))
            }
            None => Ok(()),
        }
    }

    /// How to tag a sentence.
    fn sentence(&self, text: &str) -> String {
        let model = self.tagger.model.display();
        format!("For a sentence: `bethe tag {model} --text '{}'`", text.replace('\'', r"'\''"))
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

/// The lines of a batch with what they are tagged with; lines that begin a document are not tagged.
fn with_labels<'a>(
    batch: &'a [Sequence],
    tagged: &'a [Tagged],
) -> impl Iterator<Item = (Rows<'a>, Option<&'a Tagged>)> {
    let mut tagged = tagged.iter();
    batch.iter().map(move |sequence| match sequence.begins_document() {
        true => (rows_of(sequence), None),
        false => (rows_of(sequence), tagged.next()),
    })
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
            let tagged = tagged.map_err(|error| hint.untagged(error, &batch))?;
            self.write(with_labels(&batch, &tagged))?;
            progress.add(batch.len(), batches.share());
        }
        Ok(())
    }

    fn sentences(&mut self, sentences: &[Sentence]) -> Result<()> {
        let items: Vec<Item> =
            sentences.iter().map(|sentence| Item::Rows(&sentence.sequence)).collect();
        let tagged = self.tagged(&items).map_err(wrong)?;
        let rows = |sentence| -> Rows<'_> { Box::new(move |t| Some(Sentence::token(sentence, t))) };
        self.write(sentences.iter().map(rows).zip(tagged.iter().map(Some)))
    }

    /// Reads all rows before tagging, as it does all scores: there must be as many of both.
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
        scores.check_all_used(items.len(), path)?;
        let mut items = items.as_slice();
        for rows in rows.chunks(BATCH) {
            let sequences = rows.iter().filter(|sequence| !sequence.begins_document()).count();
            let (own, after) = items.split_at(sequences);
            items = after;
            let tagged = self.tagged(own).map_err(wrong)?;
            self.write(with_labels(rows, &tagged))?;
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
            let none = |tagged| -> (Rows<'_>, _) { (Box::new(|_| None), Some(tagged)) };
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

    fn write<'b>(
        &mut self,
        tagged: impl Iterator<Item = (Rows<'b>, Option<&'b Tagged>)>,
    ) -> Result<()> {
        let mut text = String::new();
        for (row, tagged) in tagged {
            let Some(tagged) = tagged else {
                write::document(&mut text, row(0).unwrap_or_default());
                continue;
            };
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
