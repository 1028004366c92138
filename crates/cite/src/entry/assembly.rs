//! From a line with labels to an entry.

use std::borrow::Cow;
use std::ops::Range;

use super::field::Field;
use super::kept::says_something;
use super::kind::EntryKind;
use super::parts::Meanings;
use super::repair::name_containers;
use super::same_authors::repeats_authors;
use crate::entry::Entry;
use crate::identifiers::{Identifiers, with_whole_addresses, without_identifiers};
use crate::numbers::access::{dates, is_date};
use crate::numbers::pages::pages;
use crate::numbers::volume::{
    VolumeParts, bare, chapter, edition, is_issue, page_total, report_parts, volume_parts,
};
use crate::people::labelled::is_about_people;
use crate::text::characters::is_dash;
use crate::text::tidy::{tidy, without_lone_stop};

/// A line with its tokens and labels.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// The line.
    pub text: &'a str,
    /// Where its tokens are.
    pub tokens: &'a [Range<usize>],
    /// Their labels.
    pub labels: &'a [&'a str],
}

impl Labelled<'_> {
    pub(crate) fn text_of(&self, tokens: &Range<usize>) -> &str {
        &self.text[self.tokens[tokens.start].start..self.tokens[tokens.end - 1].end]
    }
}

impl Entry {
    /// The entry for a line with labels.
    pub fn new(line: Labelled, meanings: &Meanings) -> Self {
        let mut parts = meanings.parts(line.labels);
        name_containers(&line, &mut parts);
        let mut entry = Self::default();
        let dates = dates(&line, &parts);
        for part in &parts {
            let text = line.text_of(&part.tokens);
            match part.field {
                None => entry.keep(part.name, text),
                field if is_date(field) => {}
                Some(Field::Note | Field::Status)
                    if !says_something(text) || entry.takes_access_date(text) => {}
                Some(field) if is_about_people(part, field) => {}
                Some(_) if part.between => {}
                Some(field) => entry.add(field, text),
            }
        }
        entry.add_people(&line, &parts);
        entry.add_dates(&dates);
        entry.identify(line.text);
        entry.unparsed = (!entry.is_known()).then(|| line.text.to_string());
        entry.repeats_authors = repeats_authors(line.text) && entry.authors.names.is_empty();
        entry.move_boundaries(&line, &parts);
        entry.set_asides_apart();
        entry.find_patent(line.text);
        entry.split_volume();
        entry.find_thesis();
        entry.doubt_volume();
        if entry.unparsed.is_none() {
            entry.keep_rest(&line, &parts);
        }
        entry.kind = EntryKind::decide(&mut entry);
        entry.settle();
        entry
    }

    fn keep(&mut self, name: &str, text: &str) {
        let text = tidy(text);
        if !text.is_empty() {
            let own = self.other.entry(name.to_string()).or_default();
            append(own, &text, ", ");
        }
    }

    pub(super) fn add(&mut self, field: Field, text: &str) {
        let text = &own_text(field, text);
        let field = kind_of_number(field, text);
        let text = match field {
            Field::Pages => pages(text),
            Field::PageTotal => page_total(text).unwrap_or_else(|| bare(text)),
            Field::Volume | Field::Number => bare(text),
            Field::Chapter => chapter(text),
            Field::Url => tidy(&with_whole_addresses(text)),
            Field::BookTitle | Field::Container | Field::Journal => {
                let name = tidy(without_in(&tidy(text)));
                abbreviated(text, without_lone_stop(&name).to_string())
            }
            Field::Series => abbreviated(text, tidy(text)),
            Field::Edition => edition(&tidy(text)).to_string(),
            // `A title // A journal`
            Field::Title => tidy(tidy(text).trim_end_matches(['/', ' '])),
            _ => tidy(text),
        };
        if text.is_empty() {
            return;
        }
        let is_remark = matches!(field, Field::Note | Field::Identifier);
        let field = if is_remark && is_isbn(&text) { Field::Isbn } else { field };
        let text = if field == Field::Isbn { isbn(&text).to_string() } else { text };
        // `volume 193 of Lecture Notes in Computer Science`
        let series = match field {
            Field::BookTitle | Field::Series | Field::Container | Field::Journal => {
                text.strip_prefix("of ")
            }
            _ => None,
        };
        let (field, text) = match series {
            Some(series) => (Field::Series, series),
            None => (field, text.as_str()),
        };
        let between = if field == Field::Title { ". " } else { ", " };
        append(self.texts.entry(field).or_default(), text, between);
    }

    /// An issue, pages or a year written with the volume.
    fn split_volume(&mut self) {
        let Some(text) = self.texts.get(&Field::Volume) else { return };
        let VolumeParts { volume, number, pages, year } = volume_parts(text);
        let volume = volume.to_string();
        let more = [(Field::Number, number), (Field::Pages, pages)];
        let more = more.into_iter().filter_map(|(field, text)| Some((field, text?)));
        let more: Vec<(Field, String)> = more.collect();
        if more.iter().all(|(field, _)| !self.texts.contains_key(field)) {
            self.texts.insert(Field::Volume, volume);
            self.texts.extend(more);
            self.date.year = self.date.year.or(year);
        }
    }

    /// Depends on the kind: the publisher of a thesis or a report is its institution, and the end
    /// of its type is its number.
    fn settle(&mut self) {
        let of_school = matches!(
            self.kind,
            EntryKind::PhdThesis | EntryKind::MastersThesis | EntryKind::TechReport
        );
        if of_school
            && !self.texts.contains_key(&Field::Institution)
            && let Some(publisher) = self.texts.remove(&Field::Publisher)
        {
            self.texts.insert(Field::Institution, publisher);
        }
        if self.kind == EntryKind::TechReport && !self.texts.contains_key(&Field::Number) {
            self.split_report();
        }
    }

