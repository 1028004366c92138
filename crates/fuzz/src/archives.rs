//! Model files and checkpoints.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use bethe_core::MemoryLimit;
use bethe_learn::archive::Archive;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::train::{BaseSettings, Labelled, Optimiser, RuleSource, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use serde_json::Value;

use crate::scratch::with_file;
use crate::stored;
use crate::{Verdict, refused, verdict};

/// What stands for the fingerprint of the run that reads a checkpoint.
pub const THIS_RUN: &str = "this run";

/// The bytes of a model file: its form alone.
pub fn archive(bytes: &[u8]) -> Verdict {
    match Archive::from_bytes(bytes) {
        Ok(archive) => {
            let again = archive.to_bytes().expect("what was read can be written");
            assert_eq!(Archive::from_bytes(&again).ok(), Some(archive));
            Verdict::Accepted
        }
        Err(error) => {
            refused(error);
            verdict(with_file("scores", bytes, |path| Archive::read_any(path, MemoryLimit::NONE)))
        }
    }
}

/// The content of a model file: it tags some sequences.
pub fn model(text: &[u8]) -> Verdict {
    let tagger = match tagger(text) {
        Ok(tagger) => tagger,
        Err(verdict) => return verdict,
    };
    let options = TagOptions { n_best: 2, marginals: true, explain: true, ..TagOptions::default() };
    let mut options = options;
    options.inference.max_iterations = 3;
    let mut tagging = Tagging::new(&tagger);
    for sequence in sequences(tagger.parts().input.format()) {
        match tagging.tag(&sequence, &options) {
            Ok(tagged) => {
                assert!(tagged.best.iter().all(|(path, _)| path.len() == sequence.len()));
            }
            Err(error) => drop(refused(error)),
        }
    }
    Verdict::Accepted
}

/// The tagger of a stored text.
pub fn tagger(text: &[u8]) -> Result<Tagger, Verdict> {
    let bytes = stored::archive(text).and_then(|archive| archive.to_bytes().ok());
    Tagger::from_bytes(&bytes.ok_or(Verdict::Refused)?).map_err(refused)
}

/// Some words with labels, in a format.
pub fn sequences(format: Format) -> Vec<Sequence> {
    let text = match format {
        Format::Columns => "on\tB-a\nand\tI-a\noff\tO\n\noff\tO\nOn\tB-b\n\nand\tB-a\n",
        Format::Attributes => "B-a\ton\tup:2\nO\toff\n\nB-b\ton:-1\n",
    };
    let sequences = Sequences::new(text.as_bytes(), "words", format);
    sequences.collect::<Result<_, _>>().expect("valid sequences")
}

/// A checkpoint: training goes on from it, or refuses it.
pub fn checkpoint(text: &[u8]) -> Verdict {
    let Some(archive) = of_this_run(text) else { return Verdict::Refused };
    let Ok(bytes) = archive.to_bytes() else { return Verdict::Refused };
    with_file("model.checkpoint", &bytes, |path| {
        let settings = settings(optimiser(text), path.to_path_buf());
        let sequences = sequences(Format::Columns);
        let labelled = Labelled { sequences: &sequences, scores: None };
        let trained = train(labelled, Some(labelled), &settings, &mut |_| ());
        if let Ok(tagger) = &trained {
            let weights = &tagger.parts().crf.weights;
            assert!(weights.iter().all(|weight| weight.is_finite()), "{weights:?}");
        }
        verdict(trained)
    })
}

/// The archive of a stored text, under the fingerprint of the run that will read it.
fn of_this_run(text: &[u8]) -> Option<Archive> {
    static QUASI_NEWTON: OnceLock<String> = OnceLock::new();
    static ADAGRAD: OnceLock<String> = OnceLock::new();
    let mut stored: Value = serde_json::from_slice(text).ok()?;
    let own = stored.get_mut("metadata")?.get_mut("checkpoint")?;
    if own == THIS_RUN {
        let optimiser = optimiser(text);
        let known = if optimiser == Optimiser::AdaGrad { &ADAGRAD } else { &QUASI_NEWTON };
        *own = Value::from(known.get_or_init(|| fingerprint(&interrupted(optimiser))).clone());
    }
    stored::archive(stored.to_string().as_bytes())
}

fn optimiser(text: &[u8]) -> Optimiser {
    let adagrad = text.windows(7).any(|word| word == b"AdaGrad");
    if adagrad { Optimiser::AdaGrad } else { Optimiser::QuasiNewton }
}

fn settings(optimiser: Optimiser, checkpoint: PathBuf) -> TrainSettings {
    TrainSettings {
        template: Some("Uword:%x[0,0]\nB\n".parse().expect("a valid template")),
        base: BaseSettings { optimiser, max_iterations: 3, ..BaseSettings::default() },
        rule_source: RuleSource::None,
        checkpoint: Some(checkpoint),
        ..TrainSettings::default()
    }
}

/// The checkpoint that an interrupted training leaves.
pub fn interrupted(optimiser: Optimiser) -> Archive {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.checkpoint");
    let settings = TrainSettings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..settings(optimiser, path.clone())
    };
    let sequences = sequences(Format::Columns);
    let labelled = Labelled { sequences: &sequences, scores: None };
    let trained = train(labelled, Some(labelled), &settings, &mut |_| ());
    assert!(trained.is_err(), "training was interrupted");
    Archive::from_bytes(&fs::read(&path).expect("a checkpoint")).expect("a checkpoint of ours")
}

fn fingerprint(checkpoint: &Archive) -> String {
    let metadata: Value = checkpoint.metadata().expect("metadata of ours");
    metadata["checkpoint"].as_str().expect("a fingerprint").to_string()
}
