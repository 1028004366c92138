//! The kind of work a reference is to.

use super::field::Field;
use crate::entry::Entry;

/// The kinds of works in BibTeX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// In a journal.
    Article,
    /// In proceedings.
    InProceedings,
    /// In a book.
    InCollection,
    /// A book.
    Book,
    /// A doctoral thesis.
    PhdThesis,
    /// A thesis for another degree.
    MastersThesis,
    /// A report of an institution.
    TechReport,
    /// Anything else.
    #[default]
    Misc,
}

/// Whole words and abbreviations: `Signal Processing` is not `Proc.`
#[rustfmt::skip]
const PROCEEDINGS: &[&str] = &[
    "proceedings", "proceeding", "proc", "procs", "conference", "conferences", "conf", "symposium",
    "symposia", "symp", "sympos", "workshop", "workshops", "congress", "colloquium", "colloquia",
    "colloq", "meeting", "meetings", "advances in neural", "konferenz", "kongress", "tagung",
    "congrès", "congreso", "actes", "atti",
];
/// Books whose chapters are by others.
#[rustfmt::skip]
const COLLECTIONS: &[&str] = &[
    "handbook", "handbuch", "encyclopedia", "encyclopaedia", "enzyklopädie", "encyclopédie", "essays",
    "festschrift", "companion", "anthology", "manuel", "manual",
];
#[rustfmt::skip]
const JOURNALS: &[&str] = &[
    "journal", "journals", "transactions", "trans", "letters", "lett", "review", "reviews",
    "rev", "annals", "annales", "annalen", "ann", "bulletin", "bull", "magazine", "quarterly", "acta",
    "zeitschrift", "revue", "revista", "rivista",
];
#[rustfmt::skip]
const REPORTS: &[&str] = &[
    "report", "reports", "rep", "memo", "memos", "memorandum", "memoranda", "tech", "technical",
    "techreport", "working paper", "working papers", "rapport", "rapports", "bericht",
];
#[rustfmt::skip]
const THESES: &[&str] = &[
    "thesis", "theses", "dissertation", "dissertations", "diss", "thèse", "habilitation",
    "habilitationsschrift", "doktorarbeit", "masterarbeit", "diplomarbeit",
    "bachelorarbeit", "magisterarbeit", "tesis", "tesina", "tesi", "tese", "dissertação",
    "proefschrift", "диссертация", "inauguraldissertation", "promotionsschrift", "mémoire",
];
const DOCTORATES: &[&str] = &[
    "phd",
    "ph.d",
    "ph. d",
    "doctoral",
    "doctorate",
    "dphil",
    "d.phil",
    "doctorat",
    "doctorado",
    "doutorado",
    "dottorato",
];
#[rustfmt::skip]
const OTHER_DEGREES: &[&str] = &[
    "master", "masters", "masterarbeit", "m.s", "m. s", "ms", "m.sc", "msc", "m.a", "m. a", "ma",
    "m.phil", "mphil", "diplom", "diploma", "diplomarbeit", "magister", "magisterarbeit",
    "bachelor", "bachelors", "bachelorarbeit", "b.a", "b.s", "b.sc", "bsc", "laurea", "maestría",
    "maestria", "máster", "mestrado", "licenciatura", "grado", "mémoire",
];

