//! Every flag of `bethe train` does something, and one that would do nothing is refused.

mod common;

use std::collections::BTreeSet;

use common::{Folder, error, records};

/// Words with a column between them and the labels.
fn three_columns(count: usize, seed: u64) -> String {
    let line = |line: &str| match line.split_once('\t') {
        Some((word, label)) => format!("{word} {} {label}\n", word.len() % 3),
        None => "\n".to_string(),
    };
    records(count, seed).lines().map(line).collect()
}

fn folder() -> Folder {
    Folder::with_references(60, 40)
        .with("three.txt", &three_columns(60, 1))
        .with("short", "Uword:%x[0,0]\nB\n")
        .with("lists.txt", "machine\nlearning models\n")
        .with("rules.toml", "[[rule]]\nat_most = 1\nof = \"title\"\n")
}

/// Flags that change the model: what there is without them, and they.
const CHANGES: [(&[&str], &[&str]); 37] = [
    (&[], &["--template", "short"]),
    (&[], &["--scheme", "io"]),
    (&[], &["--scheme", "plain"]),
    (&[], &["--comments", "a"]),
    (&[], &["--lexicon", "lists.txt"]),
    (&[], &["--min-count", "3"]),
    (&[], &["--transitions", "seen"]),
    (&[], &["--optimiser", "adagrad"]),
    (&[], &["--l1", "1"]),
    (&[], &["--l2", "0.1"]),
    (&[], &["--max-iterations", "3"]),
    (&[], &["--pool", "2"]),
    (&["--pool", "2"], &["--pool", "3"]),
    (&[], &["--share-weights"]),
    (&["--optimiser", "adagrad"], &["--rate", "0.5"]),
    (&["--optimiser", "adagrad"], &["--seed", "7"]),
    (&[], &["--dev", "test.txt"]),
    (&["--dev", "test.txt", "--max-iterations", "100"], &["--patience", "1"]),
    (&[], &["--constraints", "auto", "--rule-penalty", "1"]),
    (&[], &["--constraints", "rules.toml"]),
    (&["--constraints", "rules.toml"], &["--rule-penalty", "0.01"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--learner", "surrogate"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--learner", "surrogate-batch"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--folds", "2"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--seed", "7"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--weight-features", "length"]),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0.1"],
        &["--weight-features", "fourier:2"],
    ),
    (&["--constraints", "auto", "--rule-penalty", "1"], &["--least-violations", "1000"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--joint"]),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--penalty", "smoothed-hinge"]),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0.1", "--learner", "surrogate"],
        &["--batch", "8"],
    ),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0.1", "--decoding", "tilted"],
        &["--decoding", "weighed"],
    ),
    (&["--constraints", "rules.toml", "--rule-penalty", "0.1"], &["--learner", "perceptron"]),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0", "--learner", "perceptron"],
        &["--decoding", "soft-dd"],
    ),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0.1", "--learner", "surrogate"],
        &["--joint"],
    ),
    (
        &["--constraints", "rules.toml", "--rule-penalty", "0.1", "--learner", "surrogate-batch"],
        &["--joint"],
    ),
    (&["--scheme", "bio"], &["--scheme", "iobes"]),
];

/// Flags that other tests show at work.
const ELSEWHERE: [&str; 14] = [
    "--memory-limit",
    "--importance",
    "--model",
    "--column",
    "--observe",
    "--format",
    "--scores",
    "--labels",
    "--dev-scores",
    "--threads",
    "--checkpoint-every",
    "--no-checkpoint",
    "--quiet",
    "--help",
];

