//! `bethe tag --text`, and sentences where a file should be.

mod common;

use common::{Folder, column, error, sequences};

fn folder() -> Folder {
    let folder = Folder::with_references(20, 5);
    folder.train("model", &["--max-iterations", "5"]);
    folder
}

#[test]
fn a_sentence_is_split_as_the_training_text_was() {
    let folder = folder();
    // The training file has every full stop as a token.
    let text = "Kaya J. learning graphs. 1984";
    let tagged = folder.succeeds(&["tag", "model", "--text", text, "--quiet"]);
    let found = sequences(&tagged);
    assert_eq!(found.len(), 1);
    let file = "Kaya\nJ.\nlearning\ngraphs\n.\n1984\n";
    let folder = folder.with("file.txt", file);
    assert_eq!(folder.tag("model", "file.txt", &[]), tagged);
    let spaces = ["tag", "model", "--text", text, "--tokens", "spaces", "--quiet"];
    let tagged = folder.succeeds(&spaces);
    assert_eq!(column(&sequences(&tagged)[0], 0), ["Kaya", "J.", "learning", "graphs.", "1984"]);
}

#[test]
fn each_line_is_a_sequence_and_goes_where_it_should() {
    let folder = folder();
    let text = "Kaya J.\n\nlearning graphs";
    let tagged = folder.succeeds(&["tag", "model", "--text", text, "--quiet", "--marginals"]);
    assert_eq!(sequences(&tagged).len(), 2);
    let to_file = ["tag", "model", "--text", text, "--quiet", "--marginals", "-o", "tagged.txt"];
    assert_eq!(folder.succeeds(&to_file), "");
    assert_eq!(folder.read("tagged.txt"), tagged);
    let labels = folder.tag("model", "test.txt", &[]);
    assert_eq!(folder.tag("model", "test.txt", &["-o", "labels.txt"]), "");
    assert_eq!(folder.read("labels.txt"), labels);
    let message = folder.refusal(&["tag", "model", "test.txt", "-o", "test.txt"]);
    assert_eq!(message, "--out: test.txt is an input; choose another file");
    let message = folder.refusal(&["tag", "model", "--text", " \n "]);
    assert_eq!(message, "--text: found no word, expected a sentence");
}

#[test]
fn what_is_assumed_is_said() {
    // No line of this template shows whole words.
    let folder = Folder::with_references(20, 5).with("template", "Ulength:%letters[0,0]\nB\n");
    folder.train("model", &["--max-iterations", "5"]);
    let output = folder.bethe(&["tag", "model", "--text", "Kaya J., 1984"]);
    let said = error(&output);
    let expected = "warning: model: the model does not show how its training text was split into \
                    tokens; assumed at spaces. Use --tokens to say how\n";
    assert!(said.starts_with(expected), "{said}");
    let tagged = String::from_utf8(output.stdout).unwrap();
    assert_eq!(column(&sequences(&tagged)[0], 0), ["Kaya", "J.,", "1984"]);
    let told = folder.bethe(&["tag", "model", "--text", "Kaya J., 1984", "--tokens", "words"]);
    assert!(!error(&told).contains("warning"), "{}", error(&told));
}

#[test]
fn models_of_more_than_words_need_columns() {
    let folder = Folder::new().with("train.txt", "a x O\nb y B-n\n\nb x B-n\na y O\n");
    folder.succeeds(&["train", "train.txt", "--model", "model", "--quiet"]);
    let message = folder.refusal(&["tag", "model", "--text", "a b"]);
    assert!(message.starts_with("model: the model reads 2 columns, expected one"), "{message}");
}

#[test]
fn a_sentence_in_a_file_gets_a_hint() {
    let folder = folder().with("one.txt", "Kaya J. learning graphs\n");
    let folder = folder.with("more.txt", "Kaya J. learning graphs\n\nlearning graphs\n");
    // A file of tokens with other columns is no sentence.
    let folder = folder
        .with("wide.txt", "Kaya N x B-author\n. . x O\n\ngraphs N x B-title\n")
        .with("ragged.txt", "Kaya N x B-author\n. . x O\n. x O\n")
        .with("u.conllu", "# text = Kaya .\n1\tKaya\tPROPN\n2\t.\tPUNCT\n");
    for (file, expected) in [
        (
            "wide.txt",
            "wide.txt:1: found 4 columns, expected 2 as in the training file, or 1 without the label's",
        ),
        (
            "ragged.txt",
            "ragged.txt:3: found 3 columns, expected 4 as in line 1; each line is one token",
        ),
        (
            "u.conllu",
            "u.conllu:2: found 3 columns, expected 5 as in line 1; if line 1 is a comment, add \
             --comments '#'",
        ),
    ] {
        assert_eq!(folder.refusal(&["tag", "model", file]), expected);
    }
    let hint = "For a sentence: `bethe tag model --text 'THE SENTENCE'`";
    for (file, expected) in [
        ("one.txt", "one.txt:1: found 4 columns, expected 2 as in the training file"),
        (
            "more.txt",
            "more.txt:3: found 2 columns, expected 4 as in line 1; each line is one token",
        ),
    ] {
        let message = folder.refusal(&["tag", "model", file]);
        assert!(message.starts_with(expected) && message.ends_with(hint), "{message}");
    }
    let message = folder.refusal(&["tag", "model", "Kaya J. isn't here."]);
    let expected = r"For a sentence: `bethe tag model --text 'Kaya J. isn'\''t here.'`";
    assert!(message.starts_with("Kaya J. isn't here.: there is no such file. "), "{message}");
    assert!(message.ends_with(expected), "{message}");
    // Two words look like a token and its label.
    let output = folder.bethe_with_input(&["tag", "model"], "Kaya learning\n");
    assert_eq!(output.status.code(), Some(2));
    let said = error(&output);
    assert!(said.contains("\"Kaya learning\", whose second word is not a label"), "{said}");
    assert!(said.trim_end().ends_with(hint), "{said}");
    // A token and its label, whatever the separator, or no label yet, are fine.
    for input in ["Kaya B-author\n", "Kaya _\n", "Kaya\tlearning\n", "Kaya\n"] {
        let output = folder.bethe_with_input(&["tag", "model", "--quiet"], input);
        assert_eq!(output.status.code(), Some(0), "{input}: {}", error(&output));
    }
}
