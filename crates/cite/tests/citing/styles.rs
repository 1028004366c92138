//! Styles and languages that differ from the usual ones.

use bethe_cite::{Entry, EntryKind, Field, SameAuthors, bibtex, csl, fields};
use serde_json::json;

use crate::{flat, of_labels};

#[test]
fn german_references_have_their_fields() {
    let entry = flat(&[
        ("author", "Müller, Hans:"),
        ("title", "Die Flüsse."),
        ("container-title", "In: Handbuch der Gewässer,"),
        ("editor", "Weber, Karl (Hrsg.):"),
        ("volume", "Bd. 2,"),
        ("location", "Berlin:"),
        ("publisher", "Springer"),
        ("date", "1998,"),
        ("pages", "S. 593–717."),
    ]);
    let expected = json!({
        "author": [{"family": "Müller", "given": "Hans"}], "title": "Die Flüsse",
        "booktitle": "Handbuch der Gewässer", "editor": [{"family": "Weber", "given": "Karl"}],
        "volume": "2", "address": "Berlin", "publisher": "Springer", "year": 1998,
        "pages": "593--717",
    });
    assert_eq!(fields(&entry), expected);
    assert_eq!(entry.kind, EntryKind::InCollection);
}

#[test]
fn french_references_have_their_fields() {
    let entry = flat(&[
        ("author", "DUPONT Jean,"),
        ("title", "« Les fleuves »,"),
        ("container-title", "dans Histoire des eaux,"),
        ("editor", "Anne Petit (dir.),"),
        ("location", "Paris,"),
        ("publisher", "Seuil,"),
        ("date", "2002,"),
        ("pages", "670 p."),
    ]);
    let shown = fields(&entry);
    assert_eq!(shown["title"], "Les fleuves");
    assert_eq!(shown["booktitle"], "Histoire des eaux");
    assert_eq!(shown["editor"], json!([{"family": "Petit", "given": "Anne"}]));
    assert_eq!((&shown["pagetotal"], shown.get("pages")), (&json!("670"), None));
    let issue = flat(&[("title", "Eaux."), ("journal", "L'Eau,"), ("volume", "n°149,")]);
    assert_eq!((issue.text(Field::Number), issue.text(Field::Volume)), (Some("149"), None));
    let both = flat(&[("title", "Eaux."), ("journal", "L'Eau,"), ("volume", "vol. 12, n° 3,")]);
    assert_eq!((both.text(Field::Number), both.text(Field::Volume)), (Some("3"), Some("12")));
}

#[test]
fn years_may_have_letters_seasons_and_an_original() {
    let entry = flat(&[("author", "Li, A."), ("date", "2006a."), ("title", "Rivers.")]);
    assert_eq!((entry.key().as_str(), entry.date.year), ("li2006arivers", Some(2006)));
    assert_eq!(csl(&entry, "x")["year-suffix"], "a");
    let entry = flat(&[("author", "Li, A."), ("date", "2001[1953]."), ("title", "Rivers.")]);
    assert_eq!((entry.date.year, entry.original), (Some(2001), Some(1953)));
    let text = bibtex(&entry, "x");
    assert!(text.contains("year = {2001}") && text.contains("origdate = {1953}"), "{text}");
    let entry = flat(&[("title", "Rivers."), ("journal", "Water"), ("date", "Herbst 1999")]);
    assert!(bibtex(&entry, "x").contains("issue = {Autumn}"));
    // Two years that one date does not hold.
    let entry = flat(&[("title", "Rivers."), ("date", "1918, 1922")]);
    assert_eq!((entry.date.year, entry.remarks().as_deref()), (Some(1918), Some("1918, 1922")));
}

#[test]
fn access_dates_are_kept_as_such() {
    let (title, url) = (("title", "Rivers."), ("url", "https://a.org/b"));
    for last in [
        ("date", "Accessed 12 May 2020."),
        ("note", "Zugriff am 12.5.2020"),
        ("url", "(retrieved May 12, 2020)"),
        ("note", "[consulté le 12 mai 2020]"),
    ] {
        let entry = flat(&[title, url, last]);
        assert_eq!(entry.accessed.in_numbers().as_deref(), Some("2020-05-12"), "{last:?}");
        assert_eq!((entry.date.year, entry.remarks()), (None, None), "{last:?}");
        assert!(bibtex(&entry, "x").contains("urldate = {2020-05-12}"));
    }
    let entry = flat(&[title, url, ("date", "accessed in spring")]);
    assert_eq!(entry.remarks().as_deref(), Some("accessed in spring"));
}

