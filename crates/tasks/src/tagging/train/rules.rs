//! Rules: where they come from, and what each is worth.

use std::sync::Arc;

use bethe_core::Oracle;
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Crf, Scorer};
use bethe_learn::energy::{
    Example, Examples, Inference, Joint, LearnerSettings, Limits, Loss, Rules, Start,
    learn as learn_weights,
};
use bethe_learn::optimise::{Outcome, QuasiNewton, Region, Settings};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::super::labels::States;
use super::super::model::RuleTraining;
use super::super::rules::{
    Compiled, Constraint, Generated, LEAST_SHARE, Pruning, Weight, generate, load_rules,
    most_segments, prune,
};
use super::super::score::Score;
use super::super::tag::TagOptions;
use super::base::{Fit, add_l2};
use super::checkpoint::Checkpoint;
use super::held_out::Predictor;
use super::prepared::{Data, Prepared};
use super::settings::{ConstraintSource, TrainSettings};
use super::{Event, TrainError};

/// L1 penalties that cross-validation tries, for a loss that is summed over sequences.
const PENALTIES: [f64; 4] = [0.3, 1.0, 3.0, 10.0];
/// Parts that cross-validation of the penalty cuts the held-out sequences into.
const PARTS: usize = 3;
/// Sequences that are enough to choose a penalty.
const ENOUGH: usize = 3000;
/// F1 that rules may cost on held-out sequences, as noise.
const TOLERATED_LOSS_OF_F1: f64 = 5e-4;
/// A learned weight below this changes nothing that anyone would see.
const NEGLIGIBLE: f64 = 1e-3;

/// Rules with their weights, and a base model where it was trained with them.
#[derive(Default)]
pub(super) struct LearnedRules {
    pub(super) constraints: Vec<Constraint>,
    /// Of those that are not hard. `[rules][features]`
    pub(super) weights: Vec<f64>,
    /// The greatest number of segments of each kind in a training sequence.
    pub(super) most: Vec<u32>,
    pub(super) crf: Option<Crf>,
    pub(super) training: Option<RuleTraining>,
}

/// A held-out sequence: where it is from, and what was predicted.
struct HeldOut {
    truth: Vec<usize>,
    predicted: Vec<usize>,
    labels: Vec<String>,
    /// Scores of the field's states by a model that has not seen it. `[positions][states]`
    scores: Vec<f64>,
    /// That model's transition table.
    model: usize,
    features: Vec<f64>,
}

