//! Training data in numbers.

use std::borrow::Cow;
use std::sync::Arc;

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Sharing, Structure};
use bethe_learn::dictionary::Dictionary;

use super::super::data::{DataError, Format, Sequence};
use super::super::features::Workspace;
use super::super::features::{Extractor, Template};
use super::super::input::{Input, Vocabulary};
use super::super::labels::{OtherNotation, Scheme, States};
use super::super::tag::{is_score, spread_scores};
use super::columns::{check_template, columns};
use super::numbering::{Numbering, texts};
use super::pool::Pool;
use super::seen::Seen;
use super::settings::TrainSettings;
use super::{Event, Labelled, TrainError};

/// Larger values make training slow, or stop it at the start.
const LARGE_VALUE: f32 = 1e4;

/// Training data, and what a tagger needs to read others.
pub(super) struct Prepared {
    pub(super) input: Input,
    pub(super) score_labels: Vec<String>,
    pub(super) extractor: Extractor,
    pub(super) dictionary: Dictionary,
    pub(super) pool: Pool,
    pub(super) states: States,
    pub(super) structure: Arc<Structure>,
    pub(super) sharing: Option<Sharing>,
    pub(super) data: Data,
}

/// Sequences with their true states.
#[derive(Default)]
pub(super) struct Data {
    pub(super) corpus: Corpus,
    /// `[positions]`; meaningless in sequences with labels unknown to the model.
    pub(super) truth: Vec<u16>,
    /// Whether the truth of each sequence is among the model's states. `[sequences]`
    pub(super) known: Vec<bool>,
    /// The true labels. `[sequences][positions]`
    pub(super) labels: Vec<Vec<Arc<str>>>,
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

    /// Adds the true states of all labels, and scores where they are given.
    fn encode(
        &mut self,
        states: &States,
        scored: Option<(&GivenScores, &[Sequence])>,
    ) -> Result<(), TrainError> {
        for (index, labels) in self.labels.iter().enumerate() {
            let path = states.encode(&texts(labels)).map_err(TrainError::Labels)?;
            if let Some((given, sequences)) = scored {
                let spread = spread_given(given, index, &sequences[index], states)?;
                self.corpus.push_scores(states.len(), &spread);
                check_scored(given, &sequences[index], states, &path)?;
            }
            self.truth.extend(path.iter().map(|&state| state as u16));
            self.known.push(true);
        }
        Ok(())
    }
}

/// Given scores in place of attributes.
pub struct GivenScores {
    /// The label of each column.
    pub labels: Vec<String>,
    /// `[sequences][positions × labels]`
    pub scores: Vec<Vec<f64>>,
}

impl Prepared {
    /// Data in memory.
    pub(super) fn new(
        Labelled { sequences, scores }: Labelled,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        let input = match (scores, settings.format) {
            (Some(_), _) => Input::Scores,
            (None, Format::Attributes) => Input::Attributes,
            (None, Format::Columns) => columns(sequences, settings, observe)?,
        };
        let scored = scores.map(|given| (given, sequences));
        let sequences = sequences.iter().map(|one| Ok(Cow::Borrowed(one)));
        Self::index(input, sequences, settings, scored, observe)
    }

    /// Data that is being read; its text is dropped as soon as it is numbered.
    pub(super) fn read(
        sequences: impl Iterator<Item = Result<Sequence, DataError>>,
        settings: &TrainSettings,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        let sequences = sequences.map(|one| one.map_err(|error| TrainError::Input(error.into())));
        match settings.format {
            Format::Attributes => {
                let sequences = sequences.map(|one| one.map(Cow::Owned));
                Self::index(Input::Attributes, sequences, settings, None, observe)
            }
            // Which columns to use is known only after all have been seen.
            Format::Columns => {
                let sequences = sequences.collect::<Result<Vec<Sequence>, _>>()?;
                let input = columns(&sequences, settings, observe)?;
                let sequences = sequences.into_iter().map(|one| Ok(Cow::Owned(one)));
                Self::index(input, sequences, settings, None, observe)
            }
        }
    }

