use std::sync::Arc;

use bethe_core::Settings;
use bethe_core::oracle::chain::TransitionCounts;
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Residual, Scorer};
use rayon::prelude::*;

use crate::ocr::data::{LETTERS, Word};
use crate::ocr::energy::{Energy, indicators};
use crate::ocr::model::{Field, Model};
use crate::ocr::reader::Reader;

/// Chunks that words are cut into, whatever the number of threads: sums are taken within a chunk,
/// then over chunks in their order.
const CHUNKS: usize = 16;
/// Fewer words than this are not worth a chunk of their own.
const LEAST_CHUNK: usize = 8;

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The likelihood of the base model alone.
    Likelihood,
    /// The paper's, with the answer's tilt held.
    Surrogate,
    /// Convex except for the minimum over words.
    FenchelYoung,
}

/// What `ψ` depends on: a constant 1 first, then perhaps more.
#[derive(Clone, Debug, PartialEq)]
pub struct WordFeatures {
    /// Features of a word.
    count: usize,
    /// `[words][features]`; empty where the constant is all.
    values: Vec<f64>,
}

impl WordFeatures {
    /// A constant, for any word.
    pub fn constant() -> Self {
        Self { count: 1, values: Vec::new() }
    }

    /// A constant and these. `[words][features]`
    pub fn with_constant(rows: &[Vec<f64>]) -> Self {
        let count = 1 + rows.first().map_or(0, Vec::len);
        let values = rows.iter().flat_map(|row| std::iter::once(1.0).chain(row.iter().copied()));
        Self { count, values: values.collect() }
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none, which cannot be.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The features of a word.
    pub fn of(&self, word: usize) -> &[f64] {
        if self.values.is_empty() {
            &[1.0]
        } else {
            &self.values[word * self.count..][..self.count]
        }
    }

    /// `ψ(x) = v·f(x)`
    pub fn weight(&self, word: usize, parameters: &[f64]) -> f64 {
        dot(parameters, self.of(word))
    }
}

/// Words with what is seen of them.
#[derive(Clone, Copy)]
pub struct Examples<'a> {
    /// The words.
    pub words: &'a [Word],
    /// Their attributes.
    pub corpus: &'a Corpus,
    /// What `ψ` depends on.
    pub features: &'a WordFeatures,
}

/// A loss over words in the weights of a field and in `v`.
#[derive(Clone)]
pub struct Objective<'a> {
    /// The words.
    pub examples: Examples<'a>,
    /// The field.
    pub field: Arc<Field>,
    /// The energy, except for the likelihood.
    pub energy: Option<Arc<Energy>>,
    /// The loss.
    pub loss: Loss,
    /// Solver and limits of inference.
    pub limits: Settings,
    /// Scores of letters that stay as they are (`[words]`), where only `v` is learned.
    pub fixed: Option<(&'a Model, &'a [Vec<f64>])>,
}

struct Part {
    loss: f64,
    gradient: Vec<f64>,
}

impl Objective<'_> {
    /// Number of parameters: the field's, unless they are fixed, then `v`.
    pub fn parameters(&self) -> usize {
        let own = if self.energy.is_some() { self.examples.features.len() } else { 0 };
        self.first_of_energy() + own
    }

    /// The first parameter that is one of `v`.
    pub fn first_of_energy(&self) -> usize {
        if self.fixed.is_some() { 0 } else { self.field.weights() }
    }

    /// The loss over some words; its gradient overwrites `gradient`.
    pub fn evaluate(&self, which: &[usize], parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let (weights, own) = parameters.split_at(self.first_of_energy());
        let fresh;
        let model = match self.fixed {
            Some((model, _)) => model,
            None => {
                fresh = Model::new(self.field.clone(), weights.to_vec());
                &fresh
            }
        };
        let chunk = which.len().div_ceil(CHUNKS).max(LEAST_CHUNK);
        let parts: Vec<Part> =
            which.par_chunks(chunk).map(|words| self.part(model, own, words)).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in parts {
            loss += part.loss;
            gradient.iter_mut().zip(part.gradient).for_each(|(sum, own)| *sum += own);
        }
        loss
    }

    fn part(&self, model: &Model, own: &[f64], words: &[usize]) -> Part {
        let mut worker = Worker {
            objective: self,
            model,
            reader: Reader::new(model, self.energy.clone(), self.limits.clone()),
            counts: TransitionCounts::new(&model.chain),
            observed: vec![0.0; model.table.len()],
            residual: Residual::default(),
            wide: Vec::new(),
            nodes: Vec::new(),
            letters: Vec::new(),
        };
        let mut part = Part { loss: 0.0, gradient: vec![0.0; self.parameters()] };
        let mut scorer = Scorer::default();
        for &word in words {
            match self.fixed {
                Some((_, scores)) => worker.add(word, &scores[word], own, &mut part),
                None => {
                    let scores = model.scores(&mut scorer, self.examples.corpus.sequence(word));
                    worker.add(word, scores, own, &mut part);
                }
            }
        }
        if self.fixed.is_none() {
            worker.write_transitions(&mut part.gradient);
        }
        part
    }
}

