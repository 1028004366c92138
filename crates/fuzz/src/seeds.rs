//! Inputs that only a program can write: model files and checkpoints.
//!
//! All other inputs of `fuzz/corpus` were written by hand, or found. These are written again with
//! `cargo run -p bethe-fuzz` when the form of a model file changes.

use bethe_learn::archive::Archive;
use bethe_tagging::data::Format;
use bethe_tagging::rules::{Form, Relation, Rule, Weight};
use bethe_tagging::train::{Labelled, Optimiser, RuleSource, TrainSettings, train};
use bethe_tagging::{Tagger, WeightFeatures};
use serde_json::{Value, json};

use crate::archives::{THIS_RUN, interrupted, sequences};
use crate::references::trained;
use crate::stored;

/// An input for a target.
pub struct Seed {
    /// The target.
    pub target: &'static str,
    /// The file's name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// All of them.
pub fn seeds() -> Vec<Seed> {
    let columns = with_rules(tagger(Format::Columns), WeightFeatures::Constant);
    let fourier = WeightFeatures::Fourier { count: 2, seed: 1 };
    let fourier = with_rules(tagger(Format::Columns), fourier);
    let attributes = tagger(Format::Attributes);
    let references = trained("Uword:%x[0,0]\nB\n".to_string());
    let (quasi_newton, adagrad) =
        (interrupted(Optimiser::QuasiNewton), interrupted(Optimiser::AdaGrad));
    let seed = |target, name, bytes| Seed { target, name, bytes };
    vec![
        seed("archive", "model", archive(&attributes).to_bytes().expect("a model file")),
        seed("model", "columns", text(&columns)),
        seed("model", "fourier", text(&fourier)),
        seed("model", "attributes", text(&attributes)),
        seed("cite_model", "references", text(&references)),
        seed("checkpoint", "quasi_newton", of_any_run(&quasi_newton)),
        seed("checkpoint", "adagrad", of_any_run(&adagrad)),
    ]
}

fn tagger(format: Format) -> Tagger {
    let template = (format == Format::Columns)
        .then(|| "Uword:%x[0,0]\nUlower:%lower[-1,0]\nB\n".parse().expect("a valid template"));
    let rule_source = RuleSource::None;
    let mut settings = TrainSettings { format, template, rule_source, ..TrainSettings::default() };
    settings.base.max_iterations = 5;
    let sequences = sequences(format);
    let labelled = Labelled { sequences: &sequences, scores: None };
    train(labelled, None, &settings, &mut |_| ()).expect("trained")
}

/// With a soft rule and a hard one.
fn with_rules(tagger: Tagger, features: WeightFeatures) -> Tagger {
    let mut parts = tagger.parts().clone();
    let soft = Form::linear([(0, 1)], Relation::AtMost, 1);
    let hard = Form::Before { first: 0, second: 1 };
    parts.rules = vec![
        Rule { form: soft, weight: Weight::Given(2.0) },
        Rule { form: hard, weight: Weight::Hard },
    ];
    parts.rule_weights = vec![2.0; features.len()];
    parts.weight_features = features;
    parts.most_segments = vec![2; parts.states.kinds().len()];
    Tagger::new(parts).expect("valid rules")
}

fn archive(tagger: &Tagger) -> Archive {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model");
    tagger.write(&path).expect("a model file");
    Archive::read(&path).expect("a model file of ours")
}

fn text(tagger: &Tagger) -> Vec<u8> {
    stored::text(&archive(tagger)).into_bytes()
}

/// A checkpoint that every run takes for its own.
fn of_any_run(checkpoint: &Archive) -> Vec<u8> {
    let mut stored: Value =
        serde_json::from_str(&stored::text(checkpoint)).expect("JSON of our own");
    stored["metadata"]["checkpoint"] = json!(THIS_RUN);
    stored.to_string().into_bytes()
}
