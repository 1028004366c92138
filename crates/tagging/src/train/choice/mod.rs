//! Whether rules help, and which: by cross-validation on held-out predictions.
//!
//! Each part of the held-out sequences is judged by rules that were generated, pruned and weighted on
//! the others. The penalty on weights is the one that makes the truth most likely under the tilted
//! chain. Generated rules stay if that gain is at least two standard errors, paired by sequence.

mod average;
mod part;
mod proposal;
mod statistics;

use bethe_core::solve::SolveError;
use bethe_learn::energy::Examples;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

pub use statistics::{Compared, Estimate};

pub(super) use average::Average;
pub(super) use proposal::Proposal;

use super::super::rule_training::{HeldOutGain, NoRules};
use super::super::rules::Rule;
use super::super::tag::decode::Decoding;
use super::held_out::Prediction;
use super::rules::{Care, Learning, LearningStage};
use super::{Event, TrainError};
use part::{Outcome, Part, certain};

/// L1 penalties on weights of rules that are tried, for a loss that is summed over all sequences. If the
/// loss is convex, each starts at the solution of the one before.
const PENALTIES: [f64; 5] = [3.0, 1.0, 0.3, 0.1, 0.03];
/// Parts of few held-out sequences, and of many: where there are few, every one counts.
const PARTS: [usize; 2] = [5, 3];
/// Where many begin.
const MANY: usize = 300;
/// A rise of the gain that is not worth a smaller penalty, as a part of the gain.
const LEAST_RISE: f64 = 0.02;
/// Most sequences that are judged.
const ENOUGH: usize = 3000;

/// What was chosen.
pub(super) struct Chosen {
    /// The penalty, or why there are no rules.
    pub(super) l1: Result<f64, NoRules>,
    pub(super) decoding: Decoding,
    /// How much rules with this penalty help.
    pub(super) gain: Option<HeldOutGain>,
    /// About the weights of all sequences, for a start.
    pub(super) about: Option<Average>,
}

/// Held-out sequences, cut into parts.
pub(super) struct Choice<'a> {
    stage: &'a LearningStage<'a>,
    gate: f64,
    parts: Vec<Part<'a>>,
}

/// A penalty that was tried.
struct Tried {
    l1: f64,
    /// `[sequences]`
    gain: Estimate,
    /// `[parts][rules × features]`
    weights: Vec<Vec<f64>>,
}

