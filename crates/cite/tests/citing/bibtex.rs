use bethe_cite::{Entry, Field, Keys, Name, People, bibtex, escaped, title};
use proptest::prelude::*;

use crate::reader::{printed, read};
use crate::{flat, of_labels};

#[test]
fn an_article_has_the_fields_that_people_paste() {
    let entry = flat(&[
        ("author", "Bai, Z. D. and van der Hooft, J., Jr."),
        ("date", "(12 May 2004)."),
        ("title", "A CLT for Wishart matrices & more."),
        ("journal", "Ann. Probab."),
        ("volume", "32"),
        ("number", "(1A),"),
        ("pages", "pp. 553–605."),
        ("doi", "doi:10.1214/aop/1078415845"),
    ]);
    let expected = "@article{bai2004clt,
  author = {Bai, Z. D. and van der Hooft, Jr., J.},
  title = {A {CLT} for {Wishart} matrices \\& more},
  journal = {Ann. Probab.},
  volume = {32},
  number = {1A},
  pages = {553--605},
  year = {2004},
  month = may,
  day = {12},
  doi = {10.1214/aop/1078415845},
}
";
    assert_eq!(bibtex(&entry, &entry.key()), expected);
}

#[test]
fn schools_types_and_addresses_have_the_names_of_their_kind() {
    let thesis = flat(&[
        ("author", "A. Li."),
        ("title", "Rivers."),
        ("thesis", "PhD thesis,"),
        ("school", "Leiden University."),
    ]);
    let text = bibtex(&thesis, "x");
    assert!(
        text.starts_with("@phdthesis{x,") && text.contains("school = {Leiden University}"),
        "{text}"
    );
    assert!(!text.contains("type ="), "{text}");
    let report = flat(&[("title", "Rivers."), ("tech", "Report TR-7,"), ("institution", "IHES.")]);
    let text = bibtex(&report, "x");
    assert!(
        text.contains("number = {TR-7}")
            && !text.contains("type =")
            && text.contains("institution = {IHES}"),
        "{text}"
    );
    let web = flat(&[("title", "Rivers."), ("url", "http://a.org/b_c%20{d}/e")]);
    assert!(bibtex(&web, "x").contains("url = {http://a.org/b_c%20%7Bd%7D/e}"));
}

#[test]
fn names_stay_whole() {
    let entry = of_labels(
        "[NuTeV Collaboration], A. Li et al.",
        &[
            "B-authors:B-institution",
            "I-authors:I-institution",
            "I-authors:I-institution",
            "I-authors:I-institution",
            "I-authors:I-institution",
            "I-authors:B-person:B-person-first",
            "I-authors:I-person:B-person-last",
            "I-authors",
            "I-authors",
            "I-authors",
        ],
    );
    let text = bibtex(&entry, "x");
    assert!(text.contains("author = {{NuTeV Collaboration} and Li, A. and others}"), "{text}");
}

#[test]
fn names_are_parted_only_where_they_end() {
    // Labels that take `and` for a first name.
    let entry = of_labels(
        "Wonham, and W.",
        &[
            "B-authors:B-person:B-person-last",
            "I-authors:I-person:I-person-last",
            "I-authors:I-person:B-person-first",
            "I-authors:B-person:B-person-first",
        ],
    );
    assert!(bibtex(&entry, "x").contains("author = {Wonham and {W.}}"));
    let names = |given: &str, family: &str, suffix: &str| {
        let name = Name::of_parts(given, family, suffix);
        let authors = People { names: name.into_iter().collect(), others: false };
        let text = bibtex(&Entry { authors, ..Entry::default() }, "x");
        text.lines().nth(1).unwrap_or_default().trim().to_string()
    };
    assert_eq!(names("A. and B.", "Li", ""), "author = {Li, {A. and B.}},");
    assert_eq!(names("A.", "Li and Xu", "Jr."), "author = {{Li and Xu}, Jr., A.},");
    // A small word inside a family name is no particle.
    assert_eq!(names("José", "Ortega y Gasset", ""), "author = {{Ortega y Gasset}, José},");
    assert_eq!(names("P.", "de Ortega y Gasset", ""), "author = {de {Ortega y Gasset}, P.},");
    assert_eq!(names("bell", "hooks", ""), "author = {hooks, bell},");
    assert_eq!(names("J.", "García Márquez", ""), "author = {García Márquez, J.},");
    // Without a first name, what is behind the comma would be one.
    assert_eq!(names("", "King", "Jr."), "author = {{King, Jr.}},");
}

/// Text as it comes: words, marks, LaTeX, other scripts.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[A-Za-z]{1,8}",
        "[0-9]{1,4}",
        "[ .,;:()\\[\\]\"'–-]{1,3}",
        "[{}$&%#_^~@\\\\|<>=`´]{1,3}",
        "[а-яА-Я王明éüőØß]{1,4}",
        Just("http://a.b/c".to_string()),
        Just("et al.".to_string()),
        Just(" and ".to_string()),
        Just("10.1234/a(b)".to_string()),
        Just("Jr.".to_string()),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn any_label() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "O",
        "B-author",
        "I-author",
        "B-editor",
        "I-editor",
        "B-title",
        "I-title",
        "B-journal",
        "I-journal",
        "B-booktitle",
        "I-booktitle",
        "B-pages",
        "I-pages",
        "B-date",
        "I-date",
        "B-volume",
        "B-note",
        "B-tech",
        "B-thesis",
        "B-doi",
        "B-url",
        "B-colour",
        "B-person-first",
        "B-person-last",
        "B-container-title",
        "B-publisher",
        "B-translator",
        "B-institution",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_text_and_its_labels_an_entry_is_read_back(
        text in any_text(), labels in proptest::collection::vec(any_label(), 64),
    ) {
        let count = bethe_cite::Tokeniser::Words.tokens(&text).len();
        let own: Vec<&str> = labels.iter().cycle().take(count).copied().collect();
        let entry = if own.is_empty() { Entry::unparsed(&text) } else { of_labels(&text, &own) };
        let mut keys = Keys::default();
        let file: String = (0..3).map(|_| bibtex(&entry, &keys.unique(&entry.key()))).collect();
        let found = read(&file).map_err(TestCaseError::fail)?;
        prop_assert_eq!(found.len(), 3);
        let other = biblatex::Bibliography::parse(&file);
        prop_assert_eq!(other.map(|entries| entries.len()).ok(), Some(3), "{}", file);
        crate::ris::read(&bethe_cite::ris(&entry, "x"));
        prop_assert!(found[0].key != found[1].key && found[1].key != found[2].key);
        let item = bethe_cite::csl(&entry, &entry.key());
        crate::csl::check(&item);
        if let Some(volume) = entry.text(Field::Volume).filter(|text| !text.contains('\\')) {
            prop_assert_eq!(printed(&found[0].fields["volume"]), volume);
        }
    }

    #[test]
    fn escaped_text_is_printed_as_it_was(text in any_text()) {
        prop_assume!(!text.contains('\\'));
        prop_assert_eq!(printed(&escaped(&text)), text.clone());
        prop_assert_eq!(printed(&title(&text)), text);
    }

    #[test]
    fn braces_balance_in_any_text(text in "\\PC{0,40}") {
        let entry = Entry::unparsed(&text);
        let found = read(&bibtex(&entry, "x")).map_err(TestCaseError::fail)?;
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(&found[0].kind, "misc");
    }
}
