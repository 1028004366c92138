use std::sync::Arc;

use bethe_core::Status;
use bethe_core::oracle::{Chain, Oracle, Tables};
use bethe_core::support::Support;
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::Scorer;
use bethe_learn::energy::{Inference, Inferred, Limits};

use super::data::Sequence;
use super::decode::{Decoding, HardRules, Paths, decode, decode_weighed};
use super::features::Workspace;
use super::labels::{Role, Segment, leaf_segments};
use super::model::Tagger;
use super::rules::{Compiled, Occurrences, Weight};
use super::tag_error::TagError;

/// A label that leaves the choice to the tagger, where labels are forced.
const UNKNOWN: &str = "_";

/// What to find out about a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TagOptions {
    /// Keep the labels that the input has, but for `_`; where it has scores, those of its rows.
    pub force: bool,
    /// Probabilities of labels and segments.
    pub marginals: bool,
    /// How many of the best label sequences; at least 1.
    pub n_best: usize,
    /// Which rules were active, and what they changed.
    pub explain: bool,
    /// Whether rules count at all.
    pub rules: bool,
    /// When inference stops.
    pub limits: Limits,
}

impl Default for TagOptions {
    fn default() -> Self {
        let limits = Limits { tolerance: 1e-4, max_iterations: 40, ..Limits::default() };
        Self { force: false, marginals: false, n_best: 1, explain: false, rules: true, limits }
    }
}

/// The labels of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagged {
    /// States of the best label sequences, best first, with the log-probability of each under the
    /// tilted model.
    pub best: Vec<(Vec<usize>, f64)>,
    /// Probability of each label of each of the best sequences, if asked for.
    pub probabilities: Vec<Vec<f64>>,
    /// Probability of each of their segments `(first, end)`, if asked for.
    pub segments: Vec<Vec<(usize, usize, f64)>>,
    /// What inference under rules came to; nothing where there is no rule.
    pub summary: Option<Summary>,
    /// Rules that were active, the strongest first, if asked for.
    pub active: Vec<Active>,
    /// What the base model alone would have said, if asked for.
    pub plain: Vec<usize>,
    /// Whether the labels keep the hard rules, and if not, why.
    pub hard: HardRules,
    /// Hard rules that the labels break.
    pub broken: Vec<usize>,
}

/// What inference under rules came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// Iterations.
    pub iterations: usize,
    /// Oracle calls.
    pub oracle_calls: usize,
    /// A bound on how far the objective is from its minimum.
    pub gap: Option<f64>,
}

/// A rule that pulled at the labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Active {
    /// Its place among the tagger's constraints.
    pub constraint: usize,
    /// How far the base model alone was from keeping it, in segments, in expectation.
    pub excess_before: f64,
    /// How far it is with the rules.
    pub excess_after: f64,
}

/// The memory to tag one sequence after the other.
pub struct Tagging<'a> {
    tagger: &'a Tagger,
    workspace: Workspace,
    corpus: Corpus,
    scorer: Scorer,
    chain: Chain,
    inference: Inference,
    /// Rules without the hard ones, and inference under them: for sequences that cannot keep those.
    without_hard: Option<(Compiled, Inference)>,
    /// Node scores of the chain that rules are inferred on. `[positions][states of the chain]`
    wide: Vec<f64>,
}

impl<'a> Tagging<'a> {
    /// Memory for one thread.
    pub fn new(tagger: &'a Tagger) -> Self {
        let chain = Chain::new(tagger.plain.clone(), &[], Support::new()).expect("an empty chain");
        let rules = Arc::new(tagger.compiled.rules.clone());
        let none = vec![0.0; rules.soft.len()];
        Self {
            tagger,
            workspace: Workspace::default(),
            corpus: Corpus::new(),
            scorer: Scorer::default(),
            chain,
            inference: Inference::new(tagger.wide.clone(), rules, none),
            without_hard: None,
            wide: Vec::new(),
        }
    }

