//! A reference as an entry of a bibliography.
//!
//! Labels of tokens become `parts` of a reference, whose meanings are [`field`]s of any data set;
//! `assembly` puts them together, and `kind` decides what sort of work it is.

mod aside;
pub(crate) mod assembly;
pub(crate) mod confidence;
mod cue;
pub(crate) mod field;
mod kept;
pub(crate) mod kind;
pub(crate) mod parts;
mod patent;
mod repair;
pub(crate) mod same_authors;
mod thesis;
mod told;

use std::collections::BTreeMap;

use crate::numbers::date::Date;
use crate::people::name::People;
use field::Field;
use kind::EntryKind;
#[cfg(doc)]
use same_authors::SameAuthors;

/// What a reference says, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What kind of work it is.
    pub kind: EntryKind,
    /// Who wrote it.
    pub authors: People,
    /// Who edited it, or what it is in.
    pub editors: People,
    /// Who translated it.
    pub translators: People,
    /// When it appeared.
    pub date: Date,
    /// The year in which it first appeared, if this is a later edition.
    pub original: Option<u16>,
    /// When somebody looked at it.
    pub accessed: Date,
    /// Text fields, ready to write.
    pub texts: BTreeMap<Field, String>,
    /// Parts whose labels are not known, under their own names.
    pub other: BTreeMap<String, String>,
    /// Whether a dash stands for the authors of the entry before; see [`SameAuthors`].
    pub repeats_authors: bool,
    /// The whole line, if neither people, title nor container were found.
    pub unparsed: Option<String>,
}

impl Entry {
    /// A line that cannot be parsed.
    pub fn unparsed(text: &str) -> Self {
        Self { unparsed: Some(text.to_string()), ..Self::default() }
    }

    /// A field's text.
    pub fn text(&self, field: Field) -> Option<&str> {
        self.texts.get(&field).map(String::as_str)
    }

    /// The people of a field.
    pub fn people(&self, field: Field) -> &People {
        match field {
            Field::Editor => &self.editors,
            Field::Translator => &self.translators,
            _ => &self.authors,
        }
    }

    /// Whether people, title or container were found.
    pub(crate) fn is_known(&self) -> bool {
        let people = [&self.authors, &self.editors, &self.translators];
        let aside = [
            Field::Marker,
            Field::Language,
            Field::Date,
            Field::Volume,
            Field::Number,
            Field::Pages,
        ];
        people.iter().any(|people| !people.names.is_empty())
            || self.texts.keys().any(|field| !aside.contains(field))
    }

    /// The title with what follows its colon.
    pub fn whole_title(&self) -> Option<String> {
        match (self.text(Field::Title), self.text(Field::Subtitle)) {
            (Some(title), Some(rest)) => Some(format!("{title}: {rest}")),
            (title, rest) => title.or(rest).map(str::to_string),
        }
    }

    /// What it says about its kind beyond the kind itself.
    pub fn work(&self) -> Option<&str> {
        const PLAIN: &[&str] = &[
            "phd thesis",
            "ph.d thesis",
            "ph.d. thesis",
            "thesis",
            "dissertation",
            "technical report",
            "tech. rep",
            "tech. report",
            "master's thesis",
            "masters thesis",
            "master thesis",
            "report",
        ];
        let fields = [Field::Thesis, Field::Report, Field::Genre];
        let text = fields.into_iter().find_map(|field| self.text(field))?;
        let kinds = [EntryKind::PhdThesis, EntryKind::MastersThesis, EntryKind::TechReport];
        let is_said = kinds.contains(&self.kind) && PLAIN.contains(&text.to_lowercase().as_str());
        (!is_said).then_some(text)
    }

    /// Texts whose place another takes in formats that have one for both.
    pub(crate) fn displaced(&self) -> impl Iterator<Item = &str> {
        let pairs = [(Field::Publisher, Field::Institution), (Field::Journal, Field::BookTitle)];
        let displaced = move |(first, second)| self.text(first).and(self.text(second));
        pairs.into_iter().filter_map(displaced)
    }

    /// Notes, parts that have no place elsewhere, and the whole text if it could not be parsed.
    pub fn remarks(&self) -> Option<String> {
        let fields = [Field::Note, Field::Status, Field::Date, Field::Identifier];
        let texts = fields.into_iter().filter_map(|field| self.text(field));
        let mut remarks: Vec<String> = texts.map(str::to_string).collect();
        match &self.unparsed {
            Some(line) => remarks.push(line.clone()),
            None => remarks.extend(self.other.iter().map(|(name, text)| format!("{name}: {text}"))),
        }
        remarks.retain(|text| !text.is_empty());
        (!remarks.is_empty()).then(|| remarks.join(", "))
    }
}
