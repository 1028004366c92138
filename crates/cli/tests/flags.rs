//! Every flag does something, and a flag that would do nothing is refused.

mod common;

use common::{CONVEX, EXAMPLE, Folder, INFEASIBLE, close, error};
use serde_json::json;

fn convex() -> Folder {
    Folder::new().with("p.json", CONVEX)
}

#[test]
fn every_solver_runs_under_its_name_and_meets_the_others() {
    let folder = convex();
    let optimum = folder.answer(&["solve", "p.json", "--tolerance", "1e-10"])["objective"].clone();
    for (solver, further) in [
        ("auto", &[][..]),
        ("dual", &[]),
        ("newton", &[]),
        ("adaptive", &[]),
        ("rda", &["--beta", "0.5"]),
        ("mirror-descent", &["--step-size", "0.3"]),
        ("mirror-descent", &["--step-schedule", "inverse"]),
        ("mirror-descent", &[]),
        ("accelerated-rda", &["--smoothness", "8"]),
        ("accelerated-rda", &[]),
    ] {
        let mut arguments = vec!["solve", "p.json", "--solver", solver, "--tolerance", "1e-3"];
        arguments.extend(further);
        let answer = folder.answer(&arguments);
        let name = if solver == "auto" { "dual" } else { solver };
        assert_eq!(answer["solver"], name);
        assert_eq!(answer["status"], "converged", "{arguments:?}");
        assert!(close(&answer["objective"], optimum.as_f64().unwrap(), 2e-2), "{arguments:?}");
    }
}

#[test]
fn the_settings_of_a_solver_change_its_path() {
    let folder = convex();
    let path = |further: &[&str]| {
        let mut arguments = vec!["solve", "p.json", "--max-iterations", "3"];
        arguments.extend(further);
        folder.answer(&arguments)["objective"].clone()
    };
    let pairs: [(&[&str], &[&str]); 4] = [
        (&["--solver", "rda"], &["--solver", "rda", "--beta", "5"]),
        (&["--solver", "mirror-descent"], &["--solver", "mirror-descent", "--step-size", "0.5"]),
        (
            &["--solver", "mirror-descent"],
            &["--solver", "mirror-descent", "--step-schedule", "inverse"],
        ),
        (
            &["--solver", "accelerated-rda", "--smoothness", "3"],
            &["--solver", "accelerated-rda", "--smoothness", "300"],
        ),
    ];
    for (one, other) in pairs {
        assert_ne!(path(one), path(other), "{other:?}");
    }
    assert_eq!(path(&["--solver", "rda"]), path(&["--solver", "rda", "--beta", "0"]));
    assert_eq!(
        path(&["--solver", "mirror-descent"]),
        path(&["--solver", "mirror-descent", "--step-size", "0.1"])
    );
}

#[test]
fn limits_and_tolerance_stop_the_solver() {
    let folder = convex();
    let rda = ["solve", "p.json", "--solver", "rda"];
    let with = |further: &[&str]| folder.answer(&[&rda[..], further].concat());
    let limited = with(&["--max-iterations", "2", "--tolerance", "1e-12"]);
    assert_eq!(
        (&limited["status"], &limited["iterations"]),
        (&json!("iteration_limit"), &json!(2))
    );
    let timed = with(&["--time-limit", "1ns", "--tolerance", "1e-14"]);
    assert_eq!((&timed["status"], &timed["iterations"]), (&json!("time_limit"), &json!(1)));
    let (loose, tight) = (with(&["--tolerance", "0.5"]), with(&["--tolerance", "1e-4"]));
    assert!(loose["iterations"].as_u64() < tight["iterations"].as_u64());
}

