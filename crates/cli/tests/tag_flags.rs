//! What the flags of `bethe tag`, `evaluate` and `inspect` do.

mod common;

use std::collections::BTreeSet;

use common::{Folder, column, error, sequences};

const RULES: [&str; 4] = ["--constraints", "auto", "--rule-penalty", "0.3"];

fn trained() -> Folder {
    let folder = Folder::with_references(80, 40);
    folder.train("model", &RULES);
    folder
}

#[test]
fn every_flag_of_the_help_is_tested_here_or_beside() {
    for (command, known) in [
        (
            "tag",
            &[
                "--marginals",
                "--n-best",
                "--force",
                "--explain",
                "--no-rules",
                "--solver",
                "--max-iterations",
                "--tolerance",
                "--time-limit",
                "--memory-limit",
                "--comments",
                "--scores",
                "--threads",
                "--text",
                "--tokens",
                "--quiet",
            ][..],
        ),
        (
            "evaluate",
            &[
                "--format",
                "--json",
                "--no-rules",
                "--solver",
                "--max-iterations",
                "--tolerance",
                "--time-limit",
                "--memory-limit",
                "--comments",
                "--scores",
                "--threads",
            ],
        ),
        ("inspect", &["--format", "--json", "--memory-limit", "--top"]),
    ] {
        let help = Folder::new().succeeds(&[command, "--help"]);
        let flags = help.lines().map(str::trim_start).filter(|line| line.starts_with("--"));
        let flags: BTreeSet<&str> = flags.map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(flags, known.iter().copied().collect(), "{command}");
    }
}

#[test]
fn marginals_are_probabilities_and_segments_are_no_likelier_than_their_tokens() {
    let folder = trained();
    for further in [&["--marginals"][..], &["--marginals", "--no-rules"]] {
        for sequence in sequences(&folder.tag("model", "test.txt", further)) {
            let labels = column(&sequence, 2);
            for (t, row) in sequence.iter().enumerate() {
                let number = |at: usize| row.get(at).map(|text| text.parse::<f64>().unwrap());
                let own = number(3).unwrap();
                assert!((0.0..=1.0).contains(&own));
                assert_eq!(row.len() == 5, labels[t].starts_with("B-"), "{row:?}");
                if let Some(segment) = number(4) {
                    let end = (t + 1..labels.len()).find(|&t| !labels[t].starts_with("I-"));
                    let tokens = &sequence[t..end.unwrap_or(labels.len())];
                    let least = tokens.iter().map(|row| row[3].parse::<f64>().unwrap());
                    assert!(segment <= least.fold(1.0, f64::min) + 1e-5, "{row:?}");
                }
            }
        }
    }
}