/// The base flags, of which those that come again are left out.
fn arguments<'a>(model: &'a str, given: &[&[&'a str]]) -> Vec<&'a str> {
    let given = given.concat();
    let mut arguments = vec!["train", "train.txt", "--model", model, "--quiet"];
    let rules = ["--constraints", "--rule-penalty"];
    if !given.iter().any(|flag| rules.contains(flag)) {
        // Rules would take most of the time, and most flags are about the base model.
        arguments.extend(["--constraints", "none"]);
    }
    let mut add = |flag: &'a str, value: &'a str| {
        if !given.contains(&flag) {
            arguments.extend([flag, value]);
        }
    };
    add("--template", "template");
    add("--max-iterations", "20");
    arguments.extend(given);
    arguments
}

#[test]
fn every_flag_changes_the_model() {
    let folder = folder();
    for (before, flags) in CHANGES {
        // What is given again replaces what was there.
        let before_flags: Vec<&str> =
            before.chunks(2).filter(|f| f[0] != flags[0]).flatten().copied().collect();
        folder.succeeds(&arguments("before", &[before]));
        folder.succeeds(&arguments("after", &[&before_flags, flags]));
        assert!(folder.bytes("before") != folder.bytes("after"), "{flags:?} changes nothing");
    }
}

#[test]
fn every_flag_of_the_help_is_tested() {
    let help = Folder::new().succeeds(&["train", "--help"]);
    let flags = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("-h, ").unwrap_or(line);
        line.starts_with("--").then(|| line.split([' ', '\n']).next().unwrap())
    });
    let shown: BTreeSet<&str> = flags.filter(|flag| *flag != "--version").collect();
    let tested = CHANGES.iter().flat_map(|(_, flags)| flags.iter()).chain(&ELSEWHERE);
    let tested: BTreeSet<&str> = tested.copied().filter(|flag| flag.starts_with("--")).collect();
    let shown: BTreeSet<&str> =
        shown.into_iter().filter(|flag| *flag != "-V," && !flag.is_empty()).collect();
    assert!(shown.len() > 30, "{shown:?}");
    assert_eq!(shown.difference(&tested).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn the_penalty_is_kept_in_the_model_and_used() {
    let folder = Folder::with_references(80, 40);
    let rules = ["--constraints", "auto", "--rule-penalty", "0.3"];
    let f1 = |model: &str| folder.evaluate(model, "test.txt", &[])["f1"].as_f64().unwrap();
    folder.train("plain", &[]);
    for (penalty, name) in [("smoothed-hinge", "smoothed_hinge"), ("hinge", "hinge")] {
        folder.train("model", &[&rules[..], &["--penalty", penalty]].concat());
        assert_eq!(folder.inspect("model")["penalty"], name);
        let words = folder.succeeds(&["inspect", "model"]);
        assert!(words.contains(&format!("; penalty {penalty}; decoding ")), "{words}");
        assert!(f1("model") > f1("plain"), "{penalty}: {} and {}", f1("model"), f1("plain"));
    }
    for solver in ["adaptive", "accelerated-rda"] {
        let message = folder.refusal(&["tag", "model", "test.txt", "--solver", solver]);
        let expected = format!(
            "--solver: found {solver}, which does not support the model's rules with the penalty \
             hinge, expected auto, dual, newton, rda or mirror-descent"
        );
        assert!(message.ends_with(&expected), "{message}");
    }
    folder.succeeds(&["tag", "model", "test.txt", "--solver", "rda"]);
    let fixed = ["train", "train.txt", "--model", "new", "--penalty", "hinge"];
    for learner in ["surrogate", "surrogate-batch"] {
        let message = folder.refusal(&[&fixed[..], &rules, &["--learner", learner]].concat());
        assert!(message.starts_with("--penalty: the learner "), "{message}");
    }
    let message = folder.refusal(&[&fixed[..], &["--constraints", "none"]].concat());
    assert!(message.starts_with("--penalty needs rules"), "{message}");
    folder.train("default", &["--rule-penalty", "0.3"]);
    assert_eq!(folder.inspect("default")["penalty"], "hinge");
    folder.train("slopes", &["--rule-penalty", "0.3", "--learner", "surrogate"]);
    assert_eq!(folder.inspect("slopes")["penalty"], "smoothed_hinge");
    folder.train(
        "dual",
        &[&rules[..2], &["--learner", "perceptron", "--decoding", "soft-dd"]].concat(),
    );
    assert_eq!(folder.inspect("dual")["decoding"], "soft_dual");
    assert!(f1("dual") > f1("plain"), "{} and {}", f1("dual"), f1("plain"));
    let smooth = ["train", "train.txt", "--model", "new", "--penalty", "smoothed-hinge"];
    for (given, what) in [
        (["--learner", "perceptron"], "learner perceptron"),
        (["--decoding", "soft-dd"], "decoding soft-dd"),
    ] {
        let message = folder.refusal(&[&smooth[..], &given].concat());
        let expected =
            format!("--penalty: the {what} needs the penalty hinge, found smoothed-hinge");
        assert!(message.contains(&expected), "{message}");
    }
    let message = folder.refusal(&[&smooth[..4], &["--learner", "perceptron", "--joint"]].concat());
    assert!(
        message.starts_with("--joint: the learner perceptron learns weights of rules"),
        "{message}"
    );
}

#[test]
fn rules_that_the_truth_breaks_too_need_importance() {
    // Every fiftieth reference runs into the next one.
    let text = records(200, 1);
    let mut noisy = String::new();
    for (number, record) in text.split_inclusive("\n\n").enumerate() {
        noisy.push_str(if number % 50 == 0 { record.trim_end_matches("\n\n") } else { record });
        noisy.push_str(if number % 50 == 0 { "\n" } else { "" });
    }
    let folder = folder().with("train.txt", &noisy);
    let flags = ["--constraints", "auto", "--rule-penalty", "0.1", "--importance"];
    folder.train("few", &[&flags[..], &["1000"]].concat());
    folder.train("many", &[&flags[..], &["0"]].concat());
    let rules = |model| folder.inspect(model)["training"]["rules"]["pruned"].as_u64().unwrap();
    assert!(rules("few") < rules("many"), "{} and {}", rules("few"), rules("many"));
}

#[test]
fn columns_to_observe_are_those_told() {
    let folder = folder();
    let train = |model: &str, further: &[&str]| {
        let fixed = ["train", "three.txt", "--model", model, "--quiet", "--max-iterations", "5"];
        folder.succeeds(&[&fixed, further].concat());
        folder.inspect(model)
    };
    let columns = |observed: &[usize]| serde_json::json!({"kind": "columns", "columns": 3, "label": 2, "observed": observed});
    assert_eq!(train("all", &[])["input"], columns(&[0, 1]));
    assert_eq!(train("first", &["--observe", "1"])["input"], columns(&[0]));
    assert_eq!(train("both", &["--observe", "2,1"])["input"], columns(&[1, 0]));
    let other = train("second", &["--column", "2", "--observe", "1"]);
    assert_eq!(other["input"]["label"], 1);
}

#[test]
fn a_column_that_gives_the_label_away_is_not_observed() {
    let twice: String = records(30, 1)
        .lines()
        .map(|line| {
            line.split_once('\t').map_or(String::new(), |(w, l)| format!("{w} {l} {l}")) + "\n"
        })
        .collect();
    let folder = Folder::new().with("twice.txt", &twice);
    let output = folder.bethe(&[
        "train",
        "twice.txt",
        "--model",
        "model",
        "--max-iterations",
        "3",
        "--quiet",
    ]);
    assert!(error(&output).starts_with("warning: column 2 seems to repeat the labels"));
    assert_eq!(folder.inspect("model")["input"]["observed"], serde_json::json!([0]));
}

#[test]
fn progress_goes_to_standard_error_and_quiet_silences_it() {
    let folder = folder();
    let flags = ["--constraints", "auto", "--max-iterations", "10", "--template", "template"];
    let run = |further: &[&str]| {
        folder.bethe(&[&["train", "train.txt", "--model", "model"], &flags[..], further].concat())
    };
    let output = run(&[]);
    assert!(output.status.success() && output.stdout.is_empty());
    let said = error(&output);
    let parts = ["60 sequences", "rules considered", "rule penalty 3: held-out log-loss", "title"];
    for part in parts {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let output = run(&["--quiet"]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn without_a_checkpoint_none_is_written() {
    let folder = folder();
    folder.train("model", &["--no-checkpoint"]);
    folder.train("other", &["--checkpoint-every", "0s"]);
    assert_eq!(folder.bytes("model"), folder.bytes("other"));
    assert!(folder.files().iter().all(|name| !name.contains("checkpoint")));
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let folder = folder();
    for (flags, part) in [
        (&["--constraints", "none", "--learner", "surrogate"][..], "--learner needs rules"),
        (&["--constraints", "none", "--folds", "3"], "--folds needs rules"),
        (&["--constraints", "none", "--joint"], "--joint needs rules"),
        (&["--constraints", "none", "--decoding", "weighed"], "--decoding needs rules"),
        (&["--constraints", "none", "--rule-penalty", "1"], "--rule-penalty needs rules"),
        (
            &["--constraints", "none", "--weight-features", "length"],
            "--weight-features needs rules",
        ),
        (&["--constraints", "none", "--importance", "2"], "--importance needs generated rules"),
        (&["--batch", "4"], "--batch needs --learner surrogate"),
        (&["--learner", "surrogate", "--batch", "0"], "--batch: found 0, expected at least 1"),
        (
            &["--constraints", "rules.toml", "--least-violations", "2"],
            "--least-violations needs generated rules",
        ),
        (&["--rate", "1"], "--rate needs --optimiser adagrad"),
        (&["--optimiser", "adagrad", "--l1", "1"], "--l1 needs --optimiser lbfgs"),
        (
            &["--constraints", "rules.toml", "--joint", "--l1", "1"],
            "--l1 has no effect with --joint, which uses --l2 only",
        ),
        (
            &["--scheme", "plain", "--share-weights"],
            "--share-weights has no effect with --scheme plain, whose labels have no common parts",
        ),
        (&["--optimiser", "adagrad", "--share-weights"], "--share-weights needs --optimiser lbfgs"),
        (&["--format", "attributes", "--template", "template"], "--template has no effect"),
        (&["--format", "attributes", "--observe", "1"], "--observe has no effect"),
        (&["--max-iterations", "0"], "--max-iterations: found 0, expected at least 1"),
        (&["--min-count", "0"], "--min-count: found 0, expected at least 1"),
        (&["--pool", "0"], "--pool: found 0, expected at least 1"),
        (&["--constraints", "auto", "--folds", "1"], "--folds: found 1, expected at least 2"),
        (&["--threads", "0"], "--threads: found 0, expected at least 1"),
        (&["--threads", "99999"], "--threads: found 99999, expected at most 1024"),
        (&["--l2", "-1"], "--l2: found -1, expected a number of at least 0"),
        (&["--l1", "NaN"], "--l1: found NaN, expected a number of at least 0"),
        (
            &["--optimiser", "adagrad", "--rate", "0"],
            "--rate: found 0, expected more than 0, at most 1000",
        ),
        (&["--checkpoint-every", "soon"], "--checkpoint-every: found \"soon\""),
        (
            &["--constraints", "auto", "--weight-features", "fourier:0"],
            "--weight-features: found \"fourier:0\", expected constant, length, or fourier:N",
        ),
    ] {
        let message =
            folder.refusal(&[&["train", "train.txt", "--model", "model"], flags].concat());
        assert!(message.starts_with(part), "{flags:?}: {message}");
    }
    for flags in [
        &["--patience", "3"][..],
        &["--labels", "a,b"],
        &["--scores", "s.safetensors"],
        &["--no-checkpoint", "--checkpoint-every", "1s"],
        &["--scheme", "bmes"],
    ] {
        let output = folder.bethe(&[&["train", "train.txt", "--model", "model"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
    assert!(!folder.path("model").exists());
}

#[test]
fn rules_are_learned_by_default_and_one_line_says_what_they_bring() {
    let folder = Folder::with_references(120, 60);
    let flags = ["--template", "template", "--max-iterations", "40"];
    let train = |model: &str, further: &[&str]| {
        let fixed = ["train", "train.txt", "--model", model];
        error(&folder.bethe(&[&fixed, &flags[..], further].concat()))
    };
    let said = train("default", &[]);
    let line = said.lines().find(|line| line.contains(" on held-out sequences F1 ")).unwrap();
    let shares = ["; sequences without a mistake ", "; sequences that break a near-certain rule "];
    for part in [" rules; ", " → ", " % → ", " ± "].into_iter().chain(shares) {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    train("auto", &["--constraints", "auto"]);
    assert_eq!(folder.bytes("default"), folder.bytes("auto"));
    let rules = folder.inspect("default")["training"]["rules"].clone();
    assert!(rules["kept"].as_u64().unwrap() > 0 && rules["refused"].is_null(), "{rules}");
    let whole = &rules["held_out"]["whole"];
    assert!(whole["with"].as_f64().unwrap() > whole["without"].as_f64().unwrap(), "{rules}");
    assert!(!train("none", &["--constraints", "none"]).contains("rule"));
    let shown = folder.succeeds(&["inspect", "default"]);
    assert!(shown.contains("say the same") || shown.contains("says the same"), "{shown}");
    let explained = folder.tag("default", "test.txt", &["--explain"]);
    assert!(explained.contains(" expected without rules, "), "{explained}");
}

#[test]
fn few_sequences_give_no_rules_and_the_summary_says_so() {
    let folder = Folder::with_references(8, 4);
    let output =
        folder.bethe(&["train", "train.txt", "--model", "model", "--template", "template"]);
    let said = error(&output);
    let expected = "no rules learned: there are 8 sequences, and at least 10 are needed";
    assert!(output.status.success() && said.contains(expected), "{said}");
    let rules = &folder.inspect("model")["training"]["rules"];
    assert_eq!(rules["refused"]["too_few"]["found"], 8);
}

#[test]
fn labels_without_prefixes_are_runs_where_they_form_runs() {
    let bare = |text: &str| -> String {
        let line = |line: &str| match line.split_once('\t') {
            Some((word, "O")) => format!("{word}\tmark\n"),
            Some((word, label)) => format!("{word}\t{}\n", &label[2..]),
            None => "\n".to_string(),
        };
        text.lines().map(line).collect()
    };
    let folder = Folder::with_references(60, 20).with("bare.txt", &bare(&records(60, 1)));
    let train = |file: &str| {
        let fixed = ["train", file, "--model", "model", "--template", "template"];
        error(&folder.bethe(&[&fixed[..], &["--constraints", "none"]].concat()))
    };
    let said = train("bare.txt");
    assert!(said.contains("a run of one label is a segment (scheme io)"), "{said}");
    assert_eq!(folder.inspect("model")["scheme"], "io");
    assert!(!train("train.txt").contains("labels without prefixes"));
}

/// Labelled tokens whose labels are written by `spelled`, which gets the letter of iobes and the name.
fn respelled(spelled: impl Fn(char, &str) -> String) -> String {
    let sequence = "Ada S-PER\nmet O\nvan B-PER\nder I-PER\nBerg E-PER\nin O\nRome S-LOC\n\n";
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((word, label)) => match label.split_once('-') {
            Some((letter, name)) => {
                format!("{word} {}\n", spelled(letter.chars().next().unwrap(), name))
            }
            None => format!("{word} O\n"),
        },
        None => "\n".to_string(),
    };
    sequence.repeat(12).lines().map(line).collect()
}

fn bilou(letter: char, name: &str) -> String {
    let letter = match letter {
        'E' => 'L',
        'S' => 'U',
        other => other,
    };
    format!("{letter}-{name}")
}

#[test]
fn bilou_labels_are_segments_and_are_written_as_they_came() {
    let iobes = respelled(|letter, name| format!("{letter}-{name}"));
    let folder = Folder::new().with("bilou.txt", &respelled(bilou)).with("iobes.txt", &iobes);
    let train = |further: &[&str]| {
        let fixed = ["train", "bilou.txt", "--model", "model", "--constraints", "none"];
        error(&folder.bethe(&[&fixed[..], further].concat()))
    };
    let said = train(&[]);
    assert!(said.contains(" (bilou)") && !said.contains("warning"), "{said}");
    let tagged = folder.tag("model", "bilou.txt", &[]);
    assert!(tagged.starts_with("Ada U-PER\tU-PER\nmet O\tO\nvan B-PER\tB-PER\n"), "{tagged}");
    for file in ["bilou.txt", "iobes.txt"] {
        let report = folder.evaluate("model", file, &[]);
        assert_eq!(report["f1"], 1.0, "{file}");
        assert_eq!(report["sequence_accuracy"], 1.0, "{file}");
        assert_eq!(report["per_label"]["PER"]["support"], 24, "{file}");
        assert_eq!(report["per_label"].as_object().unwrap().len(), 2, "{file}");
    }
    assert!(train(&["--scheme", "bilou"]).contains(" (bilou)"));
    assert!(train(&["--scheme", "iobes"]).contains(" (iobes)"));
    let tagged = folder.tag("model", "bilou.txt", &[]);
    assert!(tagged.starts_with("Ada U-PER\tS-PER\nmet O\tO\nvan B-PER\tB-PER\n"), "{tagged}");
}

#[test]
fn labels_in_another_notation_give_a_warning() {
    type Spelled = fn(char, &str) -> String;
    let cases: [(Spelled, &str, &str); 3] = [
        (|letter, name| format!("{letter}_{name}"), "\"B_PER\"", "B-PER"),
        (|letter, name| format!("{name}-{letter}"), "\"PER-B\"", "B-PER"),
        (|letter, name| format!("{letter}-{name}").to_lowercase(), "\"b-per\"", "B-per"),
    ];
    for (spelled, label, meant) in cases {
        let folder = Folder::new().with("train.txt", &respelled(spelled));
        let arguments = ["train", "train.txt", "--model", "model", "--constraints", "none"];
        let expected = format!(
            "warning: the label {label} is read as a name, not as a part of a segment; if labels say \
             where segments begin, write them as {meant}, I-"
        );
        let said = error(&folder.bethe(&arguments));
        assert!(said.contains(&expected), "{said}");
        let said = error(&folder.bethe(&["evaluate", "model", "train.txt"]));
        assert!(said.contains(&expected), "{said}");
        let plain = error(&folder.bethe(&[&arguments[..], &["--scheme", "plain"]].concat()));
        assert!(!plain.contains("warning"), "{plain}");
    }
}
