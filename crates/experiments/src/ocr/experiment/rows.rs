//! The rows of the table on one fold.

use std::sync::Arc;
use std::time::Instant;

use super::fold::{Fitted, Fold, Learned, Tuned};
use super::inner::Inner;
use super::sheet::{Sample, contact_sheet};
use super::{Desk, Event, Score, Stopped, Variant};
use crate::ocr::data::spelled;
use crate::ocr::energy::{Search, Statistic};
use crate::ocr::learning::Minimisation;
use crate::ocr::lexicon::Lexicon;
use crate::ocr::reader::{self, Reader};

/// A row, and what its energy compares.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    statistic: Statistic,
    search: Search,
}

impl<'a> Named<'a> {
    fn local(name: &'a str, statistic: Statistic) -> Self {
        Self { name, statistic, search: Search::Local }
    }

    fn exact(name: &'a str, statistic: Statistic) -> Self {
        Self { name, statistic, search: Search::Exact }
    }
}

const UNIGRAM: Statistic = Statistic::Counts { any_length: false };
const UNIGRAM_ALL: Statistic = Statistic::Counts { any_length: true };
const WORD: Statistic = Statistic::Letters;

/// What pictures are made of.
pub(super) struct Pictured<'a> {
    pub fold: Fold<'a>,
    pub base: Fitted<'a>,
    /// The row `unigram`.
    pub unigram: Learned,
    /// The row `word`.
    pub word: Learned,
}