/// Generates or reads rules, and learns the weights that are to be learned.
pub(super) fn learn(
    prepared: &Prepared,
    dev: Option<&Data>,
    crf: &Crf,
    settings: &TrainSettings,
    checkpoint: &mut Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<LearnedRules, TrainError> {
    let states = &prepared.states;
    let paths: Vec<Vec<usize>> =
        (0..prepared.data.len()).map(|s| path(&prepared.data, s)).collect();
    let most = most_segments(states, paths.iter());
    let Generated { constraints, considered } = match &settings.constraints {
        ConstraintSource::None => return Ok(LearnedRules::default()),
        ConstraintSource::Auto => generate(states, paths.iter(), LEAST_SHARE),
        ConstraintSource::File(file) => {
            let constraints = load_rules(file, states)?;
            let considered = constraints.len();
            Generated { constraints, considered }
        }
    };
    let any_learned = constraints.iter().any(|rule| rule.weight == Weight::Learned);
    if !any_learned {
        let compiled = Compiled::new(&constraints, states, &most)?;
        let weights = given(&compiled, settings.rules.features.len());
        let training = RuleTraining {
            generated: considered,
            pruned: constraints.len(),
            kept: constraints.len(),
            learner: "none: all weights are given".to_string(),
            ..RuleTraining::default()
        };
        let training = Some(training);
        return Ok(LearnedRules { constraints, weights, most, crf: None, training });
    }
    let (tables, held_out) = hold_out(prepared, dev, crf, settings, checkpoint, observe)?;
    let constraints = match settings.constraints {
        ConstraintSource::Auto => {
            let pruning = Pruning {
                threshold: settings.rules.importance,
                least: settings.rules.least_violations,
            };
            let outcomes = held_out.iter().map(|one| (&one.truth, &one.predicted));
            let judged = prune(&constraints, states, outcomes, &pruning);
            judged.into_iter().filter(|rule| rule.is_kept()).map(|rule| rule.constraint).collect()
        }
        _ => constraints,
    };
    let pruned = constraints.len();
    observe(Event::Rules { generated: considered, pruned, sequences: held_out.len() });
    let compiled = Compiled::new(&constraints, states, &most)?;
    let learning = Learning::new(states, compiled, &tables, &held_out, settings);
    let (l1, held_out_f1) = match settings.rules.l1 {
        Some(l1) => (Some(l1), None),
        None => {
            let (l1, f1) = learning.choose_penalty(checkpoint, observe)?;
            (l1, Some(f1))
        }
    };
    checkpoint.go_on()?;
    let all: Vec<usize> = (0..learning.examples.sequences.len()).collect();
    let start = learning.start();
    let mut weights = match l1 {
        Some(l1) => learning.fit(&all, l1, &start, &mut |pass, loss| {
            observe(Event::Pass { pass, loss });
        }),
        None => start.parameters.clone(),
    };
    let mut together = None;
    if settings.rules.joint && weights.iter().any(|weight| *weight != 0.0) {
        let l1 = l1.unwrap_or(0.0);
        let trained =
            train_together(prepared, crf, &learning, (&weights, l1), checkpoint, observe)?;
        weights = trained.1;
        together = Some(Crf { structure: crf.structure.clone(), weights: trained.0 });
    }
    let (constraints, weights) = drop_idle(constraints, weights, settings.rules.features.len());
    let training = RuleTraining {
        generated: considered,
        pruned,
        kept: constraints.len(),
        sequences: held_out.len(),
        learner: learner_name(settings).to_string(),
        l1,
        held_out_f1,
    };
    Ok(LearnedRules { constraints, weights, most, crf: together, training: Some(training) })
}

/// The name of the learner on the command line.
fn learner_name(settings: &TrainSettings) -> &'static str {
    use bethe_learn::energy::Learner;
    match settings.rules.learner {
        Learner::Surrogate => "surrogate",
        Learner::SurrogateBatch => "surrogate-batch",
        Learner::FenchelYoung => "fenchel-young",
    }
}

