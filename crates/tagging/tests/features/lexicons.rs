use crate::{template, visited, words};
use bethe_tagging::features::{Extractor, LexiconError, Lexicons, Workspace};

fn lexicons(lists: &[(&str, &[&str])]) -> Lexicons {
    let lists = lists.iter().map(|(name, entries)| (*name, entries.iter()));
    Lexicons::from_lists(lists).expect("valid lists")
}

/// The marks of a list, one letter per position.
fn marks(lexicons: &Lexicons, list: &str, text: &str) -> String {
    let extractor = Extractor::new(template("B"), lexicons.clone());
    let sequence = words(text);
    let mut marks = vec!['.'; sequence.len()];
    for (position, attribute, value) in visited(&extractor, &sequence) {
        assert_eq!(value, 1.0);
        if let Some(mark) = attribute.strip_prefix(&format!("lex:{list}=")) {
            marks[position] = mark.parse().unwrap();
        }
    }
    marks.into_iter().collect()
}

#[test]
fn entries_of_several_words_are_found_whatever_the_case() {
    let places = lexicons(&[("places", &["New York", "york", "LOS ANGELES"])]);
    assert_eq!(marks(&places, "places", "in NEW york or York , Los angeles"), ".BI.B.BI");
    assert_eq!(marks(&places, "places", "new los york"), "..B");
}

#[test]
fn the_longest_match_counts_and_the_next_begins_behind_it() {
    let list = lexicons(&[("l", &["a", "a b", "a b c d", "b c"])]);
    assert_eq!(marks(&list, "l", "a b c a b c d a"), "BI.BIIIB");
    assert_eq!(marks(&list, "l", "b c b"), "BI.");
}

#[test]
fn lists_do_not_disturb_each_other() {
    let lists = lexicons(&[("x", &["a b"]), ("y", &["b c", "a"])]);
    assert_eq!(marks(&lists, "x", "a b c"), "BI.");
    assert_eq!(marks(&lists, "y", "a b c"), "BBI");
}

#[test]
fn punctuation_around_tokens_and_between_them_does_not_matter() {
    let names = lexicons(&[("n", &["St. Louis", "J. Chem. Phys.", "Washington, DC"])]);
    assert_eq!(marks(&names, "n", "St Louis, st. (LOUIS)"), "BIBI");
    assert_eq!(marks(&names, "n", "J . Chem . Phys . 3"), "BIIII..");
    assert_eq!(marks(&names, "n", ", Washington , DC"), ".BII");
    assert_eq!(marks(&names, "n", "St - Chem Louis"), "....");
}

#[test]
fn symbols_are_part_of_tokens() {
    let list = lexicons(&[("l", &["C++", "Wiley & Sons", "..."])]);
    assert_eq!(marks(&list, "l", "C C++. Wiley & Sons Wiley Sons ..."), ".BBII...");
}

#[test]
fn entries_and_cells_meet_in_unicode_lower_case() {
    let list = lexicons(&[("l", &["ÎLE DE RÉ"])]);
    assert_eq!(marks(&list, "l", "l’ «île de Ré»"), ".BII");
}

#[test]
fn attributes_follow_the_template_and_come_by_name() {
    let lists = lexicons(&[("z", &["a"]), ("b", &["a"])]);
    let extractor = Extractor::new(template("U1:%x[0,0]\nB"), lists);
    let names: Vec<_> = visited(&extractor, &words("a")).into_iter().map(|seen| seen.1).collect();
    assert_eq!(names, ["U1:a", "lex:b=B", "lex:z=B"]);
}

