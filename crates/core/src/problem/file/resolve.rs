//! From raw variables, factors and evidence to a checked model.

use std::sync::Arc;

use super::place::JsonPlace;
use super::raw::{
    LogPotential, Object, RawEvidence, RawFactor, RawProblem, RawVariable, Reference,
};
use super::{ProblemFileError, energies};
use crate::model::table::{repeated, table_size};
use crate::model::{Factor, Model, ModelError, Names, Variable};
use crate::problem::Problem;

pub(super) fn problem(raw: RawProblem) -> Result<Problem, ProblemFileError> {
    let mut model = Model::default();
    let root = JsonPlace::Root;
    let place = root.field("variables");
    for (index, variable) in raw.variables.into_iter().enumerate() {
        add_variable(&mut model, variable, &place.index(index))?;
    }
    let place = root.field("factors");
    for (index, Object(factor)) in raw.factors.into_iter().enumerate() {
        add_factor(&mut model, factor, &place.index(index))?;
    }
    observe(&mut model, raw.evidence, &root.field("evidence"))?;
    let energies = energies::resolve(&model, &raw.energies)?;
    Ok(Problem::from_checked(model, energies))
}

fn add_variable(
    model: &mut Model,
    raw: RawVariable,
    place: &JsonPlace,
) -> Result<(), ProblemFileError> {
    let variable = match raw {
        RawVariable::Cardinality(cardinality) => Variable { cardinality, names: None },
        RawVariable::Named(named) => Variable {
            cardinality: named.states.len(),
            names: Some(Names { variable: named.name, states: named.states }),
        },
    };
    let named = variable.names.is_some();
    let name_taken =
        variable.names.as_ref().is_some_and(|n| model.variable_named(&n.variable).is_some());
    let added = model.add_variable(variable);
    added.map(|_| ()).map_err(|error| {
        let place = match error {
            ModelError::RepeatedName { .. } if name_taken => place.field("name"),
            _ if named => place.field("states"),
            _ => *place,
        };
        ProblemFileError::Model { place: place.path(), error }
    })
}

fn add_factor(
    model: &mut Model,
    raw: RawFactor,
    place: &JsonPlace,
) -> Result<(), ProblemFileError> {
    let scope = scope(model, &raw.scope, &place.field("scope"))?;
    let values = place.field("log_potentials");
    check_size(model, &scope, raw.log_potentials.len(), &values)?;
    let log_potentials = raw.log_potentials.into_iter().map(|LogPotential(value)| value);
    let log_potentials = Arc::new(log_potentials.collect());
    let pushed = model.push_factor(Factor { scope, log_potentials });
    pushed.map_err(|error| ProblemFileError::Model { place: values.path(), error })
}

fn observe(
    model: &mut Model,
    evidence: RawEvidence,
    place: &JsonPlace,
) -> Result<(), ProblemFileError> {
    for (key, state) in evidence.0 {
        let place = place.field(&key);
        // Digits only, since `parse` also accepts "+2".
        let number = key.bytes().all(|b| b.is_ascii_digit()).then(|| key.parse::<usize>().ok());
        let number = number.flatten();
        let index = number.filter(|&i| i < model.variables().len());
        let Some(variable) = model.variable_named(&key).or(index) else {
            return Err(match number {
                Some(found) => {
                    let variables = model.variables().len();
                    let error = ModelError::UnknownVariable { found, variables };
                    ProblemFileError::Model { place: place.path(), error }
                }
                None => ProblemFileError::UnknownName {
                    place: place.path(),
                    name: key.clone(),
                    or_index: " or an index",
                },
            });
        };
        if model.observed()[variable].is_some() {
            let variable = shown(model, variable);
            return Err(ProblemFileError::RepeatedEvidence { place: place.path(), variable });
        }
        let state = find_state(model, variable, state, &place)?;
        let observed = model.observe(variable, state);
        observed.map_err(|error| ProblemFileError::Model { place: place.path(), error })?;
    }
    Ok(())
}

fn find_state(
    model: &Model,
    variable: usize,
    state: Reference,
    place: &JsonPlace,
) -> Result<usize, ProblemFileError> {
    let name = match state {
        Reference::Index(state) => return Ok(state),
        Reference::Name(name) => name,
    };
    let states = model.variables()[variable].names.as_ref().map(|names| &names.states);
    let found = states.and_then(|states| states.iter().position(|state| *state == name));
    found.ok_or_else(|| ProblemFileError::UnknownStateName {
        place: place.path(),
        name,
        expected: match states {
            Some(states) if states.len() <= 12 => format!("one of {}", states.join(", ")),
            Some(states) => format!("one of the variable's {} states", states.len()),
            None => "an index: the variable's states have no names".to_string(),
        },
    })
}

/// The variables of a scope, each known and listed once.
pub(super) fn scope(
    model: &Model,
    raw: &[Reference],
    place: &JsonPlace,
) -> Result<Vec<usize>, ProblemFileError> {
    let mut scope: Vec<usize> = Vec::with_capacity(raw.len());
    for (axis, reference) in raw.iter().enumerate() {
        let place = place.index(axis);
        let variable = match reference {
            Reference::Index(found) if *found >= model.variables().len() => {
                let variables = model.variables().len();
                let error = ModelError::UnknownVariable { found: *found, variables };
                return Err(ProblemFileError::Model { place: place.path(), error });
            }
            Reference::Index(index) => *index,
            Reference::Name(name) => model.variable_named(name).ok_or_else(|| {
                let (name, or_index) = (name.clone(), "");
                ProblemFileError::UnknownName { place: place.path(), name, or_index }
            })?,
        };
        scope.push(variable);
    }
    if let Some(axis) = repeated(&scope) {
        let (place, variable) = (place.index(axis).path(), shown(model, scope[axis]));
        return Err(ProblemFileError::RepeatedVariable { place, variable });
    }
    Ok(scope)
}

/// Checks that a table over a scope has one number per configuration.
pub(super) fn check_size(
    model: &Model,
    scope: &[usize],
    found: usize,
    place: &JsonPlace,
) -> Result<(), ProblemFileError> {
    let shape = || scope.iter().map(|&v| model.variables()[v].cardinality);
    if table_size(shape()) == Some(found) {
        return Ok(());
    }
    let error = ModelError::TableSize { shape: shape().collect(), found };
    Err(ProblemFileError::Model { place: place.path(), error })
}

/// The name of a variable in messages.
fn shown(model: &Model, variable: usize) -> String {
    match &model.variables()[variable].names {
        Some(names) => format!("{:?}", names.variable),
        None => variable.to_string(),
    }
}
