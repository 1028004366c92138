//! The tour as one page that needs nothing else.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use bethe_io::in_markup;
use bethe_terminal::Folder;

use super::flows;

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; font-size: 13px; line-height: 1.35; padding: .75rem 1rem; border-radius: .4rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; background: white; border-radius: .4rem; }
figure iframe { width: 100%; height: 42rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
nav li { margin: .1rem 0; }
";

/// The pictures of the solvers, in the order of their table.
const SOLVERS: [&str; 5] = ["rda", "mirror-descent", "accelerated-rda", "adaptive", "dual"];

/// Writes `report.html`: every part with its pictures, and the map.
pub fn write(out: &Folder, parts: &[String]) -> Result<()> {
    let mut contents = String::new();
    let mut body = String::new();
    for (at, part) in parts.iter().enumerate() {
        let (title, text) = part.split_once("\n\n").context("a part has a title")?;
        let title = in_markup(title);
        writeln!(contents, "<li><a href=\"#part-{at}\">{title}</a></li>")?;
        writeln!(body, "<h2 id=\"part-{at}\">{title}</h2>")?;
        writeln!(body, "<pre>{}</pre>", in_markup(text.trim_end()))?;
        body.push_str(&pictures(out, part)?);
    }
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>bethe: a tour</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>bethe: a tour</h1>\n\
         <p>Inference and learning under global terms, on built-in problems. \
         The files are beside this page.</p>\n\
         <nav><ul style=\"list-style: none; padding: 0\">\n{contents}</ul></nav>\n{body}</body>\n</html>\n"
    );
    out.text("report.html", &page)
}

/// What belongs to a part: the map of the birds, or how solvers converge.
fn pictures(out: &Folder, part: &str) -> Result<String> {
    let read = |name: &str| {
        let path = out.staging().join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    if part.contains(flows::TITLE) {
        let map = read(&format!("{}/index.html", flows::FOLDER))?;
        return Ok(format!(
            "<figure><iframe title=\"The map\" sandbox=\"allow-scripts\" srcdoc=\"{}\"></iframe>\
             </figure>\n",
            in_markup(&map)
        ));
    }
    if !part.contains(super::TITLES) {
        return Ok(String::new());
    }
    let pictures = SOLVERS.map(|solver| read(&format!("titles-{solver}.svg")));
    pictures.into_iter().map(|picture| Ok(format!("<figure>{}</figure>\n", picture?))).collect()
}
