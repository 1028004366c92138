//! Model files without the names of attributes and with 16-bit weights.

use std::sync::Arc;

use bethe_learn::archive::{Archive, ArchiveError};
use bethe_learn::attributes::Attributes;
use bethe_learn::crf::{AttributeStates, Crf, Structure};
use bethe_learn::dictionary::Dictionary;
use bethe_learn::hashed::HashedDictionary;

use super::file::ContentFault;
use super::model::{Parts, Tagger, WeightFeatures};

/// The largest multiple of the unit that a weight can be.
const MOST_UNITS: f64 = i16::MAX as f64;

impl Tagger {
    /// The tagger with attributes by their hashes, and weights rounded to 16 bits. Its file is
    /// several times smaller and holds no text of the training data beside labels, template and
    /// lexicons. `None` if weights of rules depend on the numbers of attributes.
    pub fn compacted(&self) -> Option<Self> {
        let Attributes::Named(dictionary) = &self.parts.attributes else {
            return Some(self.clone());
        };
        if matches!(self.parts.weight_features, WeightFeatures::Fourier { .. }) {
            return None;
        }
        let Crf { structure, weights } = &self.parts.crf;
        let unit = unit(weights);
        let weights = weights.iter().map(|weight| (weight / unit).round() * unit).collect();
        let (crf, numbers) = Crf { structure: structure.clone(), weights }.pruned();
        let kept: Vec<usize> = (0..numbers.len()).filter(|&n| numbers[n].is_some()).collect();
        let (hashed, order) = HashedDictionary::of(&dictionary.select(&kept).0);
        let parts = Parts {
            attributes: Attributes::Hashed(hashed),
            crf: reordered(&crf, &order),
            ..(*self.parts).clone()
        };
        Some(Self::new(parts).expect("the same rules"))
    }
}

/// The model with attribute `order[a]` in place `a`.
fn reordered(crf: &Crf, order: &[usize]) -> Crf {
    let Crf { structure, weights } = crf;
    let (mut attributes, mut own) = (AttributeStates::default(), Vec::new());
    for &attribute in order {
        for (state, at) in structure.rows().attribute(attribute) {
            attributes.states.push(state);
            own.push(weights[at]);
        }
        attributes.ends.push(attributes.states.len() as u32);
    }
    own.extend_from_slice(&weights[structure.rows().weights()..]);
    let (transitions, borders) = (structure.transitions().clone(), structure.borders().clone());
    let reordered = Structure::new(structure.states(), attributes, transitions, borders)
        .expect("the same attributes");
    Crf { weights: reordered.weights_of_pairs(&own), structure: Arc::new(reordered) }
}

/// The smallest power of two of which 16 bits count up to the largest weight.
fn unit(weights: &[f64]) -> f64 {
    let largest = weights.iter().fold(f64::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
    (largest / MOST_UNITS).log2().ceil().exp2()
}

/// Stores the attributes.
pub(super) fn insert_attributes(archive: &mut Archive, attributes: &Attributes) {
    match attributes {
        Attributes::Named(dictionary) => {
            let (bytes, ends, slots) = dictionary.arrays();
            archive.insert("dictionary.bytes", &[bytes.len()], bytes);
            archive.insert("dictionary.ends", &[ends.len()], ends);
            archive.insert("dictionary.slots", &[slots.len()], slots);
        }
        Attributes::Hashed(hashed) => {
            let (ends, tags) = hashed.arrays();
            archive.insert("hashes.ends", &[ends.len()], ends);
            archive.insert("hashes.tags", &[tags.len()], tags);
        }
    }
}

/// The attributes of a file.
pub(super) fn attributes(archive: &Archive) -> Result<Attributes, ContentFault> {
    if archive.shape("hashes.tags").is_some() {
        let (ends, tags) = (archive.values("hashes.ends")?, archive.values("hashes.tags")?);
        return Ok(Attributes::Hashed(HashedDictionary::from_arrays(ends, tags)?));
    }
    Ok(Attributes::Named(Dictionary::from_arrays(
        archive.values("dictionary.bytes")?,
        archive.values("dictionary.ends")?,
        archive.values("dictionary.slots")?,
    )?))
}

/// Stores weights: as they are, or as multiples of a unit if attributes are hashed.
pub(super) fn insert_weights(archive: &mut Archive, weights: &[f64], attributes: &Attributes) {
    if let Attributes::Named(_) = attributes {
        return archive.insert("weights", &[weights.len()], weights);
    }
    let unit = unit(weights);
    let units: Vec<i16> = weights.iter().map(|weight| (weight / unit).round() as i16).collect();
    archive.insert("weights", &[units.len()], &units);
    archive.insert("weights.unit", &[1], &[unit]);
}

/// The weights of a file, of which there must be this many.
pub(super) fn weights(archive: &Archive, expected: usize) -> Result<Vec<f64>, ArchiveError> {
    if archive.shape("weights.unit").is_none() {
        return archive.array("weights", expected);
    }
    let unit: f64 = archive.array("weights.unit", 1)?[0];
    let units: Vec<i16> = archive.array("weights", expected)?;
    Ok(units.into_iter().map(|count| f64::from(count) * unit).collect())
}
