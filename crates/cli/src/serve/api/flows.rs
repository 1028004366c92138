//! Flows from counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bethe_core::Cancel;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::flows::{Asked as Question, Unanswered, in_words};
use crate::serve::Service;
use crate::serve::events::{self, Teller};
use crate::serve::failure::Failure;

/// The files of a request, in a folder of its own.
const COUNTS: &str = "counts.csv";
const CELLS: &str = "cells.csv";
const OUT: &str = "out";

/// Flags that may be given. None of them can name a file, see [`check`].
const OPTIONS: [&str; 24] = [
    "close-year",
    "coordinates",
    "errors",
    "extent",
    "features",
    "first",
    "fit",
    "forecast",
    "geojson",
    "last",
    "loss",
    "noise",
    "normalise",
    "rate",
    "reach",
    "seed",
    "shares",
    "start",
    "threshold",
    "tolerance",
    "transitions",
    "unlisted",
    "variance",
    "weights",
];

/// A request: CSV texts and flags of `bethe flows`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    counts: String,
    cells: String,
    population: Option<f64>,
    #[serde(default)]
    options: BTreeMap<String, Value>,
}

pub async fn flows(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let (asked, room): (Asked, _) = service.bodies.read_json(body).await?;
    let given = asked.arguments(&service)?;
    let own = Arc::clone(&service);
    let work = move |cancel: &Cancel, teller: &Teller| {
        let folder = TempDir::new().map_err(anyhow::Error::from)?;
        // Messages name the files as the request does.
        let place = format!("{}/", folder.path().display());
        let inferred = inferred(&asked, given, (folder.path(), cancel), teller);
        let (summary, files) = inferred.map_err(|failure| Failure {
            message: failure.message.replace(&place, ""),
            ..failure
        })?;
        Ok(kept(&own, summary, files))
    };
    let place = service.work.place(room)?;
    events::answer(&service, (&headers, place), work).await
}

impl Asked {
    /// The flags, except the files.
    fn arguments(&self, service: &Service) -> Result<Vec<String>, Failure> {
        let mut arguments = vec![
            "--quiet".to_string(),
            format!("--memory-limit={}B", service.work.memory.bytes()),
            // The rest is for what is made of the answer.
            format!("--time-limit={}s", service.work.time_limit.as_secs_f64() * 0.8),
        ];
        arguments.extend(self.population.map(|number| format!("--population={number}")));
        for (name, value) in &self.options {
            let name = name.replace('_', "-");
            if !OPTIONS.contains(&name.as_str()) {
                return Err(Failure::invalid(format!(
                    "options: found {name:?}, expected one of {}",
                    OPTIONS.join(", ")
                )));
            }
            match value {
                Value::Bool(true) => arguments.push(format!("--{name}")),
                Value::Bool(false) | Value::Null => {}
                Value::Number(number) => arguments.push(format!("--{name}={number}")),
                Value::String(text) => {
                    self.check(&name, text)?;
                    arguments.push(format!("--{name}={text}"));
                }
                _ => {
                    let message = format!("options: {name}: expected text, a number or true");
                    return Err(Failure::invalid(message));
                }
            }
        }
        Ok(arguments)
    }

    /// Refuses names of files where a flag would take them.
    fn check(&self, name: &str, text: &str) -> Result<(), Failure> {
        let is_cell = || {
            let rows = csv::ReaderBuilder::new().flexible(true).from_reader(self.cells.as_bytes());
            let mut rows = rows.into_records().flatten();
            rows.any(|row| row.get(0).is_some_and(|own| own.trim() == text))
        };
        let (is_taken, expected) = match name {
            "extent" => (["all", "counted"].contains(&text), "all or counted"),
            "rate" => (text.trim().parse::<f64>().is_ok(), "a number"),
            "start" => (text == "free" || is_cell(), "free or the name of a cell"),
            _ => (true, ""),
        };
        match is_taken {
            true => Ok(()),
            false => Err(Failure::invalid(format!(
                "options: {name}: found {text:?}, expected {expected}"
            ))),
        }
    }
}

type Files = Vec<(String, Bytes)>;

/// Writes the texts to the folder, infers, and reads what was written.
fn inferred(
    asked: &Asked,
    mut arguments: Vec<String>,
    (folder, cancel): (&Path, &Cancel),
    teller: &Teller,
) -> Result<(Value, Files), Failure> {
    let failed = |error: std::io::Error| Failure::from(anyhow::Error::from(error));
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(folder.join(COUNTS), &asked.counts).map_err(failed)?;
    fs::write(folder.join(CELLS), &asked.cells).map_err(failed)?;
    let out = folder.join(OUT);
    arguments.extend([path(COUNTS), "--cells".to_string(), path(CELLS)]);
    arguments.extend(["--out".to_string(), path(OUT)]);
    let mut question = Question::from_arguments(arguments)?;
    let mut watch = |words: &dyn std::fmt::Display| {
        teller.tell("progress", || json!({ "message": words.to_string() }));
    };
    let mut inferred = question.infer(cancel, &mut watch)?;
    teller.tell("progress", || json!({ "message": "drawing the map" }));
    let names = question.save(&mut inferred, &out)?;
    let names = names.into_iter().filter(|name| !name.ends_with('/'));
    let files = names.map(|name| Ok((name.clone(), Bytes::from(fs::read(out.join(&name))?))));
    let files: Files = files.collect::<Result<_, _>>().map_err(failed)?;
    let words = in_words(&inferred.summary);
    Ok((json!({ "summary": inferred.summary, "words": words }), files))
}

fn kept(service: &Service, mut answer: Value, files: Files) -> Value {
    let sizes: Vec<(String, usize)> =
        files.iter().map(|(name, content)| (name.clone(), content.len())).collect();
    let id = service.results.keep(files);
    let href = |name: &str| format!("/api/v1/flows/{id}/{name}");
    let listed = sizes
        .iter()
        .map(|(name, bytes)| json!({ "name": name, "bytes": bytes, "href": href(name) }));
    answer["files"] = listed.collect();
    answer["page"] = href("index.html").into();
    answer["id"] = id.clone().into();
    answer
}

impl From<Unanswered> for Failure {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Interrupted => Self::late(),
            Unanswered::OutOfTime(message) => Self::new(StatusCode::GATEWAY_TIMEOUT, message),
            Unanswered::Infeasible(message) => Self::invalid(message),
            Unanswered::Failed(error) => error.into(),
        }
    }
}
