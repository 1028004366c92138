use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use bethe_learn::attributes::Attributes;
use bethe_learn::crf::{Crf, Transitions};

use super::super::data::{DataError, Sequence};
use super::super::labels::States;
use super::super::model::{Parts, Tagger, Training, WeightFeatures};
use super::super::rules::{Candidates, LEAST_SHARE, Pruning, Rule, generate, load_rules_within};
use super::super::score::UnknownLabels;
use super::super::stored_text::{MOST_TEXT, stored_text};
use super::base::{Fit, Fitted, Turn};
use super::checkpoint::Checkpoint;
use super::choice::Proposal;
use super::held_out::{HeldOut, Part, hold_out, path, predict};
use super::numbering::texts;
use super::predict::{Predictor, f1};
use super::prepared::{Data, Prepared};
use super::rules::{LearnedRules, LearningStage};
use super::settings::{BaseSettings, Optimiser, RuleSettings, RuleSource, TrainSettings};
use super::{Event, Labelled, TrainError};

/// A trained base model, with the data that rules for it are learned from.
///
/// [`train`](super::train()) runs the stages in turn; call them separately to compare rules on one
/// base model.
pub struct Base {
    prepared: Prepared,
    dev: Option<Data>,
    declared: Vec<Rule>,
    crf: Crf,
    training: Training,
    settings: TrainSettings,
    checkpoint: Checkpoint,
}

impl Base {
    /// Trains the base model, or continues an interrupted run.
    pub fn train(
        labelled: Labelled,
        dev: Option<Labelled>,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        super::rules::check(&settings.rules)?;
        let prepared = Prepared::new(labelled, settings, observe)?;
        Self::train_on(prepared, dev, settings, observe)
    }

    /// As [`train`](Self::train), on sequences that are still being read. Their text is dropped as
    /// soon as it is numbered, which saves most of the memory for attribute files.
    pub fn train_reading(
        sequences: impl Iterator<Item = Result<Sequence, DataError>>,
        dev: Option<Labelled>,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        super::rules::check(&settings.rules)?;
        let prepared = Prepared::read(sequences, settings, observe)?;
        Self::train_on(prepared, dev, settings, observe)
    }

    fn train_on(
        prepared: Prepared,
        dev: Option<Labelled>,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        // Errors show before hours of training.
        let found = stored_text(&prepared.extractor, &prepared.states);
        if found > MOST_TEXT {
            return Err(TrainError::TooMuchText { found, most: MOST_TEXT });
        }
        let declared = match &settings.rule_source {
            RuleSource::File(file) => {
                load_rules_within(file, &prepared.states, settings.memory_limit)?
            }
            RuleSource::None | RuleSource::Auto => Vec::new(),
        };
        warn_of_unused_scores(&prepared, observe);
        let dev = dev.map(|dev| known_data(&prepared, dev, observe)).transpose()?;
        observe(Event::Data {
            sequences: prepared.data.len(),
            tokens: prepared.data.corpus.positions(),
            states: prepared.states.len(),
            scheme: prepared.states.scheme().name(),
            attributes: prepared.dictionary.len(),
            weights: prepared.structure.free_weights(),
        });
        let fingerprint = fingerprint(&prepared, dev.as_ref(), settings);
        let mut checkpoint = Checkpoint::open(settings, fingerprint)?;
        if checkpoint.resumes() {
            observe(Event::Resumed);
        }
        let (weights, training) = fit(&prepared, dev.as_ref(), settings, &mut checkpoint, observe)?;
        let crf = Crf { structure: prepared.structure.clone(), weights };
        let settings = settings.clone();
        Ok(Self { prepared, dev, declared, crf, training, settings, checkpoint })
    }

    /// Its labels.
    pub fn states(&self) -> &States {
        &self.prepared.states
    }

    /// The declared rules.
    pub fn declared(&self) -> &[Rule] {
        &self.declared
    }

    /// The rules that its training sequences suggest.
    pub fn candidates(&self) -> Candidates {
        generate(self.states(), self.paths().iter(), LEAST_SHARE)
    }

