//! The pages: files that are part of the program. Pictures of them for the guide: `tests/browser/run BETHE FOLDER`.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;

/// The files of `pages/`, each with its content.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("pages/", $name)))),*]
    };
}

const PAGES: &[(&str, &str)] = pages![
    "api.js",
    "app.js",
    "choosing.js",
    "convergence.js",
    "element.js",
    "example-cells.csv",
    "example-counts.csv",
    "example-problem.json",
    "example-references.txt",
    "fields.js",
    "files.js",
    "flows.js",
    "icon.svg",
    "index.html",
    "marginals.js",
    "menu.js",
    "notice.js",
    "pages.css",
    "problem.js",
    "reference.js",
    "references.js",
    "rules.js",
    "sequence.js",
    "style.css",
    "tag.js",
    "tip.js",
    "work.js",
];

/// The content type of a file, by its extension.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "json")) => "application/json",
        Some((_, "csv")) => "text/csv; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

/// Routes of all pages; `index.html` is that of the bare address.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    PAGES.iter().fold(Router::new(), |router, &(name, content)| {
        let answer = move || async move {
            let kept = [
                (header::CONTENT_TYPE, HeaderValue::from_static(kind(name))),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            ];
            (kept, content).into_response()
        };
        let path = if name == "index.html" { "/".to_string() } else { format!("/{name}") };
        router.route(&path, get(answer))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/serve/pages");
        let names = std::fs::read_dir(folder).unwrap().map(|own| own.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, PAGES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
