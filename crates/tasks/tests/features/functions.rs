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
