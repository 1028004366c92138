use std::sync::Arc;
use std::time::Instant;

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::Scorer;

use super::{Data, Score, Settings, Start, Variant};
use crate::ocr::energy::{Energy, Search, Statistic};
use crate::ocr::features::Features;
use crate::ocr::histories::Histories;
use crate::ocr::learning::{
    Descent, Examples, Loss, Minimisation, Objective, WordFeatures, learn_stochastic, minimise,
    refit_base,
};
use crate::ocr::lexicon::Lexicon;
use crate::ocr::model::{Field, Model};
use crate::ocr::reader::{self, Reader};

/// Words between two stochastic steps.
const BATCH: usize = 8;
/// `ψ` before anything is learned.
const FIRST_WEIGHT: f64 = 1.0;
/// Size of the first step of a constant `ψ` alone, and together with the base model.
const RATES: [f64; 2] = [0.5, 0.1];
/// The same of `v` where `ψ` depends on many features, each of which moves with the others.
const MAPPED_RATE: f64 = 2e-3;
/// `l2 ‖v‖²` there.
const MAPPED_L2: f64 = 1.0;
/// Steps of a minimisation in `v` alone.
const MOST_STEPS: usize = 8;

/// A part of the words to learn from, and one to test on.
pub(super) struct Fold<'a> {
    pub data: &'a Data<'a>,
    pub settings: &'a Settings,
    /// The fold's number.
    pub number: usize,
    pub train: Vec<usize>,
    pub test: Vec<usize>,
    /// The distinct words to learn from.
    pub lexicon: Arc<Lexicon>,
}

/// A base model and the scores that it gives.
pub(super) struct Fitted<'a> {
    /// The penalty of its weights.
    pub l2: f64,
    pub corpus: &'a Corpus,
    pub model: Model,
    /// `[words][positions][letters]`
    pub scores: Vec<Vec<f64>>,
}

/// A model and an energy on top.
pub(super) struct Learned {
    pub model: Model,
    pub energy: Arc<Energy>,
    /// `v`
    pub parameters: Vec<f64>,
}

/// What was chosen inside the training folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tuned {
    /// The way to learn.
    pub variant: Variant,
    /// First step of the base model's weights.
    pub rate: f64,
    /// Penalty of the Fenchel–Young loss.
    pub energy_l2: f64,
}

impl<'a> Fold<'a> {
    pub fn new(data: &'a Data, settings: &'a Settings, number: usize) -> Self {
        let of_fold = |word: &usize| data.words[*word].fold == number;
        let (test, train) = (0..data.words.len()).partition(of_fold);
        Self::of_parts(data, settings, number, train, test)
    }

    /// A fold of given parts.
    pub fn of_parts(
        data: &'a Data,
        settings: &'a Settings,
        number: usize,
        train: Vec<usize>,
        test: Vec<usize>,
    ) -> Self {
        assert!(!train.is_empty() && !test.is_empty(), "words to learn from and to test on");
        let lexicon = Lexicon::new(train.iter().map(|&word| &data.words[word].letters[..]));
        Self { data, settings, number, train, test, lexicon: Arc::new(lexicon) }
    }