    /// Predictions for its training sequences by models that were trained on others, and for its
    /// development sequences by itself.
    pub fn hold_out(&mut self, observe: &mut dyn FnMut(Event)) -> Result<HeldOut, TrainError> {
        let Self { prepared, dev, crf, settings, checkpoint, .. } = self;
        hold_out(prepared, dev.as_ref(), crf, settings, checkpoint, observe)
    }

    /// Its predictions for other sequences.
    pub fn predict(&self, labelled: Labelled) -> Result<HeldOut, TrainError> {
        let data = self.prepared.data(labelled.sequences, labelled.scores)?;
        let mut held_out = HeldOut::default();
        let all: Vec<usize> = (0..data.len()).collect();
        let part = Part { data: &data, which: &all };
        predict(&self.crf, part, self.settings.rules.features, &mut held_out);
        Ok(held_out)
    }

    /// Learns the weights of rules from predictions, those that are not given.
    pub fn learn(
        &self,
        held_out: &HeldOut,
        candidates: Candidates,
        rules: &RuleSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        super::rules::check(rules)?;
        let settings = TrainSettings { rules: *rules, ..self.settings.clone() };
        let Self { prepared, crf, checkpoint, .. } = self;
        let stage = LearningStage { prepared, crf, held_out, settings: &settings, checkpoint };
        stage.run(&Proposal::Fixed(candidates), observe)
    }

    /// Generates rules from predictions and learns their weights; none if they do not help.
    pub fn choose(
        &self,
        held_out: &HeldOut,
        rules: &RuleSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        super::rules::check(rules)?;
        let settings = TrainSettings { rules: *rules, ..self.settings.clone() };
        let Self { prepared, crf, checkpoint, .. } = self;
        let stage = LearningStage { prepared, crf, held_out, settings: &settings, checkpoint };
        let RuleSettings { importance, least_violations, .. } = *rules;
        let pruning = Pruning { threshold: importance, least: least_violations };
        stage.run(&Proposal::Generated(pruning), observe)
    }

    /// The number of its training sequences.
    pub(super) fn sequences(&self) -> usize {
        self.prepared.data.len()
    }

    /// The tagger of this base model and rules.
    pub fn tagger(&self, learned: LearnedRules) -> Result<Tagger, TrainError> {
        let crf = learned.crf.as_ref().unwrap_or(&self.crf);
        let rules = learned.settings.unwrap_or(self.settings.rules);
        let (crf, dictionary) = match rules.features {
            // Random features use every attribute by its number, even without a weight.
            WeightFeatures::Fourier { .. } => (crf.clone(), self.prepared.dictionary.clone()),
            WeightFeatures::Constant | WeightFeatures::Length => {
                let (crf, numbers) = crf.pruned();
                let kept = (0..numbers.len()).filter(|&n| numbers[n].is_some());
                (crf, self.prepared.dictionary.select(&kept.collect::<Vec<_>>()).0)
            }
        };
        Ok(Tagger::new(Parts {
            input: self.prepared.input.clone(),
            score_labels: self.prepared.score_labels.clone(),
            extractor: self.prepared.extractor.clone(),
            attributes: Attributes::Named(dictionary),
            states: self.prepared.states.clone(),
            crf,
            rules: learned.rules,
            rule_groups: learned.groups,
            most_segments: learned.most,
            rule_weights: learned.weights,
            weight_features: rules.features,
            penalty: rules.penalty,
            decoding: learned.decoding,
            training: Training { rules: learned.training, ..self.training.clone() },
            annotations: BTreeMap::new(),
        })?)
    }

    fn paths(&self) -> Vec<Vec<usize>> {
        (0..self.prepared.data.len()).map(|s| path(&self.prepared.data, s)).collect()
    }
}

