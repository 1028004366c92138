//! Training that is killed goes on where it was, and ends where it would have ended.

mod common;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Folder, error};

const FLAGS: [&str; 9] = [
    "train",
    "train.txt",
    "--constraints",
    "auto",
    "--rule-penalty",
    "1",
    "--threads",
    "1",
    "--model",
];
const OFTEN: [&str; 2] = ["--checkpoint-every", "0s"];

fn start(folder: &Folder, model: &str, further: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("bethe"));
    command.current_dir(folder.path("")).args(FLAGS).arg(model).args(further);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the checkpoint holds this text.
fn wait_for(checkpoint: &Path, text: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    let holds = || {
        let bytes = std::fs::read(checkpoint).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    while !holds() {
        assert!(Instant::now() < end, "no checkpoint with {text}");
        sleep(Duration::from_millis(5));
    }
}

fn goes_on_after_kill(flags: [&str; 2], text: &str) {
    let folder = Folder::with_references(80, 1);
    let further = [&flags[..], &["--max-iterations", "40"], &OFTEN].concat();
    let mut child = start(&folder, "model", &further);
    wait_for(&folder.path("model.checkpoint"), text);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.path("model").exists(), "it was not killed in time");

    let again = folder.bethe(&[&FLAGS[..], &["model"], &further].concat());
    assert!(again.status.success());
    assert!(error(&again).contains("continuing an earlier run"));
    assert!(!folder.path("model.checkpoint").exists(), "it is removed in the end");

    let at_once = folder.bethe(&[&FLAGS[..], &["other"], &further, &["--quiet"]].concat());
    assert!(at_once.status.success());
    assert!(folder.bytes("model") == folder.bytes("other"), "the models differ");
}

#[test]
fn a_killed_run_ends_with_the_same_model() {
    goes_on_after_kill(["--optimiser", "lbfgs"], "\"step.3\"");
}

#[test]
fn a_run_killed_in_a_later_model_ends_with_the_same_model() {
    goes_on_after_kill(["--optimiser", "lbfgs"], "\"done.1\"");
}

#[test]
fn a_run_killed_within_a_pool_ends_with_the_same_model() {
    goes_on_after_kill(["--pool", "3"], "\"done.4\"");
}

#[test]
fn a_killed_run_with_shared_weights_ends_with_the_same_model() {
    goes_on_after_kill(["--share-weights", "--l1=0.1"], "\"step.3\"");
}

#[test]
fn a_killed_stochastic_run_ends_with_the_same_model() {
    goes_on_after_kill(["--optimiser", "adagrad"], "\"squares\"");
}

#[test]
fn a_checkpoint_of_other_settings_or_data_is_refused_and_stays() {
    let folder = Folder::with_references(60, 20);
    for (number, other) in [
        &["--l2", "2"][..],
        &["--seed", "3"],
        &["--dev", "test.txt"],
        &["--transitions", "seen"],
        &["--pool", "2"],
        &["--share-weights"],
    ]
    .iter()
    .enumerate()
    {
        let model = format!("model{number}");
        let mut child = start(&folder, &model, &OFTEN);
        wait_for(&folder.path(&format!("{model}.checkpoint")), "\"weights\"");
        child.kill().unwrap();
        child.wait().unwrap();
        let checkpoint = format!("{model}.checkpoint");
        let before = folder.bytes(&checkpoint);
        let flags = [&FLAGS[..], &[&model, "--max-iterations", "3", "--quiet"], other].concat();
        let message = folder.refusal(&flags);
        let found = format!("{checkpoint}: found the checkpoint of a training with other data or");
        assert!(message.starts_with(&found), "{other:?}: {message}");
        assert!(folder.bytes(&checkpoint) == before && !folder.path(&model).exists());
        // It says how to go on, and that works.
        assert!(message.contains("--no-checkpoint"), "{message}");
        folder.succeeds(&[&flags[..], &["--no-checkpoint"]].concat());
        assert!(folder.bytes(&checkpoint) == before && folder.path(&model).exists());
        assert!(folder.files().iter().all(|name| !name.starts_with('.')), "{:?}", folder.files());
    }
}

#[test]
fn a_file_that_has_the_checkpoints_name_is_refused_and_stays() {
    let folder = Folder::with_references(20, 1);
    folder.train("model", &[]);
    let model = folder.bytes("model");
    for content in [&b"my notes"[..], b"", &model, &model[..100]] {
        std::fs::write(folder.path("model.checkpoint"), content).unwrap();
        let message = folder.refusal(&[&FLAGS[..], &["model", "--quiet"]].concat());
        let expected = "model.checkpoint: found a file that is not a checkpoint";
        assert!(message.starts_with(expected), "{message}");
        assert!(folder.bytes("model.checkpoint") == content && folder.bytes("model") == model);
    }
}

#[test]
fn a_second_training_of_the_same_model_is_refused() {
    let folder = Folder::with_references(80, 1);
    for further in [&OFTEN[..], &["--no-checkpoint"]] {
        let mut child = start(&folder, "model", further);
        let end = Instant::now() + Duration::from_secs(60);
        while !folder.path(".model.bethe-lock").exists() {
            assert!(Instant::now() < end, "it does not begin");
            sleep(Duration::from_millis(2));
        }
        let message = folder.refusal(&[&FLAGS[..], &["model", "--quiet"]].concat());
        assert!(message.starts_with("model: another training is writing this model"), "{message}");
        // Another model may be trained, and a killed run locks nobody out.
        folder.succeeds(&[&FLAGS[..], &["other", "--max-iterations", "2", "--quiet"]].concat());
        child.kill().unwrap();
        child.wait().unwrap();
        folder.succeeds(&[&FLAGS[..], &["model", "--quiet"], &OFTEN].concat());
        assert!(folder.files().iter().all(|name| !name.starts_with('.')), "{:?}", folder.files());
        std::fs::remove_file(folder.path("model")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_state_and_says_how_to_go_on() {
    let folder = Folder::with_references(80, 1);
    let mut child = start(&folder, "model", &["--checkpoint-every", "1m"]);
    // Ctrl-C is watched from before the first line on.
    let mut line = [0];
    child.stderr.as_mut().unwrap().read_exact(&mut line).unwrap();
    sleep(Duration::from_millis(50));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(error(&output).contains("the same command continues from model.checkpoint"));
    assert!(folder.path("model.checkpoint").exists() && !folder.path("model").exists());
}
