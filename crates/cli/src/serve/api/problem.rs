//! Problems: are they valid, and what is their answer?

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bethe_core::solve::{Record, SolveError};
use bethe_core::{Answer, Cancel, MemoryLimit, Problem, Request, Settings};
use bethe_terminal::counted;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::asked::choice;
use crate::estimate;
use crate::serve::Service;
use crate::serve::events::{self, Teller};
use crate::serve::failure::Failure;
use crate::solve::problems::NamedProblem;
use crate::solve::words;
use crate::solver::{SolverChoice, StepFlags};

/// A request about a problem: its text, or the problem itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    problem: Box<RawValue>,
    tolerance: Option<f64>,
    max_iterations: Option<usize>,
    solver: Option<String>,
}

impl Asked {
    /// The text of the problem.
    fn text(&self) -> String {
        let own = self.problem.get();
        serde_json::from_str::<String>(own).unwrap_or_else(|_| own.to_string())
    }

    fn settings(&self, service: &Service) -> Result<Settings, Failure> {
        let default = Settings { polish: true, ..Settings::default() };
        let solver = choice("solver", self.solver.as_deref())?.unwrap_or(SolverChoice::Auto);
        let settings = Settings {
            method: StepFlags::default().method(solver),
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            max_iterations: self.max_iterations.unwrap_or(default.max_iterations),
            time_limit: Some(service.work.time_limit),
            ..default
        };
        settings.check().map_err(|error| Failure::invalid(error.to_string()))?;
        Ok(settings)
    }
}

/// The problem of a text.
fn parse(text: &str, memory: MemoryLimit) -> Result<Problem, String> {
    estimate::check_json(text.as_bytes(), memory).map_err(|error| error.to_string())?;
    let problem = Problem::from_json(text.as_bytes()).map_err(|error| error.to_string())?;
    estimate::check_printed(problem.model(), memory).map_err(|error| error.to_string())?;
    Ok(problem)
}

pub async fn check(
    State(service): State<Arc<Service>>,
    body: Body,
) -> Result<Json<Value>, Failure> {
    let (asked, room): (Asked, _) = service.bodies.read_json(body).await?;
    let place = service.work.place(room)?;
    let memory = service.work.memory;
    let checked = service.work.run(place, move |_| Ok(parse(&asked.text(), memory)));
    Ok(Json(match checked.await? {
        Ok(problem) => {
            let model = problem.model();
            let holds = [
                counted(model.variables().len(), "variable"),
                counted(model.factors().len(), "factor"),
                match problem.energies().len() {
                    1 => "1 energy".to_string(),
                    number => format!("{number} energies"),
                },
            ];
            json!({ "valid": true, "holds": holds.join(", ") })
        }
        Err(error) => json!({ "valid": false, "error": error }),
    }))
}

pub async fn solve(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let (asked, room): (Asked, _) = service.bodies.read_json(body).await?;
    let settings = asked.settings(&service)?;
    let memory = service.work.memory;
    let work =
        move |cancel: &Cancel, teller: &Teller| solved(&asked, settings, (memory, cancel), teller);
    let place = service.work.place(room)?;
    events::answer(&service, (&headers, place), work).await
}

fn solved(
    asked: &Asked,
    settings: Settings,
    (memory_limit, cancel): (MemoryLimit, &Cancel),
    teller: &Teller,
) -> Result<Value, Failure> {
    let begun = Instant::now();
    let problem = parse(&asked.text(), memory_limit).map_err(Failure::invalid)?;
    let request = Request { memory_limit, cancel: cancel.clone(), ..Request::default() };
    let mut observer = |record: &Record, _: &[f64]| {
        teller.tell("iteration", || {
            json!({
                "iteration": record.iteration,
                "objective": record.objective,
                "lower_bound": record.lower_bound,
                "gap": record.gap,
                "seconds": begun.elapsed().as_secs_f64(),
            })
        });
        ControlFlow::Continue(())
    };
    let answer =
        problem.solve_with(&settings, &request, &mut observer).map_err(|error| match error {
            SolveError::Cancelled | SolveError::OutOfTime => Failure::late(),
            error => Failure::invalid(error.to_string()),
        })?;
    Ok(shown(problem, &answer))
}

fn shown(problem: Problem, answer: &Answer) -> Value {
    let json = answer.to_json(problem.model());
    let variables = problem.model().variables().iter().enumerate();
    let named = variables.map(|(at, variable)| match &variable.names {
        Some(names) => json!({ "name": names.variable, "states": names.states }),
        None => {
            let states: Vec<String> = (0..variable.cardinality).map(|s| s.to_string()).collect();
            json!({ "name": at.to_string(), "states": states })
        }
    });
    let variables: Vec<Value> = named.collect();
    let parsing = std::time::Duration::ZERO;
    let named = NamedProblem { source: "the problem".to_string(), problem, parsing };
    json!({
        "answer": serde_json::from_str::<Value>(&json).expect("an answer is JSON"),
        "words": words::of(&named, answer),
        "variables": variables,
    })
}