    /// Tags a sequence of a file.
    pub fn tag(&mut self, sequence: &Sequence, options: &TagOptions) -> Result<Tagged, TagError> {
        let parts = &self.tagger.parts;
        self.corpus.clear();
        let kit = (&parts.extractor, &parts.dictionary);
        parts.input.observe(kit, sequence, &mut self.workspace, &mut self.corpus)?;
        let observations = self.corpus.sequence(0);
        let scores =
            self.scorer.scores(&parts.crf.structure, &parts.crf.weights, observations).to_vec();
        let weights = self.tagger.weights_for(observations);
        let scores = match options.force {
            true => self.tagger.force(sequence, scores)?,
            false => scores,
        };
        let found = self.decode(&scores, weights, options);
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
    /// [`Parts::score_labels`](super::model::Parts::score_labels), in place of attributes.
    pub fn tag_scores(&mut self, scores: &[f64], options: &TagOptions) -> Result<Tagged, TagError> {
        self.tag_scores_of(scores, None, options)
    }

    /// As [`tag_scores`](Self::tag_scores), with the rows that the scores are of: their labels, in
    /// the last column, can be forced.
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
        self.corpus.clear();
        let states = parts.states.len();
        self.corpus.push_scores(states, &self.tagger.spread_scores(scores));
        let observations = self.corpus.sequence(0);
        let own =
            self.scorer.scores(&parts.crf.structure, &parts.crf.weights, observations).to_vec();
        let weights = self.tagger.weights_for(observations);
        let (path, line) = match rows {
            Some(rows) => (rows.path().display().to_string(), rows.line(0)),
            None => ("scores".to_string(), 1),
        };
        let own = match (options.force, rows) {
            (true, Some(rows)) => self.tagger.force(rows, own)?,
            (true, None) => return Err(TagError::NoLabels { path, line }),
            (false, _) => own,
        };
        let why = match options.force {
            true => "the scores and the forced labels forbid every one",
            false => "the scores forbid every one",
        };
        self.decode(&own, weights, options).ok_or(TagError::Impossible { path, line, why })
    }

    fn decode(
        &mut self,
        scores: &[f64],
        weights: Vec<f64>,
        options: &TagOptions,
    ) -> Option<Tagged> {
        let tagger = self.tagger;
        let (states, rules) = (tagger.parts.states.len(), &tagger.compiled.rules);
        let length = scores.len() / states;
        if length == 0 {
            return Some(Tagged { best: vec![(Vec::new(), 0.0)], ..Tagged::default() });
        }
        let ruled = options.rules && (weights.iter().any(|w| *w > 0.0) || !rules.hard.is_empty());
        if !ruled {
            return self.decode_plain(scores, options);
        }
        let compiled = &tagger.compiled;
        compiled.space.widen(scores, &mut self.wide);
        self.inference.set_weights(weights.clone());
        let mut found = self.inference.run(&self.wide, &options.limits)?;
        let mut tagged = Tagged::default();
        let chosen = (tagger.parts.decoding, options.n_best.max(1));
        let (mut best, hard) = choose(&mut self.inference, &found, (compiled, &weights), chosen);
        tagged.hard = hard;
        if matches!(hard, HardRules::Impossible | HardRules::NotFound) {
            // What hard rules lead to where they cannot hold means nothing.
            let (compiled, inference) = self.without_hard.get_or_insert_with(|| {
                let compiled = compiled.clone().without_hard();
                let (rules, none) = (Arc::new(compiled.rules.clone()), vec![0.0; weights.len()]);
                (compiled, Inference::new(tagger.wide.clone(), rules, none))
            });
            inference.set_weights(weights.clone());
            found = inference.run(&self.wide, &options.limits)?;
            best = choose(inference, &found, (compiled, &weights), chosen).0;
        }
        if !compiled.counters.is_empty() {
            let path: Vec<usize> =
                best.first()?.0.iter().map(|&s| compiled.space.state(s)).collect();
            let occurrences = Occurrences::of(&tagger.parts.states, &path);
            let holds = |&at: &usize| tagger.parts.constraints[at].holds(&occurrences);
            tagged.broken = tagger.hard_rules().filter(|at| !holds(at)).collect();
        }
        let field = |path: &[usize]| path.iter().map(|&s| compiled.space.state(s)).collect();
        tagged.best =
            best.iter().map(|(path, score)| (field(path), score - found.log_partition)).collect();
        tagged.summary = Some(Summary {
            status: found.status,
            iterations: found.iterations,
            oracle_calls: found.oracle_calls,
            gap: found.gap,
        });
        if options.explain {
            tagged.active = active(tagger, &weights, &found);
            self.chain.load(scores, Support::new()).expect("scores are numbers or -∞");
            tagged.plain = vec![0; length];
            self.chain.decode(&[], &mut tagged.plain);
        }
        if options.marginals {
            let wide = compiled.space.len();
            for (row, score) in self.wide.iter_mut().enumerate() {
                *score += found.tilt[row % wide];
            }
            self.add_marginals(&mut tagged);
        }
        Some(tagged)
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
        if options.marginals {
            self.tagger.compiled.space.widen(scores, &mut self.wide);
            self.add_marginals(&mut tagged);
        }
        Some(tagged)
    }