#[test]
fn a_time_limit_is_kept() {
    let text = CONVEX.replace("\"weight\": 4", "\"weight\": 4000");
    let folder = Folder::new().with("p.json", &text);
    let answer = folder.answer(&[
        "solve",
        "p.json",
        "--solver",
        "mirror-descent",
        "--step-size",
        "1e-9",
        "--tolerance",
        "1e-13",
        "--max-iterations",
        "1000000000",
        "--time-limit",
        "0.05s",
    ]);
    assert_eq!(answer["status"], "time_limit");
    let seconds = answer["seconds"].as_f64().unwrap();
    // The time to parse the file is part of the limit.
    assert!((0.04..2.0).contains(&seconds), "{seconds}");
}

#[test]
fn marginals_are_all_nodes_or_none() {
    let folder = convex();
    let count = |choice: &str| {
        let answer = folder.answer(&["solve", "p.json", "--marginals", choice]);
        answer["marginals"].as_array().unwrap().len()
    };
    assert_eq!((count("all"), count("nodes"), count("none")), (5, 3, 0));
}

#[test]
fn averages_have_marginals_of_every_choice() {
    let folder = convex();
    for choice in ["all", "nodes"] {
        let answer = folder.answer(&[
            "solve",
            "p.json",
            "--solver",
            "accelerated-rda",
            "--max-iterations",
            "7",
            "--marginals",
            choice,
        ]);
        assert_eq!(answer["returned"], "average");
        for marginal in answer["marginals"].as_array().unwrap() {
            let sum: f64 = common::numbers(&marginal["values"]).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{marginal}");
        }
    }
}

#[test]
fn global_finds_the_best_piece_with_a_bound() {
    let text = r#"{"variables": [2], "factors": [{"scope": [0], "log_potentials": [0.1, 0]}],
        "energies": [{"kind": "nearest", "weight": 3, "measurements": [{"terms": [{"scope": [0], "coefficients": [0, 1]}]}], "points": [[0.9], [0.45], [0]]}]}"#;
    let folder = Folder::new().with("p.json", text);
    let local = folder.answer(&["solve", "p.json"]);
    assert_eq!((&local["status"], &local["gap"]), (&json!("stationary"), &json!(null)));
    let global = folder.answer(&["solve", "p.json", "--global"]);
    assert_eq!(global["status"], "converged");
    assert!(global["gap"].as_f64().unwrap() < 1e-5);
    assert!(global["objective"].as_f64().unwrap() <= local["objective"].as_f64().unwrap() + 1e-6);
}

#[test]
fn further_energies_are_added() {
    let folder = convex().with(
        "more.json",
        r#"{"energies": [{"kind": "measurement", "weight": 1, "penalty": {"kind": "linear"}, "terms": [{"scope": [2], "coefficients": [0, 1]}]}]}"#,
    );
    let answer = folder.answer(&["solve", "p.json", "--energies", "more.json"]);
    assert_eq!(answer["energies"].as_array().unwrap().len(), 3);
    let alone = folder.answer(&["solve", "p.json"]);
    assert_eq!(alone["energies"].as_array().unwrap().len(), 2);
    assert_ne!(alone["objective"], answer["objective"]);
}