/// Goes through some words.
struct Worker<'a> {
    objective: &'a Objective<'a>,
    model: &'a Model,
    reader: Reader,
    counts: TransitionCounts,
    /// Transitions of the truth. `[states][states]`
    observed: Vec<f64>,
    residual: Residual,
    wide: Vec<f64>,
    nodes: Vec<f64>,
    letters: Vec<f64>,
}

impl Worker<'_> {
    fn add(&mut self, word: usize, scores: &[f64], own: &[f64], part: &mut Part) {
        let truth = &self.objective.examples.words[word].letters;
        let histories = &self.model.field.histories;
        let path = histories.path(truth).expect("states know the words that are learned from");
        let score = self.model.score(scores, &path);
        match self.objective.loss {
            Loss::Likelihood => {
                let log_partition = if histories.are_letters() {
                    self.reader.infer_base(scores)
                } else {
                    histories.widen(scores, &mut self.wide);
                    self.reader.infer_base(&self.wide)
                };
                part.loss += log_partition - score;
            }
            _ => self.add_energy(word, scores, score, own, part),
        }
        if self.objective.fixed.is_none() {
            self.add_residual(word, &path, &mut part.gradient);
        }
    }

    /// The part of the loss, and of the slopes of `v`, that a word under the energy has.
    fn add_energy(
        &mut self,
        word: usize,
        scores: &[f64],
        score: f64,
        own: &[f64],
        part: &mut Part,
    ) {
        let Objective { examples, energy, loss, .. } = self.objective;
        let energy = energy.as_ref().expect("an energy for all losses but the likelihood");
        let truth = &examples.words[word].letters;
        let weight = examples.features.weight(word, own);
        let found = self.reader.infer(scores, weight.max(0.0));
        let slope = match loss {
            Loss::FenchelYoung => {
                let of_truth = energy.distance(&indicators(truth));
                part.loss += weight.max(0.0) * of_truth - score - found.objective;
                of_truth - found.distance
            }
            _ => {
                let of_truth = dot(&found.tilt, &indicators(truth));
                part.loss += found.log_partition - score - of_truth;
                let expected = dot(&found.tilt, &found.marginals);
                if weight > 0.0 { (expected - of_truth) / weight } else { 0.0 }
            }
        };
        // At the boundary the energy may still come in, by the slope of the convex loss.
        let inside = weight > 0.0 || weight == 0.0 && *loss == Loss::FenchelYoung;
        if inside {
            let slopes = &mut part.gradient[self.objective.first_of_energy()..];
            let features = examples.features.of(word);
            slopes.iter_mut().zip(features).for_each(|(sum, f)| *sum += slope * f);
        }
    }

    fn add_residual(&mut self, word: usize, path: &[u16], gradient: &mut [f64]) {
        let (states, field) = (self.model.field.histories.len(), &self.model.field);
        self.nodes.clear();
        self.nodes.resize(path.len() * states, 0.0);
        self.reader.chain().accumulate(&mut self.nodes, &mut self.counts);
        let marginals = if field.histories.are_letters() {
            &mut self.nodes
        } else {
            field.histories.narrow(&self.nodes, &mut self.letters);
            &mut self.letters
        };
        for (row, &state) in marginals.chunks_mut(LETTERS).zip(path) {
            row[usize::from(field.histories.letter(usize::from(state)))] -= 1.0;
        }
        for pair in path.windows(2) {
            self.observed[usize::from(pair[0]) * states + usize::from(pair[1])] += 1.0;
        }
        self.residual.assign(marginals);
        let observations = self.objective.examples.corpus.sequence(word);
        self.residual.add_gradient(&field.structure, observations, gradient);
    }

    /// Writes expected less observed transitions.
    fn write_transitions(&mut self, gradient: &mut [f64]) {
        let (states, observed) = (self.model.field.histories.len(), &mut self.observed);
        self.counts.take(&self.model.chain, |from, to, count| {
            observed[from * states + to] -= count;
        });
        let slopes = &mut gradient[self.model.field.attribute_weights()..];
        for (slope, &(from, to)) in slopes.iter_mut().zip(self.model.field.histories.transitions())
        {
            *slope = -observed[usize::from(from) * states + usize::from(to)];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
