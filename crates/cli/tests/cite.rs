//! `bethe cite`: lines of plain text in, entries out.

mod common;

use std::sync::LazyLock;

use common::citations::{citations, labelled};
use common::{Folder, error, sequences, text};
use serde_json::{Value, json};

/// A template for references that trains in no time.
const TEMPLATE: &str = "Uword:%x[0,0]\nUlower-1:%lower[-1,0]\nUlower+1:%lower[1,0]\nUoutline-1:%outline[-1,0]\n\
Uoutline:%outline[0,0]\nUoutline+1:%outline[1,0]\nUpattern:%pattern[0,0]\nUedge:%edge[0]\nB\n";

const REFERENCE: &str = "Chen, A. (2004). On rivers.\n";

/// References to train on and a model of them, with rules; made once for all tests.
static MODEL: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new().with("train.txt", &labelled(&citations(120, 1)));
    let folder = folder.with("template", TEMPLATE).with("refs.txt", REFERENCE);
    folder.train(
        "model",
        &["--constraints", "auto", "--rule-penalty", "0.3", "--max-iterations", "40"],
    );
    folder
});

/// Lines that the model has not seen.
fn lines(count: usize) -> Vec<String> {
    citations(count, 2).into_iter().map(|citation| citation.line).collect()
}

fn cite(lines: &str, further: &[&str]) -> String {
    let arguments = [&["cite", "--model", "model", "--quiet"], further].concat();
    text(&MODEL.bethe_with_input(&arguments, lines), &arguments)
}

fn objects(lines: &str, further: &[&str]) -> Vec<Value> {
    let written = cite(lines, &[&["--format", "json"], further].concat());
    written.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_become_entries_that_are_right() {
    let file = "[12] J. van Dyk and M. A. López. On sparse graphs and deep vision. Journal of Ecology, \
                12(3):45–67, 2004.\n\
                Chen, A., & Müller, T. (1999). Towards robust parsing. In C. Horn (Eds.), Workshop on \
                Statistics, pp. 7-15, Berlin: Springer.\n\
                Anna Gupta. Hidden labels for adaptive search. PhD thesis, Leiden University. 2011.\n";
    let expected = "@article{dyk2004sparse,
  author = {van Dyk, J. and López, M. A.},
  title = {On sparse graphs and deep vision},
  journal = {Journal of Ecology},
  volume = {12},
  number = {3},
  pages = {45--67},
  year = {2004},
}

@inproceedings{chen1999robust,
  author = {Chen, A. and Müller, T.},
  title = {Towards robust parsing},
  editor = {Horn, C.},
  booktitle = {Workshop on Statistics},
  pages = {7--15},
  publisher = {Springer},
  address = {Berlin},
  year = {1999},
}

@phdthesis{gupta2011hidden,
  author = {Gupta, Anna},
  title = {Hidden labels for adaptive search},
  school = {Leiden University},
  year = {2011},
}
";
    assert_eq!(cite(file, &[]), expected);
    // From a file, with line ends of Windows and a byte order mark, the same.
    let folder = Folder::new().with("refs.txt", &format!("\u{feff}{}", file.replace('\n', "\r\n")));
    let model = MODEL.path("model");
    let model = model.to_str().unwrap();
    assert_eq!(
        folder.succeeds(&["cite", "--model", model, "refs.txt", "--format", "bibtex", "--quiet"]),
        expected
    );
}

#[test]
fn json_has_fields_tokens_labels_and_probabilities() {
    let references = lines(5);
    let found = objects(&(references.join("\n") + "\n"), &["--marginals", "--explain"]);
    assert_eq!(found.len(), 5);
    for (at, (object, line)) in found.iter().zip(&references).enumerate() {
        assert_eq!((&object["line"], &object["text"]), (&json!(at + 1), &json!(line)));
        let tokens = object["tokens"].as_array().unwrap();
        assert_eq!(object["labels"].as_array().unwrap().len(), tokens.len());
        let probabilities = object["probabilities"].as_array().unwrap();
        assert!(probabilities.iter().all(|p| (0.0..=1.0 + 1e-9).contains(&p.as_f64().unwrap())));
        assert_eq!(probabilities.len(), tokens.len());
        let segments = object["segments"].as_array().unwrap();
        let covered: u64 = segments
            .iter()
            .map(|segment| segment["end"].as_u64().unwrap() - segment["first"].as_u64().unwrap())
            .sum();
        assert_eq!(covered as usize, tokens.len());
        assert!(segments.iter().all(|s| s["label"].is_string() && s["probability"].is_number()));
        assert!(object["explanation"].is_array());
        assert!(object["fields"]["title"].is_string() && object["fields"]["year"].is_number());
    }
    let plain = &objects(&references[0], &[])[0];
    assert!(plain.get("probabilities").is_none() && plain.get("explanation").is_none());
}

