//! `bethe solve --format text`: answers for people.

mod common;

use common::{Folder, INFEASIBLE};

/// A fair coin that is measured to be tails nearly always, and one that nobody looks at.
const COINS: &str = r#"{"variables": [{"name": "coin", "states": ["heads", "tails"]}, 2],
  "factors": [{"scope": [1], "log_potentials": [0, 1]}],
  "energies": [{"kind": "measurement", "weight": 1000, "penalty": {"kind": "squared"}, "offset": -0.9,
                "terms": [{"scope": ["coin"], "coefficients": [0, 1]}]}]}"#;

#[test]
fn words_say_what_energies_change_and_how_sure_that_is() {
    let folder = Folder::new().with("p.json", COINS);
    let text = folder.succeeds(&["solve", "p.json", "--format", "text"]);
    assert!(text.starts_with("p.json: solved by dual on "), "{text}");
    assert!(text.contains("No marginal is off by more than "), "{text}");
    // Only one coin changes, and one of its states says it.
    let changes = text.split("(without → with):\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let lines: Vec<_> = changes.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].contains("coin=") && lines[0].contains("0.500 → "), "{text}");
    assert!(text.contains("Best assignment (proved):\n  coin=tails 1=1\n"), "{text}");
    assert!(text.contains("The energy costs 0.0"), "{text}");
}

#[test]
fn words_without_energies_are_the_likely_states() {
    let plain =
        r#"{"variables": [2, 3], "factors": [{"scope": [1], "log_potentials": [0, 0, 3]}]}"#;
    let folder = Folder::new().with("p.json", plain);
    let text = folder.succeeds(&["solve", "p.json", "--format", "text"]);
    assert!(text.contains("The most probable state of each variable:\n"), "{text}");
    assert!(text.contains("  1=2  0.909\n"), "{text}");
}

#[test]
fn words_admit_what_is_not_known() {
    let folder = Folder::new().with("i.json", INFEASIBLE).with("p.json", COINS);
    let output = folder.bethe(&["solve", "i.json", "--format", "text"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "i.json: infeasible: its hard measurements cannot hold together\n");
    let limited =
        ["solve", "p.json", "--format", "text", "--solver", "rda", "--max-iterations", "2"];
    let text = folder.succeeds(&limited);
    assert!(text.contains("not converged") && text.contains("--max-iterations"), "{text}");
}

#[test]
fn a_pipe_gets_json_and_the_old_flag_still_works() {
    let folder = Folder::new().with("p.json", COINS).with("b.jsonl", &COINS.replace('\n', " "));
    for arguments in
        [&["solve", "p.json"][..], &["solve", "p.json", "--output", "json"], &["solve", "b.jsonl"]]
    {
        let text = folder.succeeds(arguments);
        assert!(text.starts_with("{\"status\""), "{arguments:?}: {text}");
    }
    folder.succeeds(&["solve", "p.json", "-o", "answer.json"]);
    assert!(folder.read("answer.json").starts_with("{\"status\""));
}

#[test]
fn nothing_is_called_proved_that_is_not() {
    // Around a ring, tree-reweighted marginals are not the true ones.
    let table = "\"log_potentials\": [1, 0, 0, 1]";
    let ring = format!(
        "{{\"variables\": [2, 2, 2], \"factors\": [{{\"scope\": [0, 1], {table}}}, {{\"scope\": [1, 2], \
         {table}}}, {{\"scope\": [2, 0], {table}}}, {{\"scope\": [0], \"log_potentials\": [0, 0.3]}}]}}"
    );
    // Two patterns pull: from where it starts, a solve ends at one of them.
    let patterns = r#"{"variables": [2, 2], "energies": [{"kind": "nearest", "weight": 4, "norm": "l1",
        "measurements": [{"terms": [{"scope": [0], "coefficients": [0, 1]}]}], "points": [[1], [0]]}]}"#;
    let folder = Folder::new()
        .with("ring.json", &ring)
        .with("patterns.json", patterns)
        .with("p.json", COINS);
    let text = folder.succeeds(&["solve", "ring.json", "--oracle", "trw", "--format", "text"]);
    assert!(!text.contains("No marginal is off"), "{text}");
    assert!(text.contains("its marginals are from the true ones is not known"), "{text}");
    let text = folder.succeeds(&["solve", "ring.json", "--oracle", "loopy", "--format", "text"]);
    assert!(text.contains("(loopy belief propagation). Nothing is proved"), "{text}");
    let text = folder.succeeds(&["solve", "patterns.json", "--format", "text"]);
    assert!(text.contains("Best assignment at this point:\n"), "{text}");
    let cut = ["solve", "p.json", "--format", "text", "--solver", "rda", "--max-iterations", "2"];
    let text = folder.succeeds(&cut);
    assert!(text.contains("Best assignment so far:\n"), "{text}");
}

#[test]
fn marginals_none_goes_with_text() {
    let folder = Folder::new().with("p.json", COINS);
    let text = folder.succeeds(&["solve", "p.json", "--format", "text", "--marginals", "none"]);
    assert!(text.starts_with("p.json: solved by dual on "), "{text}");
}

#[test]
fn uai_formats_print_nothing_for_a_problem_without_a_solution() {
    let folder = Folder::new().with("i.json", INFEASIBLE);
    for format in ["mar", "pr"] {
        let output = folder.bethe(&["solve", "i.json", "--format", format]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    }
}

#[test]
fn tables_are_refused_in_words() {
    let folder = Folder::new().with("p.json", COINS);
    for flag in ["--tilt", "--covariance", "--marginals=all"] {
        let message = folder.refusal(&["solve", "p.json", "--format", "text", flag]);
        let name = flag.split('=').next().unwrap();
        assert_eq!(message, format!("{name} needs --format json, found --format text"));
    }
}
