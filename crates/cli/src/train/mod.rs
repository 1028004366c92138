//! `bethe train`: from labelled sequences to a model file.

mod config;
mod flags;
mod progress;

pub(crate) use flags::Flags;

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use bethe_io::WriterLock;
use bethe_tagging::data::{Sequence, Sequences};
use bethe_tagging::train::{
    GivenScores, Labelled, RuleSource, TrainError, TrainSettings, remove_checkpoint, train,
    train_reading,
};
use bethe_terminal::{
    Interrupt, Outcome, PendingFile, bad_input, check_apart, check_distinct, threads,
};

use crate::kind::{Kind, mistaken, refuse};
use crate::tagging::Scores;
use progress::TrainingProgress;

/// The settings that these flags of `bethe train` ask for, without a checkpoint.
///
/// # Errors
/// In one line, about the flag: one that has no effect is refused.
pub fn settings(arguments: impl IntoIterator<Item = String>) -> Result<TrainSettings> {
    let flags: Flags = crate::alone::flags(arguments)?;
    Ok(TrainSettings { checkpoint: None, ..config::settings(&flags)? })
}

/// Trains and writes the model, whole or not at all.
pub(crate) fn run(flags: Flags) -> Result<Outcome> {
    let mut settings = config::settings(&flags)?;
    let interrupt = Interrupt::install()?;
    check_files(&flags, &settings)?;
    let _lock = lock(&flags.model)?;
    let pool = threads::pool(flags.threads)?;
    let begun = Instant::now();
    let scored = flags.scores.as_deref();
    let scored = scored.map(|scores| Data::read(&flags.train, Some(scores), &flags, &settings));
    let scored = scored.transpose()?;
    let dev = flags.dev.as_deref();
    let dev = dev.map(|dev| Data::read(dev, flags.dev_scores.as_deref(), &flags, &settings));
    let dev = dev.transpose()?;
    let sequences = open(&flags.train, &flags, &settings)?;
    settings.interrupt = Some(interrupt.flag());
    let mut progress = TrainingProgress::new(flags.quiet);
    let trained = pool.install(|| {
        let dev = dev.as_ref().map(Data::labelled);
        let mut observe = |event| progress.see(event);
        match (&scored, sequences) {
            (Some(data), _) => train(data.labelled(), dev, &settings, &mut observe),
            (None, sequences) => train_reading(sequences, dev, &settings, &mut observe),
        }
    });
    let tagger = match trained {
        Ok(tagger) => tagger,
        Err(TrainError::Interrupted) => {
            progress.interrupted(settings.checkpoint.as_deref());
            return Ok(Outcome::Interrupted);
        }
        Err(error) => return Err(mistake(error, &flags)),
    };
    tagger.write(&flags.model)?;
    remove_checkpoint(&settings);
    progress.finish(&tagger, &flags.model, begun.elapsed());
    Ok(Outcome::Done)
}

type File = Sequences<Box<dyn BufRead + Send>>;

fn open(path: &Path, flags: &Flags, settings: &TrainSettings) -> Result<File> {
    let sequences = Sequences::open(path, settings.format);
    let sequences = sequences.map_err(|error| bad_input(error.to_string()))?;
    Ok(sequences.comments(flags.comments).all_within(settings.memory_limit))
}

fn no_sequence(path: &Path) -> anyhow::Error {
    bad_input(format!("{}: found no sequence, expected at least one", path.display()))
}

/// Labelled sequences, with or without scores.
struct Data {
    sequences: Vec<Sequence>,
    scores: Option<GivenScores>,
}

impl Data {
    fn read(
        path: &Path,
        scores: Option<&Path>,
        flags: &Flags,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let sequences: Result<Vec<Sequence>, _> = open(path, flags, settings)?.collect();
        let sequences = sequences.map_err(|error| bad_input(error.to_string()))?;
        if sequences.is_empty() {
            return Err(no_sequence(path));
        }
        let scores = scores.map(|file| -> Result<GivenScores> {
            let labels = flags.labels.clone().unwrap_or_default();
            let twice = |(at, label): (usize, &String)| labels[..at].contains(label);
            if let Some((_, label)) = labels
                .iter()
                .enumerate()
                .find(|&(at, label)| label.is_empty() || twice((at, label)))
            {
                let message = format!("--labels: found {label:?}, expected each name once");
                return Err(bad_input(message));
            }
            let scores = Scores::read(file, labels.len(), settings.memory_limit)?;
            for (index, sequence) in sequences.iter().enumerate() {
                let place = format!("{}:{}", path.display(), sequence.line(0));
                scores.for_rows(index, &place, sequence.len())?;
            }
            scores.check_all_used(sequences.len(), path)?;
            Ok(GivenScores { labels, scores: scores.into_values() })
        });
        Ok(Self { sequences, scores: scores.transpose()? })
    }

