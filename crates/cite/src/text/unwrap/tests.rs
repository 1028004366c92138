use super::*;

fn unwrapped(text: &str) -> (Layout, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let layout = Layout::of(&lines);
    (layout, joined(layout, &lines))
}

fn joined(layout: Layout, lines: &[&str]) -> Vec<String> {
    let mut unwrapper = Unwrapper::new(layout);
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        found.extend(unwrapper.push(at + 1, line));
    }
    found.extend(unwrapper.finish());
    found.into_iter().map(|one| one.text).collect()
}

#[test]
fn numbered_lists_are_joined() {
    let text = "References\n\n[1] D. Knuth. The art of computer program-\nming. Addison-\nWesley,\n\
                1997. pp. 12-\n17.\n[2] A. Turing. On\n2004. computable numbers.";
    let whole = [
        "[1] D. Knuth. The art of computer programming. Addison-Wesley, 1997. pp. 12-17.",
        "[2] A. Turing. On 2004. computable numbers.",
    ];
    assert_eq!(unwrapped(text), (Layout::Numbered, whole.map(str::to_string).to_vec()));
}

#[test]
fn every_style_of_marks_begins_a_reference() {
    for marks in [
        ["1.", "2.", "3."],
        ["(1)", "(2)", "(3)"],
        ["7)", "8)", "9)"],
        ["[Knu97]", "[ABC+12]", "[Tur36]"],
        ["[Knuth, 1997]", "[Li and Xu, 2012]", "[Turing, 1936]"],
        ["•", "•", "•"],
    ] {
        let references = [
            "Knuth, D. E. (1997). The art of computer programming.",
            "Li, A. and Xu, B. (2012). Rivers, lakes and the sea.",
            "Turing, A. (1936). On computable numbers.",
        ];
        let mut text = String::new();
        let mut whole = Vec::new();
        for (mark, reference) in marks.iter().zip(references) {
            let (first, rest) = reference.split_at(reference[20..].find(' ').unwrap() + 20);
            text.push_str(&format!("{mark}\u{a0} {first}\n\t{}\n", rest.trim()));
            let bullet = *mark == "•";
            whole.push(if bullet { reference.to_string() } else { format!("{mark} {reference}") });
        }
        assert_eq!(unwrapped(&text), (Layout::Numbered, whole), "{marks:?}");
    }
}

#[test]
fn numbers_inside_references_begin_none() {
    let text = "1. Li, A. Rivers of the world, vol.\n3. Springer, Berlin, 1999, and\n2. Xu, B. Lakes.\n\
                J. Water 12 (2001), 1–9.\n3. Ek, C. The sea and its many\ncoasts. 2004.\n";
    let whole = [
        "1. Li, A. Rivers of the world, vol. 3. Springer, Berlin, 1999, and",
        "2. Xu, B. Lakes. J. Water 12 (2001), 1–9.",
        "3. Ek, C. The sea and its many coasts. 2004.",
    ];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(joined(Layout::Numbered, &lines)[1..], whole.map(str::to_string)[1..]);
}

#[test]
fn blank_lines_part_blocks_but_not_at_the_end_of_a_page() {
    let text = "Knuth, D. E. (1997). The art of computer\nprogramming. Addison-Wesley, Reading,\nMassachusetts.\n\n\
                Turing, A. (1936). On computable numbers,\nwith an application to the\n\n12\n\n\u{c}entscheidungsproblem. \
                Proc. London\nMath. Soc. 42, 230–265.\n";
    let whole = [
        "Knuth, D. E. (1997). The art of computer programming. Addison-Wesley, Reading, Massachusetts.",
        "Turing, A. (1936). On computable numbers, with an application to the entscheidungsproblem. Proc. \
         London Math. Soc. 42, 230–265.",
    ];
    assert_eq!(unwrapped(text), (Layout::Blocks, whole.map(str::to_string).to_vec()));
}

#[test]
fn what_stands_on_every_page_is_left_out() {
    let text = "[1] A. Li. Rivers, lakes and\nseas. 1999.\n[2] B. Xu. The coasts of\n\n   7\n\
                \u{c}8        Rivers and lakes\n\nAsia. 2001.\n[3] C. Ek. Wells and\n\
                \u{c}Water Review, p. 9\nsprings. 2004. [4] D. Ray. Ice of\n\u{c}Water Review, p. 10\nthe poles. 2005.";
    let found = joined(Layout::Numbered, &text.lines().collect::<Vec<_>>());
    let whole = [
        "[1] A. Li. Rivers, lakes and seas. 1999.",
        "[2] B. Xu. The coasts of Asia. 2001.",
        // Once, a head cannot be told from text.
        "[3] C. Ek. Wells and Water Review, p. 9 springs. 2004.",
        "[4] D. Ray. Ice of the poles. 2005.",
    ];
    assert_eq!(found, whole);
}

