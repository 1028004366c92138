//! `bethe cite` with the built-in model.

mod common;

use common::{Folder, error, text};
use serde_json::Value;

const REFERENCE: &str = "Smith, J. A., & Jones, P. (2004). Learning in hidden networks. Journal of Ecology, \
                         12(3), 45–67.";

fn entry(folder: &Folder, arguments: &[&str]) -> Value {
    let written = folder.succeeds(arguments);
    let mut lines = written.lines();
    let first = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert!(lines.next().is_none(), "{written}");
    first
}

fn is_right(object: &Value) {
    let fields = &object["fields"];
    assert_eq!(object["type"], "article");
    assert_eq!(object["key"], "smith2004learning");
    assert_eq!(fields["title"], "Learning in hidden networks");
    assert_eq!(fields["journal"], "Journal of Ecology");
    assert_eq!((&fields["volume"], &fields["number"]), (&"12".into(), &"3".into()));
    assert_eq!((&fields["pages"], &fields["year"]), (&"45--67".into(), &2004.into()));
    assert_eq!(fields["author"][1]["family"], "Jones");
}

#[test]
fn no_model_is_needed_for_files_standard_input_or_a_text() {
    let folder = Folder::new().with("refs.txt", &format!("{REFERENCE}\n"));
    is_right(&entry(&folder, &["cite", "refs.txt", "--format", "json", "--quiet"]));
    is_right(&entry(&folder, &["cite", "--text", REFERENCE, "--format", "json", "--quiet"]));
    for arguments in
        [&["cite", "--format", "json", "--quiet"][..], &["cite", "-", "--format", "json"]]
    {
        let written = text(&folder.bethe_with_input(arguments, REFERENCE), arguments);
        is_right(&serde_json::from_str(&written).unwrap());
    }
}

#[test]
fn several_files_give_one_bibliography_with_keys_of_its_own() {
    let folder = Folder::new().with("a.txt", REFERENCE).with("b.txt", REFERENCE);
    let written = folder.succeeds(&["cite", "a.txt", "b.txt", "--quiet"]);
    assert!(
        written.contains("{smith2004learning,") && written.contains("{smith2004learninga,"),
        "{written}"
    );
    let objects = folder.succeeds(&["cite", "a.txt", "b.txt", "--format", "json", "--quiet"]);
    let files: Vec<Value> =
        objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&files[0]["file"], &files[1]["file"]), (&"a.txt".into(), &"b.txt".into()));
    let items: Value = serde_json::from_str(
        &folder.succeeds(&["cite", "a.txt", "b.txt", "--format", "csl-json", "--quiet"]),
    )
    .unwrap();
    assert_eq!(items.as_array().unwrap().len(), 2);
}

#[test]
fn an_output_file_appears_whole_or_not_at_all() {
    let folder = Folder::new().with("refs.txt", REFERENCE);
    assert_eq!(folder.succeeds(&["cite", "refs.txt", "-o", "refs.bib", "--quiet"]), "");
    assert!(folder.read("refs.bib").contains("@article{smith2004learning,"));
    folder.refusal(&["cite", "refs.txt", "missing.txt", "--out", "other.bib"]);
    assert!(!folder.path("other.bib").exists());
    let message = folder.refusal(&["cite", "refs.txt", "--out", "refs.txt"]);
    assert!(message.contains("--out: refs.txt is an input"), "{message}");
}

#[test]
fn a_model_in_the_place_of_text_is_refused_with_a_hint() {
    let folder = Folder::new().with("refs.txt", REFERENCE);
    std::fs::write(folder.path("model"), bethe_cite::Parser::embedded_model()).unwrap();
    let message = folder.refusal(&["cite", "model", "refs.txt"]);
    assert!(message.contains("Did you mean `bethe cite --model model refs.txt`?"), "{message}");
    is_right(&entry(
        &folder,
        &["cite", "--model", "model", "refs.txt", "--format", "json", "--quiet"],
    ));
    let arguments = ["cite", "refs.txt", "--text", REFERENCE];
    let message = error(&folder.bethe(&arguments));
    assert!(message.contains("cannot be used with"), "{message}");
}

#[test]
fn entries_carry_a_confidence() {
    let folder = Folder::new();
    let arguments = ["cite", "--text", REFERENCE, "--format", "json", "--marginals", "--quiet"];
    let confidence = entry(&folder, &arguments)["confidence"].as_f64().unwrap();
    assert!((0.3..=1.0).contains(&confidence), "{confidence}");
}

#[test]
fn bibtex_says_which_entries_are_worth_a_look() {
    let folder = Folder::new().with("refs.txt", &format!("{REFERENCE}\n[3] 12, 45, 1990\n"));
    let written = folder.succeeds(&["cite", "refs.txt", "--quiet"]);
    let marks: Vec<&str> = written.lines().filter(|line| line.starts_with('%')).collect();
    assert_eq!(marks.len(), 1, "{written}");
    assert!(marks[0].starts_with("% low confidence 0."), "{written}");
    // Right before the second entry.
    let (first, second) = written.split_once(marks[0]).unwrap();
    assert!(first.starts_with("@article{smith2004learning,"), "{written}");
    assert!(second.starts_with("\n@"), "{written}");
}