#[test]
fn csl_json_is_one_array_whatever_comes() {
    let read = |input: &str| -> Vec<Value> {
        serde_json::from_str(&cite(input, &["--format", "csl-json"])).unwrap()
    };
    assert_eq!(read(""), Vec::<Value>::new());
    assert_eq!(read("\n \n"), Vec::<Value>::new());
    // More than one batch.
    let items = read(&lines(300).join("\n"));
    assert_eq!(items.len(), 300);
    let mut ids: Vec<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert!(items.iter().all(|item| item["type"].is_string() && item["title"].is_string()));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 300);
}

#[test]
fn conll_is_what_tag_writes() {
    let input = lines(20).join("\n") + "\n";
    for further in [&[][..], &["--marginals"], &["--no-rules"]] {
        let written = cite(&input, &[&["--format", "conll"], further].concat());
        let words: String = sequences(&written)
            .iter()
            .map(|rows| rows.iter().map(|row| row[0].clone() + "\n").collect::<String>() + "\n")
            .collect();
        let arguments = [&["tag", "model", "--quiet"], further].concat();
        // What the model saw: the dashes of its training text are among those of the lines.
        assert_eq!(text(&MODEL.bethe_with_input(&arguments, &words), &arguments), written);
    }
}

#[test]
fn explanations_say_what_rules_changed() {
    let input = lines(120).join("\n") + "\n";
    let comments = |format: &str, mark: &str| -> Vec<String> {
        let written = cite(&input, &["--format", format, "--explain"]);
        let lines = written.lines().filter_map(|line| line.strip_prefix(mark));
        // BibTeX also says which entries are worth checking.
        let lines = lines.filter(|line| !line.starts_with("low confidence"));
        lines.map(str::to_string).collect()
    };
    let found = comments("conll", "# ");
    assert!(found.iter().any(|line| line.contains("expected without rules")), "{found:?}");
    assert_eq!(comments("bibtex", "% "), found);
    let objects = objects(&input, &["--explain"]);
    let explained = objects.iter().flat_map(|object| object["explanation"].as_array().unwrap());
    assert_eq!(explained.map(|line| line.as_str().unwrap()).collect::<Vec<_>>(), found);
}

#[test]
fn formats_refuse_what_they_cannot_hold() {
    for (format, flag) in
        [("csl-json", "--explain"), ("csl-json", "--marginals"), ("bibtex", "--marginals")]
    {
        let message =
            MODEL.refusal(&["cite", "--model", "model", "refs.txt", "--format", format, flag]);
        assert!(message.contains(flag) && message.contains(format), "{message}");
    }
}

#[test]
fn keys_are_unique_over_the_whole_stream() {
    let line = "A. Chen. On sparse graphs. Journal of Ecology, 12(3):45–67, 2004.\n";
    let written = cite(&line.repeat(600), &[]);
    let mut keys: Vec<&str> = written.lines().filter(|line| line.starts_with('@')).collect();
    assert_eq!(keys.len(), 600);
    assert!(keys[0].ends_with("{chen2004sparse,") && keys[1].ends_with("{chen2004sparsea,"));
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 600);
}

#[test]
fn any_line_gives_an_entry() {
    let long = "Chen, A. (2004). graphs, ".repeat(2000); // more than 10,000 tokens
    let longer = "x ".repeat(30_000); // more than are tagged
    let hostile = [
        "???",
        "\u{0}\u{1}\u{7f}A. Chen\u{0}2004",
        "王小明，李雷。图的稀疏表示学习。计算机学报，2004，27(3)：12－17。",
        "محمد علي، نظرية البيان، مجلة العلوم، ٢٠٠٤",
        "Mu\u{308}ller, J\u{301}. Sche\u{301}mas {unbalanced \\ } } % @article{x, 2004",
        "शर्मा, र. (२००४). हिन्दी",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🎉 2004",
        &long,
        &longer,
    ];
    let input = hostile.join("\n") + "\n";
    for format in ["json", "bibtex", "csl-json", "conll"] {
        let arguments = ["cite", "--model", "model", "--format", format];
        let output = MODEL.bethe_with_input(&arguments, &input);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", error(&output));
        assert!(error(&output).starts_with("9 references"), "{}", error(&output));
        let written = String::from_utf8(output.stdout).unwrap();
        let count = match format {
            "json" => written.lines().count(),
            "bibtex" => written.lines().filter(|line| line.starts_with('@')).count(),
            "csl-json" => serde_json::from_str::<Vec<Value>>(&written).unwrap().len(),
            _ => sequences(&written).len(),
        };
        assert_eq!(count, 9, "{format}");
        if format == "bibtex" {
            assert_eq!(written.matches('{').count(), written.matches('}').count());
        }
    }
    let objects = objects(&input, &[]);
    assert_eq!(objects[8]["type"], "misc");
    assert!(objects[7]["tokens"].as_array().unwrap().len() > 10_000);
    assert!(objects.iter().all(|object| !object["text"].as_str().unwrap().contains('\u{0}')));
}

