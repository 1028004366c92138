use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bethe_core::MemoryLimit;
use bethe_core::memory::TooLarge;
use bethe_learn::archive::{Archive, ArchiveError};
use bethe_learn::attributes::Attributes;
use bethe_learn::crf::{AttributeStates, Borders, Crf, Structure, StructureFault, Transitions};
use bethe_learn::dictionary::DictionaryFault;
use bethe_learn::hashed::HashedFault;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::compact::{attributes, insert_attributes, insert_weights, weights};
use super::data::columns;
use super::features::{Extractor, LexiconError, Lexicons, Template, TemplateError};
use super::input::Input;
use super::labels::States;
use super::model::{Parts, Tagger, Training, WeightFeatures};
use super::rules::{MOST_WEIGHT, Rule, RuleError, RulePenalty};
use super::tag::decode::Decoding;

/// The version of the file's form.
const FORM: u32 = 3;
/// The oldest that is read: without annotations and hashes.
const OLDEST_FORM: u32 = 2;
/// A pair of states in the file, in tables of scores and in those of inference.
const BYTES_PER_TRANSITION: f64 = 32.0;

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    task: String,
    form: u32,
    input: Input,
    score_labels: Vec<String>,
    template: String,
    lexicons: String,
    states: States,
    /// By its name in files of this form.
    #[serde(rename = "constraints")]
    rules: Vec<Rule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rule_groups: Vec<usize>,
    most_segments: Vec<u32>,
    weight_features: WeightFeatures,
    penalty: RulePenalty,
    decoding: Decoding,
    training: Training,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

impl Metadata {
    /// What is made of these takes many times their size.
    fn check_memory(&self, limit: MemoryLimit) -> Result<(), TooLarge> {
        let states = self.states.len() as f64;
        let texts =
            Template::estimated_bytes(&self.template) + Lexicons::estimated_bytes(&self.lexicons);
        limit.check("the model", BYTES_PER_TRANSITION * states * states + texts)
    }
}

/// Why a file is not a tagger.
#[derive(Debug, Error)]
pub enum ModelError {
    /// It cannot be read or written.
    #[error(transparent)]
    Archive(ArchiveError),
    /// A part of it is wrong.
    #[error("{}: {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: ContentFault,
    },
}

