//! Labels that are off by a little, put right where the text leaves no doubt.

use super::assembly::Labelled;
use super::field::Field;
use super::parts::Part;
use crate::entry::Entry;
use crate::numbers::access::{is_date, words};
use crate::numbers::date::Date;
use crate::people::name::{Name, People};
use crate::people::{is_initials, is_organisation};
use crate::text::tidy::tidy;

/// Containers, and places in them, that labels take for something else.
pub(super) fn name_containers(line: &Labelled, parts: &mut Vec<Part>) {
    set_errata_apart(line, parts);
    doubt_journals(line, parts);
    name_books(line, parts);
}

/// Where an erratum or a reprint is, `erratum: 1995, AJ, 110, 2439`, is a remark.
fn set_errata_apart(line: &Labelled, parts: &mut Vec<Part>) {
    const ELSEWHERE: [&str; 7] =
        ["erratum", "errata", "corrigendum", "corrigenda", "addendum", "reprinted", "reprint"];
    let is_elsewhere = |part: &Part| {
        let first = words(line.text_of(&part.tokens)).next().map(str::to_lowercase);
        part.field == Some(Field::Note) && first.is_some_and(|w| ELSEWHERE.contains(&w.as_str()))
    };
    let is_place = |part: &&Part| {
        let place = [Field::Journal, Field::Volume, Field::Number, Field::Pages];
        is_date(part.field) || part.field.is_some_and(|field| place.contains(&field))
    };
    let Some(at) = parts.iter().position(is_elsewhere) else { return };
    let end = at + 1 + parts[at + 1..].iter().take_while(is_place).count();
    parts[at].tokens.end = parts[end - 1].tokens.end;
    parts.drain(at + 1..end);
}

/// What follows `In` and has no volume may be a book or proceedings, whatever its label.
fn doubt_journals(line: &Labelled, parts: &mut [Part]) {
    let is_volume = |part: &Part| matches!(part.field, Some(Field::Volume | Field::Number));
    if parts.iter().any(is_volume) {
        return;
    }
    for part in parts.iter_mut().filter(|part| part.field == Some(Field::Journal)) {
        if begins_with_in(line.text_of(&part.tokens)) {
            part.field = Some(Field::Container);
        }
    }
}

/// Whether a part begins with `In` or `dans`.
fn begins_with_in(text: &str) -> bool {
    let text = text.trim_start_matches(['(', '[', ',', ' ']);
    let first = text.split([' ', ':']).next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "in" | "dans")
}

/// What follows `In: A. Weber (Hrsg.):` is a book, not its publisher, if another publisher or a place
/// comes later and nothing else is a container.
fn name_books(line: &Labelled, parts: &mut [Part]) {
    let is_container = |part: &Part| {
        matches!(part.field, Some(Field::Journal | Field::BookTitle | Field::Container))
    };
    let introduces = |part: &Part| {
        part.field == Some(Field::Editor) && begins_with_in(line.text_of(&part.tokens))
    };
    if parts.iter().any(is_container) {
        return;
    }
    let found = (1..parts.len()).find(|&at| {
        let is_origin = |part: &Part| matches!(part.field, Some(Field::Publisher | Field::Address));
        introduces(&parts[at - 1])
            && parts[at].field == Some(Field::Publisher)
            && parts[at + 1..].iter().any(is_origin)
    });
    if let Some(at) = found {
        parts[at].field = Some(Field::Container);
    }
}

impl Entry {
    /// Moves words over a boundary that labels missed.
    pub(super) fn move_boundaries(&mut self, line: &Labelled, parts: &[Part]) {
        self.take_first_name(line, parts);
        self.take_organisation();
        self.take_season();
    }

    /// `Müller,` `Hans: Die Flüsse` has the first name in the title.
    fn take_first_name(&mut self, line: &Labelled, parts: &[Part]) {
        const MOST_NAMES: usize = 2;
        let is_cut = parts.windows(2).any(|pair| {
            let fields = (pair[0].field, pair[1].field);
            fields == (Some(Field::Author), Some(Field::Title))
                && line.text_of(&pair[0].tokens).trim_end().ends_with(',')
        });
        let [name] = &self.authors.names[..] else { return };
        let is_half = is_cut && name.given.is_empty() && !name.is_whole && !self.authors.others;
        let Some((given, title)) = self.text(Field::Title).and_then(|title| title.split_once(':'))
        else {
            return;
        };
        let is_name = |word: &str| {
            let letters = |c: char| c.is_alphabetic() || matches!(c, '-' | '.');
            word.starts_with(char::is_uppercase) && word.chars().all(letters)
        };
        let mut words = given.split_whitespace();
        let is_given = given.split_whitespace().count() <= MOST_NAMES && words.all(is_name);
        if is_half && is_given && !given.is_empty() {
            let whole = Name::inverted(&name.family, given);
            let title = tidy(title);
            self.authors.names = whole.into_iter().collect();
            self.texts.insert(Field::Title, title);
        }
    }

    /// An organisation before the title, if there is nobody else.
    fn take_organisation(&mut self) {
        const FEWEST: usize = 2;
        if !self.authors.names.is_empty() || !self.editors.names.is_empty() {
            return;
        }
        let Some((first, rest)) = self.text(Field::Title).and_then(|title| title.split_once(". "))
        else {
            return;
        };
        let small = |word: &str| matches!(word, "of" | "for" | "and" | "on" | "the" | "in" | "&");
        let is_name = first
            .split_whitespace()
            .all(|word| small(word) || word.starts_with(char::is_uppercase));
        let is_author = is_organisation(first) && is_name && !first.starts_with("The ");
        if is_author
            && rest.split_whitespace().count() >= FEWEST
            && !first.split_whitespace().any(is_initials)
        {
            let names = Name::whole(first).into_iter().collect();
            let title = rest.to_string();
            self.authors = People { names, others: false };
            self.texts.insert(Field::Title, title);
        }
    }

    /// `Tetrahedron Lett. 3169 (1978)`: a number alone that is too large for a volume is a page.
    pub(super) fn doubt_volume(&mut self) {
        const LARGEST: u32 = 1000;
        let is_alone = [Field::Pages, Field::Number, Field::Series, Field::BookTitle, Field::Genre]
            .iter()
            .all(|field| !self.texts.contains_key(field));
        let volume = self.text(Field::Volume).and_then(|text| text.parse::<u32>().ok());
        if is_alone
            && self.texts.contains_key(&Field::Journal)
            && volume.is_some_and(|volume| volume >= LARGEST)
            && let Some(page) = self.texts.remove(&Field::Volume)
        {
            self.texts.insert(Field::Pages, page);
        }
    }

    /// A season or a month at the end of the container: `Water Review, Spring`.
    fn take_season(&mut self) {
        if self.date.year.is_none() || self.date.month.is_some() || self.date.season.is_some() {
            return;
        }
        for field in [Field::Journal, Field::Container, Field::BookTitle] {
            let Some((container, last)) = self.text(field).and_then(|text| text.rsplit_once(", "))
            else {
                continue;
            };
            let date = Date::read(last);
            let is_date = date.year.is_none() && date != Date::default();
            if is_date && !last.contains(' ') && last.chars().all(|c| c.is_alphabetic() || c == '.')
            {
                let container = container.to_string();
                self.texts.insert(field, container);
                (self.date.month, self.date.season) = (date.month, date.season);
                return;
            }
        }
    }
}