#[test]
fn blank_lines_are_counted_and_bytes_that_are_not_utf8_are_read_as_windows_1252() {
    let folder = Folder::new();
    let bytes = b"\n\nM\xfcller, T. (2004). On rivers. Journal of Ecology, 12, 45-67.\n \t\n";
    std::fs::write(folder.path("old.txt"), bytes).unwrap();
    let model = MODEL.path("model");
    let output =
        folder.bethe(&["cite", "--model", model.to_str().unwrap(), "old.txt", "--format", "json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&object["line"], &object["fields"]["author"][0]["family"]),
        (&json!(3), &json!("Müller"))
    );
    let message = error(&output);
    assert!(message.contains("1 reference in") && message.contains("3 blank lines"), "{message}");
    assert!(message.contains("1 line not UTF-8") && message.contains("line 3"), "{message}");
}

#[test]
fn models_without_a_field_of_references_are_refused() {
    let folder = Folder::new().with("train.txt", "the\tB-NP\ncat\tI-NP\nsat\tB-VP\n");
    let folder = folder.with("template", TEMPLATE).with("refs.txt", REFERENCE);
    folder.train("chunks", &["--max-iterations", "3"]);
    let message = folder.refusal(&["cite", "--model", "chunks", "refs.txt"]);
    assert!(message.starts_with("chunks: found the labels B-NP"), "{message}");
    assert!(message.contains("such as author, title and year"), "{message}");
    // Labels it can write, whatever they mean.
    for format in ["conll", "json"] {
        folder.succeeds(&["cite", "--model", "chunks", "refs.txt", "--format", format, "--quiet"]);
    }
}

#[test]
fn models_that_do_not_read_tokens_are_refused() {
    let folder = Folder::new().with("template", "Ushape:%shape[0,0]\nB\n");
    let folder = folder.with("refs.txt", REFERENCE);
    let folder = folder.with("train.txt", &labelled(&citations(10, 1)));
    folder.train("shapes", &["--max-iterations", "3"]);
    let message = folder.refusal(&["cite", "--model", "shapes", "refs.txt"]);
    assert!(message.starts_with("--tokens:") && message.contains("Uword"), "{message}");
    // Told, it works.
    folder.succeeds(&["cite", "--model", "shapes", "refs.txt", "--tokens", "words", "--quiet"]);

    let two: String = labelled(&citations(10, 1))
        .lines()
        .map(|line| if line.is_empty() { "\n".to_string() } else { format!("x\t{line}\n") })
        .collect();
    let folder =
        Folder::new().with("train.txt", &two).with("template", "U1:%x[0,0]\nU2:%x[0,1]\nB\n");
    let folder = folder.with("refs.txt", REFERENCE);
    folder.train("both", &["--max-iterations", "3"]);
    let message = folder.refusal(&["cite", "--model", "both", "refs.txt"]);
    assert!(message.contains("reads 2 columns"), "{message}");
    // One column of several is found wherever it is.
    let folder = folder.with("template", "U2:%x[0,0]\nB\n");
    folder.train("second", &["--max-iterations", "20", "--observe", "2"]);
    let written =
        folder.succeeds(&["cite", "--model", "second", "refs.txt", "--format", "conll", "--quiet"]);
    assert!(!written.contains("_\t"), "{written}");
    let message = MODEL.refusal(&["cite", "--model", "missing", "refs.txt"]);
    assert!(message.contains("missing"), "{message}");
    let message = MODEL.refusal(&["cite", "--model", "model", "nothing.txt"]);
    assert!(message.contains("nothing.txt"), "{message}");
}

#[test]
fn tokens_are_split_as_training_text_was() {
    let input = "Chen, A. (2004). On rivers.\n";
    let tokens = |folder: &Folder, further: &[&str]| -> String {
        let arguments =
            [&["cite", "--model", "model", "--format", "json", "--quiet"], further].concat();
        let written = text(&folder.bethe_with_input(&arguments, input), &arguments);
        let object: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
        let tokens = object["tokens"].as_array().unwrap();
        tokens.iter().map(|token| token.as_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tokens(&MODEL, &[]), "Chen , A. (2004) . On rivers .");
    assert_eq!(tokens(&MODEL, &["--tokens", "spaces"]), "Chen, A. (2004). On rivers.");
    assert_eq!(tokens(&MODEL, &["--tokens", "punctuation"]), "Chen , A . ( 2004 ) . On rivers .");
    // Training text that was split otherwise.
    for (apart, expected) in
        [(true, "Chen , A . ( 2004 ) . On rivers ."), (false, "Chen, A. (2004). On rivers.")]
    {
        let mut train = String::new();
        for line in lines(60) {
            let split: String = line
                .chars()
                .flat_map(|c| match apart && c.is_ascii_punctuation() || c == '–' {
                    true => vec![' ', c, ' '],
                    false => vec![c],
                })
                .collect();
            for (t, word) in split.split_whitespace().enumerate() {
                train.push_str(&format!("{word}\t{}\n", if t < 3 { "author" } else { "title" }));
            }
            train.push('\n');
        }
        let folder = Folder::new().with("train.txt", &train).with("template", TEMPLATE);
        folder.train("model", &["--max-iterations", "5"]);
        assert_eq!(tokens(&folder, &[]), expected);
    }
}

#[test]
fn limits_and_threads_are_those_of_tagging() {
    let input = lines(40).join("\n") + "\n";
    let all = cite(&input, &[]);
    assert_eq!(cite(&input, &["--threads", "1"]), all);
    cite(&input, &["--max-iterations", "1", "--time-limit", "1ms"]);
    let message = MODEL.refusal(&["cite", "--model", "model", "refs.txt", "--threads", "0"]);
    assert!(message.starts_with("--threads"), "{message}");
    let message = MODEL.refusal(&["cite", "--model", "model", "refs.txt", "--tolerance", "-1"]);
    assert!(message.starts_with("--tolerance"), "{message}");
}

#[test]
fn wrapped_references_are_joined_in_files_and_standard_input() {
    let lines = [
        "[1] J. van Dyk and M. A. López. On sparse graphs and deep vision. Journal of Ecology, 12(3):45–67, 2004.",
        "[2] Anna Gupta. Hidden labels for adaptive search. PhD thesis, Leiden University. 2011.",
        "[3] A. Chen. Towards robust parsing. Journal of Ecology, 7(1):7–15, 1999.",
    ];
    let whole = cite(&lines.join("\n"), &[]);
    let wrapped = |line: &&str| {
        let at = line.find(". ").expect("a sentence") + 2;
        let at = at + line[at..].find(' ').expect("a space");
        format!("{}\n{}\n", &line[..at], &line[at + 1..])
    };
    let wrapped: String = lines.iter().map(wrapped).collect();
    assert_eq!(cite(&wrapped, &["--unwrap"]), whole);
    let folder = Folder::new().with("refs.txt", &wrapped);
    let (model, file) = (MODEL.path("model"), folder.path("refs.txt"));
    let arguments = ["cite", "--model", model.to_str().unwrap(), file.to_str().unwrap(), "--quiet"];
    assert_eq!(text(&folder.bethe(&arguments), &arguments), whole);
    // Standard input is read as files are.
    assert_eq!(cite(&wrapped, &[]), whole);
    assert_eq!(cite(&wrapped, &["--unwrap=never", "--format", "json"]).lines().count(), 6);
    let never = [&arguments[..], &["--unwrap=never", "--format", "json"]].concat();
    assert_eq!(text(&folder.bethe(&never), &never).lines().count(), 6);
}

#[test]
fn a_text_of_several_lines_is_one_reference_unless_it_is_a_list() {
    let first = "J. van Dyk. On sparse graphs and deep vision. Journal of Ecology,";
    let second = "A. Chen. Towards robust parsing. Journal of Ecology, 7(1):7–15, 1999.";
    let model = MODEL.path("model");
    let count = |text: &str, further: &[&str]| {
        let own = ["cite", "--model", model.to_str().unwrap(), "--format", "json", "--text", text];
        let arguments = [&own, further].concat();
        MODEL.succeeds(&arguments).lines().count()
    };
    let wrapped = format!("{first}\n12(3):45–67, 2004.\n");
    assert_eq!((count(&wrapped, &[]), count(&wrapped, &["--unwrap=never"])), (1, 2));
    let whole = format!("{first} 12(3):45–67, 2004.");
    assert_eq!(count(&format!("{whole}\n{second}"), &[]), 2);
    assert_eq!(count(&format!("[1] {wrapped}[2] {second}"), &[]), 2);
    assert_eq!(count("References", &[]), 1);
}

#[test]
fn ris_has_a_record_for_every_entry() {
    let written = cite(&lines(5).join("\n"), &["--format", "ris"]);
    assert_eq!(written.matches("TY  - ").count(), 5);
    assert_eq!(written.matches("ER  - ").count(), 5);
    assert!(written.contains("\nAU  - "), "{written}");
}