/// What is wrong in a file.
#[derive(Debug, Error)]
pub enum ContentFault {
    /// Numbers are missing or of the wrong kind.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A model for another task, or of another version.
    #[error(
        "found a {task:?} model of version {form}, expected \"tagging\" of version {OLDEST_FORM} or {FORM}"
    )]
    Form {
        /// The task.
        task: String,
        /// The form.
        form: u32,
    },
    /// It takes more memory than it may.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The dictionary is damaged.
    #[error(transparent)]
    Dictionary(#[from] DictionaryFault),
    /// The hashes of attributes are damaged.
    #[error(transparent)]
    Hashes(#[from] HashedFault),
    /// The weights' structure is damaged.
    #[error(transparent)]
    Structure(#[from] StructureFault),
    /// The template is damaged.
    #[error("template: {0}")]
    Template(#[from] TemplateError),
    /// The lexicons are damaged.
    #[error("lexicons: {0}")]
    Lexicons(#[from] LexiconError),
    /// The rules are damaged.
    #[error("rules: {0}")]
    Rules(#[from] RuleError),
    /// A weight is not a number, or lists differ in length.
    #[error("{list}: found {found}, expected {expected}")]
    Values {
        /// Which list.
        list: &'static str,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}

impl Tagger {
    /// Writes the model file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        self.archive().write(path).map_err(ModelError::Archive)
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        self.archive().to_bytes().map_err(ModelError::Archive)
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Self::load_within(path, MemoryLimit::NONE)
    }

    /// The same, if the model fits into a limit of memory.
    pub fn load_within(path: impl AsRef<Path>, limit: MemoryLimit) -> Result<Self, ModelError> {
        let path = path.as_ref();
        Self::from_archive(Archive::read_within(path, limit), path, limit)
    }

    /// Reads a model file from wherever it comes.
    pub fn from_reader(reader: impl Read) -> Result<Self, ModelError> {
        Self::from_archive(Archive::from_reader(reader), Path::new("model"), MemoryLimit::NONE)
    }

    /// Reads a model file that is in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        Self::from_bytes_within(bytes, MemoryLimit::NONE)
    }

    /// The same, if the model fits into a limit of memory.
    pub fn from_bytes_within(bytes: &[u8], limit: MemoryLimit) -> Result<Self, ModelError> {
        let archive = Archive::from_bytes_within(bytes, limit);
        Self::from_archive(archive, Path::new("model"), limit)
    }

    fn from_archive(
        read: Result<Archive, ArchiveError>,
        path: &Path,
        limit: MemoryLimit,
    ) -> Result<Self, ModelError> {
        let archive = read.map_err(ModelError::Archive)?;
        let content = |fault| ModelError::Content { path: path.to_path_buf(), fault };
        Self::from_content(&archive, limit).map_err(content)
    }

    /// The oldest form that can hold it, so that older programs read what they can.
    fn form(&self) -> u32 {
        let Parts { attributes, annotations, .. } = &*self.parts;
        let is_old = matches!(attributes, Attributes::Named(_)) && annotations.is_empty();
        if is_old { OLDEST_FORM } else { FORM }
    }

    fn archive(&self) -> Archive {
        let Parts { extractor, attributes, crf, .. } = &*self.parts;
        let mut archive = Archive::new(&Metadata {
            task: "tagging".to_string(),
            form: self.form(),
            input: self.parts.input.clone(),
            score_labels: self.parts.score_labels.clone(),
            template: extractor.template().to_string(),
            lexicons: extractor.lexicons().to_string(),
            states: self.parts.states.clone(),
            rules: self.parts.rules.clone(),
            rule_groups: self.parts.rule_groups.clone(),
            most_segments: self.parts.most_segments.clone(),
            weight_features: self.parts.weight_features,
            penalty: self.parts.penalty,
            decoding: self.parts.decoding,
            training: self.parts.training.clone(),
            annotations: self.parts.annotations.clone(),
        });
        insert_attributes(&mut archive, attributes);
        let structure = &crf.structure;
        let (AttributeStates { ends, states: pairs }, weights) = structure.compact(&crf.weights);
        archive.insert("pairs.ends", &[ends.len()], &ends);
        archive.insert("pairs.states", &[pairs.len()], &pairs);
        insert_weights(&mut archive, &weights, attributes);
        let bits = |flags: &[bool]| flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<u8>>();
        let Transitions { forbidden, weighted } = structure.transitions();
        let states = structure.states();
        archive.insert("transitions.forbidden", &[states, states], &bits(forbidden));
        let flat: Vec<u16> = weighted.iter().flat_map(|&(from, to)| [from, to]).collect();
        archive.insert("transitions.weighted", &[weighted.len(), 2], &flat);
        let Borders { not_first, not_last } = structure.borders();
        archive.insert("states.not_first", &[states], &bits(not_first));
        archive.insert("states.not_last", &[states], &bits(not_last));
        let rule_weights = &self.parts.rule_weights;
        archive.insert("rules.weights", &[rule_weights.len()], rule_weights);
        archive
    }

    fn from_content(archive: &Archive, limit: MemoryLimit) -> Result<Self, ContentFault> {
        let head: Head = archive.metadata()?;
        if head.task != "tagging" || !(OLDEST_FORM..=FORM).contains(&head.form) {
            return Err(ContentFault::Form { task: head.task, form: head.form });
        }
        let metadata: Metadata = archive.metadata()?;
        metadata.check_memory(limit)?;
        check_features(metadata.weight_features)?;
        let known = attributes(archive)?;
        let states = metadata.states.len();
        let bits = |name: &str, count| -> Result<Vec<bool>, ArchiveError> {
            Ok(archive.array::<u8>(name, count)?.into_iter().map(|bit| bit != 0).collect())
        };
        let flat: Vec<u16> = archive.values("transitions.weighted")?;
        let transitions = Transitions {
            forbidden: bits("transitions.forbidden", states * states)?,
            weighted: flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        };
        let borders = Borders {
            not_first: bits("states.not_first", states)?,
            not_last: bits("states.not_last", states)?,
        };
        let pairs = AttributeStates {
            ends: archive.array("pairs.ends", known.len())?,
            states: archive.values("pairs.states")?,
        };
        let structure = Structure::new(states, pairs, transitions, borders)?;
        let weights = finite("weights", weights(archive, structure.free_weights())?)?;
        let crf =
            Crf { weights: structure.weights_of_pairs(&weights), structure: Arc::new(structure) };
        let template = metadata.template.parse::<Template>()?;
        let lexicons = metadata.lexicons.parse::<Lexicons>()?;
        let tagger = Self::new(Parts {
            input: metadata.input,
            score_labels: metadata.score_labels,
            extractor: Extractor::new(template, lexicons),
            attributes: known,
            states: metadata.states,
            crf,
            rule_groups: groups(metadata.rule_groups, metadata.rules.len())?,
            rules: metadata.rules,
            most_segments: metadata.most_segments,
            rule_weights: rule_weights(archive.values("rules.weights")?)?,
            weight_features: metadata.weight_features,
            penalty: metadata.penalty,
            decoding: metadata.decoding,
            training: metadata.training,
            annotations: metadata.annotations,
        })?;
        let expected = tagger.compiled.rules.soft.len() * tagger.parts.weight_features.len();
        let found = tagger.parts.rule_weights.len();
        if found != expected {
            let (found, expected) = (found.to_string(), expected.to_string());
            return Err(ContentFault::Values { list: "rules.weights", found, expected });
        }
        tagger.check_columns()?;
        Ok(tagger)
    }

    /// The input must name columns that its file has, and all that the template reads.
    fn check_columns(&self) -> Result<(), ContentFault> {
        let Input::Columns { observed, columns: count, label } = &self.parts.input else {
            return Ok(());
        };
        let fault = |list, found, expected| Err(ContentFault::Values { list, found, expected });
        let named = [("input.label", std::slice::from_ref(label)), ("input.observed", observed)];
        for (list, places) in named {
            if let Some(place) = places.iter().find(|&place| place >= count) {
                let expected = format!("one of {}, counted from 0", columns(*count));
                return fault(list, format!("column {place}"), expected);
            }
        }
        match self.parts.extractor.template().highest_column() {
            Some(column) if column >= observed.len() => fault(
                "input.observed",
                columns(observed.len()),
                format!("at least {}, which the template reads", column + 1),
            ),
            _ => Ok(()),
        }
    }
}

/// The common part of all versions of the file.
#[derive(Deserialize)]
struct Head {
    task: String,
    form: u32,
}

/// A sequence has no more features than memory has room for.
fn check_features(features: WeightFeatures) -> Result<(), ContentFault> {
    match features {
        WeightFeatures::Fourier { count, .. } if count > WeightFeatures::MOST => {
            Err(ContentFault::Values {
                list: "weight_features.count",
                found: count.to_string(),
                expected: format!("at most {}", WeightFeatures::MOST),
            })
        }
        _ => Ok(()),
    }
}

/// Groups of rules: none, or one for each rule, led by one of them.
fn groups(groups: Vec<usize>, rules: usize) -> Result<Vec<usize>, ContentFault> {
    let leads = |&leader: &usize| leader < rules;
    match groups.is_empty() || groups.len() == rules && groups.iter().all(leads) {
        true => Ok(groups),
        false => Err(ContentFault::Values {
            list: "rule_groups",
            found: format!("{groups:?}"),
            expected: format!("{rules} places of rules, counted from 0"),
        }),
    }
}

/// Weights of rules, each within the bound for given weights.
fn rule_weights(values: Vec<f64>) -> Result<Vec<f64>, ContentFault> {
    match values.iter().position(|value| value.is_nan() || value.abs() > MOST_WEIGHT) {
        Some(at) => Err(ContentFault::Values {
            list: "rules.weights",
            found: format!("{} at {at}", values[at]),
            expected: format!("numbers of at most {MOST_WEIGHT:e}"),
        }),
        None => Ok(values),
    }
}

/// Training never gives such weights, and their sums would overflow.
const MOST: f64 = 1e100;

fn finite(list: &'static str, values: Vec<f64>) -> Result<Vec<f64>, ContentFault> {
    match values.iter().position(|value| value.is_nan() || value.abs() > MOST) {
        Some(at) => Err(ContentFault::Values {
            list,
            found: format!("{} at {at}", values[at]),
            expected: format!("numbers of at most {MOST:e}"),
        }),
        None => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Scheme;
    use crate::states_of;

    #[test]
    fn columns_that_the_data_do_not_have_are_refused() {
        let labels = ["O", "B-a"];
        let states = states_of(Scheme::Bio, &labels).unwrap();
        let tagger = Tagger::of_scores(states, &labels, &[], Vec::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let refusal = |label: usize, observed: &[usize]| {
            let mut parts = tagger.parts().clone();
            parts.input = Input::Columns { columns: 2, label, observed: observed.to_vec() };
            Tagger::new(parts).unwrap().write(&path).unwrap();
            Tagger::load(&path).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refusal(1, &[0]), "");
        let far = refusal(1, &[0, 4_294_967_295]);
        let expected = "input.observed: found column 4294967295, expected one of 2 columns";
        assert!(far.contains(expected), "{far}");
        assert!(refusal(2, &[0]).contains("input.label: found column 2, expected"));
    }

    #[test]
    fn a_number_of_features_beyond_all_memory_is_refused() {
        let labels = ["O", "B-a"];
        let states = states_of(Scheme::Bio, &labels).unwrap();
        let tagger = Tagger::of_scores(states, &labels, &[], Vec::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        for count in [4_000_000_000, usize::MAX] {
            let mut parts = tagger.parts().clone();
            parts.weight_features = WeightFeatures::Fourier { count, seed: 1 };
            Tagger::new(parts).unwrap().write(&path).unwrap();
            let message = Tagger::load(&path).err().unwrap().to_string();
            let expected = format!("weight_features.count: found {count}, expected at most");
            assert!(message.contains(&expected), "{message}");
        }
    }
}
