//! A file in the wrong place: the message says what it is, and which command is meant.

mod common;

use common::{EXAMPLE, Folder, error};

const COUNTS: &str = "time,A,B\n1,10,0\n2,5,5\n";
const CELLS: &str = "cell,x,y\nA,0,0\nB,1,0\n";
const UAI: &str = "MARKOV\n1\n2\n1\n1 0\n2\n0.5 0.5\n";
const REFERENCE: &str = "A. Chen and J. van Dyk. On sparse graphs. Journal of Ecology, 2004.\n";

/// A folder with one file of every kind.
fn folder() -> Folder {
    let folder = Folder::with_references(20, 5);
    folder.train("model", &["--max-iterations", "5"]);
    folder
        .with("problem.json", EXAMPLE)
        .with("problem", EXAMPLE)
        .with("graph.uai", UAI)
        .with("counts.csv", COUNTS)
        .with("cells.csv", CELLS)
        .with("refs.txt", REFERENCE)
        .with("bare.txt", "Kaya\n.\n\n1984\n")
        .with("prose.txt", "Ada met Berg in Rome.\nShe liked it there very much.\n")
        .with("words.txt", &"A.\tNN\tauthor\nChen\tNN\tauthor\nice\tNN\ttitle\n\n".repeat(5))
        .with("rules", "[[rule]]\nat_most = 1\nof = \"title\"\n")
}

