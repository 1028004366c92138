//! Training data in numbers.

use std::borrow::Cow;

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Structure, Transitions};
use bethe_learn::dictionary::Dictionary;

use super::super::data::{Format, Sequence};
use super::super::features::{Extractor, Template, Workspace};
use super::super::input::{Input, in_range};
use super::super::labels::{Scheme, States};
use super::super::tag::{is_score, spread_scores};
use super::settings::{AllowedTransitions, TrainSettings};
use super::{Event, TrainError};

/// States beyond which only transitions that were seen are allowed, unless told otherwise.
const MANY_STATES: usize = 64;

/// Training data, and what a tagger needs to read others.
pub(super) struct Prepared {
    pub(super) input: Input,
    pub(super) score_labels: Vec<String>,
    pub(super) extractor: Extractor,
    pub(super) dictionary: Dictionary,
    pub(super) states: States,
    pub(super) structure: Structure,
    pub(super) data: Data,
}

/// Sequences with their true states.
#[derive(Default)]
pub(super) struct Data {
    pub(super) corpus: Corpus,
    /// `[positions]`; meaningless in sequences whose truth is not known to the model.
    pub(super) truth: Vec<u16>,
    /// Whether the truth of each sequence is among the model's states. `[sequences]`
    pub(super) known: Vec<bool>,
    /// The true labels. `[sequences][positions]`
    pub(super) labels: Vec<Vec<String>>,
}

impl Data {
    /// The true states of a sequence.
    pub(super) fn truth(&self, sequence: usize) -> &[u16] {
        let length = self.corpus.sequence(sequence).len();
        &self.truth[self.corpus.first_position(sequence)..][..length]
    }

    pub(super) fn len(&self) -> usize {
        self.corpus.len()
    }
}

/// Scores that come from elsewhere, in place of attributes.
pub struct GivenScores {
    /// The label of each column.
    pub labels: Vec<String>,
    /// `[sequences][positions × labels]`
    pub scores: Vec<Vec<f64>>,
}

impl Prepared {
    pub(super) fn new(
        sequences: &[Sequence],
        scores: Option<&GivenScores>,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        let first = sequences.first().ok_or(TrainError::NoData)?;
        let input = match (scores, settings.format) {
            (Some(_), _) => Input::Scores,
            (None, Format::Attributes) => Input::Attributes,
            (None, Format::Columns) => columns(first, sequences, settings, observe)?,
        };
        let labels: Vec<Vec<Cow<str>>> = sequences
            .iter()
            .map(|sequence| labels_of(&input, sequence))
            .collect::<Result<_, TrainError>>()?;
        let scheme = settings.scheme.unwrap_or_else(|| {
            Scheme::recognise(labels.iter().flatten().map(|label| label.as_ref()))
        });
        let texts =
            labels.iter().map(|l| l.iter().map(|label| label.as_ref()).collect::<Vec<&str>>());
        let states = States::learn(scheme, texts).map_err(TrainError::Labels)?;
        let template = match (&settings.template, &input) {
            (Some(template), _) => template.clone(),
            (None, Input::Columns { observed, .. }) => Template::default_for(observed.len()),
            (None, _) => "B".parse().expect("transitions alone"),
        };
        check_template(&template, &input)?;
        let transitions = template.transitions();
        let extractor = Extractor::new(template, settings.lexicons.clone());
        let mut dictionary = Dictionary::default();
        let mut data = Data { corpus: Corpus::new(), ..Data::default() };
        let mut workspace = Workspace::default();
        let mut counts: Vec<u32> = Vec::new();
        for (index, (sequence, labels)) in sequences.iter().zip(&labels).enumerate() {
            match scores {
                Some(given) => {
                    let spread = spread_given(given, index, sequence, &states)?;
                    data.corpus.push_scores(states.len(), &spread);
                }
                None => {
                    let mut position = 0;
                    let corpus = &mut data.corpus;
                    input.visit(&extractor, sequence, &mut workspace, |t, attribute, value| {
                        while position < t {
                            corpus.end_position();
                            position += 1;
                        }
                        let number = dictionary.insert(attribute);
                        if number as usize == counts.len() {
                            counts.push(0);
                        }
                        counts[number as usize] += 1;
                        corpus.push(number, in_range(value));
                    })?;
                    (position..sequence.len()).for_each(|_| corpus.end_position());
                    corpus.end_sequence();
                }
            }
            let texts: Vec<&str> = labels.iter().map(|label| label.as_ref()).collect();
            let path = states.encode(&texts).map_err(TrainError::Labels)?;
            if let Some(given) = scores {
                check_scored(given, sequence, &states, &path)?;
            }
            data.truth.extend(path.iter().map(|&state| state as u16));
            data.known.push(true);
            data.labels.push(texts.iter().map(|label| label.to_string()).collect());
        }
        // The most frequent first: what is used together lies together.
        let mut order: Vec<usize> = (0..dictionary.len()).collect();
        order.retain(|&number| counts[number] >= settings.min_count);
        order.sort_by_key(|&number| std::cmp::Reverse(counts[number]));
        let (dictionary, numbers) = dictionary.select(&order);
        data.corpus.renumber(&numbers);
        let structure = structure(&states, &dictionary, &data, settings.transitions, transitions);
        let score_labels = scores.map_or(Vec::new(), |given| given.labels.clone());
        Ok(Self { input, score_labels, extractor, dictionary, states, structure, data })
    }

