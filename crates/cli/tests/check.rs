//! `bethe check`: what it says of files that are right. (`bad_files` has those that are wrong.)

mod common;

use common::{CONVEX, EXAMPLE, Folder, error};

fn said(folder: &Folder, file: &str) -> String {
    let output = folder.bethe(&["check", file]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_problem_is_described() {
    let folder = Folder::new().with("p.json", EXAMPLE);
    assert_eq!(
        said(&folder, "p.json"),
        "p.json: a problem
  variables  3 of 2 to 3 states, 1 observed
  factors    2: 1 over 1, 1 over 2; 1 configuration forbidden
  energies   3: 1 measurement smoothed_hinge, 1 nearest of 2 points, 1 product
             not convex: a stationary point, no gap
  oracle     exact, a chain of 2 positions, 1 transition table
  solver     auto: piece by piece, each by the dual; --global finds the best piece
"
    );
}

#[test]
fn the_shape_of_the_graph_and_the_solver_are_named() {
    let pair =
        |a: usize, b: usize| format!(r#"{{"scope": [{a}, {b}], "log_potentials": [1, 0, 0, 1]}}"#);
    let model = |pairs: &[(usize, usize)], rest: &str| {
        let factors: Vec<String> = pairs.iter().map(|&(a, b)| pair(a, b)).collect();
        format!(r#"{{"variables": [2, 2, 2, 2], "factors": [{}]{rest}}}"#, factors.join(", "))
    };
    let product =
        r#", "energies": [{"kind": "product", "scope": [0, 3], "log_potentials": [1, 0, 0, 1]}]"#;
    for (text, expected) in [
        (
            model(&[(0, 1), (1, 2), (2, 3)], ""),
            ["a chain of 4 positions, 1 transition table\n", "auto: plain inference"],
        ),
        (model(&[(2, 0), (1, 3)], ""), ["a chain of 4 positions in 2 paths", "plain inference"]),
        (
            model(&[(0, 1), (0, 2), (0, 3)], product),
            ["a tree of 3 cliques", "auto: adaptive steps"],
        ),
        (
            model(&[(0, 1), (1, 2), (2, 3), (3, 0)], ""),
            ["a junction tree of 2 cliques", "auto: plain inference"],
        ),
        (CONVEX.to_string(), ["convex: the answer comes with a gap", "auto: the dual\n"]),
        (r#"{"variables": [1]}"#.to_string(), ["every variable is fixed", "variables  1 of 1"]),
        (
            CONVEX.replace("\"weight\": 4", "\"weight\": -4"),
            ["1 with negative weight", "auto: the dual, with the other energies linearised"],
        ),
    ] {
        let said = said(&Folder::new().with("p.json", &text), "p.json");
        for part in expected {
            assert!(said.contains(part), "{part:?} is missing in\n{said}");
        }
    }
}

#[test]
fn batches_and_energies_files_are_described() {
    let lines = format!("{}\n{}\n", EXAMPLE.replace('\n', " "), r#"{"variables": [2]}"#);
    let folder = Folder::new()
        .with("b.jsonl", &lines)
        .with(
            "e.json",
            r#"{"energies": [{"kind": "product", "scope": [0], "log_potentials": [1]}]}"#,
        )
        .with("wrong.json", r#"{"energies": [{"kind": "product", "scope": [0]}]}"#);
    assert_eq!(
        said(&folder, "b.jsonl"),
        "b.jsonl: 2 problems, one per line
  variables  1 to 3 each
  factors    0 to 2 each
  energies   0 to 3 each
"
    );
    assert!(
        said(&folder, "e.json")
            .starts_with("e.json: an energies file\n  energies   1: 1 product\n")
    );
    assert_eq!(
        folder.refusal(&["check", "wrong.json"]),
        "wrong.json: energies[0]: found no field \"log_potentials\", expected one"
    );
}

#[test]
fn templates_and_files_of_rules_are_described() {
    let rules = "[[rule]]\nexactly = 1\nof = \"title\"\nweight = \"hard\"\n\n[[rule]]\nif = \"editor\"\n\
                 then = \"1:person\"\nweight = 2.5\n\n[[rule]]\nequal = [\"a\", \"b\"]\n";
    let folder = Folder::new()
        .with("rules.toml", rules)
        .with("wrong.toml", "[[rule]]\nat_most = -1\nof = \"title\"\n")
        .with("words.template", "# words\n\nU00:%x[0,0]\nU01:%lower[-1,1]\nB\n")
        .with("template", "U00:%x[0,0]\n")
        .with("wrong.template", "U00:%x[0,0]\nU01:%nothing[0,0]\n");
    assert_eq!(
        said(&folder, "rules.toml"),
        "rules.toml: 5 rules
  at most one title: hard
  at least one title: hard
  editor only with 1:person: 2.5
  no more a than b: learned
  no fewer a than b: learned
  Label names are checked when you train with --constraints
"
    );
    let message = folder.refusal(&["check", "wrong.toml"]);
    assert_eq!(
        message,
        "wrong.toml:2: rule 1: at_most is -1, expected a whole number from 0 to 10000"
    );
    assert_eq!(
        said(&folder, "words.template"),
        "words.template: a template
  attributes from 2 lines
  reads columns 0 to 1
  label pairs: weights
"
    );
    let folder = folder.with("named.txt", "Ubias\nUword:%x[0,0]\nLnear:%lists[0]\nB\n");
    assert!(said(&folder, "named.txt").contains("attributes from 3 lines"));
    let expected = "  attributes from 1 line\n  reads column 0\n  label pairs: no weights\n";
    assert!(said(&folder, "template").ends_with(expected));
    let message = folder.refusal(&["check", "wrong.template"]);
    assert!(
        message.starts_with("wrong.template: line 2: found the function %nothing"),
        "{message}"
    );
}
