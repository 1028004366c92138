use bethe_cite::{Entry, csl};
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
            "issued" if value["literal"].is_string() => {}
            "issued" => {
                let parts = value["date-parts"][0].as_array().expect("parts of a date");
                assert!((1..=3).contains(&parts.len()) && parts.iter().all(Value::is_number));
            }
            other => {
                assert!(STRINGS.contains(&other), "{other} is not in the schema");
                assert!(value.as_str().is_some_and(|text| !text.is_empty()), "{other}");
            }
        }
    }
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