    fn index<'s>(
        input: Input,
        sequences: impl Iterator<Item = Result<Cow<'s, Sequence>, TrainError>>,
        settings: &TrainSettings,
        scored: Option<(&GivenScores, &[Sequence])>,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Self, TrainError> {
        let template = template_for(&input, settings)?;
        let transitions = template.transitions();
        let extractor = Extractor::new(template, settings.lexicons.clone());
        let mut numbering = Numbering::default();
        let mut data = Data { corpus: Corpus::new(), ..Data::default() };
        for sequence in sequences {
            let sequence = sequence?;
            data.labels.push(numbering.labels(&input, &sequence)?);
            if scored.is_none() {
                numbering.attributes(&input, &extractor, &sequence, &mut data.corpus)?;
            }
        }
        if data.labels.is_empty() {
            return Err(TrainError::NoData);
        }
        if numbering.largest > LARGE_VALUE {
            observe(Event::Warning(format!(
                "values of attributes are as large as {:e}; training works best with values of \
                 about 1 and may fail with these",
                numbering.largest
            )));
        }
        let scheme = settings.scheme.unwrap_or_else(|| recognised(&data.labels, observe));
        if settings.scheme != Some(Scheme::Plain) {
            warn_of_notation(&data.labels, observe);
        }
        let states = States::learn(scheme, data.labels.iter().map(|labels| texts(labels)))
            .map_err(TrainError::Labels)?;
        data.encode(&states, scored)?;
        let (dictionary, numbers) = numbering.by_frequency(settings.min_count);
        data.corpus.renumber(&numbers);
        data.corpus.shrink();
        let seen = Seen::new(dictionary.len(), states.len(), &data, 0..data.len());
        let (structure, sharing) = seen.structure(&states, settings, transitions);
        let structure = Arc::new(structure);
        let score_labels = scored.map_or(Vec::new(), |(given, _)| given.labels.clone());
        let pool = Pool::new(settings.base.pool, &dictionary, settings.seed);
        Ok(Self {
            input,
            score_labels,
            extractor,
            dictionary,
            pool,
            states,
            structure,
            sharing,
            data,
        })
    }

    /// The weights of a model of some training sequences only, and how they are shared.
    pub(super) fn structure_of(
        &self,
        which: &[usize],
        settings: &TrainSettings,
    ) -> (Structure, Option<Sharing>) {
        let which = which.iter().copied();
        let seen = Seen::new(self.dictionary.len(), self.states.len(), &self.data, which);
        seen.structure(&self.states, settings, self.extractor.template().transitions())
    }

    /// Other sequences, seen through this dictionary.
    pub(super) fn data(
        &self,
        sequences: &[Sequence],
        scores: Option<&GivenScores>,
    ) -> Result<Data, TrainError> {
        let mut data = Data { corpus: Corpus::new(), ..Data::default() };
        let (mut workspace, mut numbering) = (Workspace::default(), Numbering::default());
        for (index, sequence) in sequences.iter().enumerate() {
            match scores {
                Some(given) => {
                    let spread = spread_given(given, index, sequence, &self.states)?;
                    data.corpus.push_scores(self.states.len(), &spread);
                }
                None => {
                    let Self { extractor, dictionary: attributes, .. } = self;
                    let known = Vocabulary { extractor, attributes };
                    self.input.observe(known, sequence, &mut workspace, &mut data.corpus)?;
                }
            }
            let labels = numbering.labels(&self.input, sequence)?;
            let path = self.states.encode(&texts(&labels)).ok().filter(|path| {
                scores.is_none_or(|given| check_scored(given, sequence, &self.states, path).is_ok())
            });
            data.known.push(path.is_some());
            let path = path.unwrap_or_else(|| vec![0; labels.len()]);
            data.truth.extend(path.iter().map(|&state| state as u16));
            data.labels.push(labels);
        }
        Ok(data)
    }
}

/// The scheme of the labels; if they do not show it themselves, an event reports it.
fn recognised(labels: &[Vec<Arc<str>>], observe: &mut dyn FnMut(Event)) -> Scheme {
    let scheme = Scheme::recognise(labels.iter().map(|labels| texts(labels)));
    if !Scheme::is_written(labels.iter().flatten().map(|label| &**label)) {
        observe(Event::Scheme(scheme));
    }
    scheme
}

/// Warns of labels that would be read as names, but look as if they marked segments.
fn warn_of_notation(labels: &[Vec<Arc<str>>], observe: &mut dyn FnMut(Event)) {
    let names = labels.iter().flatten().map(|label| &**label);
    if let Some(other) = OtherNotation::of(names) {
        observe(Event::Warning(other.to_string()));
    }
}

/// The template that was given, or one for the data.
fn template_for(input: &Input, settings: &TrainSettings) -> Result<Template, TrainError> {
    let template = match (&settings.template, input) {
        (Some(template), _) => template.clone(),
        (None, Input::Columns { observed, .. }) => Template::default_for(observed.len()),
        (None, _) => "B".parse().expect("transitions alone"),
    };
    check_template(&template, input)?;
    Ok(template)
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
