use crate::{at, words};

/// What a function makes of a cell, `None` if absent.
fn of(function: &str, cell: &str) -> Option<String> {
    let attributes = at(&format!("U:%{function}[0,0]"), &vec![vec![cell]], 0);
    attributes.first().map(|attribute| attribute["U:".len()..].to_owned())
}

#[track_caller]
fn check(function: &str, expected: &[(&str, Option<&str>)]) {
    for (cell, text) in expected {
        assert_eq!(of(function, cell).as_deref(), *text, "%{function} of {cell:?}");
    }
}

#[test]
fn lower_case_is_that_of_unicode() {
    check("lower", &[("McCallum", Some("mccallum")), ("a-1", Some("a-1")), ("", Some(""))]);
    check("lower", &[("ÉCOLE", Some("école")), ("ΟΔΟΣ", Some("οδος")), ("東京", Some("東京"))]);
}

#[test]
fn shapes_stand_for_classes_of_characters() {
    check("shape", &[("McCallum", Some("XxXxxxxx")), ("(1991).", Some("(dddd)."))]);
    check("shape", &[("Être", Some("Xxxx")), ("東京X", Some("ooX")), ("٣–４", Some("d-d"))]);
    check("shape", &[("“a’", Some("\"x'")), ("e\u{301}a", Some("xx")), ("ǅ", Some("X"))]);
    check("shape", &[("", Some(""))]);
}

#[test]
fn outlines_are_shapes_without_runs() {
    check("outline", &[("McCallum", Some("XxXx")), ("1,234.56", Some("d,d.d"))]);
    check("outline", &[("...", Some(".")), ("Éé", Some("Xx"))]);
}

#[test]
fn affixes_count_characters_and_are_absent_in_shorter_cells() {
    check("prefix1", &[("été", Some("é")), ("", None)]);
    check("prefix3", &[("été", Some("été")), ("étés", Some("été")), ("ét", None)]);
    check("suffix2", &[("naïve", Some("ve")), ("ïé", Some("ïé")), ("é", None)]);
    check("suffix9", &[("extraction", Some("xtraction")), ("features", None)]);
}

#[test]
fn digits_become_zeros() {
    check("digits", &[("pp.12-345", Some("pp.00-000")), ("word", None), ("٣", Some("0"))]);
}

#[test]
fn numbers_are_years_all_digits_or_some() {
    check("number", &[("1998", Some("year")), ("(1998b),", Some("year")), ("2099", Some("year"))]);
    check("number", &[("2100", Some("all")), ("0998", Some("all")), ("12.", Some("all"))]);
    check("number", &[("1998bc", Some("some")), ("12-15", Some("some")), ("two", None)]);
}

#[test]
fn bare_words_have_no_punctuation_around_them() {
    check("bare", &[("(MacKay-1998a),", Some("mackay-1998a")), ("of", Some("of"))]);
    check("bare", &[("“École”", Some("école")), ("Ph.D.", Some("ph.d")), ("—", None), ("", None)]);
}

#[test]
fn patterns_tell_what_a_token_looks_like() {
    let expected = [
        ("--", "punctuation"),
        ("joe@a.edu,", "email"),
        ("http://a.b/c", "web"),
        ("cs.cmu.edu/~joe", "web"),
        ("(1998a),", "year"),
        ("1867", "old year"),
        ("(4)", "bracketed number"),
        ("12,", "number"),
        ("12--34.", "range"),
        ("pp.12-34", "mixed"),
        ("14(2):", "volume(issue)"),
        ("3rd", "mixed"),
        ("E.", "initial"),
        ("E.-W.", "initials"),
        ("XIV", "roman"),
        ("ACM", "capitals"),
        ("Morgan", "capitalised"),
        ("machine", "lower"),
        ("LaTeX", "other"),
        ("東京", "other"),
    ];
    check("pattern", &expected.map(|(cell, pattern)| (cell, Some(pattern))));
}

#[test]
fn letters_and_digits_are_counted_to_nine() {
    check("letters", &[("a1b2", Some("2")), ("--", Some("0")), ("abcdefghijkl", Some("9"))]);
    check("numerals", &[("a1b2", Some("2")), ("12345678901", Some("9")), ("٣", Some("1"))]);
}

#[test]
fn endings_are_punctuation_behind_something() {
    check("ending", &[("vol.", Some(".")), ("vol.:", Some(":")), (".", None), ("vol", None)]);
    check("ending", &[("fin…", Some("…")), ("e\u{301}", None)]);
}

#[test]
fn marks_tell_where_they_are() {
    check("punctuation", &[(",", Some("only")), ("a.b", Some("inside")), ("ab", None)]);
    check("dash", &[("12–15", Some("inside")), ("-", Some("only")), ("co-", Some("end"))]);
    check("quote", &[("“a”", Some("around")), ("'a", Some("start")), ("a", None)]);
    check("bracket", &[("(a)", Some("around")), ("[1].", Some("start")), ("1]", Some("end"))]);
}

