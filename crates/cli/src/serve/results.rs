//! Files of finished work, kept in memory until newer ones take their place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rand::Rng;

use super::Service;
use super::failure::Failure;

/// Where they are.
pub const ROUTE: &str = "/api/v1/flows/{id}/{file}";

/// How many results are kept, and how many bytes of them; the newest is always kept.
const KEPT: usize = 8;
const BYTES: usize = 256 << 20;

/// The map runs its own script, and can reach nothing else: not even this service.
const MAP_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data: blob:; frame-ancestors 'self'; sandbox allow-scripts allow-downloads";

/// The files of one result.
pub struct Files {
    id: String,
    files: Vec<(String, Bytes)>,
}

/// The newest results.
#[derive(Default)]
pub struct Results(Mutex<VecDeque<Files>>);

impl Results {
    /// Keeps files under an id that nobody can guess.
    pub fn keep(&self, files: Vec<(String, Bytes)>) -> String {
        let id = format!("{:032x}", rand::rng().random::<u128>());
        let size = |own: &Files| own.files.iter().map(|(_, content)| content.len()).sum::<usize>();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Files { id: id.clone(), files });
        while kept.len() > 1 && (kept.len() > KEPT || kept.iter().map(size).sum::<usize>() > BYTES)
        {
            kept.pop_front();
        }
        id
    }

    fn find(&self, id: &str, file: &str) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = kept.iter().find(|own| own.id == id)?;
        own.files.iter().find(|(name, _)| name == file).map(|(_, content)| content.clone())
    }
}

/// A file of a result.
pub async fn file(
    State(service): State<Arc<Service>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let content = service.results.find(&id, &name).ok_or_else(|| {
        Failure::new(StatusCode::NOT_FOUND, "this result is no longer kept; send the request again")
    })?;
    let (kind, is_page) = match name.rsplit_once('.') {
        Some((_, "html")) => ("text/html; charset=utf-8", true),
        Some((_, "csv")) => ("text/csv; charset=utf-8", false),
        Some((_, "json" | "geojson")) => ("application/json", false),
        Some((_, "svg")) => ("image/svg+xml", true),
        _ => ("application/octet-stream", false),
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], content).into_response();
    let headers = response.headers_mut();
    match is_page {
        true => {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(MAP_POLICY));
        }
        false => {
            headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
        }
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_results_are_kept() {
        let results = Results::default();
        let keep = |bytes: usize| results.keep(vec![("a.csv".into(), Bytes::from(vec![0; bytes]))]);
        let ids: Vec<String> = (0..KEPT + 1).map(|_| keep(1)).collect();
        assert!(results.find(&ids[0], "a.csv").is_none());
        assert!(results.find(&ids[1], "a.csv").is_some());
        assert!(results.find(&ids[1], "../a.csv").is_none());
        let large = keep(BYTES + 1);
        assert!(results.find(&ids[KEPT], "a.csv").is_none());
        assert!(results.find(&large, "a.csv").is_some(), "the newest stays");
    }
}
