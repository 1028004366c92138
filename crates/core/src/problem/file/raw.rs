//! The file as written. Types and field names are checked here, their meaning is not.
//!
//! Energies and penalties are flat with optional fields. An enum tagged by `kind` would make serde
//! buffer each energy and lose the place of a mistake.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawProblem {
    pub variables: Vec<RawVariable>,
    #[serde(default)]
    pub factors: Vec<Object<RawFactor>>,
    #[serde(default)]
    pub evidence: RawEvidence,
    #[serde(default)]
    pub energies: Vec<Object<RawEnergy>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEnergies {
    pub energies: Vec<Object<RawEnergy>>,
}

pub(super) enum RawVariable {
    Cardinality(usize),
    Named(NamedVariable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedVariable {
    pub name: String,
    pub states: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFactor {
    pub scope: Vec<Reference>,
    pub log_potentials: Vec<LogPotential>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTerm {
    pub scope: Vec<Reference>,
    pub coefficients: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMeasured {
    pub terms: Vec<Object<RawTerm>>,
}

/// Every field that some kind of energy has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEnergy {
    pub kind: String,
    #[serde(default, deserialize_with = "present")]
    pub weight: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub penalty: Option<Object<RawPenalty>>,
    #[serde(default, deserialize_with = "present")]
    pub offset: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub terms: Option<Vec<Object<RawTerm>>>,
    #[serde(default, deserialize_with = "present")]
    pub scope: Option<Vec<Reference>>,
    #[serde(default, deserialize_with = "present")]
    pub log_potentials: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "present")]
    pub target: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "present")]
    pub total: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub norm: Option<RawNorm>,
    #[serde(default, deserialize_with = "present")]
    pub cap: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub measurements: Option<Vec<Object<RawMeasured>>>,
    #[serde(default, deserialize_with = "present")]
    pub points: Option<Vec<Vec<f64>>>,
}

/// Every field that some penalty has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPenalty {
    pub kind: String,
    #[serde(default, deserialize_with = "present")]
    pub delta: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub rate: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub count: Option<f64>,
}

pub(super) enum RawNorm {
    Word(String),
    Huber(HuberNorm),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HuberNorm {
    pub huber: f64,
}

/// A variable or a state, by index or by name.
pub(super) enum Reference {
    Index(usize),
    Name(String),
}

/// Evidence in the order it is written, so that repeated keys are seen.
#[derive(Default)]
pub(super) struct RawEvidence(pub Vec<(String, Reference)>);

/// A log-potential: a number, or `null` for −∞.
pub(super) struct LogPotential(pub f64);

/// A JSON object and nothing else; derived structs would read lists too.
pub(super) struct Object<T>(pub T);

/// What a message says where such an object should be.
pub(super) trait Shape {
    const EXPECTED: &str = "an object";
}

impl Shape for RawProblem {}
impl Shape for RawEnergies {}
impl Shape for RawFactor {}
impl Shape for RawEnergy {}
impl Shape for RawTerm {}
impl Shape for RawMeasured {}
impl Shape for RawPenalty {
    const EXPECTED: &str = "an object such as {\"kind\": \"hinge\"}";
}

/// A field that may be absent but not `null`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(source).map(Some)
}

impl<'de, T: Deserialize<'de> + Shape> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Shape> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        source.deserialize_map(ObjectVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for RawVariable {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct VariableVisitor;
        impl<'de> Visitor<'de> for VariableVisitor {
            type Value = RawVariable;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number of states or an object with name and states")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(RawVariable::Cardinality(value as usize))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                NamedVariable::deserialize(MapAccessDeserializer::new(map)).map(RawVariable::Named)
            }
        }
        source.deserialize_any(VariableVisitor)
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct ReferenceVisitor;
        impl Visitor<'_> for ReferenceVisitor {
            type Value = Reference;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an index or a name")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Reference::Index(value as usize))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Reference::Name(value.to_string()))
            }
        }
        source.deserialize_any(ReferenceVisitor)
    }
}

impl<'de> Deserialize<'de> for RawEvidence {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct EvidenceVisitor;
        impl<'de> Visitor<'de> for EvidenceVisitor {
            type Value = RawEvidence;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object from variables to states")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawEvidence(entries))
            }
        }
        source.deserialize_map(EvidenceVisitor)
    }
}

impl<'de> Deserialize<'de> for LogPotential {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct PotentialVisitor;
        impl Visitor<'_> for PotentialVisitor {
            type Value = LogPotential;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or null")
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(LogPotential(f64::NEG_INFINITY))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                Ok(LogPotential(value))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(LogPotential(value as f64))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(LogPotential(value as f64))
            }
        }
        source.deserialize_any(PotentialVisitor)
    }
}

impl<'de> Deserialize<'de> for RawNorm {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct NormVisitor;
        impl<'de> Visitor<'de> for NormVisitor {
            type Value = RawNorm;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("\"l1\" or an object with huber")
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
                Ok(RawNorm::Word(value.to_string()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                HuberNorm::deserialize(MapAccessDeserializer::new(map)).map(RawNorm::Huber)
            }
        }
        source.deserialize_any(NormVisitor)
    }
}
