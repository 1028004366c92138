//! Entries read back by another program's reader of BibTeX.

use std::collections::BTreeMap;

use bethe_cite::{Date, Entry, EntryKind, Field, Keys, Name, People, bibtex};
use biblatex::{Bibliography, ChunksExt, PermissiveType, Person};
use proptest::prelude::*;

/// Fields of text with their names in BibTeX.
const TEXTS: [(Field, &str); 13] = [
    (Field::Title, "title"),
    (Field::Journal, "journal"),
    (Field::BookTitle, "booktitle"),
    (Field::Series, "series"),
    (Field::Volume, "volume"),
    (Field::Number, "number"),
    (Field::Pages, "pages"),
    (Field::PageTotal, "pagetotal"),
    (Field::Chapter, "chapter"),
    (Field::Publisher, "publisher"),
    (Field::Edition, "edition"),
    (Field::Address, "address"),
    (Field::Note, "note"),
];

/// Text as references have it, with every character that LaTeX or BibTeX takes for its own.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[A-Za-z]{1,8}",
        "[0-9]{1,4}",
        "[ .,;:()\\[\\]\"'/+*!?–-]{1,2}",
        "[{}$&%#_^~@|<>=`´]{1,2}",
        "[а-яА-Я王明éüőØßñ]{1,4}",
    ];
    let text = proptest::collection::vec(piece, 1..12).prop_map(|pieces| pieces.join(" "));
    text.prop_map(|text| spaced(&text))
        .prop_filter("has letters", |text| text.contains(char::is_alphanumeric))
}

fn any_name() -> impl Strategy<Value = Name> {
    let family = proptest::sample::select(vec![
        "Li",
        "Müller",
        "García Márquez",
        "O'Brien",
        "Ångström-Ek",
        "Xu & Co",
        "Ortega y Gasset",
    ]);
    let given = proptest::sample::select(vec!["", "A.", "Ann", "J.-P. B.", "José María", "A. and"]);
    let particle = proptest::sample::select(vec!["", "van der", "de la"]);
    let suffix = proptest::sample::select(vec!["", "Jr.", "III"]);
    (family, given, particle, suffix, any::<bool>()).prop_map(
        |(family, given, particle, suffix, whole)| match whole || given.is_empty() {
            true => Name {
                family: format!("{family} and Sons, Inc."),
                is_whole: true,
                ..Name::default()
            },
            false => {
                let [family, given, particle, suffix] =
                    [family, given, particle, suffix].map(str::to_string);
                Name { family, given, particle, suffix, is_whole: false }
            }
        },
    )
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let kinds = proptest::sample::select(vec![
        EntryKind::Article,
        EntryKind::InProceedings,
        EntryKind::InCollection,
        EntryKind::Book,
        EntryKind::PhdThesis,
        EntryKind::MastersThesis,
        EntryKind::TechReport,
        EntryKind::Misc,
    ]);
    let texts = proptest::collection::vec(proptest::option::of(any_text()), TEXTS.len());
    let names = proptest::collection::vec(any_name(), 0..4);
    let dates = ("[12][0-9]{3}", 0..13_u8, 0..29_u8);
    (kinds, texts, names, any::<bool>(), dates).prop_map(
        |(kind, texts, names, others, (year, month, day))| {
            let texts =
                TEXTS.iter().zip(texts).filter_map(|(&(field, _), text)| Some((field, text?)));
            let month = Some(month).filter(|&month| month > 0);
            let day = month.and(Some(day).filter(|&day| day > 0));
            let date = Date { year: year.parse().ok(), month, day, ..Date::default() };
            let texts: BTreeMap<Field, String> = texts.collect();
            Entry {
                kind,
                texts,
                authors: People { names, others },
                date,
                accessed: date,
                ..Entry::default()
            }
        },
    )
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two hyphens are a dash to LaTeX.
fn dashed(text: &str) -> String {
    spaced(text).replace("---", "—").replace("--", "–")
}

/// A person in the parts of ours.
fn parts(person: &Person) -> [String; 4] {
    [&person.name, &person.given_name, &person.prefix, &person.suffix].map(|part| spaced(part))
}

fn check(entry: &Entry, found: &biblatex::Entry) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.entry_type.to_string(), entry.kind.name());
    for (field, name) in TEXTS {
        let read = found.get(name).map(|chunks| spaced(&chunks.format_verbatim()));
        prop_assert_eq!(read, entry.text(field).map(dashed), "{}", name);
    }
    let people: Vec<Person> = found.get_as("author").unwrap_or_default();
    let mut expected: Vec<[String; 4]> = entry.authors.names.iter().map(own_parts).collect();
    if entry.authors.others && !expected.is_empty() {
        expected.push(["others", "", "", ""].map(str::to_string));
    }
    prop_assert_eq!(people.iter().map(parts).collect::<Vec<_>>(), expected);
    let date = found.date().expect("a date");
    let PermissiveType::Typed(date) = date else { return Err(TestCaseError::fail("no date")) };
    let biblatex::DateValue::At(date) = date.value else {
        return Err(TestCaseError::fail("a range"));
    };
    prop_assert_eq!(u16::try_from(date.year).ok(), entry.date.year);
    prop_assert_eq!(date.month.map(|month| month + 1), entry.date.month);
    let accessed = found.get("urldate").map(|chunks| chunks.format_verbatim());
    prop_assert_eq!(accessed, entry.accessed.in_numbers());
    Ok(())
}

fn own_parts(name: &Name) -> [String; 4] {
    match name.is_whole {
        true => [name.family.clone(), String::new(), String::new(), String::new()],
        false => {
            [name.family.clone(), name.given.clone(), name.particle.clone(), name.suffix.clone()]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_entry_is_read_back_with_the_same_fields(
        entries in proptest::collection::vec(any_entry(), 1..4),
    ) {
        let mut keys = Keys::default();
        let keyed: Vec<String> = entries.iter().map(|entry| keys.unique(&entry.key())).collect();
        let file: String = entries.iter().zip(&keyed).map(|(entry, key)| bibtex(entry, key) + "\n").collect();
        let read = Bibliography::parse(&file).map_err(|e| TestCaseError::fail(format!("{e}: {file}")))?;
        prop_assert_eq!(read.len(), entries.len());
        for (entry, key) in entries.iter().zip(&keyed) {
            check(entry, read.get(key).expect("the key"))?;
        }
    }

    #[test]
    fn identifiers_are_read_back(doi in "10\\.[0-9]{4}/[A-Za-z0-9._;()/<>:#-]{1,20}", path in "[A-Za-z0-9._~%&=?/#+-]{0,30}") {
        let url = format!("http://a.org/{path}");
        let texts = BTreeMap::from([(Field::Doi, doi.clone()), (Field::Url, url.clone())]);
        let file = bibtex(&Entry { texts, ..Entry::default() }, "x");
        let read = Bibliography::parse(&file).map_err(|e| TestCaseError::fail(format!("{e}: {file}")))?;
        let found = |name: &str| read.get("x").and_then(|x| x.get(name)).map(|c| c.format_verbatim());
        prop_assert_eq!(found("doi"), Some(doi.replace("---", "—").replace("--", "–")));
        prop_assert_eq!(found("url"), Some(url.replace("---", "—").replace("--", "–")));
    }
}
