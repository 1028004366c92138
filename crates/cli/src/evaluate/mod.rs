//! `bethe evaluate`: how good are a model's labels?

mod flags;
mod report;

pub use flags::Flags;

use std::borrow::Cow;

use anyhow::Result;
use bethe_tagging::data::Sequence;
use bethe_tagging::labels::OtherNotation;
use bethe_tagging::rules::Occurrences;
use bethe_tagging::score::{Score, UnknownLabels};
use bethe_tagging::{TagOptions, Tagged, Tagger};
use bethe_terminal::{Outcome, bad_input, check_apart, prompt, say, shown};

use crate::tagging::{Batches, FileProgress, Item, Statistics, tag_all};
use report::Evaluation;

/// Tags a file and compares the result with its own labels.
pub fn run(flags: Flags) -> Result<Outcome> {
    flags.check()?;
    let tagger = flags.tagger.read_tagger("evaluate", Some(&flags.file))?;
    let evaluation = evaluate(&flags, &tagger)?;
    let labels = evaluation.unknown.check(tagger.labels());
    labels.map_err(|error| bad_input(error.to_string()))?;
    warn_of_notation(&tagger);
    evaluation.unknown.warning().iter().for_each(|text| say(&format!("warning: {text}")));
    flags.report.print(|| evaluation.in_words(), || serde_json::to_string(&evaluation.json()))?;
    Ok(Outcome::Done)
}

impl Flags {
    /// Refuses to write over an input.
    fn check(&self) -> Result<()> {
        let Some(out) = &self.report.out else { return Ok(()) };
        let scores = self.tagger.scores.as_deref();
        check_apart("--out", out, [&*self.tagger.model, &*self.file].into_iter().chain(scores))
    }
}

fn evaluate(flags: &Flags, tagger: &Tagger) -> Result<Evaluation> {
    let pool = flags.tagger.pool()?;
    let memory = flags.tagger.limits.memory(pool.current_num_threads())?;
    let options = TagOptions { memory_limit: memory, ..flags.tagger.limits.options(tagger)? };
    let scores = flags.tagger.read_scores(tagger)?;
    let (format, comments) = (tagger.parts().input.format(), flags.tagger.comments);
    prompt(&flags.file, "labelled tokens", false);
    let mut batches = Batches::open(&flags.file, format, comments, memory)?;
    let mut evaluation = Evaluation {
        score: Score::new(tagger.states().scheme()),
        statistics: Statistics::default(),
        rules: tagger.parts().rules.len(),
        broken_by_truth: 0,
        broken_by_prediction: 0,
        unknown: UnknownLabels::default(),
    };
    let mut progress = FileProgress::new("sequence", false, false);
    let mut first = 0;
    loop {
        let mut batch = batches.next()?;
        if batch.is_empty() {
            break;
        }
        batch.retain(|sequence| !sequence.begins_document());
        let items = Item::of_batch(&batch, first, scores.as_ref())?;
        let tagged = tag_all(&pool, tagger, &items, &options);
        let tagged = tagged.map_err(|error| bad_input(error.to_string()))?;
        first += batch.len();
        progress.add(batch.len(), batches.share());
        for (sequence, tagged) in batch.iter().zip(&tagged) {
            add(&mut evaluation, tagger, sequence, tagged)?;
        }
    }
    if first == 0 {
        let file = flags.file.display();
        return Err(bad_input(format!("{file}: found no sequence, expected at least one")));
    }
    if let Some(scores) = &scores {
        scores.check_all_used(first, &flags.file)?;
    }
    Ok(evaluation)
}

/// Warns of a model that reads parts of segments as names, so that segments are not what they seem.
fn warn_of_notation(tagger: &Tagger) {
    let names = tagger.labels().iter().map(String::as_str);
    if let Some(other) = OtherNotation::of(names) {
        say(&format!("warning: {}", shown(&other.to_string())));
    }
}

fn add(
    evaluation: &mut Evaluation,
    tagger: &Tagger,
    sequence: &Sequence,
    tagged: &Tagged,
) -> Result<()> {
    let truth = labels(tagger, sequence)?;
    let truth: Vec<&str> = truth.iter().map(|label| label.as_ref()).collect();
    let (states, path) = (tagger.states(), &tagged.best[0].0);
    let predicted: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
    let place = |t: usize| format!("{}:{}", sequence.path().display(), sequence.line(t));
    evaluation.unknown.add(states, &truth, place);
    evaluation.score.add(&truth, &predicted);
    evaluation.statistics.add(tagged);
    let breaks = |occurrences: Occurrences| {
        usize::from(tagger.parts().rules.iter().any(|rule| !rule.holds(&occurrences)))
    };
    evaluation.broken_by_truth += breaks(Occurrences::of_labels(states, &truth));
    evaluation.broken_by_prediction += breaks(Occurrences::of(states, path));
    Ok(())
}

fn labels<'a>(tagger: &Tagger, sequence: &'a Sequence) -> Result<Vec<Cow<'a, str>>> {
    let missing = |t: usize| {
        bad_input(format!(
            "{}:{}: found no label, expected one for every token",
            sequence.path().display(),
            sequence.line(t)
        ))
    };
    let labels = tagger.parts().input.labels(sequence).ok_or_else(|| missing(0))?;
    match labels.iter().position(|label| label.is_empty()) {
        Some(t) => Err(missing(t)),
        None => Ok(labels),
    }
}
