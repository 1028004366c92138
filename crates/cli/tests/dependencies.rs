//! ARCHITECTURE.md says what each dependency is for: all that there are, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The keys of a table of a manifest, without our own crates.
fn keys(manifest: &str, table: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != table).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let key = |line: &str| line.split(['.', '=', ' ']).next().unwrap_or_default().to_string();
    let is_other = |key: &String| !key.is_empty() && key != "#" && !key.starts_with("bethe");
    lines.map(key).filter(is_other).collect()
}

/// The names in the first column of the table.
fn documented() -> BTreeSet<String> {
    let page = read("ARCHITECTURE.md");
    let (_, section) = page.split_once("\n## Dependencies").expect("a section on dependencies");
    let rows = section.lines().take_while(|line| !line.starts_with("## "));
    let rows = rows.filter(|line| line.starts_with('|')).skip(2);
    let first = rows.filter_map(|row| row.split('|').nth(1));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string).collect()
}

#[test]
fn the_table_names_just_the_direct_dependencies() {
    let mut direct = keys(&read("Cargo.toml"), "[workspace.dependencies]");
    for apart in ["fuzz/Cargo.toml", "python/Cargo.toml"] {
        direct.extend(keys(&read(apart), "[dependencies]"));
    }
    assert_eq!(documented(), direct);
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_crate() {
    let stated = keys(&read("Cargo.toml"), "[workspace.dependencies]");
    let mut used = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let manifest = fs::read_to_string(&manifest).unwrap();
        used.extend(keys(&manifest, "[dependencies]"));
        used.extend(keys(&manifest, "[dev-dependencies]"));
        used.extend(keys(&manifest, "[target.'cfg(unix)'.dependencies]"));
    }
    assert_eq!(used, stated);
}