    /// Probabilities of each of the best sequences, under the chain whose node scores are
    /// `self.wide`.
    fn add_marginals(&mut self, tagged: &mut Tagged) {
        let (states, space) = (&self.tagger.parts.states, &self.tagger.compiled.space);
        let chain = self.inference.chain();
        chain.load(&self.wide, Support::new()).expect("scores are numbers or -∞");
        chain.tilted(&[], &mut []);
        let best = &tagged.best;
        let mut probabilities = vec![vec![0.0; chain.length()]; best.len()];
        chain.visit_marginals(Tables::Nodes, &mut |t, marginal| {
            for (own, (path, _)) in probabilities.iter_mut().zip(best) {
                let same = |s: usize| states.label(space.state(s)) == states.label(path[t]);
                let alike = marginal.iter().enumerate().filter(|&(s, _)| same(s));
                own[t] = alike.map(|(_, p)| p).sum();
            }
        });
        tagged.probabilities = probabilities;
        tagged.segments = best.iter().map(|(path, _)| segments(self.tagger, chain, path)).collect();
    }
}

/// The best labels of what was found, and what became of hard rules.
fn choose(
    inference: &mut Inference,
    found: &Inferred,
    (compiled, weights): (&Compiled, &[f64]),
    (decoding, count): (Decoding, usize),
) -> (Paths, HardRules) {
    let chain = inference.chain();
    match decoding {
        Decoding::Tilted => decode(chain, &found.tilt, &compiled.counters, count),
        Decoding::Weighed => decode_weighed(chain, found, (compiled, weights), count),
    }
}

/// The segments of a label sequence `(first, end)`, each with the probability of its labels, and
/// that it begins and ends there.
fn segments(tagger: &Tagger, chain: &mut Chain, path: &[usize]) -> Vec<(usize, usize, f64)> {
    let (states, space) = (&tagger.parts.states, &tagger.compiled.space);
    let labels: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
    let with_probability = |segment: Segment| {
        let (first, end) = (segment.start, segment.end);
        let level = states.leaf_level(path[first]);
        let is_later = |state| matches!(states.role(state, level), Role::Inside | Role::End);
        // A deeper tag is another leaf, even where the segment around it goes on.
        let is_leaf = |state| states.leaf_level(state) == level;
        let mut allowed = |t: usize, list: &mut Vec<usize>| {
            list.extend((0..space.len()).filter(|&s| match space.state(s) {
                before if t < first => !is_leaf(before),
                after if t >= end => !(is_leaf(after) && is_later(after)),
                state => state == path[t],
            }));
        };
        // With the position after it, if there is one, and that before it where its first label
        // does not say that it begins: between segments inside the one that it is of.
        let start = if is_later(path[first]) { first.saturating_sub(1) } else { first };
        let length = (end + 1).min(path.len()) - start;
        (first, end, chain.span_probability((start, length), &mut allowed))
    };
    leaf_segments(states.scheme(), &labels).into_iter().map(with_probability).collect()
}

