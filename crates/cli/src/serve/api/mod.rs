//! The service: JSON in, JSON or events out.

mod asked;
mod cite;
mod flows;
mod problem;
mod tag;

pub use asked::MOST_REFERENCES;
pub use cite::{Reading, Reference, parse_all};

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::{Service, results};

/// What the service is, for programs.
const OPENAPI: &str = include_str!("../openapi.json");

/// Routes of the service.
pub fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/api/v1/version", get(version))
        .route("/api/v1/models", get(models))
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/cite", post(cite::cite))
        .route("/api/v1/tag", post(tag::tag))
        .route("/api/v1/check", post(problem::check))
        .route("/api/v1/solve", post(problem::solve))
        .route("/api/v1/flows", post(flows::flows))
        .route(results::ROUTE, get(results::file))
}

async fn version() -> Json<Value> {
    Json(json!({ "version": env!("CARGO_PKG_VERSION") }))
}

async fn models(State(service): State<Arc<Service>>) -> Json<Value> {
    Json(service.models.listed())
}

async fn openapi() -> ([(header::HeaderName, &'static str); 1], &'static str) {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
