//! Column files: what is read, and what a person is told.

use bethe_tagging::data::{DataError, Format, Sequence, Sequences};

fn read(text: impl AsRef<[u8]>) -> Result<Vec<Sequence>, DataError> {
    Sequences::new(text.as_ref(), "train.conll", Format::Columns).collect()
}

fn message(text: impl AsRef<[u8]>) -> String {
    read(text).unwrap_err().to_string()
}

fn cells(sequence: &Sequence) -> Vec<Vec<&str>> {
    let row = |t| (0..sequence.columns(t)).map(|c| sequence.cell(t, c).unwrap()).collect();
    (0..sequence.len()).map(row).collect()
}

#[test]
fn columns_split_at_tabs_or_else_at_runs_of_spaces() {
    let sequences = read("New  York NNP B-loc \nis here\t\tO\n").unwrap_err();
    assert_eq!(
        sequences.to_string(),
        "train.conll:2: found 3 columns, expected 4 as in line 1; each line is one token"
    );
    let sequences = read(" York  NNP B-loc \nis here\t\tO\n").unwrap();
    assert_eq!(cells(&sequences[0]), [["York", "NNP", "B-loc"], ["is here", "", "O"]]);
    assert_eq!(sequences[0].cell(0, 3), None);
    assert_eq!(sequences[0].row(0), " York  NNP B-loc ");
    assert_eq!(sequences[0].row(1), "is here\t\tO");
    let sequences = read("is here \t  NNP\t O \n \tNNP\tO\n").unwrap();
    assert_eq!(cells(&sequences[0]), [["is here", "NNP", "O"], [" ", "NNP", "O"]]);
}

#[test]
fn blank_lines_separate_and_several_are_one() {
    let sequences = read("\n \na O\nb O\n\n\t \n\nc O").unwrap();
    assert_eq!(sequences.len(), 2);
    assert_eq!((sequences[0].len(), sequences[1].len()), (2, 1));
    assert_eq!((sequences[0].line(0), sequences[0].line(1), sequences[1].line(0)), (3, 4, 8));
    assert_eq!(sequences[0].path().to_str(), Some("train.conll"));
    for nothing in ["", "\n", " \n\n\t"] {
        assert!(read(nothing).unwrap().is_empty());
    }
}

#[test]
fn a_space_that_is_not_ascii_is_a_token() {
    let sequences = read("\u{3000}\n\u{a0}\n\n").unwrap();
    assert_eq!(cells(&sequences[0]), [["\u{3000}"], ["\u{a0}"]]);
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_leave_no_trace() {
    let sequences = read("\u{feff}a\tO\r\nb\tO\r\n\r\nc\tO\r").unwrap();
    assert_eq!(cells(&sequences[0]), [["a", "O"], ["b", "O"]]);
    assert_eq!(sequences[0].row(0), "a\tO");
    assert_eq!(cells(&sequences[1]), [["c", "O"]]);
}

#[test]
fn comments_are_rows_unless_asked_for() {
    let text = "# id 1\na O\n#b O\n\n# id 2\n\nc O\n";
    assert_eq!(
        message(text),
        "train.conll:2: found 2 columns, expected 3 as in line 1; if line 1 is a comment, add \
         --comments '#'"
    );
    assert!(message("a O\n# id\tx\ty\n").ends_with("; if line 2 is a comment, add --comments '#'"));
    let sequences = Sequences::new(text.as_bytes(), "x", Format::Columns).comments('#');
    let sequences: Vec<Sequence> = sequences.collect::<Result<_, _>>().unwrap();
    assert_eq!(sequences.len(), 2);
    assert_eq!(cells(&sequences[0]), [["a", "O"]]);
    assert_eq!(sequences[1].line(0), 7);
}

#[test]
fn a_ragged_row_is_named_even_in_a_later_sequence() {
    let error = message("\na b O\n\na b O\nc O\n");
    assert_eq!(
        error,
        "train.conll:5: found 2 columns, expected 3 as in line 2; each line is one token"
    );
}

#[test]
fn text_that_is_not_utf8_is_named_by_line_and_byte() {
    let found = message(b"\xef\xbb\xbfa O\nb\xff O\n");
    assert_eq!(
        found,
        "train.conll:2: found the byte 0xFF at offset 8, expected text in UTF-8; save the file as \
         UTF-8, or convert it, as in `iconv -f latin1 -t utf-8 FILE`"
    );
    let found = message(b"\xef\xbb\xbf\xc3(");
    let expected = "train.conll:1: found the byte 0xC3 at offset 3, expected text in UTF-8; ";
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn line_ends_of_old_macs_are_refused() {
    assert_eq!(
        message("a O\rb O\r\rc O\r"),
        "train.conll: found line ends of old Macs (CR), expected LF or CRLF; convert the file, as in \
         `tr '\\r' '\\n' < FILE`"
    );
    assert_eq!(read("a\tO\nb\rc\tO\n").unwrap()[0].cell(1, 0), Some("b\rc"));
}

#[test]
fn lines_that_begin_a_document_are_no_sequences_unless_asked_for() {
    let text = "-DOCSTART- -X- O\n\na N O\n\n-DOCSTART- -X- O\n\nb N O\n-DOCSTART- N O\n";
    let sequences = read(text).unwrap();
    assert_eq!(sequences.iter().map(Sequence::len).collect::<Vec<_>>(), [1, 2]);
    let all = Sequences::new(text.as_bytes(), "x", Format::Columns).with_documents();
    let begins: Vec<bool> = all.map(|one| one.unwrap().begins_document()).collect();
    assert_eq!(begins, [true, false, true, false]);
}

#[test]
fn sequences_before_a_mistake_are_read_and_none_after_it() {
    let text = "a O\n\nb\n\nc O\n";
    let mut sequences = Sequences::new(text.as_bytes(), "x", Format::Columns);
    assert_eq!(sequences.next().unwrap().unwrap().len(), 1);
    assert!(sequences.next().unwrap().is_err());
    assert!(sequences.next().is_none());
}