impl<'a> Choice<'a> {
    pub(super) fn new(
        stage: &'a LearningStage<'a>,
        proposal: &Proposal,
        examples: &'a Examples,
        known: &'a [&'a Prediction],
    ) -> Result<Self, TrainError> {
        let mut order: Vec<usize> = (0..known.len()).collect();
        order.shuffle(&mut StdRng::seed_from_u64(stage.settings.seed ^ 1));
        order.truncate(ENOUGH);
        let parts = if order.len() < MANY { PARTS[0] } else { PARTS[1] };
        let cut = |part: usize| {
            let own = |&(place, _): &(usize, &usize)| place % parts == part;
            let (own, others): (Vec<_>, Vec<_>) = order.iter().enumerate().partition(own);
            let [own, others]: [Vec<usize>; 2] =
                [own, others].map(|of| of.into_iter().map(|(_, &at)| at).collect());
            let seen: Vec<&Prediction> = others.iter().map(|&at| known[at]).collect();
            let rules = proposal.rules(&stage.prepared.states, &seen).rules;
            let learning = stage.learning(&rules, examples, Care::Rough)?;
            let certain = certain(&rules, &learning, &seen);
            let start = learning.start();
            Ok(Part { own, others, rules, learning, certain, known, start })
        };
        let parts = (0..parts).map(cut).collect::<Result<_, TrainError>>()?;
        Ok(Self { stage, gate: proposal.gate(), parts })
    }

    /// Chooses what is not given.
    pub(super) fn run(mut self, observe: &mut dyn FnMut(Event)) -> Result<Chosen, TrainError> {
        let given = self.stage.settings.rules.l1;
        let penalties = given.map_or(PENALTIES.to_vec(), |l1| vec![l1]);
        let best = self.best_penalty(&penalties, observe)?;
        let refused = match given {
            Some(_) => false,
            None => best.gain.mean <= 0.0 || best.gain.mean < self.gate * best.gain.error,
        };
        if refused {
            let (l1, decoding) = (Err(NoRules::NoGain(best.gain)), Decoding::default());
            return Ok(Chosen { l1, decoding, gain: None, about: None });
        }
        let (decoding, outcomes) = self.choose_decoding(&best.weights, observe)?;
        let starts: Vec<Vec<f64>> =
            self.parts.iter().map(|part| part.learning.start().parameters).collect();
        let plain = self.outcomes(&starts, Decoding::Tilted)?;
        let gain = Some(compare(best.gain, &plain, &outcomes));
        let about = Some(Average::of(&self.parts, &best.weights));
        Ok(Chosen { l1: Ok(best.l1), decoding, gain, about })
    }

    /// The penalty under which the truth is most likely. Smaller ones, which take the most time, are
    /// not tried once the gain hardly rises.
    fn best_penalty(
        &mut self,
        penalties: &[f64],
        observe: &mut dyn FnMut(Event),
    ) -> Result<Tried, TrainError> {
        let mut plain = Vec::new();
        for part in &self.parts {
            plain.extend(part.gains(&part.start.parameters)?);
        }
        let mut best: Option<Tried> = None;
        for &l1 in penalties {
            let mut gains = Vec::with_capacity(plain.len());
            for part in &mut self.parts {
                self.stage.checkpoint.go_on()?;
                part.fit(l1)?;
                gains.extend(part.gains(&part.start.parameters)?);
            }
            gains.iter_mut().zip(&plain).for_each(|(gain, plain)| *gain -= plain);
            let gain = Estimate::of(&gains);
            observe(Event::Penalty { l1, gain });
            let before = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain.mean);
            if gain.mean >= before {
                let weights = self.parts.iter().map(|part| part.start.parameters.clone()).collect();
                best = Some(Tried { l1, gain, weights });
            }
            if gain.mean < before + LEAST_RISE * before.max(0.0) && before != 0.0 {
                break;
            }
        }
        Ok(best.expect("at least one penalty"))
    }

    /// How to choose labels: weighed, which keeps nearly all rules, unless F1 is then lower by more
    /// than a standard error.
    fn choose_decoding(
        &self,
        weights: &[Vec<f64>],
        observe: &mut dyn FnMut(Event),
    ) -> Result<(Decoding, Vec<Outcome>), TrainError> {
        if let Some(told) = self.stage.settings.rules.decoding {
            return Ok((told, self.outcomes(weights, told)?));
        }
        let tilted = self.outcomes(weights, Decoding::Tilted)?;
        let weighed = self.outcomes(weights, Decoding::Weighed)?;
        let f1 = Compared::of_f1(&counts(&tilted), &counts(&weighed));
        let is_worse = f1.gain().mean < -f1.error;
        let (decoding, outcomes) = match is_worse {
            true => (Decoding::Tilted, tilted),
            false => (Decoding::Weighed, weighed),
        };
        let (tilted_f1, weighed_f1) = (f1.without, f1.with);
        observe(Event::Decoding { decoding, tilted_f1, weighed_f1 });
        Ok((decoding, outcomes))
    }

    /// Those of all parts, one after the other.
    fn outcomes(
        &self,
        weights: &[Vec<f64>],
        decoding: Decoding,
    ) -> Result<Vec<Outcome>, SolveError> {
        let mut all = Vec::new();
        for (part, weights) in self.parts.iter().zip(weights) {
            all.extend(part.outcomes(weights, decoding)?);
        }
        Ok(all)
    }
}

fn compare(log_loss: Estimate, plain: &[Outcome], ruled: &[Outcome]) -> HeldOutGain {
    let shares = |of: fn(&Outcome) -> bool| {
        let [plain, ruled] =
            [plain, ruled].map(|outcomes| outcomes.iter().map(of).collect::<Vec<bool>>());
        Compared::of_sequences(&plain, &ruled)
    };
    HeldOutGain {
        log_loss,
        f1: Compared::of_f1(&counts(plain), &counts(ruled)),
        whole: shares(|outcome| outcome.whole),
        broken: shares(|outcome| outcome.breaks),
    }
}

fn counts(outcomes: &[Outcome]) -> Vec<super::super::score::SequenceCounts> {
    outcomes.iter().map(|outcome| outcome.counts).collect()
}

/// Weights of all sequences under a penalty. The convex loss starts at what cross-validation found
/// about them, or else goes from the greatest penalty down.
pub(super) fn fit(
    learning: &Learning,
    rules: &[Rule],
    (l1, about): (f64, Option<&Average>),
    observe: &mut dyn FnMut(Event),
) -> Result<Vec<f64>, SolveError> {
    let all: Vec<usize> = (0..learning.examples.sequences.len()).collect();
    let is_convex = learning.is_convex();
    let mut start = learning.start();
    let mut penalties = vec![l1];
    match about {
        Some(about) if is_convex => about.apply(rules, learning, &mut start),
        None if is_convex => {
            penalties = PENALTIES.into_iter().filter(|&penalty| penalty > l1).collect();
            penalties.push(l1);
        }
        _ => {}
    }
    for penalty in penalties {
        start.parameters = learning.fit(&all, penalty, &start, &mut |pass, loss| {
            observe(Event::Pass { pass, loss });
        })?;
    }
    Ok(start.parameters)
}
