//! Entries as BibTeX.

use std::fmt::Write;

use super::latex::{address, escaped, title};
use crate::entry::Entry;
use crate::entry::field::Field;
use crate::entry::kind::EntryKind;
use crate::people::name::{Name, People};

/// An entry with its key and a final line end.
pub fn bibtex(entry: &Entry, key: &str) -> String {
    let mut text = format!("@{}{{{key},\n", entry.kind.name());
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = writeln!(text, "  {name} = {{{value}}},");
        }
    };
    let plain = |field: Field| entry.text(field).map(escaped);
    put("author", people(&entry.authors));
    put("title", entry.whole_title().map(|text| title(&text)));
    put("editor", people(&entry.editors));
    put("translator", people(&entry.translators));
    put("journal", plain(Field::Journal));
    put("booktitle", plain(Field::BookTitle));
    put("edition", plain(Field::Edition));
    put("series", plain(Field::Series));
    put("volume", plain(Field::Volume));
    put("number", plain(Field::Number));
    put("chapter", plain(Field::Chapter));
    put("pages", plain(Field::Pages));
    put("pagetotal", plain(Field::PageTotal));
    put("publisher", plain(Field::Publisher));
    put(institution(entry.kind), plain(Field::Institution));
    put("address", plain(Field::Address));
    put("type", entry.work().filter(|_| entry.kind != EntryKind::Misc).map(escaped));
    put("howpublished", entry.work().filter(|_| entry.kind == EntryKind::Misc).map(escaped));
    put("year", entry.date.year.map(|year| year.to_string()));
    if let Some(month) = entry.date.month_name() {
        // A macro that styles know.
        let _ = writeln!(text, "  month = {month},");
    }
    if let Some(day) = entry.date.day {
        let _ = writeln!(text, "  day = {{{day}}},");
    }
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name} = {{{value}}},");
        }
    };
    put("issue", entry.date.season.map(|season| season.name().to_string()));
    put("origdate", entry.original.map(|year| year.to_string()));
    put("doi", entry.text(Field::Doi).map(address));
    put("eprint", entry.text(Field::Arxiv).map(address));
    put("archiveprefix", entry.text(Field::Arxiv).map(|_| "arXiv".to_string()));
    put("url", entry.text(Field::Url).map(address));
    put("urldate", entry.accessed.in_numbers());
    put("isbn", plain(Field::Isbn));
    put("language", plain(Field::Language));
    put("note", entry.remarks().map(|text| escaped(&text)));
    text.push_str("}\n");
    text
}

/// BibTeX's field for an institution.
fn institution(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::PhdThesis | EntryKind::MastersThesis => "school",
        EntryKind::InProceedings | EntryKind::InCollection | EntryKind::Book => "organization",
        EntryKind::TechReport | EntryKind::Article | EntryKind::Misc => "institution",
    }
}

/// Names joined by `and`, with `others` for those not named.
fn people(people: &People) -> Option<String> {
    let mut names: Vec<String> = people.names.iter().map(name).collect();
    if people.others && !names.is_empty() {
        names.push("others".to_string());
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

/// `van Beethoven, Jr., Ludwig`. A name without parts, or one whose suffix would be read as its
/// first name, `King, Jr.`, is in braces to stay whole.
fn name(name: &Name) -> String {
    if name.is_whole {
        return format!("{{{}}}", escaped(&name.family));
    }
    let [particle, suffix, given] =
        [&name.particle, &name.suffix, &name.given].map(|part| part_of_name(part));
    let family = family_name(&name.family);
    let mut text = if particle.is_empty() { family } else { format!("{particle} {family}") };
    for part in [&suffix, &given] {
        if !part.is_empty() {
            text.push_str(", ");
            text.push_str(part);
        }
    }
    match given.is_empty() && !suffix.is_empty() {
        true => format!("{{{text}}}"),
        false => text,
    }
}

/// A family name; in braces if a word before its last is in lower case, `Ortega y Gasset`, since
/// BibTeX would read the words before the last as a particle.
fn family_name(family: &str) -> String {
    let text = part_of_name(family);
    let is_small =
        |word: &str| word.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_lowercase);
    let is_parted = family.rsplit(char::is_whitespace).skip(1).any(is_small);
    match is_parted && !text.starts_with('{') {
        true => format!("{{{text}}}"),
        false => text,
    }
}

/// A part of a name without commas; in braces if it has a word `and`, since these separate names.
fn part_of_name(part: &str) -> String {
    let text = escaped(&part.replace(',', ""));
    match part.split_whitespace().any(|word| word.eq_ignore_ascii_case("and")) {
        true => format!("{{{text}}}"),
        false => text,
    }
}