#[test]
fn the_model_is_an_argument_and_a_flag_for_it_is_told_so() {
    let folder = folder();
    for command in ["tag", "evaluate", "inspect"] {
        let output = folder.bethe(&[command, "--model", "model", "test.txt"]);
        let said = error(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let expected = "the model is the first argument; leave --model out";
        assert!(said.contains(expected) && !said.contains("tip"), "{said}");
        assert!(!folder.succeeds(&[command, "--help"]).contains("--model"));
    }
}

#[test]
fn files_of_tokens_are_checked_whether_or_not_they_have_labels() {
    let folder = folder()
        .with("ragged.txt", "Kaya\tB-author\n.\n")
        .with("gap.txt", "Kaya\tB-author\n.\t\n")
        .with("parts.conll", "Kaya NNP\nran VBD\n\nhome NN\n")
        .with("u.conllu", "# text = Kaya ran\n1\tKaya\tPROPN\n2\tran\tVERB\n")
        .with("wrong.txt", "X00:%x[0,0]\nB\n")
        .with("empty.txt", "")
        .with("blank.conll", "\n\n");
    for (file, expected) in [
        (
            "bare.txt",
            "tokens without labels, one per line\n  sequences  2\n  tokens     3\n  columns    1\n",
        ),
        (
            "parts.conll",
            "labelled tokens, one per line\n  sequences  2\n  tokens     3\n  columns    2, with 3 labels",
        ),
    ] {
        let said = folder.succeeds(&["check", file]);
        assert!(said.starts_with(&format!("{file}: {expected}")), "{said}");
        let piped = folder.bethe_with_input(&["check", "-"], &folder.read(file));
        let said = String::from_utf8(piped.stdout).unwrap();
        assert!(said.starts_with(&format!("standard input: {expected}")), "{said}");
    }
    assert!(folder.succeeds(&["check", "u.conllu", "--comments", "#"]).contains("sequences  1"));
    for (file, expected) in [
        ("ragged.txt", "ragged.txt:2: found 1 column, expected 2 as in line 1"),
        ("gap.txt", "gap.txt:2: found no label, expected one for every token"),
        (
            "u.conllu",
            "u.conllu:2: found 3 columns, expected 5 as in line 1; if line 1 is a comment, add --comments '#'",
        ),
        ("wrong.txt", "wrong.txt: line 1: "),
        ("refs.txt", "refs.txt: found references, expected a problem, a model, tokens, "),
        ("empty.txt", "empty.txt: the file is empty, expected a problem, "),
        ("blank.conll", "blank.conll: the file is empty, expected a problem, "),
    ] {
        let message = folder.refusal(&["check", file]);
        assert!(message.starts_with(expected), "{message}");
    }
    for arguments in [&["check"][..], &["train", "train.txt", "--model", "new", "--constraints"]] {
        let folder = Folder::with_references(20, 5).with("none.toml", "# no rule yet\n");
        let message = folder.refusal(&[arguments, &["none.toml"]].concat());
        let expected = "none.toml: found no rule, expected at least one, each under [[rule]]";
        assert_eq!(message, expected);
    }
}

#[test]
fn constraints_that_are_no_file_name_the_flag() {
    let folder = folder();
    let message =
        folder.refusal(&["train", "train.txt", "--model", "new", "--constraints", "atuo"]);
    let expected =
        "--constraints: found \"atuo\", which is no file, expected auto, none, or a file of rules";
    assert_eq!(message, expected);
}

#[test]
fn swapped_arguments_are_put_right() {
    let folder = folder();
    for (arguments, meant) in [
        (&["tag", "test.txt", "model"][..], "bethe tag model test.txt"),
        (&["evaluate", "test.txt", "model"], "bethe evaluate model test.txt"),
        (&["tag", "refs.txt", "model"], "bethe tag model refs.txt"),
        (&["cite", "model", "refs.txt"], "bethe cite --model model refs.txt"),
        (&["inspect", "test.txt"], "bethe tag MODEL test.txt"),
        (&["solve", "model"], "bethe inspect model"),
        (&["sample", "model", "--records", "1"], "bethe inspect model"),
        (&["train", "model", "--model", "new"], "bethe inspect model"),
        (&["train", "model", "--model", "train.txt"], "bethe train train.txt --model model"),
        (&["train", "new", "--model", "train.txt"], "bethe train train.txt --model new"),
        (&["tag", "refs.txt", "test.txt"], "bethe cite refs.txt"),
        (&["evaluate", "bare.txt", "test.txt"], "bethe tag MODEL bare.txt"),
        (&["cite", "--model", "bare.txt", "refs.txt"], "bethe tag MODEL bare.txt"),
        (&["inspect", "refs.txt"], "bethe cite refs.txt"),
        (&["inspect", "prose.txt"], "bethe tag MODEL --text \"$(cat prose.txt)\""),
        (&["inspect", "template"], "bethe train TRAIN --model MODEL --template template"),
        (&["inspect", "rules"], "bethe train TRAIN --model MODEL --constraints rules"),
        (&["check", "refs.txt"], "bethe cite refs.txt"),
        (&["check", "prose.txt"], "bethe tag MODEL --text \"$(cat prose.txt)\""),
        (&["tag", "model", "model"], "bethe inspect model"),
        (&["cite", "--model", "test.txt", "refs.txt"], "bethe tag MODEL test.txt"),
    ] {
        let message = folder.refusal(arguments);
        let expected = format!("Did you mean `{meant}`?");
        assert!(message.ends_with(&expected), "{arguments:?}: {message}");
    }
}

#[test]
fn files_for_other_commands_are_known() {
    let folder = folder();
    let flows = ["--cells", "cells.csv", "--population", "10"];
    let counts = "bethe flows counts.csv --cells CELLS.csv --population M";
    for (arguments, found, meant) in [
        (&["tag", "model", "counts.csv"][..], "a CSV table", counts),
        (&["evaluate", "model", "counts.csv"], "a CSV table", counts),
        (&["train", "counts.csv", "--model", "new"], "a CSV table", counts),
        (&["solve", "counts.csv"], "a CSV table", counts),
        (&["check", "counts.csv"], "a CSV table", counts),
        (&["tag", "model", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["tag", "model", "problem"], "JSON", "bethe solve problem"),
        (&["evaluate", "model", "graph.uai"], "a UAI model", "bethe solve graph.uai"),
        (&["train", "problem.json", "--model", "new"], "JSON", "bethe solve problem.json"),
        (&["inspect", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["cite", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["solve", "test.txt"], "labelled tokens", "bethe tag MODEL test.txt"),
        (&["cite", "test.txt"], "labelled tokens", "bethe tag MODEL test.txt"),
        (&["cite", "refs.txt", "words.txt"], "labelled tokens", "bethe tag MODEL words.txt"),
    ] {
        let message = folder.refusal(arguments);
        assert!(message.contains(&format!(": found {found}, expected ")), "{message}");
        assert!(message.ends_with(&format!("Did you mean `{meant}`?")), "{message}");
    }
    for (file, found) in
        [("problem.json", "JSON"), ("model", "a model"), ("test.txt", "labelled tokens")]
    {
        let message = folder.refusal(&[&["flows", file][..], &flows].concat());
        assert!(message.starts_with(&format!("{file}: found {found}, expected ")), "{message}");
        let cells = ["flows", "counts.csv", "--cells", file, "--population", "10"];
        let message = folder.refusal(&cells);
        assert!(message.starts_with(&format!("{file}: found {found}, expected ")), "{message}");
    }
    assert!(!folder.path("new").exists());
}

#[test]
fn tables_are_only_taken_for_counts_if_they_hold_numbers() {
    let folder = folder()
        .with("tokens.csv", "token,label\nKaya,B-author\nand,O\n")
        .with("tokens-2.csv", "Kaya;B-author\nand;O\n")
        .with("tokens.jsonl", "{\"tokens\": [\"a\"], \"labels\": [\"O\"]}\n");
    for name in ["tokens.csv", "tokens-2.csv"] {
        for arguments in [
            &["train", name, "--model", "new"][..],
            &["tag", "model", name],
            &["evaluate", "model", name],
        ] {
            let message = folder.refusal(arguments);
            let expected = "; columns of tokens are separated by tabs or spaces";
            assert!(message.ends_with(expected), "{arguments:?}: {message}");
        }
    }
    let message = folder.refusal(&["check", "cells.csv"]);
    let meant = "Did you mean `bethe flows COUNTS.csv --cells cells.csv --population M`?";
    assert!(message.ends_with(meant), "{message}");
    let message = folder.refusal(&["train", "tokens.jsonl", "--model", "new"]);
    assert_eq!(message, "tokens.jsonl: found JSON, expected labelled tokens, one per line");
}

#[test]
fn a_folder_in_place_of_a_file_is_known() {
    let folder = folder();
    std::fs::create_dir(folder.path("tour")).unwrap();
    for arguments in [
        &["solve", "tour"][..],
        &["check", "tour"],
        &["inspect", "tour"],
        &["tag", "tour", "test.txt"],
        &["tag", "model", "tour"],
        &["cite", "tour"],
        &["train", "tour", "--model", "new"],
        &["train", "train.txt", "--model", "new", "--template", "tour"],
        &["flows", "tour", "--cells", "cells.csv", "--population", "10"],
        &["flows", "counts.csv", "--cells", "tour", "--population", "10"],
    ] {
        let message = folder.refusal(arguments);
        assert_eq!(message, "tour: found a folder, expected a file", "{arguments:?}");
    }
}

#[test]
fn labels_that_no_model_has_are_an_error_and_a_few_are_a_warning() {
    let folder = Folder::with_references(20, 5).with("other.txt", "Kaya\tB-person\nran\tO\n");
    folder.train("model", &["--max-iterations", "5"]);
    let message = folder.refusal(&["evaluate", "model", "other.txt"]);
    let expected = "other.txt:1: found the label \"B-person\"; the model has none of the labels \
                    there, expected some of ";
    assert!(message.starts_with(expected), "{message}");
    let train = ["train", "train.txt", "--model", "new", "--template", "template"];
    let few = ["--max-iterations", "3", "--constraints", "none", "--dev"];
    let message = folder.refusal(&[&train[..], &few, &["other.txt"]].concat());
    assert!(message.starts_with(expected), "{message}");
    let mixed = folder.read("test.txt") + "\nKaya\tB-person\nran\tI-person\nto\tB-place\n";
    let folder = folder.with("mixed.txt", &mixed);
    let output = folder.bethe(&["evaluate", "model", "mixed.txt", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let warning = String::from_utf8(output.stderr).unwrap();
    let line = mixed.lines().count() - 2;
    assert!(warning.starts_with("warning: 3 tokens of "), "{warning}");
    let first = format!(
        "have 3 labels that the model does not know and can never predict, first \
                         B-person in mixed.txt:{line}\n"
    );
    assert!(warning.ends_with(&first), "{warning}");
    let trained = folder.bethe(&[&train[..], &few, &["mixed.txt"]].concat());
    assert_eq!(trained.status.code(), Some(0));
    assert!(error(&trained).contains(&first), "{}", error(&trained));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["unknown_labels"]["B-place"], 1);
    assert_eq!(report["per_label"]["person"]["support"], 1);
}

#[test]
fn reports_are_words_or_json_on_standard_output_or_in_a_file() {
    let folder = folder();
    for (arguments, word) in [
        (&["evaluate", "model", "test.txt"][..], "precision"),
        (&["inspect", "model"], "a tagger"),
        (&["check", "model"], "a tagger"),
        (&["check", "test.txt"], "labelled tokens, one per line"),
        (&["check", "problem.json"], "a problem"),
        (&["check", "graph.uai"], "a problem"),
        (&["check", "template"], "a template"),
    ] {
        let words = folder.succeeds(arguments);
        assert!(words.contains(word), "{arguments:?}: {words}");
        assert_eq!(folder.succeeds(&[arguments, &["--format", "text"]].concat()), words);
        let json = folder.succeeds(&[arguments, &["--format", "json"]].concat());
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(read.is_object(), "{json}");
        assert_eq!(folder.succeeds(&[arguments, &["--json"]].concat()), json);
        assert_eq!(folder.succeeds(&[arguments, &["--json", "-o", "report"]].concat()), "");
        assert_eq!(folder.read("report"), json);
        let input = arguments.last().unwrap();
        let message = folder.refusal(&[arguments, &["-o", input]].concat());
        assert_eq!(message, format!("--out: {input} is an input; choose another file"));
    }
    let checked = folder.succeeds(&["check", "problem.json", "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(checked["kind"], "problem");
    assert_eq!(checked["file"], "problem.json");
    assert_eq!(checked["variables"], 3);
    assert_eq!(checked["states"], serde_json::json!([2, 3]));
    assert_eq!(checked["energies"]["product"], 1);
    assert_eq!(checked["convex"], false);
}

#[test]
fn files_that_no_command_reads_are_known() {
    let folder = folder()
        .with("refs.bib", "% Encoding: UTF-8\n@article{a,\n  title = {On graphs}\n}\n")
        .with("refs.ris", "TY  - JOUR\nTI  - On graphs\nER  - \n")
        .with("refs.json", "[{\"id\": \"a\", \"title\": \"On graphs\"}]\n")
        .with("refs.xml", "<?xml version=\"1.0\"?>\n<refs/>\n")
        .with("refs.csv", "author,title,year\n\"Chen, A.\",On sparse graphs,2004\n")
        .with("refs.tsv", "Title\tAuthors\tYear\nOn sparse graphs\tA. Chen\t2004\n")
        .with("semicolons.txt", "Author;Title;Year\nA. Chen;On sparse graphs;2004\n")
        .with("refs.rtf", "{\\rtf1\\ansi A. Chen. On sparse graphs. 2004.}\n")
        .with("refs.html", "<!doctype html>\n<p>A. Chen. On sparse graphs. 2004.</p>\n")
        .with("paper.pdf", "%PDF-1.7\n1 0 obj\n")
        .with("data", "\u{1}\0\0\u{2}\n");
    let pdf = ". Did you mean `pdftotext -layout paper.pdf - | bethe cite --unwrap`?";
    let pandoc =
        |file: &str| format!(". Did you mean `pandoc -t plain --wrap=none {file} | bethe cite`?");
    let [rtf, html] = ["refs.rtf", "refs.html"].map(pandoc);
    for (file, found, meant) in [
        ("refs.xml", "XML", ""),
        ("refs.csv", "a table of references", ""),
        ("refs.tsv", "a table of references", ""),
        ("semicolons.txt", "a table of references", ""),
        ("refs.rtf", "RTF", &rtf),
        ("refs.html", "HTML", &html),
        ("refs.bib", "BibTeX", ""),
        ("refs.ris", "RIS", ""),
        ("refs.json", "a JSON list", ""),
        ("paper.pdf", "a PDF", pdf),
        ("data", "binary data", ""),
    ] {
        let message = folder.refusal(&["cite", file]);
        let expected = "expected references as text, one per line";
        assert_eq!(message, format!("{file}: found {found}, {expected}{meant}"));
    }
    let message = folder.refusal(&["cite", "counts.csv"]);
    assert!(message.starts_with("counts.csv: found a CSV table, expected references"), "{message}");
    for (arguments, expected) in [
        (&["tag", "model", "refs.bib"][..], "one token per line"),
        (&["train", "refs.bib", "--model", "new"], "labelled tokens, one per line"),
        (&["inspect", "refs.bib"], "a model from bethe train"),
        (&["check", "refs.bib"], "a problem, a model, tokens, a template or rules"),
    ] {
        let message = folder.refusal(arguments);
        assert_eq!(message, format!("refs.bib: found BibTeX, expected {expected}"));
    }
}

#[test]
fn utf_16_is_known_everywhere() {
    let folder = folder();
    let names = [
        "problem.json",
        "graph.uai",
        "test.txt",
        "refs.txt",
        "template",
        "counts.csv",
        "cells.csv",
    ];
    for name in names {
        let mut wide = vec![0xff, 0xfe];
        wide.extend(folder.read(name).encode_utf16().flat_map(u16::to_le_bytes));
        std::fs::write(folder.path(&format!("wide-{name}")), wide).unwrap();
    }
    std::fs::write(folder.path("wide.evid"), b"\xfe\xff\x001").unwrap();
    for arguments in [
        &["solve", "wide-problem.json"][..],
        &["solve", "problem.json", "--energies", "wide-problem.json"],
        &["solve", "graph.uai", "--evidence", "wide.evid"],
        &["solve", "wide-graph.uai"],
        &["sample", "wide-problem.json", "--records", "1"],
        &["check", "wide-problem.json"],
        &["check", "wide-test.txt"],
        &["check", "wide-template"],
        &["tag", "model", "wide-test.txt"],
        &["evaluate", "model", "wide-test.txt"],
        &["cite", "wide-refs.txt"],
        &["train", "wide-test.txt", "--model", "new"],
        &["train", "train.txt", "--model", "new", "--template", "wide-template"],
        &["train", "train.txt", "--model", "new", "--constraints", "wide-template"],
        &["train", "train.txt", "--model", "new", "--lexicon", "wide-test.txt"],
        &["flows", "wide-counts.csv", "--cells", "cells.csv", "--population", "10"],
        &["flows", "counts.csv", "--cells", "wide-cells.csv", "--population", "10"],
    ] {
        let message = folder.refusal(arguments);
        let wide = arguments.iter().find(|argument| argument.starts_with("wide")).unwrap();
        assert!(message.starts_with(&format!("{wide}: ")), "{arguments:?}: {message}");
        assert!(message.contains("found UTF-16, expected UTF-8; "), "{arguments:?}: {message}");
    }
    assert!(!folder.path("new").exists());
}

#[test]
fn files_without_anything_in_them_are_refused() {
    let folder = folder().with("empty", "").with("none.toml", "# no rule yet\n");
    for (arguments, expected) in [
        (
            &["train", "train.txt", "--constraints", "none.toml"][..],
            "none.toml: found no rule, expected at least one, each under [[rule]]",
        ),
        (
            &["train", "train.txt", "--lexicon", "empty"],
            "empty: found no entry, expected one word or phrase per line",
        ),
        (&["cite", "--text", "  "], "--text: found no word, expected a reference"),
        (&["tag", "model", "--text", " "], "--text: found no word, expected a sentence"),
    ] {
        let trains = arguments[0] == "train";
        let model: &[&str] = if trains { &["--model", "new"] } else { &[] };
        assert_eq!(folder.refusal(&[arguments, model].concat()), expected);
    }
    assert!(!folder.path("new").exists());
}

#[test]
fn a_reference_or_a_flag_in_the_place_of_a_file_is_known() {
    let folder = folder();
    for (arguments, name, meant) in [
        (&["cite", "A. Chen 2004. Graphs."][..], "A. Chen 2004. Graphs.", "--text REFERENCE"),
        (&["cite", "refs.txt", "--unwrap", "always"], "always", "--unwrap=always"),
        (&["cite", "--unwrap", "never", "refs.txt"], "never", "--unwrap=never"),
    ] {
        let expected =
            format!("{name}: found no file of this name. Did you mean `bethe cite {meant}`?");
        assert_eq!(folder.refusal(arguments), expected);
    }
    let message = folder.refusal(&["cite", "other.txt"]);
    assert_eq!(message, "other.txt: there is no such file");
    folder.with("always", REFERENCE).succeeds(&["cite", "--unwrap", "always", "--quiet"]);
}

#[test]
fn a_missing_file_is_missing_whatever_its_ending() {
    let folder = folder().with("problem.json.gz", "\u{1f}");
    for name in ["none", "none.txt", "none.json"] {
        for command in ["solve", "check"] {
            let message = folder.refusal(&[command, name]);
            assert_eq!(message, format!("{name}: there is no such file"));
        }
    }
    let message = folder.refusal(&["solve", "problem.json.gz"]);
    assert!(
        message.ends_with("; unpack it, as in `zcat problem.json.gz | bethe … -`"),
        "{message}"
    );
    let message = folder.refusal(&["solve", "problem.json", "-o", "no/such/answer.json"]);
    assert_eq!(message, "no/such/answer.json: cannot write: there is no folder no/such");
    assert!(!folder.path("no").exists());
}
