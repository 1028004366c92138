//! Labels, names and file names that a terminal, a browser or a spreadsheet would obey: what people
//! see shows them as escapes, and data has them as they are.

mod common;

use std::process::Output;

use common::{Folder, error};
use serde_json::Value;

/// A title of a terminal's window, and text in red.
const TITLE: &str = "\u{1b}]0;gone\u{7}\u{1b}[31m";
const TITLE_SHOWN: &str = "\\u{1b}]0;gone\\u{7}\\u{1b}[31m";
/// Text that runs backwards, and an eight-bit control character.
const BACKWARDS: &str = "\u{202e}txt\u{9b}2J";
const BACKWARDS_SHOWN: &str = "\\u{202e}txt\\u{9b}2J";

/// Whether a terminal would draw the text and do nothing else.
fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    })
}

fn seen(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap() + &error(output);
    assert!(is_harmless(&text), "{text:?}");
    text
}

/// References with a hostile label and a hostile word.
fn trained() -> Folder {
    let text = format!("one\tB-{TITLE}\n{BACKWARDS}\tI-{TITLE}\nx\tB-b\n\n").repeat(8);
    let rules = format!(
        "[[rule]]\nat_most = 1\nof = {}\nweight = 1.0\n",
        serde_json::to_string(TITLE).unwrap().replace("\\u001b", "\\u001B")
    );
    let folder = Folder::new().with("train.txt", &text).with("rules.toml", &rules);
    let folder = folder.with("template", "Uword:%x[0,0]\nB\n");
    let flags = ["--template", "template", "--constraints", "rules.toml"];
    let output = folder.bethe(&[&["train", "train.txt", "--model", "model"], &flags[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(seen(&output).contains(&format!("at most one {TITLE_SHOWN}: 1.000")));
    folder
}

#[test]
fn what_a_model_holds_is_shown_with_escapes() {
    let folder = trained();
    for arguments in [&["inspect", "model"][..], &["check", "model"]] {
        let text = seen(&folder.bethe(arguments));
        assert!(text.contains(&format!("B-{TITLE_SHOWN}")), "{text}");
    }
    let text = seen(&folder.bethe(&["inspect", "model"]));
    assert!(text.contains(&format!("Uword:{BACKWARDS_SHOWN}")), "{text}");
    let text = seen(&folder.bethe(&["check", "rules.toml"]));
    assert!(text.contains(&format!("at most one {TITLE_SHOWN}: 1")), "{text}");
}

#[test]
fn evaluation_and_explanations_are_shown_with_escapes() {
    let folder = trained();
    let text = seen(&folder.bethe(&["evaluate", "model", "train.txt"]));
    assert!(text.lines().any(|line| line.starts_with(TITLE_SHOWN)), "{text}");
    let twice = format!("one\nx\none\none\n{BACKWARDS}\n");
    let folder = folder.with("twice.txt", &twice);
    let tagged = folder.succeeds(&["tag", "model", "twice.txt", "--explain", "--quiet"]);
    let comments: Vec<&str> = tagged.lines().filter(|line| line.starts_with("# ")).collect();
    assert!(!comments.is_empty(), "{tagged:?}");
    assert!(comments.iter().all(|line| is_harmless(line)), "{comments:?}");
    assert!(comments.iter().any(|line| line.contains(TITLE_SHOWN)), "{comments:?}");
}

#[test]
fn data_has_names_as_they_are() {
    let folder = trained();
    let tagged = folder.tag("model", "train.txt", &[]);
    assert!(tagged.contains(&format!("{BACKWARDS}\tI-{TITLE}\tI-{TITLE}\n")), "{tagged:?}");
    let states = &folder.inspect("model")["states"];
    let states: Vec<&str> = states.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(states.iter().any(|state| state.contains(TITLE)), "{states:?}");
    assert!(folder.evaluate("model", "train.txt", &[])["per_label"][TITLE].is_object());
}

#[test]
fn errors_are_one_line_that_a_terminal_only_draws() {
    let name = format!("a{TITLE}\nb.json");
    let shown = format!("a{TITLE_SHOWN}\\nb.json");
    let problem = format!("{{\"variables\": [2], \"{BACKWARDS}\": 1}}");
    let folder = Folder::new().with(&name, &problem).with("problem.json", &problem);
    for command in ["solve", "check"] {
        let message = folder.refusal(&[command, &name]);
        assert!(message.starts_with(&shown) && is_harmless(&message), "{message:?}");
        assert!(message.contains(BACKWARDS_SHOWN), "{message:?}");
        assert!(folder.refusal(&[command, "problem.json"]).contains(BACKWARDS_SHOWN));
        assert!(folder.refusal(&[command, &format!("{name}.json")]).starts_with(&shown));
    }
    for arguments in [
        &["inspect", &name][..],
        &["tag", &name, "problem.json"],
        &["evaluate", &name, "problem.json"],
        &["train", &format!("{name}.none"), "--model", "m"],
        &["cite", "--model", &name, "problem.json"],
        &["flows", &name, "--cells", &name, "--population", "3"],
        &["sample", &name, "--records", "3"],
        &["solve", "problem.json", "--time-limit", TITLE],
        &["solve", "problem.json", "--energies", &name],
        &["solve", "problem.json", "--trace", &format!("none/{name}")],
    ] {
        let message = folder.refusal(arguments);
        assert!(is_harmless(&message), "{arguments:?}: {message:?}");
    }
}

#[test]
fn mistakes_on_the_command_line_are_shown_with_escapes() {
    let folder = Folder::new();
    for arguments in [&["solve", "a.json", TITLE][..], &[TITLE], &["solve", "--solver", TITLE]] {
        let output = folder.bethe(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(seen(&output).contains(TITLE_SHOWN), "{arguments:?}: {}", error(&output));
    }
    assert_eq!(folder.bethe(&["--help"]).status.code(), Some(0));
    assert_eq!(folder.bethe(&["solve"]).status.code(), Some(2));
}

/// Cells that a page would take for markup, a spreadsheet for formulas, and a terminal for orders.
const CELLS: [&str; 4] = ["<!--<script>", "=cmd|' /C calc'!A0", "-2", "@\u{8}\u{ffff}"];

fn flows() -> Folder {
    let quoted = CELLS.map(|name| format!("\"{name}\""));
    let place = |(n, name): (usize, &String)| format!("{name},{n},0\n");
    let cells: String = quoted.iter().enumerate().map(place).collect();
    let counts = format!("time,{}\n</script>,9,1,0,0\n\"+x\u{1}\",1,9,0,0\n", quoted.join(","));
    let folder = Folder::new().with("cells.csv", &format!("cell,x,y\n{cells}"));
    folder.with("counts.csv", &counts)
}

const FLOWS: [&str; 8] =
    ["flows", "counts.csv", "--cells", "cells.csv", "--population", "10", "--out", "out"];

#[test]
fn maps_hold_any_name() {
    let folder = flows();
    folder.succeeds(&FLOWS);
    let page = folder.read("out/index.html");
    let (_, script) = page.split_once("type=\"application/json\">").unwrap();
    let (data, _) = script.split_once("</script>").unwrap();
    assert!(!data.contains('<'), "{data}");
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["names"], serde_json::json!(CELLS));
    assert_eq!(data["times"], serde_json::json!(["</script>", "+x\u{1}"]));
    assert!(folder.read("out/frames/001.svg").contains("&lt;/script&gt;"));
    for frame in ["out/frames/001.svg", "out/frames/002.svg"] {
        let svg = folder.read(frame);
        let forbidden = |c: char| c < ' ' && !"\t\n\r".contains(c) || c == '\u{ffff}';
        assert!(!svg.contains(forbidden), "{frame}");
        assert!(!svg.contains("</script"), "{frame}");
    }
}

#[test]
fn csv_files_hold_formulas_as_text_if_asked() {
    let folder = flows();
    folder.succeeds(&FLOWS);
    let plain = folder.read("out/counts.csv");
    assert!(
        plain.starts_with("time,<!--<script>,=cmd|' /C calc'!A0,-2,@\u{8}\u{ffff}\n"),
        "{plain}"
    );
    folder.succeeds(&[&FLOWS[..], &["--quote-formulas", "--sample", "3"]].concat());
    let quoted = folder.read("out/counts.csv");
    let header = "time,<!--<script>,'=cmd|' /C calc'!A0,-2,'@\u{8}\u{ffff}\n";
    assert!(quoted.starts_with(header), "{quoted}");
    assert!(quoted.contains("\n'+x\u{1},"), "{quoted}");
    let after_header = |text: &str| text.split_once('\n').unwrap().1.replace("'+x", "+x");
    assert_eq!(after_header(&quoted), after_header(&plain), "numbers are as they were");
    for file in ["out/flows.csv", "out/net.csv", "out/routes.csv"] {
        let text = folder.read(file);
        let mut cells = text.lines().flat_map(|line| line.split(','));
        assert!(
            !cells.any(|cell| cell.starts_with("=cmd") || cell.starts_with("@\u{8}")),
            "{text}"
        );
    }
    // The map is no CSV file.
    assert!(folder.read("out/index.html").contains("\"=cmd|"));
    assert!(folder.refusal(&[&FLOWS[..6], &["--quote-formulas"]].concat()).contains("--out"));
}

#[test]
fn records_hold_formulas_as_text_if_asked() {
    let problem = r#"{"variables": [{"name": "=a", "states": ["+x", "-1"]}, 2]}"#;
    let folder = Folder::new().with("problem.json", problem);
    let draw = |further: &[&str]| {
        folder.succeeds(&[&["sample", "problem.json", "--records", "40"], further].concat())
    };
    let (plain, quoted) = (draw(&[]), draw(&["--quote-formulas"]));
    assert!(plain.starts_with("=a,1\n") && plain.contains("\n+x,"), "{plain}");
    assert!(quoted.starts_with("'=a,1\n") && quoted.contains("\n-1,"), "{quoted}");
    assert_eq!(quoted.replace('\'', ""), plain);
}
