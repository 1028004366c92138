//! Entries as TEI, which programs that speak to GROBID read: a `biblStruct` with the part in
//! `analytic` and what it is in in `monogr`.

use std::fmt::Write;

use super::ris::ends;
use crate::entry::Entry;
use crate::entry::field::Field;
use crate::entry::kind::EntryKind;
use crate::numbers::date::Date;
use crate::people::name::{Name, People};

/// An entry as a `biblStruct`, with its id and the line that it was read from if they are given.
pub fn tei(entry: &Entry, id: Option<&str>, raw: Option<&str>) -> String {
    let mut xml = Writer(String::new());
    let _ = match id {
        Some(id) => writeln!(xml.0, "<biblStruct xml:id=\"{}\">", escaped(id)),
        None => writeln!(xml.0, "<biblStruct>"),
    };
    if container(entry).is_some() {
        xml.inside("analytic", |xml| {
            xml.titles("a", entry);
            xml.people("author", &entry.authors);
            xml.identifiers(entry);
        });
    }
    xml.inside("monogr", |xml| {
        match container(entry) {
            Some((level, text)) => xml.text(&format!("title level=\"{level}\""), Some(text)),
            None => {
                xml.titles("m", entry);
                xml.people("author", &entry.authors);
                xml.identifiers(entry);
            }
        }
        xml.people("editor", &entry.editors);
        xml.people("editor role=\"translator\"", &entry.translators);
        xml.text("edition", entry.text(Field::Edition));
        xml.text("idno type=\"ISBN\"", entry.text(Field::Isbn));
        xml.inside("imprint", |xml| imprint(xml, entry));
    });
    if let Some(series) = entry.text(Field::Series) {
        xml.inside("series", |xml| xml.text("title level=\"s\"", Some(series)));
    }
    xml.text("note type=\"report_type\"", entry.work());
    xml.text("note", entry.remarks().as_deref());
    xml.text("note type=\"raw_reference\"", raw);
    xml.0 + "</biblStruct>\n"
}

/// What it is in, and its level: a journal or a book.
fn container(entry: &Entry) -> Option<(char, &str)> {
    let journal = entry.text(Field::Journal).map(|text| ('j', text));
    let book = entry.text(Field::BookTitle).map(|text| ('m', text));
    match entry.kind {
        EntryKind::Book => None,
        _ => journal.or(book),
    }
}

fn imprint(xml: &mut Writer, entry: &Entry) {
    xml.text("publisher", entry.text(Field::Publisher).or(entry.text(Field::Institution)));
    xml.text("pubPlace", entry.text(Field::Address));
    for (unit, field) in
        [("volume", Field::Volume), ("issue", Field::Number), ("chapter", Field::Chapter)]
    {
        xml.text(&format!("biblScope unit=\"{unit}\""), entry.text(field));
    }
    if let Some(pages) = entry.text(Field::Pages) {
        match ends(pages) {
            (Some(from), Some(to)) => xml.empty(&format!(
                "biblScope unit=\"page\" from=\"{}\" to=\"{}\"",
                escaped(from),
                escaped(to)
            )),
            _ => xml.text("biblScope unit=\"page\"", Some(pages)),
        }
    }
    if let Some(when) = when(entry.date) {
        let year = entry.date.year.map(|year| year.to_string());
        xml.text(&format!("date type=\"published\" when=\"{when}\""), year.as_deref());
    }
}

/// A date in numbers, `2004-05-12`, as far as it is known.
fn when(date: Date) -> Option<String> {
    let mut when = date.year?.to_string();
    for part in [date.month, date.day].into_iter().map_while(|part| part) {
        let _ = write!(when, "-{part:02}");
    }
    Some(when)
}

/// XML line by line.
struct Writer(String);

impl Writer {
    /// An element with others in it; `tag` has its attributes.
    fn inside(&mut self, tag: &str, write: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.0, "<{tag}>");
        write(self);
        let _ = writeln!(self.0, "</{}>", name_of(tag));
    }

    /// An element with text in it, if there is any.
    fn text(&mut self, tag: &str, text: Option<&str>) {
        if let Some(text) = text {
            let _ = writeln!(self.0, "<{tag}>{}</{}>", escaped(text), name_of(tag));
        }
    }

    fn empty(&mut self, tag: &str) {
        let _ = writeln!(self.0, "<{tag} />");
    }

    fn titles(&mut self, level: &str, entry: &Entry) {
        let tag = format!("title level=\"{level}\" type=\"main\"");
        self.text(&tag, entry.whole_title().as_deref());
    }

    fn people(&mut self, tag: &str, people: &People) {
        for name in &people.names {
            self.inside(tag, |xml| xml.name(name));
        }
        if people.others && !people.names.is_empty() {
            self.text(tag, Some("et al."));
        }
    }

    fn name(&mut self, name: &Name) {
        if name.is_whole {
            return self.text("orgName", Some(&name.family));
        }
        self.inside("persName", |xml| {
            for (at, given) in name.given.split_whitespace().enumerate() {
                let kind = if at == 0 { "first" } else { "middle" };
                xml.text(&format!("forename type=\"{kind}\""), Some(given));
            }
            let family = match name.particle.is_empty() {
                true => name.family.clone(),
                false => format!("{} {}", name.particle, name.family),
            };
            xml.text("surname", Some(&family));
            xml.text("genName", Some(name.suffix.as_str()).filter(|suffix| !suffix.is_empty()));
        });
    }

    fn identifiers(&mut self, entry: &Entry) {
        self.text("idno type=\"DOI\"", entry.text(Field::Doi));
        self.text("idno type=\"arXiv\"", entry.text(Field::Arxiv));
        if let Some(url) = entry.text(Field::Url) {
            self.empty(&format!("ptr target=\"{}\"", escaped(url)));
        }
    }
}

/// The name of an element without its attributes.
fn name_of(tag: &str) -> &str {
    tag.split(' ').next().unwrap_or(tag)
}

/// Text without what XML would read as markup, and without characters that it cannot hold.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{0}'..='\u{8}'
            | '\u{b}'
            | '\u{c}'
            | '\u{e}'..='\u{1f}'
            | '\u{fffe}'
            | '\u{ffff}' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