/// The soft rules with a slope at the answer, the strongest first, and hard rules that are tight.
fn active(tagger: &Tagger, weights: &[f64], found: &Inferred) -> Vec<Active> {
    let compiled = &tagger.compiled;
    let rules = &compiled.rules;
    let excess = |rule: &bethe_learn::energy::Rule, counts: &[f64]| 1.0 - rule.measure(counts);
    let of = |constraint: usize, rule, pull: f64| {
        let excess_before = excess(rule, &found.base.marginals);
        let excess_after = excess(rule, &found.counts);
        (pull, Active { constraint, excess_before, excess_after })
    };
    let soft = compiled.soft.iter().zip(&rules.soft).zip(weights).map(|((&at, rule), weight)| {
        of(at, rule, -weight * rules.penalty.derivative(rule.measure(&found.counts)))
    });
    let hard = tagger.hard_rules().zip(&rules.hard).map(|(at, rule)| {
        let tight = excess(rule, &found.base.marginals) > 0.0;
        of(at, rule, if tight { f64::INFINITY } else { 0.0 })
    });
    let mut active: Vec<(f64, Active)> =
        soft.chain(hard).filter(|(pull, _)| *pull > 1e-6).collect();
    active.sort_by(|a, b| b.0.total_cmp(&a.0));
    active.into_iter().map(|(_, active)| active).collect()
}

impl Tagger {
    /// The places of hard rules among the constraints.
    fn hard_rules(&self) -> impl Iterator<Item = usize> + '_ {
        let rules = self.parts.constraints.iter().enumerate();
        rules.filter(|(_, rule)| rule.weight == Weight::Hard).map(|(at, _)| at)
    }

    /// Forbids all states but those of the labels that the input has.
    fn force(&self, sequence: &Sequence, mut scores: Vec<f64>) -> Result<Vec<f64>, TagError> {
        let path = || sequence.path().display().to_string();
        let states = &self.parts.states;
        let Some(labels) = self.parts.input.labels(sequence) else {
            return Err(TagError::NoLabels { path: path(), line: sequence.line(0) });
        };
        for (t, (row, label)) in scores.chunks_mut(states.len()).zip(&labels).enumerate() {
            if label.is_empty() {
                return Err(TagError::EmptyLabel { path: path(), line: sequence.line(t) });
            }
            if label == UNKNOWN {
                continue;
            }
            let allowed = states.matching(label);
            if allowed.is_empty() {
                let (line, found) = (sequence.line(t), label.to_string());
                return Err(TagError::UnknownLabel { path: path(), line, found });
            }
            for (state, score) in row.iter_mut().enumerate() {
                if !allowed.contains(&state) {
                    *score = f64::NEG_INFINITY;
                }
            }
        }
        Ok(scores)
    }

    /// Scores of states from scores of labels: a label's score for each of its states; the labels
    /// of states that have no score are forbidden.
    pub(super) fn spread_scores(&self, scores: &[f64]) -> Vec<f64> {
        let (states, labels) = (&self.parts.states, &self.parts.score_labels);
        spread_scores(states, labels, scores)
    }
}

/// The largest size of a score: sums of any number of them are finite.
pub const MOST_SCORE: f64 = 1e100;

/// A number that is not too large, or `-∞`.
pub(super) fn is_score(score: f64) -> bool {
    score.abs() <= MOST_SCORE || score == f64::NEG_INFINITY
}

/// As [`Tagger::spread_scores`].
pub(super) fn spread_scores(
    states: &super::labels::States,
    labels: &[String],
    scores: &[f64],
) -> Vec<f64> {
    let column = |state: usize| labels.iter().position(|label| label == states.label(state));
    let columns: Vec<Option<usize>> = (0..states.len()).map(column).collect();
    let rows = scores.chunks(labels.len());
    let spread = |row: &[f64], column: &Option<usize>| column.map_or(f64::NEG_INFINITY, |c| row[c]);
    rows.flat_map(|row| columns.iter().map(move |column| spread(row, column))).collect()
}