#[test]
fn indented_lines_go_on() {
    let text = "   Knuth, D. E. (1997). The art of computer programming. Addison-\n\
                \x20      Wesley, Reading.\n   Turing, A. (1936). On computable numbers, with an application to the\n\
                \x20      Entscheidungsproblem. Proc. London Math. Soc. 42, 230–265.\n";
    let whole = [
        "Knuth, D. E. (1997). The art of computer programming. Addison-Wesley, Reading.",
        "Turing, A. (1936). On computable numbers, with an application to the Entscheidungsproblem. Proc. \
         London Math. Soc. 42, 230–265.",
    ];
    assert_eq!(unwrapped(text), (Layout::Indented, whole.map(str::to_string).to_vec()));
}

#[test]
fn names_begin_references_where_nothing_else_does() {
    let text = "Knuth, D. E. (1997). The art of computer programming, volume 1, third\n\
                edition. Addison-Wesley, Reading, Massachusetts.\n\
                Turing, A. (1936). On computable numbers, with an application to the\n\
                Entscheidungsproblem. Proceedings of the London Mathematical Society,\n\
                Smith Memorial Issue 42, 230–265.\n\
                ———. (1950). Computing machinery and intelligence. Mind 59, 433–460, and\n\
                a note by the editor.\n";
    let (layout, found) = unwrapped(text);
    assert!(matches!(layout, Layout::Names { .. }));
    let starts: Vec<&str> = found.iter().map(|text| &text[..text.find('(').unwrap()]).collect();
    assert_eq!(starts, ["Knuth, D. E. ", "Turing, A. ", "———. "]);
    assert!(found[1].ends_with("Society, Smith Memorial Issue 42, 230–265."));
}

#[test]
fn short_lines_end_references_where_nothing_else_tells() {
    let wrapped = "M. Wang, G. Audi, A. Wapstra, F. Kondev, M. Cormick, X. Xu, Chin.\nPhys. C 36 (2012) 1603.\n";
    let text = wrapped.repeat(8);
    let (layout, found) = unwrapped(&text);
    assert!(matches!(layout, Layout::Names { .. }));
    assert_eq!(found, vec![wrapped.trim().replace('\n', " "); 8]);
    // Each a reference, whatever the length of the one before.
    let lines = "M. Wang, G. Audi, A. Wapstra, F. Kondev, X. Xu, Chin. Phys. C 36 (2012) 1603.\n\
                 J. Li, Phys. Rev. C 5 (2012) 16.\n";
    assert_eq!(unwrapped(&lines.repeat(8)).0, Layout::Lines);
}

#[test]
fn one_reference_a_line_stays_as_it_is() {
    let text = "[3] Knuth, D. E. (1997). The art of computer  programming. Addison-Wesley.\n\
                Turing, A. (1936). On computable numbers. Proc. London Math. Soc. 42, 230–265\n\
                \n\
                World Health Organization. Rivers. Geneva, 2004\n\
                van der Waals, J. D. On the continuity of states, 1873;\n\
                12. Li, A. Lakes. 1999.\n";
    let (layout, found) = unwrapped(text);
    assert_eq!(layout, Layout::Lines);
    assert_eq!(found, text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>());
}

#[test]
fn a_numbered_list_of_one_a_line_stays_as_it_is() {
    let text = "1. Mayer M., Duschl W. J., 2005, MNRAS,  358, 614\n2. 2011 Nonlinearity 24 1975\n\
                3. J. COLONGE et I. C. DUBIN. Bull. Soc. Chim. Fr. 1180 (1960);\n4. Omukai K., 1998, ApJ, 508";
    let (layout, found) = unwrapped(text);
    assert_eq!((layout, found.len()), (Layout::Lines, 4));
    assert_eq!(found, text.lines().collect::<Vec<_>>());
}

#[test]
fn a_text_that_is_known_to_be_wrapped_is_joined_whatever_it_looks_like() {
    let blocks = ["Rivers.", "Lakes.", "", "Seas."];
    assert_eq!(joined(Layout::of_wrapped(&blocks), &blocks), ["Rivers. Lakes.", "Seas."]);
    let lines = ["Li, A. Rivers. Springer, Berlin and New York, 1999.", "Xu, B. Lakes. 2001."];
    assert_eq!(joined(Layout::of_wrapped(&lines), &lines), lines);
    assert_eq!(Layout::of(&[]), Layout::Lines);
    assert!(joined(Layout::of_wrapped(&["", " "]), &["", " "]).is_empty());
}

#[test]
fn references_know_their_lines_and_have_an_end() {
    let mut unwrapper = Unwrapper::new(Layout::Blocks);
    assert!(unwrapper.push(1, "Li, A.").is_empty() && unwrapper.push(2, "Rivers.").is_empty());
    assert!(unwrapper.push(3, "").is_empty());
    let first = Unwrapped { line: 1, text: "Li, A. Rivers.".to_string() };
    assert_eq!(unwrapper.push(4, "Xu, B. Lakes."), [first]);
    assert_eq!(unwrapper.finish()[0].line, 4);
    assert!(unwrapper.finish().is_empty());
    // Text without any marks does not grow for ever.
    let mut unwrapper = Unwrapper::new(Layout::Numbered);
    let found: Vec<Unwrapped> =
        (0..5000).flat_map(|n| unwrapper.push(n, "rivers and lakes")).collect();
    assert!(found.iter().all(|one| one.text.len() < 2 * LONGEST) && !found.is_empty());
}
