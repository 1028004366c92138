use std::path::Path;

use bethe_experiments::ocr::data::{Word, read_from, spelled, to_text};
use bethe_experiments::ocr::glyphs::{Drawing, draw};

fn words() -> Vec<Word> {
    draw(&["cat", "a", "lemon"], &Drawing { folds: 2, copies: 1, noise: 0.1, seed: 1 })
}

fn read(text: &str) -> Result<Vec<Word>, String> {
    read_from(text.as_bytes(), Path::new("letter.data")).map_err(|error| error.to_string())
}

/// The message about a valid file in which one cell of one line (both from 1) is changed.
fn broken(line: usize, column: usize, cell: &str) -> String {
    let text = to_text(&words());
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut cells: Vec<&str> = lines[line - 1].split('\t').collect();
    cells[column - 1] = cell;
    lines[line - 1] = cells.join("\t");
    read(&lines.join("\n")).expect_err("a mistake")
}

#[test]
fn words_are_read_back_as_they_were_written() {
    let words = words();
    assert_eq!(read(&to_text(&words)).unwrap(), words);
    assert_eq!(spelled(&words[2].letters), "lemon");
    assert_eq!((words[2].fold, words[5].fold), (0, 1));
    // Line ends of another system, trailing tabs and blank lines change nothing.
    assert_eq!(read(&to_text(&words).replace('\n', "\t\r\n\n")).unwrap(), words);
}

#[test]
fn every_mistake_names_its_line_and_what_was_expected() {
    let expected = "letter.data:2: column 2, letter: found \"Q\", expected one of a to z";
    assert_eq!(broken(2, 2, "Q"), expected);
    assert_eq!(broken(2, 2, "ab"), expected.replace('Q', "ab"));
    let message = broken(3, 7, "2");
    assert_eq!(message, "letter.data:3: column 7, pixel: found \"2\", expected 0 or 1");
    let message = broken(1, 1, "x");
    assert_eq!(message, "letter.data:1: column 1, id: found \"x\", expected a whole number");
    let message = broken(1, 6, "-1");
    assert_eq!(
        message,
        "letter.data:1: column 6, fold: found \"-1\", expected a number below 1000"
    );
}

#[test]
fn letters_out_of_order_are_noticed() {
    let message = broken(2, 1, "7");
    assert_eq!(message, "letter.data:2: id: found 7, expected 2 after the line before");
    assert_eq!(
        broken(2, 4, "5"),
        "letter.data:2: word id: found 5, expected 1 after the line before"
    );
    assert_eq!(
        broken(3, 5, "2"),
        "letter.data:3: position: found 2, expected 3 after the line before"
    );
    assert_eq!(broken(3, 6, "1"), "letter.data:3: fold: found 1, expected 0 after the line before");
    assert_eq!(
        broken(4, 5, "2"),
        "letter.data:4: position: found 2, expected 1 after the line before"
    );
}

#[test]
fn too_few_columns_an_early_end_and_nothing_at_all_are_mistakes() {
    let text = to_text(&words());
    let short: String = text.lines().next().unwrap().rsplit_once('\t').unwrap().0.to_string();
    let message = read(&short).unwrap_err();
    assert!(message.contains("letter.data:1: found 133 tab-separated columns, expected 134"));
    let two_lines: Vec<&str> = text.lines().take(2).collect();
    let message = read(&two_lines.join("\n")).unwrap_err();
    assert!(message.contains("the file ends, expected letter 3"), "{message}");
    assert!(read("\n\n").unwrap_err().contains("the file is empty"));
    let message = read_from(&b"1\t\xff"[..], Path::new("f")).unwrap_err().to_string();
    assert!(message.starts_with("f:1: found bytes that are not text"), "{message}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error =
        bethe_experiments::ocr::data::read(Path::new("no/such/letter.data.gz")).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("no/such/letter.data.gz: there is no such file"), "{message}");
}
