//! References to entries.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bethe_cite::{Forced, Parsed, Parser, Parsing, Refusal, SameAuthors, bibtex, clean};
use bethe_core::{Cancel, MemoryLimit};
use bethe_tagging::TagOptions;
use bethe_terminal::counted;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asked::{check_labels, check_number, choice};
use crate::cite::{Format, Line, Lines, Place, Record, References, Unwrap, Writer};
use crate::serve::Service;
use crate::serve::failure::Failure;
use crate::tagging::SHARE;

/// A request: text as pasted, or whole references with labels that a person gave.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    text: Option<String>,
    references: Option<Vec<Reference>>,
    model: Option<String>,
    format: Option<String>,
    unwrap: Option<String>,
    #[serde(default = "yes")]
    rules: bool,
}

fn yes() -> bool {
    true
}

/// A whole reference.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub text: String,
    #[serde(default)]
    force: Vec<Label>,
    /// Where it begins in the text.
    #[serde(skip)]
    line: usize,
}

/// Tokens and the name of their segment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    first: usize,
    end: usize,
    label: String,
}

/// A reference of the answer: what `bethe cite --format json` writes, and more.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    bibtex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_rules: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl Reference {
    /// A line without labels from a person.
    pub fn of_text(text: String, line: usize) -> Self {
        Self { text, force: Vec::new(), line }
    }
}

/// How references are read.
pub struct Reading<'a> {
    pub parser: &'a Parser,
    pub options: TagOptions,
    pub cancel: &'a Cancel,
}

pub async fn cite(State(service): State<Arc<Service>>, body: Body) -> Result<Response, Failure> {
    let (asked, room): (Asked, _) = service.bodies.read_json(body).await?;
    let place = service.work.place(room)?;
    let own = Arc::clone(&service);
    service.work.run(place, move |cancel| answered(&own, asked, cancel)).await
}

fn answered(service: &Service, asked: Asked, cancel: &Cancel) -> Result<Response, Failure> {
    let format = choice::<Format>("format", asked.format.as_deref())?;
    let unwrap = choice::<Unwrap>("unwrap", asked.unwrap.as_deref())?.unwrap_or(Unwrap::Auto);
    let parser = service.models.find(asked.model.as_deref())?.citing()?;
    let references = match (asked.text, asked.references) {
        (Some(text), None) => split(text, unwrap, service.work.memory)?,
        (None, Some(references)) => {
            let numbered = references.into_iter().enumerate();
            numbered.map(|(at, own)| Reference { line: at + 1, ..own }).collect()
        }
        _ => return Err(Failure::invalid("expected either text or references")),
    };
    check_number(references.len())?;
    let shows = format.is_none_or(|format| format == Format::Json);
    let options = TagOptions {
        rules: asked.rules,
        marginals: shows,
        explain: shows && asked.rules,
        memory_limit: service.work.memory,
        ..TagOptions::default()
    };
    let parsed = parse_all(&Reading { parser, options, cancel }, &references)?;
    Ok(match format.filter(|_| !shows) {
        None => Json(shown(parser, &references, &parsed)).into_response(),
        Some(format) => {
            let text = written(&mut Writer::new(parser, format, false), &references, &parsed);
            ([(header::CONTENT_TYPE, content_type(format))], text).into_response()
        }
    })
}

/// The references of a text, as `bethe cite` finds them in a file.
fn split(text: String, unwrap: Unwrap, memory: MemoryLimit) -> Result<Vec<Reference>, Failure> {
    let lines = Lines::new(Cursor::new(text), Path::new("text"), memory);
    let whole: Result<Vec<Line>, _> = References::new(lines, unwrap).collect();
    let whole = whole.map_err(|error| Failure::invalid(error.to_string()))?;
    let is_blank = |line: &Line| clean(&line.text).is_empty();
    let whole = whole.into_iter().filter(|line| !is_blank(line));
    Ok(whole.map(|Line { text, number, .. }| Reference::of_text(text, number)).collect())
}

/// Reads references on all threads, in order.
///
/// # Errors
/// If they have too many tokens in total, cannot be labelled as asked, or there is no time.
pub fn parse_all(reading: &Reading, references: &[Reference]) -> Result<Vec<Parsed>, Failure> {
    let Reading { parser, options, cancel } = reading;
    let tokens = references.par_iter().map(|own| parser.tokens(&clean(&own.text)).len());
    check_labels(tokens.sum(), 1)?;
    let parse = |parsing: &mut Parsing, own: &Reference| {
        if cancel.is_cancelled() {
            return Err(Failure::late());
        }
        let wrong = |error: &dyn std::fmt::Display| Failure::invalid(error.to_string());
        if own.force.is_empty() {
            return parsing.parse(&own.text, options).map_err(|error| wrong(&error));
        }
        let forced = own
            .force
            .iter()
            .map(|own| Forced { tokens: own.first..own.end, label: own.label.clone() });
        let forced: Vec<Forced> = forced.collect();
        let parsed = parsing.parse_forced(&own.text, &forced, options);
        parsed.map_err(|error| wrong(&error))?.ok_or_else(|| {
            Failure::invalid(format!(
                "reference {}: force: expected tokens of the reference, and fields of the model",
                own.line
            ))
        })
    };
    let own = references.par_iter().with_min_len(SHARE);
    let mut parsed: Vec<Parsed> =
        own.map_init(|| Parsing::new(parser), parse).collect::<Result<_, _>>()?;
    let mut same = SameAuthors::default();
    parsed.iter_mut().for_each(|parsed| same.fill(&mut parsed.entry));
    Ok(parsed)
}

fn written(writer: &mut Writer, references: &[Reference], parsed: &[Parsed]) -> String {
    let mut text = String::new();
    for (own, parsed) in references.iter().zip(parsed) {
        writer.add(&mut text, &Place { file: None, line: own.line }, parsed);
    }
    text + writer.end()
}

fn shown(parser: &Parser, references: &[Reference], parsed: &[Parsed]) -> Value {
    let mut writer = Writer::new(parser, Format::Json, true);
    let shown = references.iter().zip(parsed).map(|(own, parsed)| {
        let key = writer.key(parsed);
        let tagged = parsed.tagged.as_ref().filter(|tagged| !tagged.plain.is_empty());
        let states = parser.tagger().states();
        let plain =
            tagged.map(|tagged| tagged.plain.iter().map(|&own| states.label(own)).collect());
        let shown = Shown {
            bibtex: bibtex(&parsed.entry, &key),
            record: writer.record(&key, &Place { file: None, line: own.line }, parsed),
            without_rules: plain,
            refused: parsed.refused.map(|refused| refused.to_string()),
        };
        serde_json::to_value(shown).expect("strings and finite numbers")
    });
    let shown: Vec<Value> = shown.collect();
    json!({ "references": shown, "warnings": warnings(parsed) })
}

fn warnings(parsed: &[Parsed]) -> Vec<String> {
    let several = parsed.iter().filter(|own| own.refused == Some(Refusal::Several)).count();
    let mut warnings = Vec::new();
    if several > 0 {
        warnings.push(format!(
            "{} with several references; give each a line of its own, or marks such as [1]",
            counted(several, "line")
        ));
    }
    warnings
}

fn content_type(format: Format) -> &'static str {
    match format {
        Format::Bibtex => "application/x-bibtex; charset=utf-8",
        Format::CslJson => "application/vnd.citationstyles.csl+json",
        Format::Ris => "application/x-research-info-systems; charset=utf-8",
        Format::Json => "application/json",
        Format::Conll => "text/plain; charset=utf-8",
    }
}
