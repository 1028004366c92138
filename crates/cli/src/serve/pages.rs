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

const PAGES: &[Page] = &[
    page!("/", "index.html", "text/html; charset=utf-8"),
    page!("/api.js", "api.js", "text/javascript; charset=utf-8"),
    page!("/app.js", "app.js", "text/javascript; charset=utf-8"),
    page!("/choosing.js", "choosing.js", "text/javascript; charset=utf-8"),
    page!("/convergence.js", "convergence.js", "text/javascript; charset=utf-8"),
    page!("/element.js", "element.js", "text/javascript; charset=utf-8"),
    page!("/example-cells.csv", "example-cells.csv", "text/csv; charset=utf-8"),
    page!("/example-counts.csv", "example-counts.csv", "text/csv; charset=utf-8"),
    page!("/example-problem.json", "example-problem.json", "application/json"),
    page!("/example-references.txt", "example-references.txt", "text/plain; charset=utf-8"),
    page!("/fields.js", "fields.js", "text/javascript; charset=utf-8"),
    page!("/files.js", "files.js", "text/javascript; charset=utf-8"),
    page!("/flows.js", "flows.js", "text/javascript; charset=utf-8"),
    page!("/icon.svg", "icon.svg", "image/svg+xml"),
    page!("/marginals.js", "marginals.js", "text/javascript; charset=utf-8"),
    page!("/menu.js", "menu.js", "text/javascript; charset=utf-8"),
    page!("/notice.js", "notice.js", "text/javascript; charset=utf-8"),
    page!("/pages.css", "pages.css", "text/css; charset=utf-8"),
    page!("/problem.js", "problem.js", "text/javascript; charset=utf-8"),
    page!("/reference.js", "reference.js", "text/javascript; charset=utf-8"),
    page!("/references.js", "references.js", "text/javascript; charset=utf-8"),
    page!("/rules.js", "rules.js", "text/javascript; charset=utf-8"),
    page!("/sequence.js", "sequence.js", "text/javascript; charset=utf-8"),
    page!("/style.css", "style.css", "text/css; charset=utf-8"),
    page!("/tag.js", "tag.js", "text/javascript; charset=utf-8"),
    page!("/tip.js", "tip.js", "text/javascript; charset=utf-8"),
    page!("/work.js", "work.js", "text/javascript; charset=utf-8"),
];

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
