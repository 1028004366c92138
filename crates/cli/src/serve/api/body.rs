//! What a request says.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use clap::ValueEnum;
use serde::de::DeserializeOwned;

use crate::serve::Service;
use crate::serve::failure::Failure;

/// References or sequences of a request.
pub const MOST_REFERENCES: usize = 1000;

/// A client that sends more slowly is dropped.
const SLOWEST: Duration = Duration::from_secs(30);

/// The whole body, if it comes in time and is not too long.
pub async fn read(service: &Service, body: Body) -> Result<Bytes, Failure> {
    let limit = service.body_limit;
    match tokio::time::timeout(SLOWEST, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is cut off or too long, expected at most {limit} bytes"),
        )),
        Err(_) => Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the request came too slowly")),
    }
}

/// The body as JSON; a mistake is told with its place.
pub async fn read_json<T: DeserializeOwned>(service: &Service, body: Body) -> Result<T, Failure> {
    let bytes = read(service, body).await?;
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    let wrong = |error: String| Failure::new(StatusCode::BAD_REQUEST, error);
    let read = T::deserialize(&mut json).and_then(|read| json.end().map(|()| read));
    read.map_err(|error| wrong(format!("the request: {error}")))
}

/// Refuses too many at once.
pub fn check_number(found: usize) -> Result<(), Failure> {
    match found <= MOST_REFERENCES {
        true => Ok(()),
        false => Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("found {found} references or sequences, expected at most {MOST_REFERENCES}"),
        )),
    }
}

/// One of some words, if it is given.
pub fn choice<T: ValueEnum>(field: &str, text: Option<&str>) -> Result<Option<T>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let known = || T::value_variants().iter().filter_map(T::to_possible_value);
    T::from_str(text, false).map(Some).map_err(|_| {
        let known: Vec<String> = known().map(|own| own.get_name().to_string()).collect();
        Failure::invalid(format!("{field}: found {text:?}, expected one of {}", known.join(", ")))
    })
}