/// Goes on with the base model's weights and those of the rules together, by the Fenchel–Young loss of
/// the training data.
fn train_together(
    prepared: &Prepared,
    crf: &Crf,
    learning: &Learning,
    (rule_weights, l1): (&[f64], f64),
    checkpoint: &Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<(Vec<f64>, Vec<f64>), TrainError> {
    let settings = learning.settings;
    let features = settings.rules.features;
    let joint = Joint {
        structure: &prepared.structure,
        corpus: &prepared.data.corpus,
        truth: &prepared.data.truth,
        space: &learning.compiled.space,
        rules: &learning.rules,
        features: &|observations| features.of(observations),
        limits: Limits::default(),
    };
    let (first, fixed) = (crf.weights.len(), learning.start().fixed);
    let l2 = settings.base.l2;
    let mut objective = |parameters: &[f64], gradient: &mut [f64]| {
        let mut loss = joint.evaluate(parameters, gradient);
        let (weights, rules) = parameters.split_at(first);
        let (slopes, rule_slopes) = gradient.split_at_mut(first);
        loss += add_l2(l2, weights, slopes);
        for ((slope, weight), &fixed) in rule_slopes.iter_mut().zip(rules).zip(&fixed) {
            let size = if *weight < 0.0 { -l1 } else { l1 };
            *slope = if fixed { 0.0 } else { *slope + size };
            loss += l1 * weight.abs();
        }
        loss
    };
    let region = match features.len() {
        1 => Region::NotNegative { from: first },
        _ => Region::Free,
    };
    let minimiser = Settings { region, least_decrease: 1e-5, ..Settings::default() };
    let start = [&crf.weights, rule_weights].concat();
    let mut minimiser = QuasiNewton::start(minimiser, start, &mut objective);
    for pass in 1..=settings.rules.passes {
        checkpoint.go_on()?;
        if minimiser.step(&mut objective) != Outcome::Advanced {
            break;
        }
        observe(Event::Pass { pass, loss: minimiser.value() });
    }
    let (weights, rules) = minimiser.weights().split_at(first);
    Ok((weights.to_vec(), rules.to_vec()))
}

/// Predicts training sequences by models that were trained on the others, and development sequences by
/// the model of all training data; with the transition tables of these models.
fn hold_out(
    prepared: &Prepared,
    dev: Option<&Data>,
    crf: &Crf,
    settings: &TrainSettings,
    checkpoint: &mut Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<(Vec<Vec<f64>>, Vec<HeldOut>), TrainError> {
    let folds = settings.rules.folds.min(prepared.data.len()).max(2);
    let structure = &prepared.structure;
    let mut order: Vec<usize> = (0..prepared.data.len()).collect();
    order.shuffle(&mut StdRng::seed_from_u64(settings.seed));
    let mut fold_of = vec![0; order.len()];
    for (place, &sequence) in order.iter().enumerate() {
        fold_of[sequence] = place % folds;
    }
    let (mut tables, mut held_out) = (Vec::new(), Vec::new());
    for fold in 0..folds {
        let model = 1 + fold;
        let weights = match checkpoint.done(model) {
            Some((weights, ..)) => weights,
            None => {
                let others = |&sequence: &usize| fold_of[sequence] != fold;
                let others: Vec<usize> = (0..fold_of.len()).filter(others).collect();
                let (corpus, truth) = part(&prepared.data, &others);
                let (base, max_iterations) = (&settings.base, settings.base.max_iterations);
                let fit = Fit {
                    structure,
                    corpus: &corpus,
                    truth: &truth,
                    settings: base,
                    seed: settings.seed,
                    judge: None,
                };
                let fitted = fit.run(checkpoint, &mut |iteration, loss, dev_f1| {
                    let models = 1 + folds;
                    observe(Event::Iteration {
                        model,
                        models,
                        iteration,
                        max_iterations,
                        loss,
                        dev_f1,
                    })
                })?;
                checkpoint.finish(fitted.clone())?;
                fitted.0
            }
        };
        let own: Vec<usize> = (0..fold_of.len()).filter(|&s| fold_of[s] == fold).collect();
        let fold_crf = Crf { structure: crf.structure.clone(), weights };
        tables.push(structure.transition_table(&fold_crf.weights));
        predict(&fold_crf, &prepared.data, &own, tables.len() - 1, settings, &mut held_out);
    }
    if let Some(dev) = dev {
        // What the model has no state for cannot teach it anything.
        let known: Vec<usize> = (0..dev.len()).filter(|&s| dev.known[s]).collect();
        tables.push(structure.transition_table(&crf.weights));
        predict(crf, dev, &known, tables.len() - 1, settings, &mut held_out);
    }
    Ok((tables, held_out))
}

fn predict(
    crf: &Crf,
    data: &Data,
    which: &[usize],
    model: usize,
    settings: &TrainSettings,
    held_out: &mut Vec<HeldOut>,
) {
    let (corpus, _) = part(data, which);
    let predicted = Predictor::new(crf).all(&corpus);
    let mut scorer = Scorer::default();
    for ((&sequence, predicted), observations) in which.iter().zip(predicted).zip(corpus.iter()) {
        held_out.push(HeldOut {
            truth: path(data, sequence),
            predicted,
            labels: data.labels[sequence].clone(),
            scores: scorer.scores(&crf.structure, &crf.weights, observations).to_vec(),
            model,
            features: settings.rules.features.of(observations),
        });
    }
}

/// Some sequences of the data, and their truth.
fn part(data: &Data, which: &[usize]) -> (Corpus, Vec<u16>) {
    let mut corpus = Corpus::new();
    let mut truth = Vec::new();
    for &sequence in which {
        corpus.push_sequence(&data.corpus, sequence);
        truth.extend_from_slice(data.truth(sequence));
    }
    (corpus, truth)
}

fn path(data: &Data, sequence: usize) -> Vec<usize> {
    data.truth(sequence).iter().map(|&state| usize::from(state)).collect()
}

/// A part of the held-out sequences, those outside it, and the weights learned from these so far.
struct Part {
    own: Vec<usize>,
    others: Vec<usize>,
    start: Start,
}

/// Weights of rules, of which some are given.
struct Learning<'a> {
    states: &'a States,
    compiled: Compiled,
    /// The rules, and which of them have a weight to be learned.
    rules: Arc<Rules>,
    examples: Examples,
    held_out: &'a [HeldOut],
    settings: &'a TrainSettings,
}

impl<'a> Learning<'a> {
    fn new(
        states: &'a States,
        compiled: Compiled,
        tables: &[Vec<f64>],
        held_out: &'a [HeldOut],
        settings: &'a TrainSettings,
    ) -> Self {
        let mut examples = Examples::default();
        for table in tables {
            examples.add_model(&compiled.space, table);
        }
        for one in held_out.iter().filter(|one| !one.truth.is_empty()) {
            let truth: Vec<u16> = one.truth.iter().map(|&state| state as u16).collect();
            let model = (one.model, &tables[one.model][..]);
            examples.push(&compiled.space, model, &one.scores, &truth, one.features.clone());
        }
        let rules = Arc::new(compiled.rules.clone());
        Self { states, compiled, rules, examples, held_out, settings }
    }

    /// Where learning starts: given weights where they stay, the others at zero.
    fn start(&self) -> Start {
        let features = self.examples.features();
        let fixed = self.compiled.given.iter().flat_map(|given| vec![given.is_some(); features]);
        Start { parameters: given(&self.compiled, features), fixed: fixed.collect() }
    }

    fn learner(&self, l1: f64) -> LearnerSettings {
        LearnerSettings {
            learner: self.settings.rules.learner,
            l1,
            passes: self.settings.rules.passes,
            seed: self.settings.seed,
            ..LearnerSettings::default()
        }
    }

    /// Learns weights from some of the sequences. `[rules][features]`
    fn fit(
        &self,
        which: &[usize],
        l1: f64,
        start: &Start,
        observe: &mut dyn FnMut(usize, f64),
    ) -> Vec<f64> {
        let mut pass = |pass, loss| {
            observe(pass, loss);
            true
        };
        let kit = (&self.rules, start);
        learn_weights(&self.examples, kit, which, &self.learner(l1), &mut pass).parameters
    }

    /// The penalty with the least Fenchel–Young loss on sequences that weights were not learned from,
    /// of those that do not lower F1 there; none where all do. With F1 without rules, and with.
    fn choose_penalty(
        &self,
        checkpoint: &Checkpoint,
        observe: &mut dyn FnMut(Event),
    ) -> Result<(Option<f64>, (f64, f64)), TrainError> {
        let mut order: Vec<usize> = (0..self.examples.sequences.len()).collect();
        order.shuffle(&mut StdRng::seed_from_u64(self.settings.seed ^ 1));
        order.truncate(ENOUGH);
        let mut parts: Vec<Part> = (0..PARTS)
            .map(|part| {
                let own = |&(place, _): &(usize, &usize)| place % PARTS == part;
                let (own, others): (Vec<_>, Vec<_>) = order.iter().enumerate().partition(own);
                let sequences =
                    |of: Vec<(usize, &usize)>| of.into_iter().map(|(_, &s)| s).collect();
                Part { own: sequences(own), others: sequences(others), start: self.start() }
            })
            .collect();
        let mut plain = Score::new(self.states.scheme());
        parts.iter().for_each(|part| self.score(&part.own, &part.start.parameters, &mut plain));
        let plain = plain.leaf().f1();
        let (mut best, mut least, mut best_f1) = (None, f64::INFINITY, plain);
        for &l1 in PENALTIES.iter().rev() {
            let (mut score, mut loss) = (Score::new(self.states.scheme()), 0.0);
            for part in &mut parts {
                checkpoint.go_on()?;
                // From the greatest penalty down, each starts where the one before came to.
                part.start.parameters = self.fit(&part.others, l1, &part.start, &mut |_, _| ());
                self.score(&part.own, &part.start.parameters, &mut score);
                let mut unused = vec![0.0; part.start.parameters.len()];
                let kit = (&self.rules, &Limits::default());
                let parameters = &part.start.parameters;
                let own = &part.own;
                loss +=
                    Loss::FenchelYoung.evaluate(&self.examples, kit, own, parameters, &mut unused);
            }
            let f1 = score.leaf().f1();
            observe(Event::Penalty { l1, f1, plain_f1: plain });
            if loss < least && f1 >= plain - TOLERATED_LOSS_OF_F1 {
                (best, least, best_f1) = (Some(l1), loss, f1);
            }
        }
        Ok((best, (plain, best_f1)))
    }

    /// Decodes some sequences under rules and scores them.
    fn score(&self, which: &[usize], parameters: &[f64], score: &mut Score) {
        let limits = TagOptions::default().limits;
        let memory = || {
            let none = vec![0.0; self.rules.soft.len()];
            Inference::new(self.examples.models[0].clone(), self.rules.clone(), none)
        };
        let decode = |inference: &mut Inference, at: &usize| {
            let example: &Example = &self.examples.sequences[*at];
            inference.set_model(&self.examples.models[example.model]);
            inference.set_weights(example.weights(parameters));
            let mut path = vec![0; example.scores.len() / self.rules.states];
            if let Some(found) = inference.run(&example.scores, &limits) {
                inference.chain().decode(&found.tilt, &mut path);
            }
            path
        };
        let paths: Vec<Vec<usize>> = which.par_iter().map_init(memory, decode).collect();
        let tagged: Vec<&HeldOut> =
            self.held_out.iter().filter(|one| !one.truth.is_empty()).collect();
        for (&at, path) in which.iter().zip(&paths) {
            let truth: Vec<&str> = tagged[at].labels.iter().map(String::as_str).collect();
            let label = |&state: &usize| self.states.label(self.compiled.space.state(state));
            score.add(&truth, &path.iter().map(label).collect::<Vec<_>>());
        }
    }
}

/// Given weights, as constants; 0 for those to be learned. `[rules][features]`
fn given(compiled: &Compiled, features: usize) -> Vec<f64> {
    let own = |given: &Option<f64>| {
        let mut own = vec![0.0; features];
        own[0] = given.unwrap_or(0.0);
        own
    };
    compiled.given.iter().flat_map(own).collect()
}

/// Leaves out rules whose learned weight is nothing.
fn drop_idle(
    constraints: Vec<Constraint>,
    weights: Vec<f64>,
    features: usize,
) -> (Vec<Constraint>, Vec<f64>) {
    let mut own = weights.chunks(features);
    let (mut kept, mut kept_weights) = (Vec::new(), Vec::new());
    for constraint in constraints {
        if constraint.weight == Weight::Hard {
            kept.push(constraint);
            continue;
        }
        let own = own.next().expect("a weight for every soft rule");
        let idle = own.iter().all(|weight| weight.abs() < NEGLIGIBLE);
        if constraint.weight == Weight::Learned && idle {
            continue;
        }
        kept.push(constraint);
        kept_weights.extend_from_slice(own);
    }
    (kept, kept_weights)
}