/// Development data. It must share labels with the training data, and labels that it alone has are
/// warned of.
fn known_data(
    prepared: &Prepared,
    dev: Labelled,
    observe: &mut dyn FnMut(Event),
) -> Result<Data, TrainError> {
    let data = prepared.data(dev.sequences, dev.scores)?;
    let mut unknown = UnknownLabels::default();
    for (sequence, labels) in dev.sequences.iter().zip(&data.labels) {
        let place = |t: usize| format!("{}:{}", sequence.path().display(), sequence.line(t));
        unknown.add(&prepared.states, &texts(labels), place);
    }
    unknown.check(&prepared.states.labels())?;
    unknown.warning().into_iter().for_each(|text| observe(Event::Warning(text)));
    Ok(data)
}

fn warn_of_unused_scores(prepared: &Prepared, observe: &mut dyn FnMut(Event)) {
    let known = |label: &String| !prepared.states.matching(label).is_empty();
    for label in prepared.score_labels.iter().filter(|label| !known(label)) {
        observe(Event::Warning(format!(
            "the label {label:?} of the scores is not in the training data and is not used"
        )));
    }
}

/// The weights of the base model, and how they were trained.
fn fit(
    prepared: &Prepared,
    dev: Option<&Data>,
    settings: &TrainSettings,
    checkpoint: &mut Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<(Vec<f64>, Training), TrainError> {
    let structure = &prepared.structure;
    let judge = dev.map(|dev| {
        |weights: &[f64]| {
            let crf = Crf { structure: structure.clone(), weights: weights.to_vec() };
            let predicted = Predictor::new(&crf).all(&dev.corpus);
            f1(&prepared.states, dev, &predicted)
        }
    });
    let fit = Fit {
        structure,
        sharing: prepared.sharing.as_ref(),
        corpus: &prepared.data.corpus,
        truth: &prepared.data.truth,
        settings: &settings.base,
        pool: &prepared.pool,
        seed: settings.seed,
        judge: judge.as_ref().map(|judge| judge as &dyn Fn(&[f64]) -> f64),
    };
    let turn = Turn { model: 0, models: settings.models(prepared.data.len()) };
    let Fitted { weights, loss, iterations } = fit.run(turn, checkpoint, observe)?;
    let BaseSettings { optimiser, l1, l2, .. } = settings.base;
    let method = match optimiser {
        Optimiser::QuasiNewton => format!("quasi-Newton, L1 {l1}, L2 {l2}"),
        Optimiser::AdaGrad => format!("averaged AdaGrad, L2 {l2}, seed {}", settings.seed),
    };
    let training = Training {
        version: env!("CARGO_PKG_VERSION").to_string(),
        sequences: prepared.data.len(),
        tokens: prepared.data.corpus.positions(),
        base: match prepared.pool.members() {
            1 => method,
            members => format!("{method}, pool of {members}"),
        },
        loss,
        iterations,
        dev_f1: judge.as_ref().map(|judge| judge(&weights)),
        rules: None,
    };
    Ok((weights, training))
}

/// A fingerprint of data and settings.
fn fingerprint(prepared: &Prepared, dev: Option<&Data>, settings: &TrainSettings) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    for data in [Some(&prepared.data), dev] {
        data.is_some().hash(&mut hasher);
        let Some(data) = data else { continue };
        data.labels.hash(&mut hasher);
        for observations in data.corpus.iter() {
            for t in 0..observations.len() {
                observations.attributes(t).hash(&mut hasher);
                observations.values(t).iter().for_each(|value| value.to_bits().hash(&mut hasher));
            }
            observations.scores.iter().for_each(|score| score.to_bits().hash(&mut hasher));
        }
    }
    prepared.data.truth.hash(&mut hasher);
    prepared.dictionary.arrays().0.hash(&mut hasher);
    let Transitions { forbidden, weighted } = prepared.structure.transitions();
    (forbidden, weighted).hash(&mut hasher);
    let TrainSettings { base, seed, .. } = settings;
    // The number distinguishes versions of the program whose models have other weights.
    let folds = settings.folds(prepared.data.len());
    format!("3 {:?} {} {:?} {:016x}", base, folds, seed, hasher.finish())
}
