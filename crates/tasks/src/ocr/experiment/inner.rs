//! What is tuned inside the training folds: one of them is held out.

use super::fold::{Fitted, Fold, Tuned};
use super::{Data, Start, Variant};
use crate::ocr::energy::{Search, Statistic};
use crate::ocr::learning::{Loss, Minimisation};

/// The training folds of a fold, one of them held out.
pub(super) struct Inner<'a> {
    pub fold: Fold<'a>,
    /// The base model that reads the held-out words best.
    pub fitted: Fitted<'a>,
}

/// The words to learn from without those of one fold among them, and those; where there is only one
/// fold, every tenth word is held out.
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
    (part(false), part(true))
}

impl<'a> Inner<'a> {
    pub fn new(outer: &Fold<'a>) -> Self {
        let (data, settings) = (outer.data, outer.settings);
        let parts = split(data, &outer.train, outer.number);
        let fold = Fold::of_parts(data, settings, outer.number, parts);
        let recipe = &settings.recipe;
        let fits = recipe.l2.iter().map(|&l2| {
            let fitted = fold.fit(&data.pixels, &Minimisation { l2, ..recipe.pixels });
            (fold.test_base(&fitted).accuracy(), fitted)
        });
        let best = fits.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let fitted = best.expect("a penalty to try").1;
        Self { fold, fitted }
    }

    /// The penalty of the base model's weights that reads the held-out words best.
    pub fn l2(&self) -> f64 {
        self.fitted.l2
    }

    /// The way to learn an energy, the step and the penalty that read the held-out words best.
    pub fn tune(&self, statistic: Statistic) -> Tuned {
        let recipe = &self.fold.settings.recipe;
        let first = Tuned {
            variant: Variant { start: Start::Psi, loss: Loss::FenchelYoung },
            rate: recipe.rates[0],
            energy_l2: recipe.energy_l2[0],
        };
        // Each setting is chosen with what it matters to.
        let penalties = recipe.energy_l2.iter().map(|&energy_l2| Tuned { energy_l2, ..first });
        let energy_l2 = self.best(statistic, Search::Local, penalties).energy_l2;
        let joint = [Loss::Surrogate, Loss::FenchelYoung]
            .map(|loss| Variant { start: Start::Joint, loss })
            .into_iter();
        let rates = joint.flat_map(|variant| {
            recipe.rates.iter().map(move |&rate| Tuned { variant, rate, energy_l2 })
        });
        let tuned = self.best(statistic, Search::Local, rates);
        self.choose(statistic, Search::Local, tuned)
    }

    /// The way to learn that reads the held-out words best, with this step and penalty.
    pub fn choose(&self, statistic: Statistic, search: Search, tuned: Tuned) -> Tuned {
        let ways = Variant::all().filter(|variant| variant.start != Start::Zero);
        self.best(statistic, search, ways.map(|variant| Tuned { variant, ..tuned }))
    }

    fn best(
        &self,
        statistic: Statistic,
        search: Search,
        tried: impl Iterator<Item = Tuned>,
    ) -> Tuned {
        let scored = tried.map(|tuned| (self.accuracy(statistic, search, tuned), tuned));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.expect("something to try").1
    }

    fn accuracy(&self, statistic: Statistic, search: Search, tuned: Tuned) -> f64 {
        let constant = &self.fold.data.constant;
        let energy = self.fold.energy(statistic, search);
        let learned = self.fold.learn(&self.fitted, &energy, constant, tuned, 0);
        self.fold.test(self.fitted.corpus, &learned, constant).accuracy()
    }
}
