use bethe_cite::{Entry, EntryKind, Field, fields};
use serde_json::json;

use crate::{flat, of_labels};

#[test]
fn hierarchical_labels_become_fields() {
    let entry = of_labels(
        "[3] E. W. Montroll, B. J. West, Fluctuations, in A. Li (ed.), Proc. X, 1979, pp. 61--205.",
        &[
            "B-ref-marker",
            "B-authors:B-person:B-person-first",
            "I-authors:I-person:B-person-middle",
            "I-authors:I-person:B-person-last",
            "I-authors:I-person:I-person-last",
            "I-authors:B-person:B-person-first",
            "I-authors:I-person:B-person-middle",
            "I-authors:I-person:B-person-last",
            "I-authors:I-person:I-person-last",
            "B-title",
            "I-title",
            "B-venue",
            "I-venue:B-editor:B-person:B-person-first",
            "I-venue:I-editor:I-person:B-person-last",
            "I-venue:I-editor",
            "I-venue:I-editor",
            "I-venue:B-booktitle",
            "I-venue:I-booktitle",
            "I-venue:I-booktitle",
            "I-venue:B-date:B-year",
            "I-venue:I-date:I-year",
            "I-venue:B-pages",
            "I-venue:I-pages",
            "I-venue:I-pages",
            "I-venue:I-pages",
        ],
    );
    let expected = json!({
        "marker": "3", "title": "Fluctuations", "booktitle": "Proc. X", "year": 1979, "pages": "61--205",
        "author": [{"family": "Montroll", "given": "E. W."}, {"family": "West", "given": "B. J."}],
        "editor": [{"family": "Li", "given": "A."}],
    });
    assert_eq!(fields(&entry), expected);
    assert_eq!(entry.kind, EntryKind::InProceedings);
    assert_eq!(entry.key(), "montroll1979fluctuations");
}

#[test]
fn names_that_labels_have_between_people_are_kept() {
    let labels = [
        "B-authors:B-person:B-person-first",
        "I-authors:I-person:B-person-last",
        "I-authors",
        "I-authors",
        "I-authors",
        "I-authors:B-person:B-person-first",
        "I-authors:I-person:B-person-last",
        "I-authors",
        "B-date:B-year",
    ];
    let entry = of_labels("A. Li and B. Chen C. Ng & 1979", &labels);
    let expected = json!({
        "year": 1979,
        "author": [
            {"family": "Li", "given": "A."},
            {"family": "Chen", "given": "B."},
            {"family": "Ng", "given": "C."},
        ],
    });
    assert_eq!(fields(&entry), expected);
}

#[test]
fn parts_of_names_without_a_level_for_people_are_told_apart() {
    let labels = [
        "B-person-last",
        "I-person-last",
        "B-person-first",
        "I-person-first",
        "B-person-last",
        "I-person-last",
        "B-person-first",
        "B-person-middle",
        "B-year",
    ];
    let entry = of_labels("Bai, Z., Li, A. B. 2004", &labels);
    let shown = fields(&entry);
    let expected = json!([{"family": "Bai", "given": "Z."}, {"family": "Li", "given": "A. B."}]);
    assert_eq!(shown["author"], expected);
}

#[test]
fn unknown_labels_are_kept_under_their_own_names() {
    let entry = flat(&[
        ("director", "A. Varda,"),
        ("title", "Vagabond."),
        ("colour", "red"),
        ("colour", "blue"),
    ]);
    let shown = fields(&entry);
    assert_eq!((&shown["director"], &shown["colour"]), (&json!("A. Varda"), &json!("red, blue")));
}

#[test]
fn identifiers_are_found_whatever_the_labels() {
    let entry =
        flat(&[("title", "A title."), ("note", "arXiv:1412.6980v9, https://doi.org/10.1000/182.")]);
    assert_eq!(entry.text(Field::Arxiv), Some("1412.6980v9"));
    assert_eq!(entry.text(Field::Doi), Some("10.1000/182"));
    assert_eq!(entry.text(Field::Url), None);
    // Also under the label of another kind of identifier, and then only once.
    let entry = flat(&[("title", "A title."), ("web", "doi:10.1000/182.")]);
    assert_eq!((entry.text(Field::Doi), entry.remarks()), (Some("10.1000/182"), None));
}

#[test]
fn identifiers_leave_the_fields_that_they_stand_in() {
    let entry = flat(&[
        ("title", "A title."),
        ("journal", "arXiv:1412.6980"),
        ("pages", "2278–2324, doi: 10.1109/5.726791."),
        ("note", "Available at https://doi.org/10.1109/5.726791"),
        ("url", "https://doi.org/"),
    ]);
    let expected = json!({
        "title": "A title", "pages": "2278--2324", "doi": "10.1109/5.726791", "arxiv": "1412.6980",
        // All that is known of it.
        "journal": "arXiv:1412.6980",
    });
    assert_eq!(fields(&entry), expected);
}