#[test]
fn theses_and_patents_are_known_by_their_words() {
    let title = ("title", "Rivers.");
    for second in [
        ("container-title", "Ph.D. thesis, Leiden University"),
        ("publisher", "Dissertation, Leiden University"),
        ("container-title", "Thèse de doctorat, Leiden University"),
        ("institution", "Unpublished doctoral dissertation, Leiden University"),
    ] {
        let entry = flat(&[title, second]);
        assert_eq!(entry.kind, EntryKind::PhdThesis, "{second:?}");
        assert_eq!(entry.text(Field::Institution), Some("Leiden University"), "{second:?}");
    }
    // A journal about theses is none.
    let journal = ("journal", "Annual Review of Current Theses in the History of Water");
    assert_eq!(flat(&[title, journal]).kind, EntryKind::Article);
    for second in [("number", "U.S. Patent No. 5,123,456"), ("genre", "European patent EP 1234")] {
        assert_eq!(csl(&flat(&[title, second]), "x")["type"], "patent", "{second:?}");
    }
}

#[test]
fn a_dash_stands_for_the_authors_before() {
    let mut same = SameAuthors::default();
    let mut entries = [
        flat(&[("author", "Li, A."), ("title", "Rivers."), ("date", "1999.")]),
        flat(&[("author", "———."), ("title", "Lakes."), ("date", "2001.")]),
        of_labels("--- . Seas", &["O", "O", "B-title"]),
        Entry::unparsed("¿?"),
        of_labels("[4] ___ . Coasts", &["B-citation-number", "O", "O", "B-title"]),
        flat(&[("author", "Xu, B."), ("title", "Springs — and wells.")]),
        flat(&[("title", "– a dash of water")]),
    ];
    entries.iter_mut().for_each(|entry| same.fill(entry));
    let first = |entry: &Entry| entry.authors.names.first().map(|name| name.family.clone());
    let found: Vec<String> = entries.iter().map(|entry| first(entry).unwrap_or_default()).collect();
    assert_eq!(found, ["Li", "Li", "Li", "", "Li", "Xu", ""]);
    assert_eq!(entries[1].key(), "li2001lakes");
    // Nobody was named before.
    let mut alone = flat(&[("author", "———."), ("title", "Lakes.")]);
    SameAuthors::default().fill(&mut alone);
    assert!(alone.authors.names.is_empty() && alone.repeats_authors);
}

#[test]
fn what_has_no_field_becomes_a_note() {
    let labels = ["B-title", "I-title", "O", "O", "O", "O", "B-year"];
    let entry = of_labels("Rivers , seen in Asia , 1999", &labels);
    assert_eq!(entry.remarks().as_deref(), Some("seen in Asia"));
    let labels = ["B-title", "O", "O", "O", "B-journal"];
    assert_eq!(of_labels("Rivers . In : Water", &labels).remarks(), None);
    let entry = flat(&[("title", "Rivers."), ("note", "Available from:")]);
    assert_eq!(entry.remarks(), None);
    let entry = flat(&[("title", "Vagabond."), ("director", "A. Varda")]);
    assert!(bibtex(&entry, "x").contains("note = {director: A. Varda}"));
    let entry = flat(&[("title", "Rivers."), ("doi", "doi:10.1000/182, doi:10.1000/183")]);
    assert_eq!(entry.text(Field::Doi), Some("10.1000/182"));
    assert_eq!(entry.remarks().as_deref(), Some("doi:10.1000/183"));
}

#[test]
fn words_move_over_a_boundary_that_labels_missed() {
    let german = flat(&[("author", "Müller,"), ("title", "Hans Karl: Die Flüsse: Eine Reise.")]);
    let expected = json!({
        "author": [{"family": "Müller", "given": "Hans Karl"}], "title": "Die Flüsse: Eine Reise",
    });
    assert_eq!(fields(&german), expected);
    // A title with a colon behind a whole name stays.
    let whole = flat(&[("author", "Müller, Hans,"), ("title", "Europa: Die Flüsse.")]);
    assert_eq!(whole.text(Field::Title), Some("Europa: Die Flüsse"));
    let book = flat(&[
        ("author", "Weber, Karl:"),
        ("title", "Handel."),
        ("editor", "In: Schmidt, Otto (Hrsg.):"),
        ("publisher", "Handbuch der Wirtschaft,"),
        ("location", "Stuttgart:"),
        ("publisher", "Fischer"),
    ]);
    assert_eq!(book.text(Field::BookTitle), Some("Handbuch der Wirtschaft"));
    assert_eq!(
        (book.text(Field::Publisher), book.kind),
        (Some("Fischer"), EntryKind::InCollection)
    );
    let title = "Organisation for Economic Co-operation and Development. Health at a glance.";
    let entry = flat(&[("title", title), ("date", "2019.")]);
    assert_eq!(entry.text(Field::Title), Some("Health at a glance"));
    assert!(entry.authors.names[0].is_whole);
    for title in ["The Society of Friends. A history.", "History of water. A study."] {
        assert!(flat(&[("title", title)]).authors.names.is_empty(), "{title}");
    }
    let season = flat(&[("title", "Ice."), ("journal", "Water Review, Spring"), ("date", "2006.")]);
    assert_eq!(season.text(Field::Journal), Some("Water Review"));
    assert!(bibtex(&season, "x").contains("issue = {Spring}"));
    let month = flat(&[("title", "Ice."), ("journal", "Nature, Sept."), ("date", "2006.")]);
    assert_eq!((month.text(Field::Journal), month.date.month), (Some("Nature"), Some(9)));
}

