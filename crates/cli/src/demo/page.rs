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
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; line-height: 1.35; padding: .75rem 1rem; border-radius: .4rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; background: white; border-radius: .4rem; }
figure iframe { width: 100%; height: 42rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
figcaption, summary { color: color-mix(in srgb, currentColor 75%, transparent); font-size: 14px; }
mark { background: none; color: light-dark(#116329, #7ee787); }
nav li { margin: .1rem 0; }
";

/// The pictures of the solvers, the default one first.
const SOLVERS: [&str; 5] = ["dual", "adaptive", "rda", "mirror-descent", "accelerated-rda"];

/// Writes `report.html`: every part with its pictures, and the map.
pub fn write(out: &Folder, parts: &[String]) -> Result<()> {
    let mut contents = String::new();
    let mut body = String::new();
    for (at, part) in parts.iter().enumerate() {
        let (title, text) = part.split_once("\n\n").context("a part has a title")?;
        let title = in_markup(title);
        writeln!(contents, "<li><a href=\"#part-{at}\">{title}</a></li>")?;
        writeln!(body, "<h2 id=\"part-{at}\">{title}</h2>")?;
        body.push_str(&markup(text));
        body.push_str(&pictures(out, part)?);
    }
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>bethe: a tour</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>bethe: a tour</h1>\n\
         <p>What <code>bethe</code> does, on made-up problems. Their files are \
         next to this page.</p>\n\
         <nav><ul style=\"list-style: none; padding: 0\">\n{contents}</ul></nav>\n{body}</body>\n</html>\n"
    );
    out.text("report.html", &page)
}

/// Paragraphs as HTML paragraphs, and indented blocks unchanged.
fn markup(text: &str) -> String {
    let blocks = text.split("\n\n").filter(|block| !names_pictures(block));
    let mut body = String::new();
    let mut columns: Vec<String> = Vec::new();
    for block in blocks.map(str::trim_end).filter(|block| !block.is_empty()) {
        if block.starts_with("  ") {
            columns.push(block.lines().map(line).collect::<Vec<_>>().join("\n"));
            continue;
        }
        body.push_str(&preformatted(&mut columns));
        body.push_str(&format!("<p>{}</p>\n", in_markup(&block.replace('\n', " "))));
    }
    body + &preformatted(&mut columns)
}

/// Blocks in columns that follow one another.
fn preformatted(blocks: &mut Vec<String>) -> String {
    match std::mem::take(blocks) {
        none if none.is_empty() => String::new(),
        blocks => format!("<pre>{}</pre>\n", blocks.join("\n\n")),
    }
}

/// A line in columns; what a rule changed stands out.
fn line(line: &str) -> String {
    match line.ends_with("  <") {
        true => format!("<mark>{}</mark>", in_markup(line)),
        false => in_markup(line).to_string(),
    }
}

/// Whether a block only says where the pictures are, which the page shows.
fn names_pictures(block: &str) -> bool {
    ["  pictures: ", "  an animated map: "].iter().any(|start| block.starts_with(start))
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
            "<figure><figcaption>The map: play it, or click a cell to see where its birds came from \
             and went next.</figcaption><iframe title=\"The map\" sandbox=\"allow-scripts\" \
             srcdoc=\"{}\"></iframe></figure>\n",
            in_markup(&map)
        ));
    }
    if !part.contains(super::TITLES) {
        return Ok(String::new());
    }
    let mut figures = String::new();
    for (at, solver) in SOLVERS.iter().enumerate() {
        let open = if at == 0 { " open" } else { "" };
        let picture = read(&format!("titles-{solver}.svg"))?;
        writeln!(
            figures,
            "<details{open}><summary>How {solver} converges. Top: the objective and its lower bound; \
             bottom: the gap between them. Left: by iteration; right: by time</summary>\
             <figure>{picture}</figure></details>"
        )?;
    }
    Ok(figures)
}
