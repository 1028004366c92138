//! Entries as RIS, which reference managers import: one tag a line, `AU  - Li, Ann`.

use std::fmt::Write;

use crate::entry::Entry;
use crate::entry::field::Field;
use crate::entry::kind::{EntryKind, says_manuscript};
use crate::numbers::date::Date;
use crate::people::name::{Name, People};

/// An entry with its key, from `TY` to `ER`, and a blank line behind it.
pub fn ris(entry: &Entry, key: &str) -> String {
    let mut text = String::new();
    put(&mut text, "TY", Some(kind(entry)));
    put(&mut text, "ID", Some(key));
    for (tag, field) in [("AU", Field::Author), ("ED", Field::Editor), ("A4", Field::Translator)] {
        for name in names(entry.people(field)) {
            put(&mut text, tag, Some(&name));
        }
    }
    put(&mut text, "TI", entry.whole_title().as_deref());
    put(&mut text, "T2", entry.text(Field::Journal).or_else(|| entry.text(Field::BookTitle)));
    put(&mut text, "T3", entry.text(Field::Series));
    put(&mut text, "VL", entry.text(Field::Volume));
    put(&mut text, "IS", entry.text(Field::Number));
    put(&mut text, "SE", entry.text(Field::Chapter));
    let (first, last) = ends(entry.text(Field::Pages).unwrap_or_default());
    put(&mut text, "SP", first);
    put(&mut text, "EP", last);
    put(&mut text, "ET", entry.text(Field::Edition));
    put(&mut text, "PB", entry.text(Field::Publisher).or_else(|| entry.text(Field::Institution)));
    put(&mut text, "CY", entry.text(Field::Address));
    put(&mut text, "M3", entry.work());
    put(&mut text, "PY", entry.date.year.map(|year| year.to_string()).as_deref());
    put(&mut text, "DA", date(entry.date).as_deref());
    put(&mut text, "OP", entry.original.map(|year| year.to_string()).as_deref());
    put(&mut text, "DO", entry.text(Field::Doi));
    let arxiv = entry.text(Field::Arxiv).map(|number| format!("https://arxiv.org/abs/{number}"));
    for address in [entry.text(Field::Url), arxiv.as_deref()] {
        put(&mut text, "UR", address);
    }
    put(&mut text, "Y2", date(entry.accessed).as_deref());
    put(&mut text, "SN", entry.text(Field::Isbn));
    put(&mut text, "LA", entry.text(Field::Language));
    let total = entry.text(Field::PageTotal).map(|total| format!("{total} pages"));
    put(&mut text, "N1", total.as_deref());
    put(&mut text, "N1", entry.remarks().as_deref());
    for displaced in entry.displaced() {
        put(&mut text, "N1", Some(displaced));
    }
    text.push_str("ER  - \n\n");
    text
}

/// A tag and its value, which has no line end inside.
fn put(text: &mut String, tag: &str, value: Option<&str>) {
    let words = || value.into_iter().flat_map(str::split_whitespace);
    if words().next().is_some() {
        let _ = writeln!(text, "{tag}  - {}", words().collect::<Vec<_>>().join(" "));
    }
}

fn kind(entry: &Entry) -> &'static str {
    match entry.kind {
        EntryKind::Article => "JOUR",
        EntryKind::InProceedings => "CPAPER",
        EntryKind::InCollection => "CHAP",
        EntryKind::Book => "BOOK",
        EntryKind::PhdThesis | EntryKind::MastersThesis => "THES",
        EntryKind::TechReport => "RPRT",
        EntryKind::Misc if entry.is_patent() => "PAT",
        EntryKind::Misc if entry.work().is_some_and(says_manuscript) => "UNPB",
        EntryKind::Misc if entry.text(Field::Url).is_some() => "ELEC",
        EntryKind::Misc => "GEN",
    }
}

/// `van Beethoven, Ludwig, Jr.`; a name without parts as it is. Unnamed others are one more name.
fn names(people: &People) -> Vec<String> {
    let one = |name: &Name| {
        let family = match name.particle.is_empty() {
            true => name.family.clone(),
            false => format!("{} {}", name.particle, name.family),
        };
        let parts = [family, name.given.clone(), name.suffix.clone()];
        match name.is_whole {
            true => name.family.clone(),
            // The suffix is the third part, whether there is a first name or not.
            false => parts.join(",").trim_end_matches(',').replace(',', ", "),
        }
    };
    let mut names: Vec<String> = people.names.iter().map(one).collect();
    if people.others && !names.is_empty() {
        names.push("et al.".to_string());
    }
    names
}

/// The first page and the last; all that is written where these are not two.
pub(super) fn ends(pages: &str) -> (Option<&str>, Option<&str>) {
    match pages.split_once("--") {
        Some((first, last)) if !last.contains(['-', ',']) && !first.contains(',') => {
            (Some(first), Some(last))
        }
        _ => (Some(pages), None),
    }
}

/// `2004/05/12/`, with a season behind it; none if only the year is known.
fn date(date: Date) -> Option<String> {
    let year = date.year?;
    let season = date.season.map(|season| season.name()).unwrap_or_default();
    if date.month.is_none() && season.is_empty() {
        return None;
    }
    let number = |part: Option<u8>| part.map(|part| format!("{part:02}")).unwrap_or_default();
    Some(format!("{year}/{}/{}/{season}", number(date.month), number(date.day)))
}