#[test]
fn lines_of_lists_look_around() {
    let lists = lexicons(&[("city", &["New York"]), ("mark", &["ed"])]);
    let text = "L-1:%lists[-1]\nLahead:%lists[1,2]\nLonly:%lists[1,3]=mark";
    let extractor = Extractor::new(template(text), lists);
    let seen = visited(&extractor, &words("a New York ed"));
    let at = |position: usize| {
        let own = seen.iter().filter(|seen| seen.0 == position && seen.1.starts_with('L'));
        own.map(|seen| seen.1.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(at(0), ["Lahead:city", "Lonly:mark"]);
    assert_eq!(at(1), ["Lahead:city", "Lahead:mark", "Lonly:mark"]);
    assert_eq!(at(2), ["L-1:city=B", "Lahead:mark", "Lonly:mark"]);
    assert_eq!(at(3), ["L-1:city=I"]);
}

#[test]
fn templates_tell_which_lists_they_miss() {
    let lists = lexicons(&[("city", &["Rome"])]);
    assert_eq!(template("L1:%lists[0]\nL2:%lists[1,2]=city").unserved(&lists), None);
    assert_eq!(template("U1\nL2:%lists[1]=mark").unserved(&lists), Some((2, Some("mark"))));
    assert_eq!(template("L1:%lists[0]").unserved(&Lexicons::default()), Some((1, None)));
}

#[test]
fn text_brings_lists_back() {
    let lists = lexicons(&[("b=B", &["#1  Hits", "(a) B.", "a b", "--"]), ("a ]", &[])]);
    let text = lists.to_string();
    assert_eq!(text, "[a ]]\n[b=B]\n#1 hits\na b\n");
    assert_eq!(text.parse::<Lexicons>().unwrap(), lists);
    assert_eq!("".parse::<Lexicons>().unwrap(), Lexicons::default());
    assert!(Lexicons::default().is_empty());
}

#[test]
fn files_and_folders_give_lists_named_by_their_stems() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("names.big.lst", "# people\r\n\r\nAda Lovelace\r\n");
    write("places.txt", "Paris\nParis\n");
    write(".hidden", "x");
    std::fs::create_dir(folder.path().join("inner")).unwrap();

    let expected = lexicons(&[("names.big", &["ada lovelace"]), ("places", &["paris"])]);
    assert_eq!(Lexicons::read(&[folder.path()]).unwrap(), expected);
    let one = Lexicons::read(&[folder.path().join("places.txt")]).unwrap();
    assert_eq!(
        one.lists().map(|(name, entries)| (name, entries.len())).next(),
        Some(("places", 1))
    );
}

#[test]
fn wrong_lists_are_refused() {
    let named = |name: &str| Lexicons::from_lists([(name, ["a"])]).unwrap_err().to_string();
    assert_eq!(named(""), "found the list name \"\", expected one or more printable characters");
    assert_eq!(
        named("a\nb"),
        "found the list name \"a\\nb\", expected one or more printable characters"
    );
    assert_eq!(
        Lexicons::from_lists([("a", ["x"]), ("a", ["y"])]).unwrap_err().to_string(),
        "found two lists named \"a\", expected distinct names"
    );
    assert_eq!(
        "paris\n[a]".parse::<Lexicons>().unwrap_err().to_string(),
        "line 1: found the entry \"paris\" before any list, expected a [name] first"
    );
}

#[test]
fn unreadable_lists_are_reported_with_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    assert_eq!(Lexicons::read(&[&path]), Err(LexiconError::EmptyFolder { path: path.clone() }));
    let binary = path.join("binary.lst");
    std::fs::write(&binary, [0xff, 0xfe]).unwrap();
    let message = Lexicons::read(&[&path]).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: ", binary.display())), "{message}");
}

#[test]
fn lexicons_need_the_first_column() {
    let extractor = Extractor::new(template("B"), lexicons(&[("l", &["a"])]));
    let sequence: Vec<Vec<&str>> = vec![vec![]];
    let result = extractor.visit(&sequence, &mut Workspace::default(), |_, _, _| ());
    assert_eq!(
        result.unwrap_err().to_string(),
        "position 0 has no column 0, but the search for lexicon entries reads it"
    );
}
