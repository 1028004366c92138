//! Tuning inside the training folds, with some of them held out.

use bethe_learn::corpus::Corpus;

use super::fold::{Fitted, Fold, Tuned};
use super::{Data, Recipe, Start, Variant};
use crate::ocr::energy::{Search, Statistic};
use crate::ocr::features::Features;
use crate::ocr::learning::{Loss, Minimisation};
use crate::ocr::model::Model;

/// Folds that are held out, one at a time: a single one tells ways to learn apart that differ by
/// chance alone.
const HELD_OUT: usize = 2;

/// The training folds of a fold, some of them held out in turn.
pub(super) struct Inner<'a> {
    parts: Vec<Part<'a>>,
}

/// One fold held out, and a base model of the others.
struct Part<'a> {
    fold: Fold<'a>,
    fitted: Fitted<'a>,
}

/// The words to learn from without those of one fold among them, and those: the fold that comes
/// this many `places` after the next. Where there is only one fold, every tenth word is held out,
/// and of a single word nothing.
pub(super) fn split(
    data: &Data,
    train: &[usize],
    test: usize,
    places: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut folds: Vec<usize> = train.iter().map(|&word| data.words[word].fold).collect();
    folds.sort_unstable();
    folds.dedup();
    if folds.len() > 1 {
        let next = folds.partition_point(|&fold| fold <= test);
        let held_out = folds[(next + places) % folds.len()];
        let is_held_out = |word: &&usize| data.words[**word].fold == held_out;
        let (held_out, rest): (Vec<usize>, Vec<usize>) = train.iter().partition(is_held_out);
        return (rest, held_out);
    }
    let part = |held_out: bool| {
        let numbered = train.iter().enumerate();
        numbered
            .filter(|(at, _)| (at % 10 == places % 10) == held_out)
            .map(|(_, &word)| word)
            .collect()
    };
    if train.len() == 1 { (train.to_vec(), train.to_vec()) } else { (part(false), part(true)) }
}

impl<'a> Inner<'a> {
    /// With the base model of pixels whose penalty reads the held-out words best.
    pub fn of_pixels(outer: &Fold<'a>) -> Self {
        let (data, recipe) = (outer.data, &outer.settings.recipe);
        Self::best_of(outer, &data.pixels, &recipe.pixels, &recipe.l2, |inner| {
            let read = |Part { fold, fitted }: &Part| fold.test_base(fitted).accuracy();
            inner.parts.iter().map(read).sum()
        })
    }

    /// With the base model of pixels and pairs whose penalty reads the held-out words best under
    /// the energy that knows most.
    pub fn of_pairs(outer: &Fold<'a>) -> Self {
        let (data, recipe) = (outer.data, &outer.settings.recipe);
        Self::best_of(outer, &data.pairs, &recipe.pairs, &recipe.pairs_l2, |inner| {
            inner.penalty(Statistic::Letters, Search::Local, recipe.rates[0]).0
        })
    }

    /// With the base model whose penalty `score` likes best.
    fn best_of(
        outer: &Fold<'a>,
        source: &'a (Features, Corpus),
        how: &Minimisation,
        penalties: &[f64],
        score: impl Fn(&Self) -> f64,
    ) -> Self {
        let mut tried: Vec<Vec<Part>> = penalties.iter().map(|_| Vec::new()).collect();
        for place in 0..HELD_OUT {
            let mut start: Option<Model> = None;
            for (parts, &l2) in tried.iter_mut().zip(penalties) {
                let fold = hold_out(outer, place);
                let how = Minimisation { l2, ..*how };
                let fitted = match &start {
                    None => fold.fit(source, &how),
                    Some(start) => fold.refit(&source.1, start, &how),
                };
                start = Some(fitted.model.clone());
                parts.push(Part { fold, fitted });
            }
        }
        let tried = tried.into_iter().map(|parts| Self { parts });
        let scored = tried.map(|inner| (score(&inner), inner));
        scored.reduce(better).expect("a penalty to try").1
    }

    /// A base model that has seen training words only.
    pub fn fitted(&self) -> &Fitted<'a> {
        &self.parts[0].fitted
    }

    fn recipe(&self) -> &Recipe {
        &self.parts[0].fold.settings.recipe
    }

    /// The way to learn an energy, the step and the penalty that read the held-out words best.
    pub fn tune(&self, statistic: Statistic) -> Tuned {
        let recipe = self.recipe();
        // Each setting is chosen with what it matters to.
        let penalised = self.penalty(statistic, Search::Local, recipe.rates[0]);
        let of = |start, loss| Tuned { variant: Variant { start, loss }, ..penalised.1 };
        let joint = [Loss::Surrogate, Loss::FenchelYoung].map(|loss| of(Start::Joint, loss));
        let rates = joint
            .into_iter()
            .flat_map(|tuned| recipe.rates.iter().map(move |&rate| Tuned { rate, ..tuned }));
        let joint = self.best(statistic, Search::Local, rates);
        let others = [
            of(Start::Psi, Loss::Surrogate),
            of(Start::Zero, Loss::Surrogate),
            of(Start::Zero, Loss::FenchelYoung),
        ];
        let other = self.best(statistic, Search::Local, others.into_iter());
        Tuned { rate: joint.1.rate, ..better(better(penalised, joint), other).1 }
    }

    /// The way to learn from a base model and the penalty that read the held-out words best, with
    /// this step.
    pub fn choose(&self, statistic: Statistic, search: Search, rate: f64) -> Tuned {
        let penalised = self.penalty(statistic, search, rate);
        let ways = Variant::all().filter(|way| way.start != Start::Zero && *way != PENALISED);
        let others = ways.map(|variant| Tuned { variant, ..penalised.1 });
        better(penalised, self.best(statistic, search, others)).1
    }

    /// The penalty of the Fenchel–Young loss, learned on a base model that stays as it is.
    fn penalty(&self, statistic: Statistic, search: Search, rate: f64) -> (f64, Tuned) {
        let penalties = self.recipe().energy_l2.iter();
        let tried = penalties.map(|&energy_l2| Tuned { variant: PENALISED, rate, energy_l2 });
        self.best(statistic, search, tried)
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

    /// Summed over the folds held out.
    fn accuracy(&self, statistic: Statistic, search: Search, tuned: Tuned) -> f64 {
        let read = |Part { fold, fitted }: &Part| {
            let constant = &fold.data.constant;
            let energy = fold.energy(statistic, search);
            let learned = fold.learn(fitted, &energy, constant, tuned, 0);
            fold.test(fitted.corpus, &learned, constant).accuracy()
        };
        self.parts.iter().map(read).sum()
    }
}

/// The way to learn that has a penalty to choose.
const PENALISED: Variant = Variant { start: Start::Psi, loss: Loss::FenchelYoung };

fn hold_out<'a>(outer: &Fold<'a>, place: usize) -> Fold<'a> {
    let (train, held_out) = split(outer.data, &outer.train, outer.number, place);
    Fold::of_parts(outer.data, outer.settings, outer.number, train, held_out)
}

/// The one of higher accuracy, of equals the first.
fn better<T>(first: (f64, T), second: (f64, T)) -> (f64, T) {
    if second.0 > first.0 { second } else { first }
}