#[test]
fn the_best_label_sequences_are_distinct_and_in_order() {
    let folder = trained();
    let text = folder.tag("model", "test.txt", &["--n-best", "4"]);
    let ranks: Vec<(usize, f64)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# ")?.split_once(' '))
        .map(|(rank, score)| (rank.parse().unwrap(), score.parse().unwrap()))
        .collect();
    assert_eq!(ranks.len(), 4 * 40);
    for group in ranks.chunks(4) {
        assert_eq!(group.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(group.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{group:?}");
        assert!(group.iter().map(|(_, score)| score.exp()).sum::<f64>() <= 1.0 + 1e-6);
    }
    let all = sequences(&text);
    let only = sequences(&folder.tag("model", "test.txt", &[]));
    for (group, only) in all.chunks(4).zip(&only) {
        let labels: BTreeSet<Vec<&str>> = group.iter().map(|s| column(s, 2)).collect();
        assert_eq!(labels.len(), 4);
        assert_eq!(&group[0], only);
    }
}

#[test]
fn forced_labels_stay_and_others_follow_them() {
    let folder = trained();
    let truth = folder.read("test.txt");
    // The labels of venues are told, all others left open.
    let told: String = truth
        .lines()
        .map(|line| match line.split_once('\t') {
            Some((_, label)) if label.ends_with("venue") => format!("{line}\n"),
            Some((word, _)) => format!("{word}\t_\n"),
            None => "\n".to_string(),
        })
        .collect();
    let folder = folder.with("told.txt", &told);
    let (free, forced) = (
        sequences(&folder.tag("model", "told.txt", &[])),
        sequences(&folder.tag("model", "told.txt", &["--force"])),
    );
    let kept = |all: &[Vec<Vec<String>>]| {
        all.iter().flatten().all(|row| row[1] == "_" || row[1] == row[2])
    };
    assert!(kept(&forced) && !kept(&free));
    let folder = folder.with("wrong.txt", "a\t_\nb\tB-nothing\n");
    let message = folder.refusal(&["tag", "model", "wrong.txt", "--force"]);
    assert!(message.starts_with("wrong.txt:2: the label \"B-nothing\""), "{message}");
    let folder = folder.with("bare.txt", "a\nb\n");
    let message = folder.refusal(&["tag", "model", "bare.txt", "--force"]);
    assert_eq!(message, "bare.txt:1: found no label column, which --force needs");
    let folder = folder.with("empty.txt", "a\t_\nb\t\n");
    let message = folder.refusal(&["tag", "model", "empty.txt", "--force"]);
    let expected = "empty.txt:2: found an empty label, expected a label; _ leaves the choice open";
    assert_eq!(message, expected);
}

#[test]
fn labels_of_another_scheme_are_not_forced() {
    let text = "a\ttitle\nb\ttitle\nc\tO\n\na\tO\nb\ttitle\n";
    let folder = Folder::new().with("train.txt", text).with("template", "U00:%x[0,0]\nB\n");
    folder.train("model", &["--scheme", "io"]);
    let folder = folder.with("bare.txt", "a\ttitle\nc\t_\n");
    folder.tag("model", "bare.txt", &["--force"]);
    for label in ["I-title", "E-title", "S-title", "B-title"] {
        std::fs::write(folder.path("other.txt"), format!("a\t_\nb\t{label}\n")).unwrap();
        let message = folder.refusal(&["tag", "model", "other.txt", "--force"]);
        assert!(
            message.starts_with(&format!("other.txt:2: the label {label:?} is not")),
            "{message}"
        );
    }
}

#[test]
fn each_of_the_best_label_sequences_has_its_probabilities() {
    let folder = trained();
    for rules in [&[][..], &["--no-rules"]] {
        let with = |further: &[&str]| {
            let flags = [&["--marginals"], rules, further].concat();
            sequences(&folder.tag("model", "test.txt", &flags))
        };
        let (best, only) = (with(&["--n-best", "3"]), with(&[]));
        assert_eq!(best.len(), 3 * only.len());
        for (ranked, only) in best.chunks(3).zip(&only) {
            assert_eq!(&ranked[0], only);
            for sequence in ranked {
                let labels = column(sequence, 2);
                for (row, label) in sequence.iter().zip(&labels) {
                    assert_eq!(row.len(), if label.starts_with("B-") { 5 } else { 4 }, "{row:?}");
                }
            }
            let probability =
                |sequence: &Vec<Vec<String>>, t: usize| -> f64 { sequence[t][3].parse().unwrap() };
            for other in &ranked[1..] {
                for t in (0..other.len()).filter(|&t| other[t][2] != only[t][2]) {
                    let sum = probability(other, t) + probability(only, t);
                    assert!(sum <= 1.0 + 2e-6, "labels exclude each other: {sum}");
                }
            }
        }
    }
}

#[test]
fn explanations_name_rules_and_the_labels_they_changed() {
    let folder = trained();
    let text = folder.tag("model", "test.txt", &["--explain"]);
    let comments: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert!(comments.iter().any(|line| line.contains("expected without rules, ")), "{comments:?}");
    let plain = sequences(&folder.tag("model", "test.txt", &["--no-rules"]));
    let ruled = sequences(&text);
    let pairs = plain.iter().flatten().zip(ruled.iter().flatten());
    let changed = pairs.filter(|(plain, ruled)| plain[2] != ruled[2]).count();
    assert!(changed > 0);
    let told = comments.iter().filter(|line| line.starts_with("# token ")).count();
    assert_eq!(told, changed);
    assert_eq!(ruled, sequences(&folder.tag("model", "test.txt", &[])), "the labels are the same");
}

#[test]
fn every_solver_gives_much_the_same_labels_and_limits_show() {
    // Solvers for smooth energies take no hinges.
    let folder = Folder::with_references(80, 40);
    folder.train("model", &[&RULES[..], &["--penalty", "smoothed-hinge"]].concat());
    let report = |further: &[&str]| folder.evaluate("model", "test.txt", further);
    let tight = ["--tolerance", "1e-7", "--max-iterations", "3000"];
    let usual = report(&tight);
    let mut iterations = BTreeSet::new();
    for solver in ["dual", "newton", "rda", "mirror-descent", "adaptive", "accelerated-rda"] {
        let other = report(&[&["--solver", solver], &tight[..]].concat());
        let difference =
            other["token_accuracy"].as_f64().unwrap() - usual["token_accuracy"].as_f64().unwrap();
        assert!(difference.abs() < 0.005, "{solver}: {other}");
        iterations.insert(other["rules"]["mean_iterations"].to_string());
    }
    assert_eq!(iterations.len(), 6, "each solver takes its own way: {iterations:?}");
    let mean = |further: &[&str]| report(further)["rules"]["mean_iterations"].as_f64().unwrap();
    assert!(mean(&["--max-iterations", "1"]) <= 1.0);
    assert!(mean(&["--tolerance", "1"]) < mean(&["--tolerance", "1e-8"]));
    let hurried = report(&["--time-limit", "1ns", "--tolerance", "1e-12"]);
    assert!(hurried["rules"]["converged"].as_f64().unwrap() < 0.5, "{hurried}");
}

#[test]
fn comments_are_passed_over_where_told() {
    let folder = trained();
    let commented = folder.read("test.txt").replace("\n\n", "\n\n# a comment\n");
    let folder = folder.with("commented.txt", &commented);
    let plain = folder.tag("model", "test.txt", &[]);
    assert_eq!(folder.tag("model", "commented.txt", &["--comments", "#"]), plain);
    let report = folder.evaluate("model", "commented.txt", &["--comments", "#"]);
    assert_eq!(report, folder.evaluate("model", "test.txt", &[]));
    let message = folder.refusal(&["tag", "model", "commented.txt"]);
    assert!(message.starts_with("commented.txt:"), "{message}");
}

#[test]
fn a_summary_goes_to_standard_error() {
    let folder = trained();
    let said = error(&folder.bethe(&["tag", "model", "test.txt"]));
    assert!(said.starts_with("40 sequences, ") && said.contains("tokens/s"), "{said}");
    assert!(said.contains("iterations on average") && said.contains("converged"), "{said}");
    let output = folder.bethe(&["tag", "model", "test.txt", "--quiet"]);
    assert!(output.stderr.is_empty() && !output.stdout.is_empty());
}

#[test]
fn inspect_shows_as_much_as_asked_for() {
    let folder = trained();
    let count = |further: &[&str]| {
        folder.succeeds(&[&["inspect", "model"], further].concat()).lines().count()
    };
    assert!(count(&["--top", "0"]) < count(&["--top", "1"]));
    assert!(count(&["--top", "1"]) < count(&["--top", "3"]));
    let model = folder.inspect("model");
    assert_eq!(model["states"].as_array().unwrap().len(), 8);
    assert_eq!(model["training"]["sequences"], 80);
    assert_eq!(model["template"], common::TEMPLATE);
    let strongest = &model["strongest"][0]["attributes"];
    assert_eq!(strongest.as_array().unwrap().len(), 5);
    assert!(strongest[0]["weight"].as_f64().unwrap() >= strongest[1]["weight"].as_f64().unwrap());
    let rules = model["constraints"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["source"] == "learned"));
}

#[test]
fn flags_out_of_range_or_at_odds_are_refused() {
    let folder = trained();
    for (flags, part) in [
        (&["--n-best", "0"][..], "--n-best: found 0, expected at least 1"),
        (&["--max-iterations", "0"], "--max-iterations: found 0, expected at least 1"),
        (&["--tolerance", "-1"], "--tolerance: found -1, expected a positive number"),
        (&["--time-limit", "5"], "--time-limit: found \"5\", expected a number and a unit"),
        (&["--threads", "0"], "--threads: found 0, expected at least 1"),
        (&["--scores", "s.safetensors"], "--scores: model was not trained on scores"),
    ] {
        let message = folder.refusal(&[&["tag", "model", "test.txt"], flags].concat());
        assert!(message.starts_with(part), "{flags:?}: {message}");
    }
    for flags in [
        &["--no-rules", "--explain"][..],
        &["--no-rules", "--solver", "dual"],
        &["--no-rules", "--time-limit", "1ms"],
    ] {
        let output = folder.bethe(&[&["tag", "model", "test.txt"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}