    /// Other sequences, seen through this dictionary.
    pub(super) fn data(
        &self,
        sequences: &[Sequence],
        scores: Option<&GivenScores>,
    ) -> Result<Data, TrainError> {
        let mut data = Data { corpus: Corpus::new(), ..Data::default() };
        let mut workspace = Workspace::default();
        for (index, sequence) in sequences.iter().enumerate() {
            match scores {
                Some(given) => {
                    let spread = spread_given(given, index, sequence, &self.states)?;
                    data.corpus.push_scores(self.states.len(), &spread);
                }
                None => {
                    let kit = (&self.extractor, &self.dictionary);
                    self.input.observe(kit, sequence, &mut workspace, &mut data.corpus)?;
                }
            }
            let labels = labels_of(&self.input, sequence)?;
            let texts: Vec<&str> = labels.iter().map(|label| label.as_ref()).collect();
            let path = self.states.encode(&texts).ok().filter(|path| {
                scores.is_none_or(|given| check_scored(given, sequence, &self.states, path).is_ok())
            });
            data.known.push(path.is_some());
            let path = path.unwrap_or_else(|| vec![0; texts.len()]);
            data.truth.extend(path.iter().map(|&state| state as u16));
            data.labels.push(texts.iter().map(|label| label.to_string()).collect());
        }
        Ok(data)
    }
}

fn labels_of<'a>(input: &Input, sequence: &'a Sequence) -> Result<Vec<Cow<'a, str>>, TrainError> {
    let labels = input.labels(sequence);
    let missing = |t: usize| TrainError::NoLabel {
        path: sequence.path().display().to_string(),
        line: sequence.line(t),
    };
    let labels = labels.ok_or_else(|| missing(0))?;
    match labels.iter().position(|label| label.is_empty()) {
        Some(t) => Err(missing(t)),
        None => Ok(labels),
    }
}

fn spread_given(
    given: &GivenScores,
    index: usize,
    sequence: &Sequence,
    states: &States,
) -> Result<Vec<f64>, TrainError> {
    let expected = sequence.len() * given.labels.len();
    let found = given.scores.get(index).map_or(0, Vec::len);
    if found != expected {
        let (line, labels) = (sequence.line(0), given.labels.len());
        let path = sequence.path().display().to_string();
        return Err(TrainError::Scores { path, line, found, positions: sequence.len(), labels });
    }
    let scores = &given.scores[index];
    if let Some(place) = scores.iter().position(|score| !is_score(*score)) {
        let line = sequence.line(place / given.labels.len());
        let path = sequence.path().display().to_string();
        return Err(TrainError::NotAScore { path, line, found: scores[place] });
    }
    Ok(spread_scores(states, &given.labels, scores))
}

/// Every true label needs a score, or the loss has no bound.
fn check_scored(
    given: &GivenScores,
    sequence: &Sequence,
    states: &States,
    path: &[usize],
) -> Result<(), TrainError> {
    let unscored = |&state: &usize| given.labels.iter().all(|label| label != states.label(state));
    match path.iter().position(unscored) {
        None => Ok(()),
        Some(t) => Err(TrainError::UnscoredLabel {
            path: sequence.path().display().to_string(),
            line: sequence.line(t),
            label: states.label(path[t]).to_string(),
        }),
    }
}

