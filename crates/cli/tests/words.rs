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
fn tables_are_refused_in_words() {
    let folder = Folder::new().with("p.json", COINS);
    for flag in ["--tilt", "--covariance", "--marginals=all"] {
        let message = folder.refusal(&["solve", "p.json", "--format", "text", flag]);
        let name = flag.split('=').next().unwrap();
        assert_eq!(message, format!("{name}: found with --format text, expected --format json"));
    }
}
