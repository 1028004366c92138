//! Every relative link of the pages leads somewhere: to a file, and to a heading in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with pages of ours.
const FOLDERS: [&str; 6] = ["", "docs", "docs/guides", "docs/reference", "docs/results", "python"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let entries = FOLDERS.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages
}

/// The lines of a page that are not code.
fn prose(page: &Path) -> Vec<String> {
    let (mut is_code, mut lines) = (false, Vec::new());
    for line in fs::read_to_string(page).unwrap().lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line.to_string());
        }
    }
    lines
}

/// What a link to each heading of a page ends with, as GitHub makes it.
fn anchors(page: &Path) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for line in prose(page).iter().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// The targets of the links of a page, which may be broken over lines.
fn links(page: &Path) -> Vec<String> {
    let text = prose(page).join("\n");
    let after = text.split("](").skip(1);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.to_string())).collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut dead = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for link in links(&page).iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path.is_empty() {
                true => page.clone(),
                false => page.parent().unwrap().join(path),
            };
            let found = target.exists() && (anchor.is_empty() || anchors(&target).contains(anchor));
            checked += 1;
            if !found {
                dead.push(format!("{}: {link}", page.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
    assert!(checked > 100, "{checked} links");
}

#[test]
fn every_page_is_linked_from_the_documentation_or_the_readme() {
    let linked: BTreeSet<PathBuf> = pages()
        .iter()
        .flat_map(|page| links(page).into_iter().map(|link| (page.clone(), link)))
        .filter_map(|(page, link)| {
            let path = link.split('#').next()?.to_string();
            page.parent()?.join(path).canonicalize().ok()
        })
        .collect();
    let alone: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| !linked.contains(page) && !page.ends_with("README.md"))
        .collect();
    assert!(alone.is_empty(), "pages without a link to them: {alone:?}");
}