impl<'a> Fold<'a> {
    /// Runs all rows but those of an open vocabulary.
    pub fn run(self, desk: &Desk) -> Result<Pictured<'a>, Stopped> {
        self.busy(desk, "base models to tune with")?;
        let inner = Inner::of_pixels(&self);
        self.busy(desk, "the base model")?;
        let how = Minimisation { l2: inner.fitted().l2, ..self.settings.recipe.pixels };
        let base = self.refit(&self.data.pixels.1, &inner.fitted().model, &how);
        desk.take(self.number, "base", self.test_base(&base))?;
        desk.take(self.number, "lexicon", self.test_lexicon(&base, &self.lexicon))?;
        self.busy(desk, "ways to learn, steps and penalties")?;
        let [unigram, word] = [UNIGRAM, WORD].map(|statistic| inner.tune(statistic));
        let unigram_exact = inner.choose(UNIGRAM, Search::Exact, unigram.rate);
        let word_exact = inner.choose(WORD, Search::Exact, word.rate);
        self.row(desk, Named::local("unigram-all", UNIGRAM_ALL), &base, unigram)?;
        let by_unigrams = self.ways(desk, Named::local("unigram", UNIGRAM), &base, unigram)?;
        let by_words = self.ways(desk, Named::local("word", WORD), &base, word)?;
        self.mapped(desk, Named::local("unigram-all-mm", UNIGRAM_ALL), &base, unigram)?;
        self.mapped(desk, Named::local("unigram-mm", UNIGRAM), &base, unigram)?;
        self.mapped(desk, Named::local("word-mm", WORD), &base, word)?;
        self.row(desk, Named::exact("unigram-exact", UNIGRAM), &base, unigram_exact)?;
        self.row(desk, Named::exact("word-exact", WORD), &base, word_exact)?;
        self.classifier(desk)?;
        self.chains(desk, &base, &how)?;
        self.pairs(desk, unigram, word)?;
        Ok(Pictured { fold: self, base, unigram: by_unigrams, word: by_words })
    }

    /// A row whose weight depends on the mean map.
    fn mapped(&self, desk: &Desk, row: Named, base: &Fitted, tuned: Tuned) -> Result<(), Stopped> {
        let energy = self.energy(row.statistic, row.search);
        for (seed, features) in self.data.mapped.iter().enumerate() {
            let learned = self.learn(base, &energy, features, tuned, seed as u64);
            desk.take(self.number, row.name, self.test(base.corpus, &learned, features))?;
        }
        Ok(())
    }

    /// A row for each way to learn; the one that was chosen is the row without a suffix, too.
    fn ways(
        &self,
        desk: &Desk,
        row: Named,
        base: &Fitted,
        tuned: Tuned,
    ) -> Result<Learned, Stopped> {
        let mut chosen = None;
        for variant in Variant::all() {
            let runs = self.seeds(base, row, Tuned { variant, ..tuned });
            let suffixed = format!("{}{}", row.name, variant.suffix());
            for (learned, score) in runs {
                desk.take(self.number, &suffixed, score)?;
                if variant == tuned.variant {
                    desk.take(self.number, row.name, score)?;
                    chosen.get_or_insert(learned);
                }
            }
        }
        Ok(chosen.expect("one of all ways"))
    }

    /// A row with a constant weight.
    fn row(&self, desk: &Desk, row: Named, base: &Fitted, tuned: Tuned) -> Result<(), Stopped> {
        let runs = self.seeds(base, row, tuned);
        runs.into_iter().try_for_each(|(_, score)| desk.take(self.number, row.name, score))
    }

    /// What is learned with a constant weight, and how it reads, for each seed.
    fn seeds(&self, base: &Fitted, row: Named, tuned: Tuned) -> Vec<(Learned, Score)> {
        let (energy, constant) = (self.energy(row.statistic, row.search), &self.data.constant);
        let run = |seed: usize| {
            let learned = self.learn(base, &energy, constant, tuned, seed as u64);
            let score = self.test(base.corpus, &learned, constant);
            (learned, score)
        };
        (0..self.settings.seeds).map(run).collect()
    }

    /// The rows of the richer base.
    fn pairs(&self, desk: &Desk, unigram: Tuned, word: Tuned) -> Result<(), Stopped> {
        self.busy(desk, "the base model of pairs, and ways to learn")?;
        let inner = Inner::of_pairs(self);
        let [word, word_exact] =
            [Search::Local, Search::Exact].map(|search| inner.choose(WORD, search, word.rate));
        let Fitted { l2, model, .. } = inner.fitted();
        let how = Minimisation { l2: *l2, ..self.settings.recipe.pairs };
        let base = self.refit(&self.data.pairs.1, model, &how);
        desk.take(self.number, "pairs-base", self.test_base(&base))?;
        desk.take(self.number, "pairs-lexicon", self.test_lexicon(&base, &self.lexicon))?;
        self.row(desk, Named::local("pairs-unigram", UNIGRAM), &base, unigram)?;
        self.row(desk, Named::local("pairs-word", WORD), &base, word)?;
        self.row(desk, Named::exact("pairs-word-exact", WORD), &base, word_exact)
    }

    pub fn busy(&self, desk: &Desk, with: &str) -> Result<(), Stopped> {
        desk.tell(Event::Busy(format!("fold {}: {with}", self.number)))
    }

    /// How a base model reads.
    pub fn test_base(&self, fitted: &Fitted) -> Score {
        let mut reader = Reader::new(&fitted.model, None, reader::settings());
        let histories = &fitted.model.field.histories;
        let mut wide = Vec::new();
        self.score(|word| {
            let start = Instant::now();
            let states = if histories.are_letters() {
                reader.decode_base(&fitted.scores[word])
            } else {
                histories.widen(&fitted.scores[word], &mut wide);
                reader.decode_base(&wide)
            };
            let read = match states {
                Some(states) => states.iter().map(|&state| histories.letter(state)).collect(),
                // No word of this length can be made of the histories.
                None => crate::ocr::model::best_letters(&fitted.scores[word]),
            };
            (read, start.elapsed().as_secs_f64())
        })
    }

    /// How the best word of the right length reads; the base model, where there is none.
    pub fn test_lexicon(&self, fitted: &Fitted, lexicon: &Lexicon) -> Score {
        let mut reader = Reader::new(&fitted.model, None, reader::settings());
        self.score(|word| {
            let start = Instant::now();
            let scores = &fitted.scores[word];
            let read = reader.best_of(lexicon, scores).unwrap_or_else(|| {
                let states = reader.decode_base(scores).expect("letters forbid nothing");
                states.iter().map(|&letter| letter as u8).collect()
            });
            (read, start.elapsed().as_secs_f64())
        })
    }
}

impl Pictured<'_> {
    /// The first words that the base gets wrong.
    pub fn sheet(&self, number: usize) -> String {
        let mut base = Reader::new(&self.base.model, None, reader::settings());
        let energy = Some(Arc::clone(&self.word.energy));
        let mut reader = Reader::new(&self.word.model, energy, reader::settings());
        let mut scorer = bethe_learn::crf::Scorer::default();
        let mut samples = Vec::new();
        for &at in &self.fold.test {
            let word = &self.fold.data.words[at];
            let states = base.decode_base(&self.base.scores[at]).expect("letters forbid nothing");
            let read: Vec<u8> = states.iter().map(|&letter| letter as u8).collect();
            if read == word.letters {
                continue;
            }
            let scores = self.word.model.scores(&mut scorer, self.base.corpus.sequence(at));
            let found = reader.infer(scores, self.word.parameters[0].max(0.0));
            let energy = spelled(&reader.decode(&found));
            let (images, truth) = (word.images.clone(), spelled(&word.letters));
            samples.push(Sample { images, base: spelled(&read), energy, truth });
            if samples.len() == Sample::SHOWN {
                break;
            }
        }
        contact_sheet(&format!("fold {number}"), &samples)
    }
}
