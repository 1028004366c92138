use bethe_cite::{Entry, Name, People, ris};

use crate::flat;

/// The tags of an entry and their values, as a reader of RIS has them.
pub fn read(text: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[lines.len() - 2..], ["ER  - ", ""]);
    lines[..lines.len() - 2].iter().map(|line| line.split_once("  - ").expect("a tag")).collect()
}

#[test]
fn an_article_has_the_tags_that_managers_import() {
    let entry = flat(&[
        ("author", "Bai, Z. D. and van der Hooft, J., Jr. et al."),
        ("date", "(12 May 2004a)."),
        ("title", "A CLT for Wishart matrices & more."),
        ("journal", "Ann. Probab."),
        ("volume", "32"),
        ("number", "(1A),"),
        ("pages", "pp. 553–605."),
        ("doi", "doi:10.1214/aop/1078415845"),
    ]);
    let text = ris(&entry, &entry.key());
    let expected = [
        ("TY", "JOUR"),
        ("ID", "bai2004aclt"),
        ("AU", "Bai, Z. D."),
        ("AU", "van der Hooft, J., Jr."),
        ("AU", "et al."),
        ("TI", "A CLT for Wishart matrices & more"),
        ("T2", "Ann. Probab."),
        ("VL", "32"),
        ("IS", "1A"),
        ("SP", "553"),
        ("EP", "605"),
        ("PY", "2004"),
        ("DA", "2004/05/12/"),
        ("DO", "10.1214/aop/1078415845"),
    ];
    assert_eq!(read(&text), expected);
}

#[test]
fn kinds_dates_and_notes_have_tags_of_their_own() {
    let tag = |fields: &[(&str, &str)], tag: &str| {
        let text = ris(&flat(fields), "x");
        let found = read(&text).into_iter().find(|(own, _)| *own == tag);
        found.map(|(_, value)| value.to_string()).unwrap_or_default()
    };
    let title = ("title", "Rivers.");
    for (second, kind) in [
        (("booktitle", "Conf. on Rivers"), "CPAPER"),
        (("booktitle", "Handbook of Rivers"), "CHAP"),
        (("publisher", "Springer"), "BOOK"),
        (("thesis", "PhD thesis"), "THES"),
        (("tech", "Technical Report 5"), "RPRT"),
        (("genre", "U.S. Patent"), "PAT"),
        (("genre", "Unpublished manuscript"), "UNPB"),
        (("url", "http://a.org/b"), "ELEC"),
        (("date", "2004"), "GEN"),
    ] {
        assert_eq!(tag(&[title, second], "TY"), kind, "{second:?}");
    }
    assert_eq!(tag(&[title, ("date", "Spring 2004")], "DA"), "2004///Spring");
    assert_eq!(tag(&[title, ("date", "2004")], "DA"), "");
    let web = [title, ("url", "http://a.org/b"), ("date", "Accessed 12 May 2020")];
    assert_eq!(tag(&web, "Y2"), "2020/05/12/");
    assert_eq!(tag(&[title, ("pages", "12-17, 19")], "SP"), "12--17, 19");
    assert_eq!(
        tag(&[title, ("arxiv", "arXiv:1412.6980")], "UR"),
        "https://arxiv.org/abs/1412.6980"
    );
    let suffix = Name { family: "King".into(), suffix: "Jr.".into(), ..Name::default() };
    let authors = People { names: vec![suffix], others: false };
    let text = ris(&Entry { authors, ..Entry::default() }, "x");
    assert!(text.contains("AU  - King, , Jr.\n"), "{text}");
}

#[test]
fn a_value_never_ends_its_line() {
    let text = ris(&Entry::unparsed("a\nER  - \nTY  - BOOK\r\u{2028}b"), "x");
    assert_eq!(read(&text).len(), 3);
}