    fn labelled(&self) -> Labelled<'_> {
        Labelled { sequences: &self.sequences, scores: self.scores.as_ref() }
    }
}

/// Checks that the model can be written and is not an input.
fn check_files(flags: &Flags, settings: &TrainSettings) -> Result<()> {
    // Dropped at once: it only shows that a file can be created there.
    drop(PendingFile::create(&flags.model)?);
    settings.checkpoint.as_deref().map(PendingFile::create).transpose()?;
    let model = flags.model.display();
    if flags.model.exists() && !flags.model.is_file() {
        return Err(bad_input(format!("{model}: found a device or a pipe, expected a file")));
    }
    let checkpoint = settings.checkpoint.as_deref();
    check_distinct(&[("--model", Some(&flags.model)), ("the checkpoint", checkpoint)])?;
    let rules = match &settings.rule_source {
        RuleSource::File(file) => Some(file),
        _ => None,
    };
    let optional = [&flags.dev, &flags.template, &flags.scores, &flags.dev_scores];
    let inputs = optional.into_iter().flatten().chain(rules).chain([&flags.train]);
    let inputs: Vec<&Path> = inputs.chain(&flags.lexicon).map(PathBuf::as_path).collect();
    for output in [Some(&flags.model), settings.checkpoint.as_ref()].into_iter().flatten() {
        check_apart("--model", output, inputs.iter().copied())?;
    }
    check_swapped(flags)?;
    for input in [Some(&flags.train), flags.dev.as_ref()].into_iter().flatten() {
        refuse(
            input,
            &[Kind::Model, Kind::Json, Kind::Uai, Kind::Csv, Kind::Binary],
            "labelled tokens, one per line",
        )?;
        if input == Path::new("-") {
            return Err(bad_input("training needs a file, found - (standard input)"));
        }
    }
    Ok(())
}

/// Refuses data in place of the model if the data's place has a model, or nothing.
fn check_swapped(flags: &Flags) -> Result<()> {
    let is_model = Kind::of(&flags.train) == Some(Kind::Model) || !flags.train.exists();
    let kind = Kind::of(&flags.model);
    match kind.filter(|kind| is_model && matches!(kind, Kind::Labelled | Kind::Tokens)) {
        Some(kind) => {
            let (model, train) = (flags.train.display(), flags.model.display());
            let meant = format!("bethe train {train} --model {model}");
            Err(mistaken(&flags.model, kind, "the model that is to be written", Some(meant)))
        }
        None => Ok(()),
    }
}

/// Keeps other trainings of this model away until this one ends.
fn lock(model: &Path) -> Result<WriterLock> {
    let shown = model.display();
    match WriterLock::take(model) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(bad_input(format!(
            "{shown}: another training is writing this model; wait until it ends, or choose another \
             --model"
        ))),
        Err(error) => Err(bad_input(format!("{shown}: cannot be locked: {error}"))),
    }
}

/// Errors in the data or the settings have exit code 2.
fn mistake(error: TrainError, flags: &Flags) -> anyhow::Error {
    match (&error, &flags.template) {
        (TrainError::Checkpoint(_), _) => error.into(),
        (TrainError::NoData, _) => no_sequence(&flags.train),
        (
            TrainError::TemplateColumn { .. } | TrainError::TemplateReadsLabel { .. },
            Some(template),
        ) => bad_input(format!("{}: {error}", template.display())),
        (TrainError::KinkedPenalty { .. } | TrainError::NotTheHinge { .. }, _) => {
            bad_input(format!("--penalty: {error}"))
        }
        (TrainError::NotTogether { .. }, _) => bad_input(format!("--joint: {error}")),
        (TrainError::ObservedLabel { .. }, _) => bad_input(format!("--observe: {error}")),
        _ => bad_input(error.to_string()),
    }
}