#[test]
fn mistakes_in_further_energies_name_their_file() {
    let folder = convex()
        .with(
            "scope.json",
            r#"{"energies": [{"kind": "product", "scope": [7], "log_potentials": [1]}]}"#,
        )
        .with("kind.json", r#"{"energies": [{"kind": "sum"}]}"#)
        .with("problem.json", CONVEX);
    let with = |file: &str| folder.refusal(&["solve", "p.json", "--energies", file]);
    assert_eq!(
        with("scope.json"),
        "scope.json: energies[0].scope[0]: found variable 7, expected an index below 3"
    );
    assert_eq!(
        with("kind.json"),
        "kind.json: energies[0].kind: found \"sum\", expected one of measurement, table_measurement, product, nearest"
    );
    assert_eq!(
        with("problem.json"),
        "problem.json: found the unknown field \"variables\", expected energies"
    );
}

#[test]
fn the_trace_has_a_line_per_iteration() {
    let folder = convex();
    let answer = folder.answer(&["solve", "p.json", "--solver", "rda", "--trace", "t.csv"]);
    let trace = folder.read("t.csv");
    let mut lines = trace.lines();
    assert_eq!(
        lines.next().unwrap(),
        "iteration,objective,lower_bound,gap,residual,oracle_calls,seconds,average_objective,products"
    );
    let rows: Vec<Vec<f64>> =
        lines.map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len() as u64, answer["iterations"].as_u64().unwrap());
    for (index, row) in rows.iter().enumerate() {
        assert_eq!((row.len(), row[0]), (9, index as f64 + 1.0));
        assert!(row[3] >= row[1] - row[2] && row[7] >= row[2] - 1e-9);
        assert!(row[2] <= row[1] + 1e-9 && row[3] >= 0.0);
    }
    assert_eq!(folder.files(), ["p.json", "t.csv"], "no temporary file is left");
}

#[test]
fn a_trace_leaves_empty_what_does_not_exist() {
    let folder = Folder::new().with("p.json", EXAMPLE);
    folder.answer(&["solve", "p.json", "--trace", "t.csv"]);
    let trace = folder.read("t.csv");
    let row: Vec<&str> = trace.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((row[2], row[3], row[7]), ("", "", ""));
    assert_eq!(row[8], "0", "products");
}

