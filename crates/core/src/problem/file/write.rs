//! A problem as a file. serde_json writes −∞ as `null`, as the format wants.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::WriteError;
use crate::energy::{Energy, Norm, Penalty, Term};
use crate::model::{Model, Variable};
use crate::problem::Problem;

pub(super) fn write(problem: &Problem) -> Result<String, WriteError> {
    let model = problem.model();
    for (variable, state) in model.observed().iter().enumerate() {
        let unnamed = model.variables()[variable].names.is_none();
        if state.is_some() && unnamed && model.variable_named(&variable.to_string()).is_some() {
            return Err(WriteError::AmbiguousEvidence { variable });
        }
    }
    let energies = problem.energies().iter().enumerate();
    let energies = energies.map(|(index, energy)| write_energy(model, energy, index));
    let file = ProblemFile {
        variables: model.variables().iter().map(write_variable).collect(),
        factors: model
            .factors()
            .iter()
            .map(|factor| FactorFile {
                scope: write_scope(model, &factor.scope),
                log_potentials: &factor.log_potentials,
            })
            .collect(),
        evidence: EvidenceFile(model),
        energies: energies.collect::<Result<_, _>>()?,
    };
    Ok(serde_json::to_string(&file).expect("numbers, strings, lists and objects with string keys"))
}

#[derive(Serialize)]
struct ProblemFile<'a> {
    variables: Vec<VariableFile<'a>>,
    factors: Vec<FactorFile<'a>>,
    #[serde(skip_serializing_if = "EvidenceFile::is_empty")]
    evidence: EvidenceFile<'a>,
    energies: Vec<EnergyFile<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum VariableFile<'a> {
    Cardinality(usize),
    Named { name: &'a str, states: &'a [String] },
}

#[derive(Serialize)]
struct FactorFile<'a> {
    scope: Vec<ReferenceFile<'a>>,
    log_potentials: &'a [f64],
}

#[derive(Serialize)]
struct TermFile<'a> {
    scope: Vec<ReferenceFile<'a>>,
    coefficients: &'a [f64],
}

#[derive(Serialize)]
struct MeasuredFile<'a> {
    terms: Vec<TermFile<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum EnergyFile<'a> {
    Measurement {
        #[serde(skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        penalty: Penalty,
        offset: f64,
        terms: Vec<TermFile<'a>>,
    },
    TableMeasurement {
        #[serde(skip_serializing_if = "Option::is_none")]
        weight: Option<f64>,
        penalty: Penalty,
        scope: Vec<ReferenceFile<'a>>,
        target: &'a [f64],
        total: f64,
    },
    Product {
        scope: Vec<ReferenceFile<'a>>,
        log_potentials: &'a [f64],
    },
    Nearest {
        weight: f64,
        norm: NormFile,
        #[serde(skip_serializing_if = "Option::is_none")]
        cap: Option<f64>,
        measurements: Vec<MeasuredFile<'a>>,
        points: &'a [Vec<f64>],
    },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum NormFile {
    L1,
    Huber(f64),
}

/// A variable or a state: its name if it has one, else its index.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum ReferenceFile<'a> {
    Index(usize),
    Name(&'a str),
}

impl<'a> ReferenceFile<'a> {
    pub fn variable(model: &'a Model, variable: usize) -> Self {
        match &model.variables()[variable].names {
            Some(names) => Self::Name(&names.variable),
            None => Self::Index(variable),
        }
    }

    pub fn state(model: &'a Model, variable: usize, state: usize) -> Self {
        match &model.variables()[variable].names {
            Some(names) => Self::Name(&names.states[state]),
            None => Self::Index(state),
        }
    }
}

struct EvidenceFile<'a>(&'a Model);

impl EvidenceFile<'_> {
    fn is_empty(&self) -> bool {
        self.0.observed().iter().all(Option::is_none)
    }
}

impl Serialize for EvidenceFile<'_> {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        let model = self.0;
        let mut map = target.serialize_map(None)?;
        for (variable, state) in model.observed().iter().enumerate() {
            if let Some(state) = *state {
                // Integer keys are written as strings.
                let key = ReferenceFile::variable(model, variable);
                map.serialize_entry(&key, &ReferenceFile::state(model, variable, state))?;
            }
        }
        map.end()
    }
}

fn write_variable(variable: &Variable) -> VariableFile<'_> {
    match &variable.names {
        None => VariableFile::Cardinality(variable.cardinality),
        Some(names) => VariableFile::Named { name: &names.variable, states: &names.states },
    }
}

fn write_scope<'a>(model: &'a Model, scope: &[usize]) -> Vec<ReferenceFile<'a>> {
    scope.iter().map(|&variable| ReferenceFile::variable(model, variable)).collect()
}

fn write_terms<'a>(model: &'a Model, terms: &'a [Term]) -> Vec<TermFile<'a>> {
    let write = |t: &'a Term| TermFile {
        scope: write_scope(model, &t.scope),
        coefficients: &t.coefficients,
    };
    terms.iter().map(write).collect()
}

fn write_energy<'a>(
    model: &'a Model,
    energy: &'a Energy,
    index: usize,
) -> Result<EnergyFile<'a>, WriteError> {
    Ok(match energy {
        Energy::Measurement { weight, penalty, offset, terms } => EnergyFile::Measurement {
            weight: (!penalty.is_hard()).then_some(*weight),
            penalty: *penalty,
            offset: *offset,
            terms: write_terms(model, terms),
        },
        Energy::TableMeasurement { weight, penalty, scope, target, total } => {
            EnergyFile::TableMeasurement {
                weight: (!penalty.is_hard()).then_some(*weight),
                penalty: *penalty,
                scope: write_scope(model, scope),
                target,
                total: *total,
            }
        }
        Energy::Product { scope, log_potentials } => {
            EnergyFile::Product { scope: write_scope(model, scope), log_potentials }
        }
        Energy::Nearest { weight, norm, cap, measurements, points } => EnergyFile::Nearest {
            weight: *weight,
            norm: match *norm {
                Norm::L1 => NormFile::L1,
                Norm::Huber(delta) => NormFile::Huber(delta),
            },
            cap: *cap,
            measurements: measurements
                .iter()
                .map(|terms| MeasuredFile { terms: write_terms(model, terms) })
                .collect(),
            points,
        },
        Energy::Custom(_) => return Err(WriteError::Custom { index }),
    })
}
