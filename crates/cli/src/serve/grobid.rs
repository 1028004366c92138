//! The part of GROBID's service that parses references: programs that speak to GROBID, such as
//! reference managers, can ask here instead.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bethe_cite::{Keys, Parsed, bibtex, clean, tei};
use bethe_core::Cancel;
use bethe_tagging::TagOptions;
use serde_json::json;

use super::Service;
use super::api::{MOST_REFERENCES, Reading, Reference, parse_all};
use super::bodies::{Room, bad_request};
use super::failure::Failure;

const BIBTEX: &str = "application/x-bibtex";

/// Routes that GROBID's clients know.
pub fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/api/isalive", get(|| async { "true" }))
        .route("/api/version", get(version))
        .route("/api/processCitation", post(one).put(one))
        .route("/api/processCitationList", post(list).put(list))
}

async fn version() -> Response {
    axum::Json(json!({ "version": env!("CARGO_PKG_VERSION"), "revision": "bethe" })).into_response()
}

/// The fields of a form that matter here.
#[derive(Default)]
struct Form {
    citations: Vec<String>,
    /// Whether the text of a reference is wanted in its entry.
    raw: bool,
}

impl Form {
    fn add(&mut self, name: &str, value: String) {
        match name {
            "citations" => self.citations.push(value),
            "includeRawCitations" => self.raw = value == "1",
            // Nothing is looked up elsewhere, so there is nothing to consolidate with.
            _ => {}
        }
    }

    /// A form in either of the two ways that forms are sent.
    async fn read(service: &Service, request: Request) -> Result<(Self, Room), Failure> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_multipart = kind.to_ascii_lowercase().starts_with("multipart/form-data");
        let mut form = Self::default();
        let (head, body) = request.into_parts();
        let (bytes, room) = service.bodies.read(body).await?;
        if is_multipart {
            let request = Request::from_parts(head, Body::from(bytes));
            let wrong = |error: &dyn std::fmt::Display| bad_request(&format!("the form: {error}"));
            let parts = Multipart::from_request(request, &()).await;
            let mut parts = parts.map_err(|error| wrong(&error))?;
            while let Some(part) = parts.next_field().await.map_err(|error| wrong(&error))? {
                let name = part.name().unwrap_or_default().to_string();
                let value = part.bytes().await.map_err(|error| wrong(&error))?;
                form.add(&name, String::from_utf8_lossy(&value).into_owned());
            }
        } else {
            for (name, value) in form_urlencoded::parse(&bytes) {
                form.add(&name, value.into_owned());
            }
        }
        match form.citations.is_empty() {
            true => Err(bad_request("expected the field citations")),
            false => Ok((form, room)),
        }
    }
}

async fn one(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Failure> {
    let (form, room) = Form::read(&service, request).await?;
    let wants_bibtex = wants_bibtex(&headers);
    // One reference, even on several lines.
    let text = form.citations.join(" ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (lines, raw) = (vec![words.join(" ")], form.raw);
    if clean(&lines[0]).is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    parsed((&service, room), lines, move |all| match wants_bibtex {
        true => (BIBTEX, entries(&all)),
        false => ("application/xml", tei(&all[0].entry, None, raw.then_some(all[0].text.as_str()))),
    })
    .await
}

async fn list(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Failure> {
    let (form, room) = Form::read(&service, request).await?;
    let wants_bibtex = wants_bibtex(&headers);
    let lines: Vec<String> =
        form.citations.into_iter().filter(|line| !clean(line).is_empty()).collect();
    if lines.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if lines.len() > MOST_REFERENCES {
        return Err(bad_request(&format!(
            "found {} citations, expected at most {MOST_REFERENCES}",
            lines.len()
        )));
    }
    parsed((&service, room), lines, move |all| match wants_bibtex {
        true => (BIBTEX, entries(&all)),
        false => ("application/xml", document(&all, form.raw)),
    })
    .await
}

/// Parses lines and writes their entries.
async fn parsed(
    (service, room): (&Arc<Service>, Room),
    lines: Vec<String>,
    write: impl FnOnce(Vec<Parsed>) -> (&'static str, String) + Send + 'static,
) -> Result<Response, Failure> {
    let place = service.work.place(room)?;
    let own = Arc::clone(service);
    let work = move |cancel: &Cancel| {
        let numbered = lines.into_iter().enumerate();
        let references: Vec<Reference> =
            numbered.map(|(at, text)| Reference::of_text(text, at + 1)).collect();
        let options = TagOptions { memory_limit: own.work.memory, ..TagOptions::default() };
        let parser = own.models.find(None)?.citing()?;
        let (kind, text) = write(parse_all(&Reading { parser, options, cancel }, &references)?);
        Ok(([(header::CONTENT_TYPE, format!("{kind};charset=utf-8"))], text).into_response())
    };
    service.work.run(place, work).await
}

fn entries(parsed: &[Parsed]) -> String {
    let mut keys = Keys::default();
    let entries = parsed.iter().map(|own| bibtex(&own.entry, &keys.unique(&own.entry.key())));
    entries.collect::<Vec<_>>().join("\n")
}

fn document(parsed: &[Parsed], raw: bool) -> String {
    let entries = parsed.iter().enumerate().map(|(at, own)| {
        tei(&own.entry, Some(&format!("b{at}")), raw.then_some(own.text.as_str()))
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <TEI xmlns=\"http://www.tei-c.org/ns/1.0\">\n<teiHeader/>\n<text>\n<front/>\n<body/>\n\
         <back>\n<div>\n<listBibl>\n{}</listBibl>\n</div>\n</back>\n</text>\n</TEI>\n",
        entries.collect::<String>()
    )
}

fn wants_bibtex(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains(BIBTEX))
}
