//! Chooses the L1 penalty on weights of rules by cross-validation, and the way of decoding.

use bethe_core::solve::SolveError;
use bethe_learn::energy::{Example, Inference, Loss, RuledInference, Sample, Start};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::super::score::Score;
use super::super::tag::TagOptions;
use super::super::tag::decode::{Decoder, Decoding};
use super::checkpoint::Checkpoint;
use super::held_out::Prediction;
use super::rules::Learning;
use super::{Event, TrainError};

/// L1 penalties that cross-validation tries, for a loss that is summed over sequences.
const PENALTIES: [f64; 4] = [0.3, 1.0, 3.0, 10.0];
/// Parts that cross-validation of the penalty cuts the held-out sequences into.
const PARTS: usize = 3;
/// Most sequences used to choose a penalty.
const ENOUGH: usize = 3000;
/// Loss of held-out F1 that counts as noise.
const TOLERATED_LOSS_OF_F1: f64 = 5e-4;

/// A part of the held-out sequences, those outside it, and the weights learned from these so far.
struct Part {
    own: Vec<usize>,
    others: Vec<usize>,
    start: Start,
}

impl Learning<'_> {
    /// The penalty with the least Fenchel–Young loss on held-out sequences among those that do not
    /// lower F1 there; `None` if all do. Also F1 without and with rules.
    pub(super) fn choose_penalty(
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
        let tilted = Decoding::Tilted;
        for part in &parts {
            self.score(&part.own, &part.start.parameters, tilted, &mut plain)?;
        }
        let plain = plain.leaf().f1();
        let inference = Inference::default_settings();
        let ruled = RuledInference { rules: &self.rules, settings: &inference };
        let (mut best, mut least, mut best_f1) = (None, f64::INFINITY, plain);
        for &l1 in PENALTIES.iter().rev() {
            let (mut score, mut loss) = (Score::new(self.states.scheme()), 0.0);
            for part in &mut parts {
                checkpoint.go_on()?;
                // From the greatest penalty down, each starts at the previous solution.
                part.start.parameters = self.fit(&part.others, l1, &part.start, &mut |_, _| ())?;
                self.score(&part.own, &part.start.parameters, tilted, &mut score)?;
                let mut unused = vec![0.0; part.start.parameters.len()];
                let parameters = &part.start.parameters;
                let own = Sample { examples: &self.examples, which: &part.own };
                loss += Loss::FenchelYoung.evaluate(own, ruled, parameters, &mut unused)?;
            }
            let f1 = score.leaf().f1();
            observe(Event::Penalty { l1, f1, plain_f1: plain });
            if loss < least && f1 >= plain - TOLERATED_LOSS_OF_F1 {
                (best, least, best_f1) = (Some(l1), loss, f1);
            }
        }
        Ok((best, (plain, best_f1)))
    }

    /// How to choose labels under rules with these weights. Weighing rules on the labels themselves
    /// keeps nearly all of them. Held-out F1 may be higher or lower than by the tilt alone, but
    /// must not be lower than without rules.
    pub(super) fn choose_decoding(
        &self,
        which: &[usize],
        parameters: &[f64],
        observe: &mut dyn FnMut(Event),
    ) -> Result<Decoding, SolveError> {
        let f1 = |parameters: &[f64], decoding| {
            let mut score = Score::new(self.states.scheme());
            self.score(which, parameters, decoding, &mut score)?;
            Ok::<f64, SolveError>(score.leaf().f1())
        };
        let plain = f1(&self.start().parameters, Decoding::Tilted)?;
        let tilted = f1(parameters, Decoding::Tilted)?;
        let weighed = f1(parameters, Decoding::Weighed)?;
        let decoding = match weighed >= plain.min(tilted) {
            true => Decoding::Weighed,
            false => Decoding::Tilted,
        };
        observe(Event::Decoding { decoding, tilted_f1: tilted, weighed_f1: weighed });
        Ok(decoding)
    }

    /// Decodes some sequences under rules and scores them.
    fn score(
        &self,
        which: &[usize],
        parameters: &[f64],
        decoding: Decoding,
        score: &mut Score,
    ) -> Result<(), SolveError> {
        let settings = TagOptions::default().inference;
        let memory = || {
            let none = vec![0.0; self.rules.soft.len()];
            Inference::new(self.examples.models[0].clone(), self.rules.clone(), none)
        };
        let labels = |inference: &mut Inference, at: &usize| {
            let example: &Example = &self.examples.sequences[*at];
            let weights = example.weights(parameters);
            inference.set_model(&self.examples.models[example.model]);
            inference.set_weights(weights.clone());
            let Some(found) = inference.run(&example.scores, &settings)? else { return Ok(None) };
            let decoder =
                Decoder { compiled: &self.compiled, weights: &weights, decoding, count: 1 };
            let (best, _) = decoder.best(inference.chain(), &found);
            Ok(best.into_iter().next().map(|(path, _)| path))
        };
        let paths: Result<Vec<Option<Vec<usize>>>, SolveError> =
            which.par_iter().map_init(memory, labels).collect();
        let tagged: Vec<&Prediction> =
            self.held_out.predictions.iter().filter(|one| !one.truth.is_empty()).collect();
        for (&at, path) in which.iter().zip(&paths?) {
            let truth: Vec<&str> = tagged[at].labels.iter().map(String::as_str).collect();
            let label = |&state: &usize| self.states.label(self.compiled.space.state(state));
            // Where scores forbid every path, nothing is found.
            let none = vec![0; truth.len()];
            let path = path.as_ref().unwrap_or(&none);
            score.add(&truth, &path.iter().map(label).collect::<Vec<_>>());
        }
        Ok(())
    }
}
