//! What labels of references mean.

/// A field of a reference, whatever a data set calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// People who wrote it.
    Author,
    /// People who edited what it is in.
    Editor,
    /// People who translated it.
    Translator,
    /// One of these people.
    Person,
    /// A person's first name.
    First,
    /// Further first names.
    Middle,
    /// A person's family name.
    Last,
    /// Jr., III.
    Suffix,
    /// The title.
    Title,
    /// What follows its colon.
    Subtitle,
    /// The journal it is in.
    Journal,
    /// The book or the proceedings it is in.
    BookTitle,
    /// What it is in: a journal or a book.
    Container,
    /// The series of that book.
    Series,
    /// The volume.
    Volume,
    /// The issue, or a report's number.
    Number,
    /// The pages.
    Pages,
    /// How many pages it has.
    PageTotal,
    /// The chapter.
    Chapter,
    /// When it appeared.
    Date,
    /// The year of it.
    Year,
    /// The month of it.
    Month,
    /// The day of it.
    Day,
    /// Who published it.
    Publisher,
    /// Where.
    Address,
    /// Whose work it is: a school, a company, a collaboration.
    Institution,
    /// Which edition.
    Edition,
    /// That it is a thesis, and of which kind.
    Thesis,
    /// That it is a report, and of which kind.
    Report,
    /// What kind of thing it is.
    Genre,
    /// Remarks.
    Note,
    /// That it has not appeared.
    Status,
    /// Its DOI.
    Doi,
    /// Its number at arXiv.
    Arxiv,
    /// Its web address.
    Url,
    /// Its ISBN.
    Isbn,
    /// A number in some catalogue.
    Identifier,
    /// The mark by which a text cites it, `[7]`.
    Marker,
    /// Its language.
    Language,
}

use Field::*;

/// The names of each field: the first is ours, and that of the JSON output.
const NAMES: &[(Field, &[&str])] = &[
    (Author, &["author", "authors"]),
    (Editor, &["editor", "editors"]),
    (Translator, &["translator", "translators"]),
    (Person, &["person", "name"]),
    (First, &["person-first", "first", "given", "firstname", "first-name", "forename"]),
    (Middle, &["person-middle", "middle", "middle-name"]),
    (Last, &["person-last", "last", "family", "lastname", "last-name", "surname"]),
    (Suffix, &["person-affix", "affix", "suffix", "person-suffix"]),
    (Title, &["title", "article-title", "chapter-title"]),
    (Subtitle, &["subtitle"]),
    (Journal, &["journal", "journal-title", "periodical", "source-journal"]),
    (BookTitle, &["booktitle", "book-title", "proceedings", "conference"]),
    (Container, &["venue", "container-title", "container"]),
    (Series, &["series", "collection-title"]),
    (Volume, &["volume", "vol"]),
    (Number, &["number", "issue", "no", "report-number"]),
    (Pages, &["pages", "page", "pp"]),
    (PageTotal, &["pagetotal", "number-of-pages", "extent"]),
    (Chapter, &["chapter", "chapter-number"]),
    (Date, &["date", "issued"]),
    (Year, &["year"]),
    (Month, &["month"]),
    (Day, &["day"]),
    (Publisher, &["publisher"]),
    (Address, &["address", "location", "publisher-place", "place", "city"]),
    (
        Institution,
        &["institution", "school", "department", "organization", "organisation", "university"],
    ),
    (Edition, &["edition"]),
    (Thesis, &["thesis"]),
    (Report, &["report", "tech", "techreport", "type"]),
    (Genre, &["genre", "medium"]),
    (Note, &["note", "notes", "annotation"]),
    (Status, &["status"]),
    (Doi, &["doi"]),
    (Arxiv, &["arxiv", "eprint"]),
    (Url, &["url", "web", "link"]),
    (Isbn, &["isbn"]),
    (Identifier, &["identifier", "reference-id", "pmid", "issn"]),
    (Marker, &["marker", "ref-marker", "citation-number", "label"]),
    (Language, &["language", "lang"]),
];

impl Field {
    /// The field that data sets call so, in any case, with `_` or `-`.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_lowercase().replace('_', "-");
        let known = NAMES.iter().find(|(_, names)| names.contains(&name.as_str()));
        known.map(|&(field, _)| field)
    }

    /// The name in the JSON output.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(field, _)| *field == self).map_or("", |(_, names)| names[0])
    }

    /// Whether it is about people as a list.
    pub fn is_people(self) -> bool {
        matches!(self, Author | Editor | Translator)
    }

    /// Whether it is part of a person's name.
    pub fn is_name_part(self) -> bool {
        matches!(self, First | Middle | Last | Suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_field() {
        let mut all: Vec<&str> = NAMES.iter().flat_map(|(_, names)| *names).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for &(field, names) in NAMES {
            assert_eq!(field.name(), names[0]);
            assert!(names.iter().all(|name| Field::of(name) == Some(field)));
        }
        assert_eq!(Field::of("Reference_ID"), Some(Identifier));
        assert_eq!(Field::of("director"), None);
    }
}
