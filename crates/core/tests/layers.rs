//! Dependencies inside the crate point one way. `cargo test -p bethe-core --test layers` says which
//! line breaks that.

use std::fs;
use std::path::{Path, PathBuf};

/// Each may use what stands before it.
const LAYERS: [&str; 11] = [
    "vector",
    "cancel",
    "memory",
    "model",
    "support",
    "oracle",
    "energy",
    "solve",
    "derivative",
    "problem",
    "plot",
];

/// Every source file below a folder, but for those that hold tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_tests {
            continue;
        } else if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Numbered lines of code: without comments, and without a module of tests at the end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let lines = text[..end].lines().enumerate();
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The first words of the paths that a line takes from the crate's root.
fn used(line: &str) -> Vec<&str> {
    let word = |path: &str| path.find(|c: char| !c.is_alphanumeric() && c != '_');
    let paths = line.split("crate::").skip(1);
    paths.map(|path| &path[..word(path).unwrap_or(path.len())]).collect()
}

/// What is wrong with one file.
fn mistakes(layer: &str, text: &str) -> Vec<String> {
    let place = |name: &str| LAYERS.iter().position(|known| *known == name);
    let own = place(layer);
    let mut wrong = Vec::new();
    if own.is_none() {
        wrong.push(format!("`{layer}` is in no layer: add it to LAYERS"));
    }
    for (number, line) in code(text) {
        for name in used(line) {
            if place(name).is_none() || place(name) > own {
                wrong.push(format!("line {}: {layer} uses crate::{name}", number + 1));
            }
        }
    }
    wrong
}

#[test]
fn every_module_uses_only_those_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let files = sources(&root);
    assert!(files.len() > 100, "found {} files", files.len());
    for path in files {
        let inside = path.strip_prefix(&root).unwrap();
        let first = Path::new(inside.components().next().unwrap().as_os_str());
        let layer = first.file_stem().unwrap().to_str().unwrap();
        if layer != "lib" {
            let text = fs::read_to_string(&path).unwrap();
            let found = mistakes(layer, &text).into_iter();
            wrong.extend(found.map(|mistake| format!("{}: {mistake}", inside.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_look_upwards_is_found() {
    let breaks = |layer, text| !mistakes(layer, text).is_empty();
    assert!(breaks("model", "use crate::solve::Settings;\n"));
    assert!(breaks("energy", "let a = 1;\nfn f() -> crate::problem::Answer {\n"));
    assert!(breaks("oracle", "use crate::Problem;\n"));
    assert!(breaks("solve", "use crate::{Model, Problem};\n"));
    assert!(breaks("unheard_of", ""));
    assert!(!breaks("solve", "use crate::energy::Energies;\nuse crate::solve::Status;\n"));
    assert!(!breaks("model", "// use crate::solve::Settings;\n"));
    assert!(!breaks("model", "#[cfg(test)]\nmod tests {\n    use crate::Problem;\n}\n"));
}