impl EntryKind {
    /// The name in BibTeX.
    pub fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::InProceedings => "inproceedings",
            Self::InCollection => "incollection",
            Self::Book => "book",
            Self::PhdThesis => "phdthesis",
            Self::MastersThesis => "mastersthesis",
            Self::TechReport => "techreport",
            Self::Misc => "misc",
        }
    }

    /// The first that holds:
    ///
    /// 1. there is a thesis, or a type or genre that says thesis or dissertation, or, without a
    ///    container, a note that does: a master's thesis if it says so (or diploma, bachelor), else
    ///    a doctoral one;
    /// 2. the genre says patent: anything else; there is a journal: an article;
    /// 3. there is a container that may be a book or a journal: an article if it sounds like a
    ///    journal and not like proceedings, else in a book or in proceedings. Without a title it is
    ///    the book itself, with pages a part of it, and with volume and pages and no sign of a book
    ///    an article;
    /// 4. a type or genre says report, memo or working paper, or there is a type and an
    ///    institution: a report;
    /// 5. there is a publisher, an edition or an ISBN: a book;
    /// 6. anything else.
    ///
    /// The container is then known to be a journal or a book, and stored as such.
    pub(crate) fn decide(entry: &mut Entry) -> Self {
        settle_container(entry);
        let says = |field: Field, words: &[&str]| {
            entry.text(field).is_some_and(|text| contains(text, words))
        };
        let has = |field: Field| entry.texts.contains_key(&field);
        let is_inside = has(Field::Journal) || has(Field::BookTitle);
        let typed = says(Field::Report, THESES) || says(Field::Genre, THESES);
        if has(Field::Thesis) || typed || !is_inside && says(Field::Note, THESES) {
            let any = |words: &[&str]| {
                let fields = [Field::Thesis, Field::Report, Field::Genre, Field::Note];
                fields.iter().any(|&field| says(field, words))
            };
            let is_doctorate = any(DOCTORATES) || !any(OTHER_DEGREES);
            return if is_doctorate { Self::PhdThesis } else { Self::MastersThesis };
        }
        if entry.text(Field::Genre).is_some_and(says_patent) {
            return Self::Misc;
        }
        if has(Field::Journal) {
            return Self::Article;
        }
        if has(Field::BookTitle) {
            let inside = if is_in_book(entry) { Self::InCollection } else { Self::InProceedings };
            if has(Field::Title) {
                return inside;
            }
            let found = [Field::Volume, Field::Pages, Field::Publisher, Field::Series].map(has);
            let (kind, field) = match found {
                [true, true, false, false] if entry.editors.names.is_empty() => {
                    (Self::Article, Field::Journal)
                }
                [_, true, ..] => return inside,
                _ => (Self::Book, Field::Title),
            };
            let title = entry.texts.remove(&Field::BookTitle).unwrap_or_default();
            entry.texts.insert(field, title);
            return kind;
        }
        let says = |field: Field| entry.text(field).is_some_and(is_report);
        let typed = has(Field::Institution)
            && entry.text(Field::Report).is_some_and(|text| !says_manuscript(text));
        if says(Field::Report) || says(Field::Genre) || typed {
            return Self::TechReport;
        }
        match [Field::Publisher, Field::Edition, Field::Isbn].into_iter().any(has) {
            true => Self::Book,
            false => Self::Misc,
        }
    }
}

/// Whether a type says report, or is the number of one, `TR95-90`.
fn is_report(text: &str) -> bool {
    let number = text.strip_prefix("TR").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    number || contains(text, REPORTS)
}

/// A container is a journal if it sounds like one and not like proceedings, else a book.
fn settle_container(entry: &mut Entry) {
    let Some(text) = entry.texts.remove(&Field::Container) else { return };
    let sounds_like_journal = text.starts_with("J. ") || contains(&text, JOURNALS);
    let is_journal = sounds_like_journal && !contains(&text, PROCEEDINGS);
    let field = if is_journal { Field::Journal } else { Field::BookTitle };
    let own = entry.texts.entry(field).or_default();
    *own = if own.is_empty() { text } else { format!("{own}, {text}") };
}

/// Whether a container is a book with chapters: it has a field that books have, and its title
/// neither sounds like proceedings nor has the acronym or year of a meeting, `ICML 2001`, `CRYPTO
/// '99`.
fn is_in_book(entry: &Entry) -> bool {
    let Some(title) = entry.text(Field::BookTitle) else { return false };
    if entry.texts.contains_key(&Field::Chapter) {
        return true;
    }
    let of_book = [Field::Publisher, Field::Edition, Field::Isbn];
    let is_book = contains(title, COLLECTIONS)
        || !entry.editors.names.is_empty()
        || of_book.into_iter().any(|field| entry.texts.contains_key(&field));
    let words = || title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_year = words()
        .any(|word| matches!(word.len(), 2 | 4) && word.bytes().all(|byte| byte.is_ascii_digit()));
    let has_short_name =
        words().any(|word| word.chars().nth(2).is_some() && word.chars().all(char::is_uppercase));
    let is_in_capitals = !title.contains(char::is_lowercase) && words().nth(2).is_some();
    let is_meeting = has_year || has_short_name && !is_in_capitals;
    is_book && !is_meeting && !contains(title, PROCEEDINGS)
}

/// Whether a text says that it is a thesis.
pub(crate) fn says_thesis(text: &str) -> bool {
    contains(text, THESES)
}

impl Entry {
    /// Whether it is a patent: its type, number, container or note says so.
    pub(crate) fn is_patent(&self) -> bool {
        let fields = [
            Field::Genre,
            Field::Report,
            Field::Number,
            Field::BookTitle,
            Field::Note,
            Field::Identifier,
            Field::Publisher,
            Field::Institution,
        ];
        self.kind == EntryKind::Misc
            && fields.iter().any(|&field| self.text(field).is_some_and(says_patent))
    }
}

/// Whether a text says that it is a patent.
pub(super) fn says_patent(text: &str) -> bool {
    contains(text, &["patent", "patents", "patentschrift", "brevet", "patente"])
}

/// Whether a type says that it was never published.
pub(crate) fn says_manuscript(text: &str) -> bool {
    contains(text, &["manuscript", "unpublished"])
}

/// Whether a text has one of these as a whole word.
fn contains(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(char::is_alphanumeric)
                && !text[at + word.len()..].starts_with(char::is_alphabetic)
        })
    })
}
