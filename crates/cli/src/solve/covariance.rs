//! `--covariance`: of which quantities, in the words of each problem.

use anyhow::Result;
use bethe_core::Request;
use bethe_core::problem::CovarianceOf;
use bethe_terminal::bad_input;

use super::config::only_in_json;
use super::flags::{Flags, OracleChoice};
use super::problems::NamedProblem;
use crate::solver;

/// What `--covariance` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    Measurements,
    /// Names or numbers of variables.
    Variables(Vec<String>),
}

/// What stands for all measurements.
pub const MEASUREMENTS: &str = "measurements";

/// What the flag asks for, if other flags allow it.
pub fn asked(flags: &Flags) -> Result<Option<Asked>> {
    let Some(text) = &flags.covariance else { return Ok(None) };
    only_in_json("--covariance", true, flags.format())?;
    if let OracleChoice::Trw | OracleChoice::Loopy = flags.oracle {
        let oracle = solver::name(flags.oracle);
        return Err(bad_input(format!(
            "--covariance needs --oracle exact or auto, found {oracle}: pseudo-marginals have no \
             covariance"
        )));
    }
    if text == MEASUREMENTS {
        return Ok(Some(Asked::Measurements));
    }
    let names: Vec<String> = text.split(',').map(str::to_string).collect();
    if names.iter().any(String::is_empty) {
        return Err(bad_input(format!(
            "--covariance: found {text:?}, expected names or numbers of variables with commas \
             between them, or nothing for all measurements"
        )));
    }
    Ok(Some(Asked::Variables(names)))
}

impl Asked {
    /// The request for a problem, whose variables have names of their own.
    pub fn of(&self, request: &Request, named: &NamedProblem) -> Result<Request> {
        let (problem, source) = (&named.problem, &named.source);
        let of = match self {
            Self::Measurements => {
                if problem.energies().iter().all(|energy| energy.penalty().is_none()) {
                    return Err(bad_input(format!(
                        "{source}: --covariance: found no measurement, expected one, or \
                         --covariance=VARIABLES"
                    )));
                }
                CovarianceOf::Measurements
            }
            Self::Variables(names) => {
                let model = problem.model();
                let variable = |name: &String| {
                    let number = || {
                        let number = name.parse::<usize>().ok()?;
                        (number < model.variables().len()).then_some(number)
                    };
                    model.variable_named(name).or_else(number).ok_or_else(|| {
                        bad_input(format!(
                            "{source}: --covariance: found {name}, expected a variable: its name, \
                             or a number below {}",
                            model.variables().len()
                        ))
                    })
                };
                CovarianceOf::Variables(names.iter().map(variable).collect::<Result<_>>()?)
            }
        };
        Ok(Request { covariance: Some(of), ..request.clone() })
    }
}
