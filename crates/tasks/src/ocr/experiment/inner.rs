//! What is tuned inside the training folds: one of them is held out.

use super::fold::{Fitted, Fold, Tuned};
use super::{Data, Start, Variant};
use crate::ocr::energy::{Search, Statistic};
use crate::ocr::learning::{Loss, Minimisation};
use crate::ocr::model::Model;

/// The training folds of a fold, one of them held out.
pub(super) struct Inner<'a> {
    pub fold: Fold<'a>,
    pub fitted: Fitted<'a>,
}

/// The words to learn from without those of one fold among them, and those; where there is only one
/// fold, every tenth word is held out, and of a single word nothing.
pub(super) fn split(data: &Data, train: &[usize], test: usize) -> (Vec<usize>, Vec<usize>) {
    let mut folds: Vec<usize> = train.iter().map(|&word| data.words[word].fold).collect();
    folds.sort_unstable();
    folds.dedup();
    if folds.len() > 1 {
        let held_out = folds.iter().copied().find(|&fold| fold > test).unwrap_or(folds[0]);
        let is_held_out = |word: &&usize| data.words[**word].fold == held_out;
        let (held_out, rest): (Vec<usize>, Vec<usize>) = train.iter().partition(is_held_out);
        return (rest, held_out);
    }
    let part = |held_out: bool| {
        let numbered = train.iter().enumerate();
        numbered.filter(|(at, _)| (at % 10 == 0) == held_out).map(|(_, &word)| word).collect()
    };
    if train.len() == 1 { (train.to_vec(), train.to_vec()) } else { (part(false), part(true)) }
}

impl<'a> Inner<'a> {
    /// With the base model of pixels whose penalty reads the held-out words best.
    pub fn of_pixels(outer: &Fold<'a>) -> Self {
        let (fold, data) = (Self::hold_out(outer), outer.data);
        let recipe = &outer.settings.recipe;
        let mut best: Option<(f64, Fitted)> = None;
        let mut start: Option<Model> = None;
        for &l2 in &recipe.l2 {
            let how = Minimisation { l2, ..recipe.pixels };
            let fitted = match &start {
                None => fold.fit(&data.pixels, &how),
                Some(start) => fold.refit(&data.pixels.1, start, &how),
            };
            start = Some(fitted.model.clone());
            let accuracy = fold.test_base(&fitted).accuracy();
            if best.as_ref().is_none_or(|best| accuracy > best.0) {
                best = Some((accuracy, fitted));
            }
        }
        let fitted = best.expect("a penalty to try").1;
        Self { fold, fitted }
    }

    /// With the base model of pixels and pairs.
    pub fn of_pairs(outer: &Fold<'a>) -> Self {
        let fold = Self::hold_out(outer);
        let fitted = fold.fit(&outer.data.pairs, &outer.settings.recipe.pairs);
        Self { fold, fitted }
    }

    fn hold_out(outer: &Fold<'a>) -> Fold<'a> {
        let parts = split(outer.data, &outer.train, outer.number);
        Fold::of_parts(outer.data, outer.settings, outer.number, parts)
    }

    /// The way to learn an energy, the step and the penalty that read the held-out words best.
    pub fn tune(&self, statistic: Statistic) -> Tuned {
        let recipe = &self.fold.settings.recipe;
        let with = |start, loss, energy_l2| {
            let variant = Variant { start, loss };
            Tuned { variant, rate: recipe.rates[0], energy_l2 }
        };
        // Each setting is chosen with what it matters to.
        let penalties = recipe.energy_l2.iter().map(|&l2| with(Start::Psi, Loss::FenchelYoung, l2));
        let penalised = self.best(statistic, Search::Local, penalties);
        let energy_l2 = penalised.1.energy_l2;
        let joint = [Loss::Surrogate, Loss::FenchelYoung]
            .map(|loss| Variant { start: Start::Joint, loss })
            .into_iter();
        let rates = joint.flat_map(|variant| {
            recipe.rates.iter().map(move |&rate| Tuned { variant, rate, energy_l2 })
        });
        let joint = self.best(statistic, Search::Local, rates);
        let others = [
            with(Start::Psi, Loss::Surrogate, energy_l2),
            with(Start::Zero, Loss::Surrogate, energy_l2),
            with(Start::Zero, Loss::FenchelYoung, energy_l2),
        ];
        let other = self.best(statistic, Search::Local, others.into_iter());
        Tuned { rate: joint.1.rate, ..better(better(penalised, joint), other).1 }
    }

    /// The way to learn from a base model that reads the held-out words best, with this step and penalty.
    pub fn choose(&self, statistic: Statistic, search: Search, tuned: Tuned) -> Tuned {
        let ways = Variant::all().filter(|variant| variant.start != Start::Zero);
        self.best(statistic, search, ways.map(|variant| Tuned { variant, ..tuned })).1
    }

    fn best(
        &self,
        statistic: Statistic,
        search: Search,
        tried: impl Iterator<Item = Tuned>,
    ) -> (f64, Tuned) {
        let scored = tried.map(|tuned| (self.accuracy(statistic, search, tuned), tuned));
        scored.reduce(better).expect("something to try")
    }

    fn accuracy(&self, statistic: Statistic, search: Search, tuned: Tuned) -> f64 {
        let constant = &self.fold.data.constant;
        let energy = self.fold.energy(statistic, search);
        let learned = self.fold.learn(&self.fitted, &energy, constant, tuned, 0);
        self.fold.test(self.fitted.corpus, &learned, constant).accuracy()
    }
}

/// The one of higher accuracy, of equals the first.
fn better(first: (f64, Tuned), second: (f64, Tuned)) -> (f64, Tuned) {
    if second.0 > first.0 { second } else { first }
}
