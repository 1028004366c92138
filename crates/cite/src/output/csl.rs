//! Entries as CSL-JSON, which reference managers and citation processors read.

use serde_json::{Map, Value, json};

use crate::entry::Entry;
use crate::entry::field::Field;
use crate::entry::kind::{EntryKind, says_manuscript};
use crate::numbers::date::Date;
use crate::people::name::{Name, People};

/// An item with its id.
pub fn csl(entry: &Entry, id: &str) -> Value {
    let mut item = Map::new();
    item.insert("id".to_string(), id.into());
    item.insert("type".to_string(), kind(entry).into());
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            item.insert(name.to_string(), value.into());
        }
    };
    let plain = |field: Field| entry.text(field).map(str::to_string);
    let is_numbered = entry.kind == EntryKind::TechReport || entry.is_patent();
    put("title", entry.whole_title());
    put("container-title", plain(Field::Journal).or_else(|| plain(Field::BookTitle)));
    put("collection-title", plain(Field::Series));
    put("volume", plain(Field::Volume));
    put(if is_numbered { "number" } else { "issue" }, plain(Field::Number));
    put("chapter-number", plain(Field::Chapter));
    put("page", plain(Field::Pages).map(|pages| pages.replace("--", "-")));
    put("number-of-pages", plain(Field::PageTotal));
    put("year-suffix", entry.date.letter.map(|letter| letter.to_string()));
    put("publisher", plain(Field::Publisher).or_else(|| plain(Field::Institution)));
    put("publisher-place", plain(Field::Address));
    put("edition", plain(Field::Edition));
    put("genre", genre(entry));
    put("DOI", plain(Field::Doi));
    let arxiv = entry.text(Field::Arxiv);
    put("URL", plain(Field::Url).or_else(|| arxiv.map(|id| format!("https://arxiv.org/abs/{id}"))));
    put("ISBN", plain(Field::Isbn));
    put("language", plain(Field::Language));
    put("note", note(entry));
    for field in [Field::Author, Field::Editor, Field::Translator] {
        let names = names(entry.people(field));
        if !names.is_empty() {
            item.insert(field.name().to_string(), names.into());
        }
    }
    let original = Date { year: entry.original, ..Date::default() };
    let dates = [("issued", entry.date), ("accessed", entry.accessed), ("original-date", original)];
    for (name, date) in dates {
        item.extend(in_csl(date).map(|date| (name.to_string(), date)));
    }
    Value::Object(item)
}

/// A date in numbers, starting with the year; in words without a year.
fn in_csl(date: Date) -> Option<Value> {
    if let Some(year) = date.year {
        let parts = [date.month, date.day].into_iter().map_while(|part| part.map(u16::from));
        let parts: Vec<u16> = std::iter::once(year).chain(parts).collect();
        return Some(match date.season {
            Some(season) => json!({ "date-parts": [parts], "season": season as u8 + 1 }),
            None => json!({ "date-parts": [parts] }),
        });
    }
    if let Some(season) = date.season {
        return Some(json!({ "literal": season.name() }));
    }
    let month = date.month_in_words()?;
    let day = date.day.map(|day| format!(" {day}")).unwrap_or_default();
    Some(json!({ "literal": format!("{month}{day}") }))
}

fn kind(entry: &Entry) -> &'static str {
    match entry.kind {
        EntryKind::Article => "article-journal",
        EntryKind::InProceedings => "paper-conference",
        EntryKind::InCollection => "chapter",
        EntryKind::Book => "book",
        EntryKind::PhdThesis | EntryKind::MastersThesis => "thesis",
        EntryKind::TechReport => "report",
        EntryKind::Misc if entry.is_patent() => "patent",
        EntryKind::Misc if entry.work().is_some_and(says_manuscript) => "manuscript",
        EntryKind::Misc if entry.text(Field::Arxiv).is_some() => "article",
        EntryKind::Misc if entry.text(Field::Url).is_some() => "webpage",
        EntryKind::Misc => "document",
    }
}

/// Its remarks, and texts for which CSL has no property of their own.
fn note(entry: &Entry) -> Option<String> {
    let arxiv =
        entry.text(Field::Url).and(entry.text(Field::Arxiv)).map(|id| format!("arXiv:{id}"));
    let notes =
        entry.remarks().into_iter().chain(entry.displaced().map(str::to_string)).chain(arxiv);
    let notes: Vec<String> = notes.collect();
    (!notes.is_empty()).then(|| notes.join(", "))
}

fn genre(entry: &Entry) -> Option<String> {
    let default = match entry.kind {
        EntryKind::PhdThesis => Some("PhD thesis"),
        EntryKind::MastersThesis => Some("Master's thesis"),
        _ => None,
    };
    entry.work().or(default).map(str::to_string)
}

/// Their names. Unnamed others are one more name without parts, which processors print as it is.
fn names(people: &People) -> Vec<Value> {
    let mut names: Vec<Value> = people.names.iter().map(name).collect();
    if people.others && !names.is_empty() {
        names.push(json!({ "literal": "others" }));
    }
    names
}

/// A name in CSL-JSON: `family`, `given`, `non-dropping-particle`, `suffix`; or `literal`.
pub(crate) fn name(name: &Name) -> Value {
    if name.is_whole {
        return json!({ "literal": name.family });
    }
    let parts = [
        ("family", &name.family),
        ("given", &name.given),
        ("non-dropping-particle", &name.particle),
        ("suffix", &name.suffix),
    ];
    let known = parts.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(known.map(|(part, text)| (part.to_string(), text.as_str().into())).collect())
}
