//! Labels for sequences, one after the other.
//!
//! A [`Tagging`] is the memory of one thread. Scores of states come from attributes or from
//! elsewhere; inference under rules finds the tilt (`bethe_learn::energy`), `decode` the best
//! labels there, `marginals` their probabilities, `explain` the rules that pulled at them.

pub(crate) mod decode;
mod error;
mod explain;
mod marginals;
mod options;
mod scores;
mod tagged;
mod words;

use bethe_core::oracle::{Chain, Oracle};
use bethe_core::solve::SolveError;
use bethe_core::support::Support;
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::Scorer;
use bethe_learn::energy::Inference;

use crate::data::Sequence;
use crate::features::Workspace;
use crate::input::Vocabulary;
use crate::model::Tagger;
use crate::rules::{Compiled, Occurrences, Weight};
use decode::{Decoder, HardRules, Paths};
use explain::active;

pub use error::TagError;
pub use options::TagOptions;
pub use scores::MOST_SCORE;
pub(crate) use scores::{is_score, spread_scores};
pub use tagged::{Active, Summary, Tagged};

/// Scores, messages, marginals and best predecessors of a state at a position.
const BYTES_PER_STATE: f64 = 64.0;

/// Scratch memory for tagging sequences one by one.
pub struct Tagging {
    tagger: Tagger,
    workspace: Workspace,
    corpus: Corpus,
    scorer: Scorer,
    chain: Chain,
    inference: Inference,
    softened: Option<Softened>,
    /// Node scores of the chain that rules are inferred on. `[positions][states of the chain]`
    wide: Vec<f64>,
}

/// The soft rules alone, and inference under them, for sequences that cannot keep the hard
/// ones.
struct Softened {
    compiled: Compiled,
    inference: Inference,
}

impl Softened {
    fn new(tagger: &Tagger) -> Self {
        let compiled = Compiled::clone(&tagger.compiled).without_hard();
        let none = vec![0.0; compiled.rules.soft.len()];
        let inference = Inference::new(tagger.wide.clone(), compiled.rules.clone(), none);
        Self { compiled, inference }
    }
}

impl Tagging {
    /// Memory for one thread, with the tagger that it shares with others.
    pub fn new(tagger: &Tagger) -> Self {
        let chain = Chain::new(tagger.plain.clone(), &[], Support::new()).expect("an empty chain");
        let rules = tagger.compiled.rules.clone();
        let none = vec![0.0; rules.soft.len()];
        let inference = Inference::new(tagger.wide.clone(), rules, none);
        Self {
            tagger: tagger.clone(),
            workspace: Workspace::default(),
            corpus: Corpus::new(),
            scorer: Scorer::default(),
            chain,
            inference,
            softened: None,
            wide: Vec::new(),
        }
    }

    /// The tagger.
    pub fn tagger(&self) -> &Tagger {
        &self.tagger
    }

    /// Tags a sequence of a file.
    pub fn tag(&mut self, sequence: &Sequence, options: &TagOptions) -> Result<Tagged, TagError> {
        if sequence.is_empty() {
            return Ok(Tagged::of_nothing());
        }
        let place = || (sequence.path().display().to_string(), sequence.line(0));
        self.tagger.check_memory(sequence.len(), options, place)?;
        let parts = &self.tagger.parts;
        self.corpus.clear();
        let known = Vocabulary { extractor: &parts.extractor, attributes: &parts.attributes };
        parts.input.observe(known, sequence, &mut self.workspace, &mut self.corpus)?;
        let observations = self.corpus.sequence(0);
        let scores =
            self.scorer.scores(&parts.crf.structure, &parts.crf.weights, observations).to_vec();
        let weights = self.tagger.weights_for(observations);
        let scores = match options.force {
            true => self.tagger.force(sequence, scores)?,
            false => scores,
        };
        let found = self.decode(&scores, weights, options)?;
        found.ok_or_else(|| TagError::Impossible {
            path: sequence.path().display().to_string(),
            line: sequence.line(0),
            why: match options.force {
                true => "the forced labels cannot follow one another",
                false => "the model's labels have no sequence of this length",
            },
        })
    }

