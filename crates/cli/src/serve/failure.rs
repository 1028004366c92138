//! Why a request has no answer.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bethe_terminal::BadInput;
use serde_json::json;

/// A status and a sentence for a person, `{"error": "…"}`.
#[derive(Debug)]
pub struct Failure {
    pub status: StatusCode,
    pub message: String,
}

impl Failure {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// What was asked is not valid.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Too many others are waiting.
    pub fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are waiting; try again soon")
    }

    /// The time limit passed.
    pub fn late() -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "the time limit passed before there was an answer")
    }

    /// The work failed because of a bug.
    pub fn fault() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the program failed on this request; please report it",
        )
    }
}

/// A command's error; bad input is the client's fault.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.is::<BadInput>() {
            true => Self::invalid(format!("{error:#}")),
            false => Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}")),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.message }))).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
