//! Entries as TEI.

use bethe_cite::{Parser, Parsing, tei};
use bethe_tagging::TagOptions;

fn written(line: &str) -> String {
    let parsed = Parsing::new(Parser::embedded()).parse(line, &TagOptions::default()).unwrap();
    tei(&parsed.entry, Some("b0"), Some(line))
}

#[test]
fn an_article_is_a_part_of_its_journal() {
    let xml = written(
        "van Dyk, J. Q. and A. Chen. Trees & <graphs>. Journal of Ecology, 12(3):45-67, 2004.",
    );
    for piece in [
        "<biblStruct xml:id=\"b0\">",
        "<analytic>\n<title level=\"a\" type=\"main\">Trees &amp; &lt;graphs&gt;</title>",
        "<persName>\n<forename type=\"first\">J.</forename>\n<forename type=\"middle\">Q.</forename>\n\
         <surname>van Dyk</surname>\n</persName>",
        "<title level=\"j\">Journal of Ecology</title>",
        "<biblScope unit=\"volume\">12</biblScope>\n<biblScope unit=\"issue\">3</biblScope>",
        "<biblScope unit=\"page\" from=\"45\" to=\"67\" />",
        "<date type=\"published\" when=\"2004\">2004</date>",
        "<note type=\"raw_reference\">van Dyk, J. Q. and A. Chen. Trees &amp; &lt;graphs&gt;.",
    ] {
        assert!(xml.contains(piece), "{piece} is missing in\n{xml}");
    }
}

#[test]
fn a_book_stands_alone() {
    let xml = written(
        "Knuth, D. E. (1997). The Art of Computer Programming, 3rd ed. Addison-Wesley, Reading.",
    );
    assert!(!xml.contains("<analytic>"), "{xml}");
    assert!(xml.contains("<monogr>\n<title level=\"m\" type=\"main\">The Art of"), "{xml}");
    assert!(xml.contains("<publisher>Addison-Wesley"), "{xml}");
}

#[test]
fn what_cannot_be_read_is_a_note() {
    let xml = written("\u{1}??");
    assert!(xml.contains("<note>??</note>"), "{xml}");
    let open = xml.matches("<biblStruct").count() + xml.matches("<monogr>").count();
    assert_eq!(open, xml.matches("</biblStruct>").count() + xml.matches("</monogr>").count());
}