    /// Tags a sequence by scores of its labels, `[positions][labels]` in the order of
    /// [`Parts::score_labels`](crate::Parts::score_labels), in place of attributes.
    pub fn tag_scores(&mut self, scores: &[f64], options: &TagOptions) -> Result<Tagged, TagError> {
        self.tag_scores_of(scores, None, options)
    }

    /// As [`tag_scores`](Self::tag_scores), with the rows of the scores; their labels, in the last
    /// column, can be forced.
    pub fn tag_scores_of(
        &mut self,
        scores: &[f64],
        rows: Option<&Sequence>,
        options: &TagOptions,
    ) -> Result<Tagged, TagError> {
        let parts = &self.tagger.parts;
        let labels = parts.score_labels.len();
        if labels == 0 || !scores.len().is_multiple_of(labels) {
            return Err(TagError::Scores { found: scores.len(), expected: labels });
        }
        if let Some(place) = scores.iter().position(|score| !is_score(*score)) {
            return Err(TagError::NotAScore { place, found: scores[place] });
        }
        let place = || match rows {
            Some(rows) => (rows.path().display().to_string(), rows.line(0)),
            None => ("scores".to_string(), 1),
        };
        self.tagger.check_memory(scores.len() / labels, options, place)?;
        self.corpus.clear();
        let states = parts.states.len();
        self.corpus.push_scores(states, &self.tagger.spread_scores(scores));
        let observations = self.corpus.sequence(0);
        let own =
            self.scorer.scores(&parts.crf.structure, &parts.crf.weights, observations).to_vec();
        let weights = self.tagger.weights_for(observations);
        let (path, line) = place();
        let own = match (options.force, rows) {
            (true, Some(rows)) => self.tagger.force(rows, own)?,
            (true, None) => return Err(TagError::NoLabels { path, line }),
            (false, _) => own,
        };
        let why = match options.force {
            true => "the scores and the forced labels forbid every one",
            false => "the scores forbid every one",
        };
        self.decode(&own, weights, options)?.ok_or(TagError::Impossible { path, line, why })
    }

    /// The best labels and what is asked about them; `None` where the scores forbid all.
    fn decode(
        &mut self,
        scores: &[f64],
        weights: Vec<f64>,
        options: &TagOptions,
    ) -> Result<Option<Tagged>, SolveError> {
        let rules = &self.tagger.compiled.rules;
        let length = scores.len() / self.tagger.parts.states.len();
        if length == 0 {
            return Ok(Some(Tagged::of_nothing()));
        }
        let ruled = options.rules && (weights.iter().any(|w| *w > 0.0) || !rules.hard.is_empty());
        match ruled {
            true => self.decode_ruled(scores, weights, options),
            false => Ok(self.decode_plain(scores, options)),
        }
    }