#[test]
fn the_plot_is_a_whole_svg() {
    let folder = convex();
    folder.answer(&["solve", "p.json", "--plot", "c.svg", "--trace", "t.csv"]);
    let svg = folder.read("c.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["p.json", "objective", "lower bound", "gap", "iteration", "time"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn a_plot_is_svg_and_its_name_says_so() {
    let folder = convex();
    let message = folder.refusal(&["solve", "p.json", "--plot", "t.png"]);
    let expected = "--plot: found t.png, expected a name that ends in .svg: the picture is SVG";
    assert_eq!(message, expected);
    for name in ["t.SVG", "t"] {
        folder.answer(&["solve", "p.json", "--plot", name]);
        assert!(folder.read(name).starts_with("<svg"));
    }
}

#[test]
fn an_infeasible_problem_still_writes_its_trace() {
    let folder = Folder::new().with("p.json", INFEASIBLE);
    let output = folder.bethe(&["solve", "p.json", "--trace", "t.csv", "--plot", "c.svg"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(folder.read("t.csv").lines().count() > 1);
    assert!(folder.read("c.svg").starts_with("<svg"));
}

#[test]
fn flags_of_another_solver_are_refused() {
    let folder = convex();
    let with = |further: &[&str]| folder.refusal(&[&["solve", "p.json"], further].concat());
    for (arguments, message) in [
        (&["--beta", "0"][..], "--beta needs --solver rda, found --solver auto"),
        (&["--solver", "dual", "--beta", "1"], "--beta needs --solver rda, found --solver dual"),
        (
            &["--solver", "rda", "--step-size", "1"],
            "--step-size needs --solver mirror-descent, found --solver rda",
        ),
        (
            &["--solver", "adaptive", "--step-schedule", "inverse"],
            "--step-schedule needs --solver mirror-descent, found --solver adaptive",
        ),
        (
            &["--solver", "rda", "--smoothness", "1"],
            "--smoothness needs --solver accelerated-rda, found --solver rda",
        ),
        (&["--solver", "dual", "--global"], "--global needs --solver auto, found --solver dual"),
        (&["--tilt", "--format", "pr"], "--tilt needs --format json, found --format pr"),
        (
            &["--solver", "dual", "--return", "average"],
            "--return average needs --solver rda, mirror-descent or accelerated-rda, found \
             --solver dual: it keeps no average of its iterates",
        ),
        (
            &["--return", "average"],
            "p.json: return average: found a solver that keeps no average of its iterates, \
             expected return best or last, or solver rda, mirror-descent or accelerated-rda",
        ),
        (
            &["--solver", "rda", "--return", "average", "--tilt"],
            "--return average: found with --tilt, expected best or last: an average of iterates \
             has no tilt",
        ),
        (&["--tolerance", "-1"], "--tolerance: found -1, expected a positive number"),
        (&["--tolerance", "NaN"], "--tolerance: found NaN, expected a positive number"),
        (&["--solver", "rda", "--beta", "-1"], "--beta: found -1, expected a number of at least 0"),
        (
            &["--solver", "mirror-descent", "--step-size", "0"],
            "--step-size: found 0, expected a positive number",
        ),
        (
            &["--solver", "accelerated-rda", "--smoothness", "-2"],
            "--smoothness: found -2, expected a positive number",
        ),
        (&["--max-iterations", "0"], "--max-iterations: found 0, expected at least 1"),
        (&["--threads", "0"], "--threads: found 0, expected at least 1"),
        (
            &["--time-limit", "50"],
            "--time-limit: found \"50\", expected a number and a unit (ns, us, ms, s, m), such as 50ms",
        ),
        (
            &["--trace", "x", "--plot", "x"],
            "--plot: --trace writes to the same file; choose another one",
        ),
    ] {
        assert_eq!(with(arguments), message);
    }
}

#[test]
fn usage_errors_exit_with_2_and_print_nothing() {
    let folder = convex();
    for arguments in [
        &["solve"][..],
        &["solve", "p.json", "--solver", "simplex"],
        &["solve", "p.json", "--oracle", "guess"],
        &["solve", "p.json", "--format", "xml"],
        &["solve", "p.json", "--evidence", "x.evid"],
        &[
            "solve",
            "p.json",
            "--solver",
            "mirror-descent",
            "--step-size",
            "1",
            "--step-schedule",
            "inverse",
        ],
        &["solve", "p.json", "--step-schedule", "constant"],
        &["solve", "p.json", "--marginals", "edges"],
        &["solve", "p.json", "--tolerance", "small"],
        &["solve", "p.json", "p.json"],
        &["resolve", "p.json"],
    ] {
        let output = folder.bethe(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(error(&output).starts_with("error: "), "{arguments:?}");
    }
    for (flag, value) in [("--max-iterations", "-3"), ("--threads", "-1"), ("--time-limit", "-5s")]
    {
        let output = folder.bethe(&["solve", "p.json", flag, value]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(error(&output).contains(flag), "{}", error(&output));
    }
    for oracle in ["auto", "exact", "trw", "loopy"] {
        folder.answer(&["solve", "p.json", "--oracle", oracle]);
    }
}

#[test]
fn a_solver_that_cannot_serve_is_an_error() {
    let folder = Folder::new().with("p.json", EXAMPLE).with("hard.json", INFEASIBLE);
    assert_eq!(
        folder.refusal(&["solve", "p.json", "--solver", "dual"]),
        "p.json: solver dual does not support energies other than measurements; expected solver auto"
    );
    assert_eq!(
        folder.refusal(&["solve", "hard.json", "--solver", "rda"]),
        "hard.json: solver rda does not support a hard measurement; \
         expected solver auto, dual or newton"
    );
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_solving() {
    let folder = convex();
    for flag in ["--trace", "--plot"] {
        let message = folder.refusal(&["solve", "p.json", flag, "none/x"]);
        assert_eq!(message, "none/x: cannot write: there is no folder none");
        let message = folder.refusal(&["solve", "p.json", flag, "."]);
        assert!(message.ends_with("found a folder, expected a file"), "{message}");
    }
    assert_eq!(folder.files(), ["p.json"]);
}

#[test]
fn a_solve_that_fails_leaves_the_old_trace_alone() {
    let folder = Folder::new().with("p.json", EXAMPLE).with("t.csv", "old");
    folder.refusal(&["solve", "p.json", "--solver", "dual", "--trace", "t.csv"]);
    assert_eq!(folder.read("t.csv"), "old");
    assert_eq!(folder.files(), ["p.json", "t.csv"]);
}

#[test]
fn a_trace_may_go_to_a_device() {
    let folder = convex();
    folder.answer(&["solve", "p.json", "--trace", "/dev/null", "--quiet"]);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn every_oracle_says_what_its_answer_is_worth() {
    let mut factors = Vec::new();
    for i in 0..40 {
        for j in i + 1..40 {
            factors
                .push(format!(r#"{{"scope": [{i}, {j}], "log_potentials": [0.05, 0, 0, 0.05]}}"#));
        }
    }
    let variables = vec!["2"; 40].join(", ");
    let wide = format!(r#"{{"variables": [{variables}], "factors": [{}]}}"#, factors.join(", "));
    let folder = Folder::new().with("wide.json", &wide).with(
        "small.json",
        r#"{"variables": [2, 2, 2], "factors": [
            {"scope": [0, 1], "log_potentials": [1, 0, 0, 1]}, {"scope": [1, 2], "log_potentials": [1, 0, 0, 1]},
            {"scope": [0, 2], "log_potentials": [1, 0, 0, 1]}]}"#,
    );
    let answer = |arguments: &[&str]| {
        let output = folder.bethe(arguments);
        assert!(output.status.success(), "{arguments:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (json, String::from_utf8(output.stderr).unwrap())
    };
    let (exact, note) = answer(&["solve", "small.json"]);
    assert_eq!((&exact["entropy"], note.as_str()), (&"exact".into(), ""));
    assert!(exact.get("log_partition_bound").is_none() && exact.get("messages_settled").is_none());

    let (trw, _) = answer(&["solve", "small.json", "--oracle", "trw"]);
    assert_eq!(trw["entropy"], "tree-reweighted");
    assert_eq!((&trw["status"], &trw["messages_settled"]), (&"converged".into(), &true.into()));
    let (bound, truth) = (&trw["log_partition_bound"], &exact["log_partition"]);
    assert!(bound.as_f64().unwrap() > truth.as_f64().unwrap());
    assert!(trw["gap"].as_f64().unwrap() < 1e-9);

    let (loopy, _) = answer(&["solve", "small.json", "--oracle", "loopy"]);
    assert_eq!((&loopy["entropy"], &loopy["status"]), (&"bethe".into(), &"stationary".into()));
    for claim in ["gap", "lower_bound", "marginal_error_bound"] {
        assert!(loopy[claim].is_null(), "{claim}");
    }

    let (found, note) = answer(&["solve", "wide.json", "--marginals", "none"]);
    assert_eq!(found["entropy"], "tree-reweighted");
    assert!(
        note.starts_with("note: wide.json: exact inference does not fit into --memory-limit"),
        "{note}"
    );
    let (_, quiet) = answer(&["solve", "wide.json", "--marginals", "none", "--quiet"]);
    assert_eq!(quiet, "");
    let said = folder.bethe(&["check", "wide.json"]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("trw; the model is too wide for exact inference"), "{said}");
    let message = folder.refusal(&["solve", "small.json", "--oracle", "loopy", "--global"]);
    assert!(message.contains("loopy"), "{message}");
}

#[test]
fn a_value_that_is_no_number_is_told_like_any_other() {
    let folder = convex();
    for (arguments, expected) in [
        (&["--threads", "-3"], "--threads: found \"-3\", expected a whole number of at least 0"),
        (
            &["--max-iterations", "1.5"],
            "--max-iterations: found \"1.5\", expected a whole number of at least 0",
        ),
        (&["--tolerance", "small"], "--tolerance: found \"small\", expected a number"),
    ] {
        assert_eq!(folder.refusal(&[&["solve", "p.json"][..], arguments].concat()), expected);
    }
}