#[test]
fn nothing_labelled_as_an_address_is_lost() {
    let found = |text: &str| {
        let entry = flat(&[("title", "Rivers."), ("url", text)]);
        (entry.text(Field::Url).unwrap_or_default().to_string(), entry.remarks())
    };
    let cut = found("http://a.org/long- path/to/b.html");
    assert_eq!(cut, ("http://a.org/long-path/to/b.html".to_string(), None));
    let two = found("http://a.org/b/, http://c.org/.");
    assert_eq!(two, ("http://a.org/b/".to_string(), Some("http://c.org/".to_string())));
    let more = found("http://a.org/b c d");
    assert_eq!(more, ("http://a.org/b".to_string(), Some("c d".to_string())));
    for said in ["Available at: http://a.org/b", "URL http://a.org/b (accessed May 2020)"] {
        assert_eq!(found(said), ("http://a.org/b".to_string(), None));
    }
}

#[test]
fn editions_and_numbers_lose_their_words() {
    let entry = flat(&[
        ("title", "Rivers."),
        ("edition", "2nd ed.,"),
        ("isbn", "ISBN-13: 978-3-16-148410-0."),
        ("volume", "Bd. 12, H. 3,"),
        ("chapter", "Chap. 3,"),
        ("publisher", "دار النشر،"),
    ]);
    let expected = json!({
        "title": "Rivers", "edition": "2nd", "isbn": "978-3-16-148410-0", "volume": "12", "number": "3",
        "chapter": "3", "publisher": "دار النشر",
    });
    assert_eq!(fields(&entry), expected);
}

#[test]
fn organisations_that_labels_take_for_people_stay_whole() {
    let labels = [
        "B-authors:B-person:B-person-last",
        "I-authors",
        "I-authors:B-person:B-person-first",
        "I-authors:I-person:B-person-last",
        "B-title",
    ];
    let family = |text: &str, at: usize| {
        let entry = of_labels(text, &labels);
        let names: Vec<String> = entry.authors.names.iter().map(|n| n.family.clone()).collect();
        (names.len(), names[at].clone())
    };
    assert_eq!(family("Ernst & Young LLP Banks", 0), (1, "Ernst & Young LLP".to_string()));
    assert_eq!(family("Ernst & Ann Young Banks", 1), (2, "Young".to_string()));
    let team = [
        "B-authors:B-person:B-person-first",
        "I-authors:I-person:B-person-last",
        "I-authors",
        "I-authors",
        "I-authors",
        "B-title",
    ];
    let authors = of_labels("Library Team et al. Rivers", &team).authors;
    assert_eq!((authors.names[0].family.as_str(), authors.others), ("Library Team", true));
    let named = ["B-authors:B-person:B-person-last", "I-authors", "I-authors", "I-authors"];
    let last = "I-authors:B-person:B-person-last";
    let labels = [&named[..], &[last, "B-title"]].concat();
    assert!(of_labels("Li . . . Xu Rivers", &labels).authors.others);
}

#[test]
fn when_a_page_was_looked_at_is_no_date_of_it() {
    let (title, web) = (("title", "Rivers."), ("web", "https://a.org/b"));
    let labels =
        [("status", "(last accessed on"), ("date", "12"), ("month", "May"), ("year", "2020).")];
    let entry = flat(&[&[title, web], &labels[..]].concat());
    let expected = json!({"title": "Rivers", "url": "https://a.org/b", "accessed": "2020-05-12"});
    assert_eq!(fields(&entry), expected);
    let entry = flat(&[&[title, ("year", "1999."), web], &labels[..]].concat());
    assert_eq!((entry.date.year, entry.date.month), (Some(1999), None));
    // The word may be in the date, and when it appeared behind it.
    let entry = flat(&[title, ("date", "accessed 12 May 2020,"), web, ("date", "1999.")]);
    assert_eq!((entry.date.year, entry.date.month), (Some(1999), None));
    // In a title it is about something else.
    let entry = flat(&[("title", "Places I visited,"), ("date", "May 1999.")]);
    assert_eq!((entry.date.year, entry.date.month), (Some(1999), Some(5)));
}