    fn split_report(&mut self) {
        let mut typed = [Field::Report, Field::Genre].into_iter();
        let typed = typed.find_map(|field| Some((field, self.texts.remove(&field)?)));
        if let Some((field, report)) = typed {
            let (kind, number) = report_parts(&report);
            self.texts.extend(number.map(|number| (Field::Number, number.to_string())));
            if !kind.is_empty() {
                self.texts.insert(field, kind.to_string());
            }
        }
    }

    /// Finds identifiers in the text, whatever its labels.
    fn identify(&mut self, line: &str) {
        let Identifiers { doi, arxiv, url, others } = Identifiers::find(line);
        // An address broken in the line but joined by its label.
        let said = self.text(Field::Url).unwrap_or_default().to_string();
        let url = url.map(|url| {
            Identifiers::find(&said).url.filter(|own| own.starts_with(&url)).unwrap_or(url)
        });
        for (field, found) in [(Field::Doi, doi), (Field::Arxiv, arxiv), (Field::Url, url)] {
            let labelled = self.texts.remove(&field);
            let labelled = labelled.filter(|text| field != Field::Url || text.contains('.'));
            let labelled = labelled.filter(|text| !without_identifiers(text).is_empty());
            match (found, labelled) {
                (Some(found), _) => {
                    self.texts.insert(field, found);
                }
                // Labelled as an identifier but not recognised: a note.
                (None, Some(text)) => self.add(Field::Identifier, &text),
                (None, None) => {}
            }
        }
        // A recognised identifier is not a catalogue number too.
        let found = [Field::Doi, Field::Arxiv, Field::Url].map(|field| self.text(field));
        let is_found = |text: &str| found.iter().flatten().any(|found| text.contains(found));
        if self.text(Field::Identifier).is_some_and(is_found) {
            self.texts.remove(&Field::Identifier);
        }
        for other in others {
            append(self.texts.entry(Field::Identifier).or_default(), &other, ", ");
        }
        if self.texts.contains_key(&Field::Url) {
            self.takes_access_date(&said);
        }
    }
}

pub(super) fn append(own: &mut String, text: &str, between: &str) {
    if !own.is_empty() {
        own.push_str(between);
    }
    own.push_str(text);
}

/// What a number is, by the words beside it: `n°149` is an issue, `670 p.` counts pages.
fn kind_of_number(field: Field, text: &str) -> Field {
    match field {
        Field::Volume if is_issue(text) => Field::Number,
        Field::Pages | Field::Volume if page_total(text).is_some() => Field::PageTotal,
        _ => field,
    }
}

/// A part's text without identifiers, which have fields of their own, unless a title or container
/// would be empty.
fn own_text(field: Field, text: &str) -> Cow<'_, str> {
    if matches!(field, Field::Doi | Field::Arxiv | Field::Url) {
        return Cow::Borrowed(text);
    }
    let is_name =
        matches!(field, Field::Title | Field::Journal | Field::BookTitle | Field::Container);
    let own = without_identifiers(text);
    match is_name && !own.contains(char::is_alphanumeric) {
        true => Cow::Borrowed(text),
        false => own,
    }
}

/// The number without its name: `ISBN-13: 978-3-16-148410-0`.
fn isbn(text: &str) -> &str {
    let upper = text.to_ascii_uppercase();
    let Some(name) = upper.find("ISBN") else { return text };
    let rest = &text[name + 4..];
    let rest =
        ["-10", "-13", " 10:", " 13:"].iter().find_map(|n| rest.strip_prefix(n)).unwrap_or(rest);
    let number = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    if number.is_empty() { text } else { number }
}

/// Whether a text is an ISBN with its name.
fn is_isbn(text: &str) -> bool {
    let number = isbn(text);
    let digits = number.chars().filter(|c| c.is_ascii_digit() || matches!(c, 'X' | 'x')).count();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, 'X' | 'x' | ' ') || is_dash(c);
    text.get(..4).is_some_and(|name| name.eq_ignore_ascii_case("isbn"))
        && matches!(digits, 10 | 13)
        && number.chars().all(is_number)
}

/// Without the `In:` or `dans` before a container.
fn without_in(text: &str) -> &str {
    let mut words = ["In", "in", "Dans", "dans", "En:", "en:"].into_iter();
    let rest = words.find_map(|word| text.strip_prefix(word).filter(|rest| is_apart(rest, word)));
    rest.map_or(text, |rest| rest.trim_start_matches([' ', ':', ',']))
}

fn is_apart(rest: &str, word: &str) -> bool {
    rest.starts_with([' ', ':']) || word.ends_with(':')
}

/// With its final stop, if several of its words are abbreviated: `Class. Quantum Grav.`
fn abbreviated(text: &str, tidied: String) -> String {
    let is_short = |words: &str| {
        let word = words.rsplit(' ').next().unwrap_or(words);
        word.chars().count() <= 7 && word.ends_with(char::is_alphabetic)
    };
    let stopped = text.trim_end_matches([',', ';', ':', ' ']).ends_with('.');
    let mut others = tidied.match_indices(". ").map(|(at, _)| &tidied[..at]).peekable();
    let abbreviated =
        stopped && others.peek().is_some() && others.all(is_short) && is_short(&tidied);
    if abbreviated { tidied + "." } else { tidied }
}
