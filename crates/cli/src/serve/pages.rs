//! The pages: files that are part of the program.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;

/// A file of `pages/` and its kind.
struct Page {
    path: &'static str,
    kind: &'static str,
    content: &'static str,
}

macro_rules! page {
    ($path:literal, $file:literal, $kind:literal) => {
        Page { path: $path, kind: $kind, content: include_str!(concat!("pages/", $file)) }
    };
}

const PAGES: &[Page] = &[page!("/", "index.html", "text/html; charset=utf-8")];

/// Routes of all pages.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    PAGES.iter().fold(Router::new(), |router, page| {
        let &Page { path, kind, content } = page;
        let answer = move || async move {
            let kept = [
                (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            ];
            (kept, content).into_response()
        };
        router.route(path, get(answer))
    })
}
