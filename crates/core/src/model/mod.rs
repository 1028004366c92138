//! Discrete graphical models: `p(y) ∝ exp Σ_f θ_f(y_scope(f))`.
//!
//! [`Model`] is what a person states: variables, factors in any scope order, observed states.
//! [`BaseModel`] is what oracles work on: the same distribution with observed and one-state
//! variables removed and one table per scope. [`uai`] reads models in the format of the UAI
//! competitions.

mod base;
mod error;
pub mod table;
pub mod uai;

pub use base::{BaseModel, CellMap, Table};
pub use error::ModelError;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use table::{repeated, table_size};

/// One discrete variable: a number of states, and optional names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Number of states, at least one.
    pub cardinality: usize,
    /// Name and state names, if the variable has them.
    pub names: Option<Names>,
}

/// The names of a variable and of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Name of the variable.
    pub variable: String,
    /// Names of its states, in order.
    pub states: Vec<String>,
}

/// A table of log-potentials over some variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The variables, in the order of the table's axes.
    pub scope: Vec<usize>,
    /// Row-major, last variable fastest; `-∞` forbids a configuration. Shared with the canonical form
    /// and with oracles that read it as it is. `[states of the scope]`
    pub log_potentials: Arc<Vec<f64>>,
}

/// Variables, factors and observed states, checked as they are added.
///
/// ```
/// let mut model = bethe_core::Model::new(&[2, 2])?;
/// model.add_factor(&[0, 1], &[1.0, 0.0, 0.0, 1.0])?;
/// model.observe(0, 1)?;
/// # Ok::<(), bethe_core::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    variables: Vec<Variable>,
    factors: Vec<Factor>,
    /// `[variables]`
    observed: Vec<Option<usize>>,
    /// Index of each named variable.
    by_name: FxHashMap<String, usize>,
}

impl Model {
    /// A model of unnamed variables with these numbers of states.
    pub fn new(cardinalities: &[usize]) -> Result<Self, ModelError> {
        let mut model = Self::default();
        for &cardinality in cardinalities {
            model.add_variable(Variable { cardinality, names: None })?;
        }
        Ok(model)
    }

    /// Adds a variable and returns its index.
    pub fn add_variable(&mut self, variable: Variable) -> Result<usize, ModelError> {
        let index = self.variables.len();
        if variable.cardinality == 0 {
            return Err(ModelError::NoStates { variable: index });
        }
        if let Some(names) = &variable.names {
            if names.states.len() != variable.cardinality {
                return Err(ModelError::StateNames {
                    variable: index,
                    expected: variable.cardinality,
                    found: names.states.len(),
                });
            }
            if self.variable_named(&names.variable).is_some() {
                return Err(ModelError::RepeatedName { name: names.variable.clone() });
            }
            let mut seen = FxHashSet::default();
            if let Some(state) = names.states.iter().find(|state| !seen.insert(*state)) {
                return Err(ModelError::RepeatedName { name: state.clone() });
            }
            self.by_name.insert(names.variable.clone(), index);
        }
        self.variables.push(variable);
        self.observed.push(None);
        Ok(index)
    }

    /// Adds a factor: log-potentials row-major over `scope`, last variable fastest.
    pub fn add_factor(
        &mut self,
        scope: &[usize],
        log_potentials: &[f64],
    ) -> Result<(), ModelError> {
        let log_potentials = Arc::new(log_potentials.to_vec());
        self.push_factor(Factor { scope: scope.to_vec(), log_potentials })
    }

    /// Adds a factor without copying it.
    pub fn push_factor(&mut self, factor: Factor) -> Result<(), ModelError> {
        let Factor { scope, log_potentials } = &factor;
        self.check_table(scope, log_potentials.len())?;
        if let Some(cell) = log_potentials.iter().position(|&v| v.is_nan() || v == f64::INFINITY) {
            return Err(ModelError::NotALogPotential { cell, found: log_potentials[cell] });
        }
        self.factors.push(factor);
        Ok(())
    }

    /// Fixes a variable to a state.
    pub fn observe(&mut self, variable: usize, state: usize) -> Result<(), ModelError> {
        let count = self.variables.len();
        let Some(found) = self.variables.get(variable) else {
            return Err(ModelError::UnknownVariable { found: variable, variables: count });
        };
        if state >= found.cardinality {
            return Err(ModelError::UnknownState {
                variable,
                found: state,
                states: found.cardinality,
            });
        }
        self.observed[variable] = Some(state);
        Ok(())
    }

    /// Removes all observations.
    pub fn without_observations(mut self) -> Self {
        self.observed.fill(None);
        self
    }

    /// The variables in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The factors in the order they were added.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The observed state of each variable, if it has one. `[variables]`
    pub fn observed(&self) -> &[Option<usize>] {
        &self.observed
    }

    /// Index of the variable with this name.
    pub fn variable_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Checks that `scope` lists known variables once each and that a table over it has `cells`.
    pub fn check_table(&self, scope: &[usize], cells: usize) -> Result<(), ModelError> {
        if let Some(&found) = scope.iter().find(|&&variable| variable >= self.variables.len()) {
            return Err(ModelError::UnknownVariable { found, variables: self.variables.len() });
        }
        if let Some(place) = repeated(scope) {
            return Err(ModelError::RepeatedVariable { variable: scope[place] });
        }
        let shape: Vec<usize> = scope.iter().map(|&v| self.variables[v].cardinality).collect();
        if table_size(shape.iter().copied()) != Some(cells) {
            return Err(ModelError::TableSize { shape, found: cells });
        }
        Ok(())
    }
}