#[test]
fn kinds_follow_the_stated_rules() {
    let title = ("title", "A title.");
    for (second, kind) in [
        (("journal", "Phys. Rev."), EntryKind::Article),
        (("container-title", "Annual Review of Rivers"), EntryKind::Article),
        (("container-title", "Proceedings of a Review"), EntryKind::InProceedings),
        (("booktitle", "Rivers"), EntryKind::InProceedings),
        (("venue", "Rivers"), EntryKind::InProceedings),
        (("thesis", "Ph.D. thesis,"), EntryKind::PhdThesis),
        (("genre", "[Doctoral dissertation]"), EntryKind::PhdThesis),
        (("thesis", "Diplom thesis,"), EntryKind::MastersThesis),
        (("genre", "PhD thesis, advisor A. Li, M.S."), EntryKind::PhdThesis),
        (("tech", "M.S. thesis,"), EntryKind::MastersThesis),
        (("genre", "Bachelorarbeit,"), EntryKind::MastersThesis),
        (("genre", "Tesis de maestría,"), EntryKind::MastersThesis),
        (("genre", "Tesis doctoral,"), EntryKind::PhdThesis),
        (("tech", "Technical Report 5,"), EntryKind::TechReport),
        (("tech", "preprint"), EntryKind::Misc),
        (("publisher", "Springer"), EntryKind::Book),
        (("edition", "2nd ed."), EntryKind::Book),
        (("note", "to appear"), EntryKind::Misc),
        (("note", "in these proceedings"), EntryKind::Misc),
        (("note", "his doctoral thesis"), EntryKind::PhdThesis),
        (("container-title", "IEEE Transactions on Signal Processing"), EntryKind::Article),
        (("container-title", "Journal of Conflict Resolution"), EntryKind::Article),
        (("container-title", "Proc. of a Review"), EntryKind::InProceedings),
        (("genre", "Technical Memorandum"), EntryKind::TechReport),
    ] {
        assert_eq!(flat(&[title, second]).kind, kind, "{second:?}");
    }
    assert_eq!(flat(&[("author", "A. Li,"), ("booktitle", "Rivers")]).kind, EntryKind::Book);
    for (book, kind) in [
        ("Rivers of Europe", EntryKind::InCollection),
        ("RIVERS OF EUROPE", EntryKind::InCollection),
        ("Proc. of the Workshop on Rivers", EntryKind::InProceedings),
        ("Rivers and Lakes - CRYPTO '99", EntryKind::InProceedings),
        ("ICML", EntryKind::InProceedings),
    ] {
        let published = [title, ("booktitle", book), ("publisher", "Springer")];
        assert_eq!(flat(&published).kind, kind, "{book}");
    }
    assert_eq!(
        flat(&[title, ("tech", "preprint"), ("institution", "CERN")]).kind,
        EntryKind::TechReport
    );
    let unpublished = [title, ("tech", "Unpublished manuscript"), ("institution", "CERN")];
    assert_eq!(flat(&unpublished).kind, EntryKind::Misc);
    // What is no report is none because of its institution.
    assert_eq!(flat(&[title, ("genre", "Patent"), ("institution", "CERN")]).kind, EntryKind::Misc);
    // A note on what became of it does not make what is in a journal a thesis.
    let noted = [title, ("journal", "Rivers"), ("note", "based on her thesis")];
    assert_eq!(flat(&noted).kind, EntryKind::Article);
}

#[test]
fn fields_that_stand_together_are_taken_apart() {
    let entry = flat(&[
        ("title", "Rivers."),
        ("journal", "Class. Quantum Grav.,"),
        ("volume", "12, no. 3,"),
    ]);
    let expected = json!({"title": "Rivers", "journal": "Class. Quantum Grav.", "volume": "12", "number": "3"});
    assert_eq!(fields(&entry), expected);
    let entry = flat(&[("title", "Rivers."), ("journal", "Lakes"), ("volume", "12(3):45-67.")]);
    let expected = json!({"title": "Rivers", "journal": "Lakes", "volume": "12", "number": "3", "pages": "45--67"});
    assert_eq!(fields(&entry), expected);
    let entry = flat(&[("title", "Rivers."), ("note", "ISBN 978-84-376-0494-7.")]);
    assert_eq!(fields(&entry), json!({"title": "Rivers", "isbn": "978-84-376-0494-7"}));
    assert_eq!(entry.kind, EntryKind::Book);
    // Pages that have a label of their own are the better known ones.
    let entry = flat(&[("journal", "Lakes"), ("volume", "12(3):45-67,"), ("pages", "45-67")]);
    assert_eq!(entry.text(Field::Pages), Some("45--67"));
    let entry = flat(&[
        ("title", "Rivers."),
        ("booktitle", "Proc. X, volume"),
        ("volume", "5"),
        ("booktitle", "of Lecture Notes"),
    ]);
    assert_eq!(entry.text(Field::Series), Some("Lecture Notes"));
    let entry =
        flat(&[("title", "Rivers."), ("tech", "Technical Report 92-43,"), ("publisher", "IHES,")]);
    assert_eq!(
        (entry.text(Field::Number), entry.text(Field::Institution)),
        (Some("92-43"), Some("IHES"))
    );
    let entry = flat(&[("title", "Rivers."), ("genre", "Technical Report EWD-215,")]);
    assert_eq!((entry.text(Field::Number), entry.work()), (Some("EWD-215"), None));
}

#[test]
fn a_line_without_any_field_is_kept_whole() {
    let entry = of_labels("who knows", &["O", "O"]);
    assert_eq!(entry, Entry::unparsed("who knows"));
    assert_eq!(entry.kind, EntryKind::Misc);
    // Parts that say little do not take the place of the line.
    let entry = flat(&[("colour", "red"), ("citation-number", "[3]"), ("date", "2004")]);
    assert_eq!(entry.unparsed.as_deref(), Some("red [3] 2004"));
    assert_eq!((entry.date.year, entry.other["colour"].as_str()), (Some(2004), "red"));
}