#[test]
fn edges_and_positions_need_no_column() {
    let edges = |text: &str| -> Vec<String> {
        let sequence = words(text);
        (0..sequence.len()).map(|place| at("U:%edge[0]", &sequence, place).concat()).collect()
    };
    assert_eq!(edges("a"), ["U:only"]);
    assert_eq!(edges("a b"), ["U:first", "U:last"]);
    assert_eq!(edges("a b c d"), ["U:first", "U:second", "", "U:last"]);

    let sequence = words("a b c d e f");
    assert_eq!(at("U:%position12[0]", &sequence, 5), ["U:10"]);
    assert_eq!(at("U:%position3[0]", &sequence, 3), ["U:1"]);
    assert_eq!(at("U:%position3[1]", &sequence, 3), ["U:2"]);
}

/// The values of a function at every position of a text, empty where it is absent.
fn along(function: &str, text: &str) -> Vec<String> {
    let sequence = words(text);
    let line = format!("U:%{function}[0,0]");
    let value = |place| at(&line, &sequence, place).concat().replace("U:", "");
    (0..sequence.len()).map(value).collect()
}

#[test]
fn stretches_lie_between_marks() {
    let text = "J. Ito , On words . Proc. of it";
    assert_eq!(along("before", text), ["^", "^", "^", ",", ",", ",", ".", ".", "."]);
    assert_eq!(along("since", text), ["0", "1", "2", "1", "2", "3", "1", "1", "2"]);
    assert_eq!(along("after", text), [",", ",", ".", ".", ".", ".", "$", "$", "$"]);
    assert_eq!(along("until", text), ["2", "1", "3", "2", "1", "1", "3", "2", "1"]);
    assert_eq!(
        along("stretch", text),
        ["0.0", "0.0", "0.0", "0.1", "0.1", "0.1", "1.0", "2.0", "2.0"]
    );
}

#[test]
fn quotation_marks_and_brackets_enclose() {
    let expected = ["", "quotes", "quotes", "both", "quotes", "", "brackets", ""];
    assert_eq!(along("inside", "Ito “a word (one) more” in (1999) end"), expected);
    // The same mark opens and closes.
    assert_eq!(along("inside", "\" a b \" c"), ["quotes", "quotes", "quotes", "quotes", ""]);
    // Nothing to close, nothing that closes.
    assert_eq!(along("inside", "a ) b ] c"), [""; 5]);
    assert_eq!(along("inside", "( a"), ["brackets"; 2]);
}

#[test]
fn numbers_know_their_turn() {
    let expected = ["", "number 1 of 2", "number 2 of 2", "range 1 of 1", "year 1 of 1", ""];
    assert_eq!(along("turn", "vol 12 3 45-67 1999 ."), expected);
    assert_eq!(along("turn", "1 2 3 4")[3], "number 3 of 3");
}

#[test]
fn what_came_before_is_remembered() {
    assert_eq!(
        along("past", "Ito 1999 on words , In 12 x"),
        ["-", "-", "y", "y", "yt", "yt", "yti", "ytin"]
    );
    assert_eq!(along("past", "in fact “x” y"), ["-", "-", "t", "tq"]);
}

#[test]
fn something_new_starts_behind_marks_and_at_numbers() {
    let starts = along("start", "Ito , K. On words ( here ) 12 pages");
    let found: Vec<usize> = (0..starts.len()).filter(|&at| starts[at] == "start").collect();
    assert_eq!(found, [0, 2, 3, 5, 6, 8, 9], "{starts:?}");
}

#[test]
fn a_style_is_that_of_the_whole_sequence() {
    let styles = along("style", "[1] K. Ito , 1999 , On words and more of them , Kyoto");
    assert!(
        styles.iter().all(|style| style == "initial capitalised no quotes early year"),
        "{styles:?}"
    );
    assert_eq!(along("style", "On “it” 1999")[0], "capitalised lower quotes late year");
    assert_eq!(along("style", "17")[0], "number none no quotes no year");
}

#[test]
fn clauses_lie_between_marks_but_not_behind_initials_and_abbreviations() {
    let text = "J . Li , On x of cells . Phys . Rev . Soc 12";
    let own = ["i2,", "i2,", "i2,", "i2,", "l4.", "l4.", "l4.", "l4.", "l4.", "m4$"];
    assert_eq!(along("clause", text)[..10], own);
    assert_eq!(along("lastclause", text)[..5], ["^", "^", "^", "^", "i2,"]);
    assert_eq!(along("nextclause", text)[3..5], ["l4.", "m4$"]);
}

#[test]
fn numbers_are_seen_from_both_sides() {
    let text = "on x Am . J . 1988 ; 64 end";
    let ahead = ["l4year", "l3year", "c2year", "c1year", "c1year", "c0year", "c0year"];
    assert_eq!(along("ahead", text)[..7], ahead);
    assert_eq!(along("ahead", text)[7..], ["c0number", "c0number", "l1none"]);
    assert_eq!(along("behind", text)[6..], ["l4none", "c0year", "c0year", "c0number"]);
}