    fn decode_ruled(
        &mut self,
        scores: &[f64],
        weights: Vec<f64>,
        options: &TagOptions,
    ) -> Result<Option<Tagged>, SolveError> {
        let Self { tagger, inference, softened, chain, wide, .. } = self;
        let compiled = &*tagger.compiled;
        compiled.space.widen(scores, wide);
        inference.set_weights(weights.clone());
        let Some(mut found) = inference.run(wide, &options.inference)? else {
            return Ok(None);
        };
        let (decoding, count) = (tagger.parts.decoding, options.n_best.max(1));
        let decoder = Decoder { compiled, weights: &weights, decoding, count };
        let (mut best, hard) = decoder.best(inference.chain(), &found);
        if matches!(hard, HardRules::Impossible | HardRules::NotFound) {
            // If hard rules cannot hold, the result under them is meaningless.
            let Softened { compiled, inference } =
                softened.get_or_insert_with(|| Softened::new(tagger));
            inference.set_weights(weights.clone());
            match inference.run(wide, &options.inference)? {
                Some(without) => found = without,
                None => return Ok(None),
            }
            best = Decoder { compiled, ..decoder }.best(inference.chain(), &found).0;
        }
        let field = |path: &[usize]| path.iter().map(|&s| compiled.space.state(s)).collect();
        let of_field =
            |(path, score): &(Vec<usize>, f64)| (field(path), score - found.log_partition);
        let best: Paths = best.iter().map(of_field).collect();
        let Some((path, _)) = best.first() else { return Ok(None) };
        let mut tagged = Tagged { hard, broken: tagger.broken(path), ..Tagged::default() };
        tagged.summary = Some(Summary::of(&found));
        tagged.best = best;
        if options.explain {
            tagged.active = active(tagger, &found);
            chain.load(scores, Support::new()).expect("scores are numbers or -∞");
            tagged.plain = vec![0; scores.len() / tagger.parts.states.len()];
            chain.decode(&[], &mut tagged.plain);
        }
        if options.wants_marginals() {
            for row in wide.chunks_mut(compiled.space.len()) {
                row.iter_mut().zip(&found.tilt).for_each(|(score, tilt)| *score += tilt);
            }
            self.add_marginals(&mut tagged, options);
        }
        Ok(Some(tagged))
    }

    /// Decoding without rules.
    fn decode_plain(&mut self, scores: &[f64], options: &TagOptions) -> Option<Tagged> {
        let length = scores.len() / self.tagger.parts.states.len();
        self.chain.load(scores, Support::new()).expect("scores are numbers or -∞");
        let mut tagged = Tagged::default();
        if options.n_best <= 1 {
            let mut path = vec![0; length];
            let score = self.chain.decode(&[], &mut path);
            (score > f64::NEG_INFINITY).then_some(())?;
            tagged.best.push((path, score));
        } else {
            let paths = self.chain.n_best(&[], options.n_best);
            tagged.best.extend(paths.into_iter().map(|path| (path.assignment, path.score)));
            (!tagged.best.is_empty()).then_some(())?;
        }
        if options.n_best > 1 {
            let log_partition = self.chain.tilted(&[], &mut []);
            tagged.best.iter_mut().for_each(|(_, score)| *score -= log_partition);
        }
        if options.explain {
            tagged.plain = tagged.best[0].0.clone();
        }
        if options.wants_marginals() {
            self.tagger.compiled.space.widen(scores, &mut self.wide);
            self.add_marginals(&mut tagged, options);
        }
        Some(tagged)
    }
}

impl Tagger {
    /// Whether sequences can be tagged like this: an error where the solver does not support the
    /// rules.
    pub fn check(&self, options: &TagOptions) -> Result<(), TagError> {
        match options.rules {
            true => Ok(self.compiled.rules.check(&options.inference)?),
            false => Ok(()),
        }
    }

    /// An error if a sequence of this length takes more memory than it may.
    fn check_memory(
        &self,
        positions: usize,
        options: &TagOptions,
        place: impl FnOnce() -> (String, usize),
    ) -> Result<(), TagError> {
        let states = self.parts.states.len() + self.compiled.space.len();
        let bytes = positions as f64 * states as f64 * BYTES_PER_STATE;
        options.memory_limit.check("tagging the sequence", bytes).map_err(|error| {
            let (path, line) = place();
            TagError::TooLarge { path, line, error }
        })
    }

    /// The places of hard rules among all.
    fn hard_rules(&self) -> impl Iterator<Item = usize> + '_ {
        let rules = self.parts.rules.iter().enumerate();
        rules.filter(|(_, rule)| rule.weight == Weight::Hard).map(|(at, _)| at)
    }

    /// The hard rules that a path of states breaks.
    fn broken(&self, path: &[usize]) -> Vec<usize> {
        if self.compiled.counters.is_empty() {
            return Vec::new();
        }
        let occurrences = Occurrences::of(&self.parts.states, path);
        let holds = |&at: &usize| self.parts.rules[at].holds(&occurrences);
        self.hard_rules().filter(|at| !holds(at)).collect()
    }
}