/// Where attributes and labels are in a column file.
fn columns(
    first: &Sequence,
    sequences: &[Sequence],
    settings: &TrainSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Input, TrainError> {
    let columns = first.columns(0);
    let path = || first.path().display().to_string();
    let outside = |found: usize| TrainError::Column { path: path(), found, columns };
    let label = match settings.column {
        Some(column) if column == 0 || column > columns => return Err(outside(column)),
        Some(column) => column - 1,
        None => columns - 1,
    };
    if columns < 2 && settings.template.is_none() {
        return Err(TrainError::NoColumns { path: path(), line: first.line(0) });
    }
    let observed = match (&settings.observe, &settings.template) {
        (Some(told), _) => {
            let place = |&column: &usize| match column {
                0 => Err(outside(column)),
                column if column > columns => Err(outside(column)),
                column if column - 1 == label => Err(TrainError::ObservedLabel { column }),
                column => Ok(column - 1),
            };
            told.iter().map(place).collect::<Result<_, _>>()?
        }
        (None, Some(_)) => (0..columns).collect(),
        (None, None) => {
            let others = (0..columns).filter(|&column| column != label);
            let (kept, dropped): (Vec<usize>, Vec<usize>) =
                others.partition(|&column| column == 0 || !gives_away(sequences, column, label));
            for column in dropped {
                observe(Event::Warning(format!(
                    "column {} holds the names of labels: it is not used as an observation; \
                     --observe names the columns to use",
                    column + 1
                )));
            }
            kept
        }
    };
    Ok(Input::Columns { columns, label, observed })
}

/// Whether a column has the labels' own names nearly everywhere, whatever their prefixes and paths: a
/// column of labels.
fn gives_away(sequences: &[Sequence], column: usize, label: usize) -> bool {
    let name = |text: &str| {
        let last = text.rsplit([':', '/']).next().unwrap_or(text);
        let bare = ["B-", "I-", "E-", "S-"].iter().find_map(|prefix| last.strip_prefix(prefix));
        bare.unwrap_or(last).to_string()
    };
    let (mut tokens, mut same) = (0, 0);
    for sequence in sequences {
        for t in 0..sequence.len() {
            let (value, label) = (sequence.cell(t, column), sequence.cell(t, label));
            tokens += 1;
            same += usize::from(value.map(name) == label.map(name));
        }
    }
    same * 10 > tokens * 9
}

fn check_template(template: &Template, input: &Input) -> Result<(), TrainError> {
    let Input::Columns { columns, label, observed } = input else { return Ok(()) };
    match template.highest_column() {
        Some(column) if column >= observed.len() => {
            Err(TrainError::TemplateColumn { column, columns: observed.len() })
        }
        Some(_) if template.columns().any(|column| observed[column] == *label) => {
            Err(TrainError::TemplateReadsLabel { column: *label, columns: *columns })
        }
        _ => Ok(()),
    }
}

/// The weights that the training data have a use for, and what is forbidden.
fn structure(
    states: &States,
    dictionary: &Dictionary,
    data: &Data,
    allowed: AllowedTransitions,
    weighted: bool,
) -> Structure {
    let count = states.len();
    let words = count.div_ceil(64);
    let mut seen = vec![0u64; dictionary.len() * words];
    let mut follows = vec![false; count * count];
    for sequence in 0..data.len() {
        let (observations, truth) = (data.corpus.sequence(sequence), data.truth(sequence));
        for (t, &state) in truth.iter().enumerate() {
            let state = usize::from(state);
            for &attribute in observations.attributes(t) {
                seen[attribute as usize * words + state / 64] |= 1 << (state % 64);
            }
        }
        for pair in truth.windows(2) {
            follows[usize::from(pair[0]) * count + usize::from(pair[1])] = true;
        }
    }
    let (mut ends, mut pairs) = (Vec::with_capacity(dictionary.len()), Vec::new());
    for bits in seen.chunks(words) {
        let of = |state: &usize| bits[state / 64] >> (state % 64) & 1 == 1;
        pairs.extend((0..count).filter(of).map(|state| state as u16));
        ends.push(pairs.len() as u32);
    }
    let only_seen = match allowed {
        AllowedTransitions::Auto => count > MANY_STATES,
        AllowedTransitions::Seen => true,
        AllowedTransitions::Valid => false,
    };
    let cells = || (0..count * count).map(|cell| (cell / count, cell % count));
    let forbidden = cells().map(|(from, to)| {
        let seen = follows[from * count + to];
        !seen && (only_seen || !states.may_follow(from, to))
    });
    let forbidden: Vec<bool> = forbidden.collect();
    let with_weight = cells().filter(|&(from, to)| weighted && follows[from * count + to]);
    let weighted = with_weight.map(|(from, to)| (from as u16, to as u16)).collect();
    let borders = (
        (0..count).map(|state| !states.may_start(state)).collect(),
        (0..count).map(|state| !states.may_end(state)).collect(),
    );
    Structure::new(count, (&ends, pairs), Transitions { forbidden, weighted }, borders)
        .expect("pairs of states that were seen")
}
