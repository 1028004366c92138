//! Checkpoints with the right checksum and the wrong numbers in them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bethe_learn::archive::Archive;
use bethe_tagging::Tagger;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::train::{BaseSettings, Labelled, Optimiser, TrainError, TrainSettings, train};
use serde_json::{Value, json};

fn run(optimiser: Optimiser, path: &Path, interrupted: bool) -> Result<Tagger, TrainError> {
    let text = "on\tB-a\nand\tI-a\noff\tO\n\noff\tO\nOn\tB-b\n\n";
    let sequences = Sequences::new(text.as_bytes(), "words", Format::Columns);
    let sequences: Vec<Sequence> = sequences.collect::<Result<_, _>>().unwrap();
    let settings = TrainSettings {
        template: Some("Uword:%x[0,0]\nB\n".parse().unwrap()),
        base: BaseSettings { optimiser, max_iterations: 4, ..BaseSettings::default() },
        checkpoint: Some(path.to_path_buf()),
        interrupt: Some(Arc::new(AtomicBool::new(interrupted))),
        ..TrainSettings::default()
    };
    let labelled = Labelled { sequences: &sequences, scores: None };
    train(labelled, Some(labelled), &settings, &mut |_| ())
}

/// The numbers of a checkpoint, to be changed.
struct Numbers {
    metadata: Value,
    doubles: Vec<(String, Vec<f64>)>,
    singles: Vec<(String, Vec<f32>)>,
}

impl Numbers {
    fn read(path: &Path) -> Self {
        let archive = Archive::read(path).unwrap();
        let named = |name: &str| name.to_string();
        let doubles = archive.names().filter_map(|n| Some((named(n), archive.values(n).ok()?)));
        let singles = archive.names().filter_map(|n| Some((named(n), archive.values(n).ok()?)));
        let (doubles, singles) = (doubles.collect(), singles.collect());
        Self { metadata: archive.metadata().unwrap(), doubles, singles }
    }

    fn write(&self, path: &Path) {
        let mut archive = Archive::new(&self.metadata);
        self.doubles.iter().for_each(|(name, own)| archive.insert(name, &[own.len()], own));
        self.singles.iter().for_each(|(name, own)| archive.insert(name, &[own.len()], own));
        archive.write(path).unwrap();
    }
}

/// Checks that training refuses a checkpoint after a change, and names a place.
fn is_refused(optimiser: Optimiser, place: &str, change: &dyn Fn(&mut Numbers)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    assert!(matches!(run(optimiser, &path, true), Err(TrainError::Interrupted)));
    let mut numbers = Numbers::read(&path);
    numbers.write(&path);
    assert!(run(optimiser, &path, false).is_ok(), "nothing was changed");
    change(&mut numbers);
    numbers.write(&path);
    let message = run(optimiser, &path, false).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains(&format!("checkpoint: {place}: found ")), "{message}");
}

#[test]
fn lists_of_the_wrong_length_are_refused() {
    for name in ["weights", "gradient", "values"] {
        is_refused(Optimiser::QuasiNewton, name, &|numbers| {
            numbers.doubles.iter_mut().find(|(own, _)| own == name).unwrap().1.clear();
        });
    }
    for name in ["weights", "squares", "moves"] {
        is_refused(Optimiser::AdaGrad, name, &|numbers| {
            numbers.doubles.iter_mut().find(|(own, _)| own == name).unwrap().1.push(0.0);
        });
    }
    is_refused(Optimiser::QuasiNewton, "step", &|numbers| {
        numbers.singles.iter_mut().find(|(own, _)| own == "step.0").unwrap().1.truncate(1);
    });
}

#[test]
fn numbers_that_no_training_has_are_refused() {
    is_refused(Optimiser::QuasiNewton, "weights", &|numbers| {
        numbers.doubles.iter_mut().find(|(own, _)| own == "weights").unwrap().1[0] = f64::NAN;
    });
    is_refused(Optimiser::QuasiNewton, "steps", &|numbers| {
        numbers.singles.iter_mut().find(|(own, _)| own == "step.0").unwrap().1.fill(0.0);
    });
    is_refused(Optimiser::AdaGrad, "squares", &|numbers| {
        numbers.doubles.iter_mut().find(|(own, _)| own == "squares").unwrap().1[0] = -1.0;
    });
    is_refused(Optimiser::AdaGrad, "steps", &|numbers| {
        numbers.metadata["current"]["AdaGrad"]["steps"] = json!(u64::MAX);
    });
}