#[test]
fn a_patent_is_none_of_a_journal() {
    let labels = [
        "B-title",
        "I-title",
        "B-journal",
        "I-journal",
        "B-volume",
        "I-volume",
        "B-date",
        "I-date",
    ];
    let entry = of_labels("Ice. US Patent 5,123,456, 1992.", &labels);
    let shown = fields(&entry);
    assert_eq!((&shown["genre"], &shown["number"]), (&json!("US Patent"), &json!("5,123,456")));
    assert_eq!((shown.get("journal"), shown.get("volume")), (None, None));
    let item = csl(&entry, "x");
    assert_eq!((&item["type"], &item["number"]), (&json!("patent"), &json!("5,123,456")));
    let journal =
        flat(&[("title", "Ice."), ("journal", "Journal of Patent Law"), ("volume", "12")]);
    assert_eq!((journal.kind, journal.text(Field::Volume)), (EntryKind::Article, Some("12")));
}

#[test]
fn text_beside_an_identifier_is_kept() {
    let entry = flat(&[("title", "Ice."), ("doi", "doi:10.1000/182. Erratum in doi:10.1000/183.")]);
    let remarks = entry.remarks().unwrap_or_default();
    assert!(remarks.contains("Erratum") && remarks.contains("10.1000/183"), "{remarks}");
}

#[test]
fn an_erratum_is_elsewhere() {
    let entry = flat(&[
        ("author", "Li, A."),
        ("journal", "AJ,"),
        ("volume", "109,"),
        ("pages", "1239;"),
        ("note", "erratum:"),
        ("date", "1995,"),
        ("journal", "AJ,"),
        ("volume", "110,"),
        ("pages", "2439"),
    ]);
    let text = |field| entry.text(field);
    let place = [Field::Journal, Field::Volume, Field::Pages].map(text);
    assert_eq!(place, [Some("AJ"), Some("109"), Some("1239")]);
    assert_eq!(text(Field::Note), Some("erratum: 1995, AJ, 110, 2439"));
}

#[test]
fn what_a_reader_cannot_take_becomes_a_note() {
    let title = ("title", "Rivers.");
    for (label, text, note) in [
        ("date", "bar; 2001", "bar"),
        ("date", "June 12–15, 2004", "June 12–15, 2004"),
        ("date", "1998-99", "1998-99"),
        ("note", "Retrieved June 19, 1998, from Alderman Library", "from Alderman Library"),
        ("date", "(retrieved May 12, 2020, LexisNexis AU)", "LexisNexis AU"),
        ("url", "Erratum: https://a.org/b and https://a.org/c", "Erratum, https://a.org/c"),
        ("author", "A. Li et al. 1999 bis", "1999 bis"),
        ("translator", "B. Xu; revised by C. Ek", "revised by C. Ek"),
    ] {
        let entry = flat(&[title, (label, text)]);
        let remarks = entry.remarks().unwrap_or_default();
        assert!(remarks.contains(note), "{label} {text}: {remarks}");
    }
    // What a reader leaves out on purpose does not.
    for (label, text) in [
        ("date", "12th May 2004"),
        ("author", "Dr. A. Li, Ph.D., and others (eds.)"),
        ("author", "World Health Organization (WHO)"),
        ("pages", "pp215--217"),
        ("pages", "312 Seiten"),
        ("volume", "Bd. 12, Heft 3 (1988)"),
        ("edition", "2nd rev. ed."),
        ("isbn", "ISBN-13: 978-3-16-148410-0"),
        ("doi", "Available from: https://doi.org/10.1000/182"),
        ("editor", "Edited by A. Li, Hrsg. von B. Xu"),
    ] {
        assert_eq!(flat(&[title, (label, text)]).remarks(), None, "{label} {text}");
    }
}
