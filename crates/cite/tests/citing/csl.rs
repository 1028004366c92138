use bethe_cite::{Entry, csl, ris};
use serde_json::{Value, json};

use crate::flat;

/// Types of the published schema that are used here.
const TYPES: &[&str] = &[
    "article",
    "article-journal",
    "book",
    "chapter",
    "document",
    "manuscript",
    "paper-conference",
    "patent",
    "report",
    "thesis",
    "webpage",
];
/// Properties of the published schema that are strings, or strings and numbers.
const STRINGS: &[&str] = &[
    "title",
    "container-title",
    "collection-title",
    "volume",
    "issue",
    "number",
    "chapter-number",
    "page",
    "number-of-pages",
    "year-suffix",
    "publisher",
    "publisher-place",
    "edition",
    "genre",
    "DOI",
    "URL",
    "ISBN",
    "language",
    "note",
];
const NAME_PARTS: &[&str] = &["family", "given", "non-dropping-particle", "suffix", "literal"];

/// What the schema asks of an item: `type` and `id`, no property that it does not know, names of
/// strings, dates of numbers.
pub fn check(item: &Value) {
    let item = item.as_object().expect("an object");
    assert!(TYPES.contains(&item["type"].as_str().expect("a type")));
    assert!(!item["id"].as_str().expect("an id").is_empty());
    for (name, value) in item {
        match name.as_str() {
            "type" | "id" => {}
            "author" | "editor" | "translator" => {
                for person in value.as_array().expect("names") {
                    let parts = person.as_object().expect("a name");
                    assert!(parts.contains_key("family") || parts.contains_key("literal"));
                    assert!(parts.iter().all(|(part, text)| {
                        NAME_PARTS.contains(&part.as_str())
                            && text.as_str().is_some_and(|t| !t.is_empty())
                    }));
                }
            }
            "issued" | "accessed" | "original-date" => check_date(value),
            other => {
                assert!(STRINGS.contains(&other), "{other} is not in the schema");
                assert!(value.as_str().is_some_and(|text| !text.is_empty()), "{other}");
            }
        }
    }
}

/// A date: one to three integers, year, month and day, and perhaps a season; or a text.
fn check_date(date: &Value) {
    let date = date.as_object().expect("a date");
    assert!(date.keys().all(|name| ["date-parts", "season", "literal"].contains(&name.as_str())));
    if let Some(literal) = date.get("literal") {
        assert!(literal.as_str().is_some_and(|text| !text.is_empty()) && date.len() == 1);
        return;
    }
    let dates = date["date-parts"].as_array().expect("dates");
    assert_eq!(dates.len(), 1);
    let parts: Vec<u64> =
        dates[0].as_array().expect("parts").iter().map(|p| p.as_u64().unwrap()).collect();
    assert!((1..=3).contains(&parts.len()));
    assert!(parts.get(1).is_none_or(|month| (1..=12).contains(month)));
    assert!(parts.get(2).is_none_or(|day| (1..=31).contains(day)));
    assert!(date.get("season").is_none_or(|season| (1..=4).contains(&season.as_u64().unwrap())));
}

#[test]
fn dates_have_the_names_of_the_schema() {
    let entry = flat(&[
        ("title", "Rivers."),
        ("date", "Spring 2001[1953]"),
        ("url", "http://a.org/b"),
        ("note", "(accessed 12 May 2020)"),
        ("pages", "670 p."),
    ]);
    let item = csl(&entry, "x");
    check(&item);
    let expected = json!({
        "id": "x", "type": "webpage", "title": "Rivers", "URL": "http://a.org/b",
        "issued": {"date-parts": [[2001]], "season": 1}, "number-of-pages": "670",
        "original-date": {"date-parts": [[1953]]}, "accessed": {"date-parts": [[2020, 5, 12]]},
    });
    assert_eq!(item, expected);
}

#[test]
fn items_have_what_the_schema_asks_for() {
    let entry = flat(&[
        ("author", "van den Bosch, F. C., Jr., & 王明,"),
        ("title", "A title."),
        ("booktitle", "In: Proc. of the Workshop on Rivers,"),
        ("editor", "A. Li (Eds.),"),
        ("pages", "1--5,"),
        ("publisher", "Springer,"),
        ("location", "Berlin,"),
        ("date", "12 May 2004."),
    ]);
    let item = csl(&entry, "x");
    check(&item);
    let expected = json!({
        "id": "x", "type": "paper-conference", "title": "A title",
        "author": [
            {"family": "Bosch", "given": "F. C.", "non-dropping-particle": "van den", "suffix": "Jr."},
            {"literal": "王明"},
        ],
        "editor": [{"family": "Li", "given": "A."}],
        "container-title": "Proc. of the Workshop on Rivers", "page": "1-5", "publisher": "Springer",
        "publisher-place": "Berlin", "issued": {"date-parts": [[2004, 5, 12]]},
    });
    assert_eq!(item, expected);
}

#[test]
fn types_are_those_of_the_schema() {
    let title = ("title", "Rivers.");
    for (second, kind) in [
        (("booktitle", "Handbook of Natural Language Processing"), "chapter"),
        (("booktitle", "Conf. on Rivers"), "paper-conference"),
        (("genre", "Patent"), "patent"),
        (("genre", "Unpublished manuscript"), "manuscript"),
        (("journal", "Rivers"), "article-journal"),
    ] {
        assert_eq!(csl(&flat(&[title, second]), "x")["type"], kind, "{second:?}");
    }
}

#[test]
fn a_month_without_a_year_is_kept_in_words() {
    let item = csl(&flat(&[("title", "Rivers."), ("date", "May 12")]), "x");
    check(&item);
    assert_eq!(item["issued"], json!({"literal": "May 12"}));
}

#[test]
fn a_line_of_which_nothing_is_known_is_a_document_with_its_text() {
    let item = csl(&Entry::unparsed("¿?"), "reference");
    check(&item);
    assert_eq!(item, json!({"id": "reference", "type": "document", "note": "¿?"}));
}

#[test]
fn what_has_no_property_is_in_the_note() {
    let entry = flat(&[
        ("title", "Rivers."),
        ("journal", "Water,"),
        ("booktitle", "Lakes of Asia,"),
        ("publisher", "Springer,"),
        ("institution", "Leiden University,"),
        ("note", "to appear"),
        ("url", "http://a.org/b"),
        ("arxiv", "arXiv:1412.6980"),
    ]);
    let item = csl(&entry, "x");
    assert_eq!(item["note"], "to appear, Leiden University, Lakes of Asia, arXiv:1412.6980");
    let record = ris(&entry, "x");
    for text in
        ["N1  - Leiden University", "N1  - Lakes of Asia", "UR  - https://arxiv.org/abs/1412"]
    {
        assert!(record.contains(text), "{record}");
    }
}
