//! An answer as JSON.

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::write::ReferenceFile;
use crate::model::Model;
use crate::problem::{Answer, Covariances, EnergyAnswer, Quantity, QuantityOf, TableAnswer};

impl Answer {
    /// The answer as one line of JSON, with names for variables and states that have them. Numbers
    /// that are not finite are `null`.
    pub fn to_json(&self, model: &Model) -> String {
        let named = AnswerFile {
            status: self.status.name(),
            solver: self.solver,
            oracle: self.oracle,
            memory_estimate: self.memory_estimate,
            entropy: self.entropy,
            iterations: self.iterations,
            oracle_calls: self.oracle_calls,
            products: self.products,
            seconds: self.seconds,
            objective: self.objective,
            lower_bound: self.lower_bound,
            gap: self.gap,
            marginal_error_bound: self.marginal_error_bound,
            returned: self.returned,
            log_partition: self.log_partition,
            base_log_partition: self.base_log_partition,
            log_partition_bound: self.log_partition_bound,
            messages_settled: self.messages_settled,
            marginals: Named { model, items: &self.marginals },
            map: MapFile {
                assignment: Named { model, items: &self.map.assignment },
                log_score: self.map.log_score,
                proved: self.map.proved,
                bound: self.map.bound,
                violated: &self.map.violated,
            },
            energies: self.energies.iter().map(EnergyFile::new).collect(),
            potentials: self.potentials.as_deref().map(|items| Named { model, items }),
            covariance: self.covariance.as_ref().map(|found| CovarianceFile::new(model, found)),
        };
        serde_json::to_string(&named).expect("numbers, strings, lists and objects")
    }
}

#[derive(Serialize)]
struct AnswerFile<'a> {
    status: &'static str,
    solver: &'static str,
    oracle: &'static str,
    memory_estimate: u64,
    entropy: &'static str,
    iterations: usize,
    oracle_calls: usize,
    products: usize,
    seconds: f64,
    objective: Option<f64>,
    lower_bound: Option<f64>,
    gap: Option<f64>,
    marginal_error_bound: Option<f64>,
    returned: &'static str,
    log_partition: f64,
    base_log_partition: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_partition_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_settled: Option<bool>,
    marginals: Named<'a, TableAnswer>,
    map: MapFile<'a>,
    energies: Vec<EnergyFile<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    potentials: Option<Named<'a, TableAnswer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covariance: Option<CovarianceFile<'a>>,
}

#[derive(Serialize)]
struct CovarianceFile<'a> {
    quantities: Vec<QuantityFile<'a>>,
    distribution: &'a [Vec<f64>],
    inferred: Option<&'a [Vec<f64>]>,
}

#[derive(Serialize)]
struct QuantityFile<'a> {
    #[serde(flatten)]
    of: QuantityOfFile<'a>,
    value: f64,
    deviation: f64,
    inferred_deviation: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum QuantityOfFile<'a> {
    Measurement { energy: usize },
    Cell { energy: usize, cell: usize },
    State { variable: ReferenceFile<'a>, state: ReferenceFile<'a> },
}

impl<'a> CovarianceFile<'a> {
    fn new(model: &'a Model, found: &'a Covariances) -> Self {
        let quantity = |quantity: &Quantity| QuantityFile {
            of: match quantity.of {
                QuantityOf::Measurement { energy } => QuantityOfFile::Measurement { energy },
                QuantityOf::Cell { energy, cell } => QuantityOfFile::Cell { energy, cell },
                QuantityOf::State { variable, state } => QuantityOfFile::State {
                    variable: ReferenceFile::variable(model, variable),
                    state: ReferenceFile::state(model, variable, state),
                },
            },
            value: quantity.value,
            deviation: quantity.deviation,
            inferred_deviation: quantity.inferred_deviation,
        };
        Self {
            quantities: found.quantities.iter().map(quantity).collect(),
            distribution: &found.distribution,
            inferred: found.inferred.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct MapFile<'a> {
    assignment: Named<'a, usize>,
    log_score: f64,
    proved: bool,
    bound: Option<f64>,
    violated: &'a [usize],
}

#[derive(Serialize)]
struct EnergyFile<'a> {
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multipliers: Option<&'a [f64]>,
}

impl<'a> EnergyFile<'a> {
    fn new(energy: &'a EnergyAnswer) -> Self {
        Self { value: energy.value, multipliers: energy.multipliers.as_deref() }
    }
}

#[derive(Serialize)]
struct TableFile<'a> {
    scope: Vec<ReferenceFile<'a>>,
    values: &'a [f64],
}

/// A list about a model's variables, written with their names.
struct Named<'a, T> {
    model: &'a Model,
    items: &'a [T],
}

impl Serialize for Named<'_, TableAnswer> {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        let mut list = target.serialize_seq(Some(self.items.len()))?;
        for TableAnswer { scope, values } in self.items {
            let name = |&variable: &usize| ReferenceFile::variable(self.model, variable);
            list.serialize_element(&TableFile { scope: scope.iter().map(name).collect(), values })?;
        }
        list.end()
    }
}

impl Serialize for Named<'_, usize> {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        let states = self.items.iter().enumerate();
        target.collect_seq(states.map(|(v, &state)| ReferenceFile::state(self.model, v, state)))
    }
}