    pub fn examples<'b>(&'b self, corpus: &'b Corpus, features: &'b WordFeatures) -> Examples<'b> {
        Examples { words: self.data.words, corpus, features }
    }

    /// A base model over letters.
    pub fn fit(
        &self,
        (features, corpus): &'a (Features, Corpus),
        how: &Minimisation,
    ) -> Fitted<'a> {
        let field = Field::new(features.len(), Histories::letters());
        self.refit(corpus, &Model::zero(Arc::new(field)), how)
    }

    /// A base model, from the weights of another one that has seen no other words than these.
    pub fn refit(&self, corpus: &'a Corpus, start: &Model, how: &Minimisation) -> Fitted<'a> {
        let examples = self.examples(corpus, &self.data.constant);
        let model = refit_base(examples, start, &self.train, how);
        let mut scorer = Scorer::default();
        let scores = corpus.iter().map(|word| model.scores(&mut scorer, word).to_vec()).collect();
        Fitted { l2: how.l2, corpus, model, scores }
    }

    pub fn energy(&self, statistic: Statistic, search: Search) -> Arc<Energy> {
        let norm = self.settings.norm;
        Arc::new(Energy { norm, ..Energy::new(self.lexicon.clone(), statistic, search) })
    }

    /// Learns an energy, and perhaps the base model with it.
    pub fn learn(
        &self,
        fitted: &Fitted,
        energy: &Arc<Energy>,
        features: &WordFeatures,
        tuned: Tuned,
        seed: u64,
    ) -> Learned {
        let variant = tuned.variant;
        let objective = Objective {
            examples: self.examples(fitted.corpus, features),
            field: fitted.model.field.clone(),
            energy: Some(energy.clone()),
            loss: variant.loss,
            limits: reader::settings(),
            fixed: Some((&fitted.model, &fitted.scores)),
        };
        let mut parameters = vec![0.0; features.len()];
        parameters[0] = FIRST_WEIGHT;
        if variant.start != Start::Zero {
            parameters = self.learn_psi(&objective, parameters, tuned, seed);
        }
        if variant.start == Start::Psi {
            return Learned { model: fitted.model.clone(), energy: energy.clone(), parameters };
        }
        let field = fitted.model.field.clone();
        let from_zero = variant.start == Start::Zero;
        let mut start =
            if from_zero { vec![0.0; field.weights()] } else { fitted.model.weights.clone() };
        start.extend(parameters);
        let recipe = &self.settings.recipe;
        let descent = Descent {
            l2: fitted.l2,
            energy_l2: energy_l2(&objective, tuned),
            // From zero the base model has a long way to go.
            rates: [if from_zero { 0.2 } else { tuned.rate }, rate(features, RATES[1])],
            passes: if from_zero { recipe.passes_from_zero } else { recipe.passes },
            batch: BATCH,
            seed,
        };
        let both = Objective { fixed: None, ..objective };
        let mut weights = learn_stochastic(&both, &self.train, start, &descent);
        let parameters = weights.split_off(field.weights());
        Learned { model: Model::new(field, weights), energy: energy.clone(), parameters }
    }

    /// Learns `v` on a fixed base model.
    fn learn_psi(
        &self,
        objective: &Objective,
        start: Vec<f64>,
        tuned: Tuned,
        seed: u64,
    ) -> Vec<f64> {
        let energy_l2 = energy_l2(objective, tuned);
        if objective.loss == Loss::FenchelYoung {
            let how =
                Minimisation { l2: 0.0, energy_l2, iterations: MOST_STEPS, least_decrease: 1e-3 };
            return minimise(objective, &self.train, start, &how);
        }
        let descent = Descent {
            l2: 0.0,
            energy_l2,
            rates: [0.0, rate(objective.examples.features, RATES[0])],
            passes: self.settings.recipe.passes,
            batch: BATCH,
            seed,
        };
        learn_stochastic(objective, &self.train, start, &descent)
    }

    /// How a model with an energy reads the words to test on.
    pub fn test(&self, corpus: &Corpus, learned: &Learned, features: &WordFeatures) -> Score {
        let energy = Some(learned.energy.clone());
        let mut reader = Reader::new(&learned.model, energy, reader::settings());
        let mut scorer = Scorer::default();
        self.score(|word| {
            let scores = learned.model.scores(&mut scorer, corpus.sequence(word));
            let weight = features.weight(word, &learned.parameters).max(0.0);
            let start = Instant::now();
            let found = reader.infer(scores, weight);
            let read = reader.decode(&found);
            (read, start.elapsed().as_secs_f64())
        })
    }

    /// Compares readings, and the seconds they took, with the words to test on.
    pub fn score(&self, mut read: impl FnMut(usize) -> (Vec<u8>, f64)) -> Score {
        let mut score = Score::default();
        for &word in &self.test {
            let (letters, seconds) = read(word);
            score.add(&letters, &self.data.words[word].letters);
            score.seconds += seconds;
        }
        score
    }
}

/// The penalty of `v`. Without one no gradient of the Fenchel–Young loss would ever lower `ψ`.
fn energy_l2(objective: &Objective, tuned: Tuned) -> f64 {
    let mapped = if objective.examples.features.len() > 1 { MAPPED_L2 } else { 0.0 };
    if objective.loss == Loss::FenchelYoung { tuned.energy_l2 } else { mapped }
}

fn rate(features: &WordFeatures, constant: f64) -> f64 {
    if features.len() == 1 { constant } else { MAPPED_RATE }
}
