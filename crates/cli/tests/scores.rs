//! Scores of labels from elsewhere, in place of attributes.

mod common;

use std::collections::HashMap;
use std::path::Path;

use common::{Folder, column, records, sequences, without_labels};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

const LABELS: [&str; 8] =
    ["O", "B-author", "I-author", "B-title", "I-title", "B-venue", "I-venue", "B-year"];

/// What a careless network might say: how often each label goes with a word, and noise.
fn scores(text: &str) -> Vec<Vec<f32>> {
    let mut counts: HashMap<&str, [f32; LABELS.len()]> = HashMap::new();
    let known = records(200, 9);
    for (word, label) in known.lines().filter_map(|line| line.split_once('\t')) {
        let label = LABELS.iter().position(|known| *known == label).unwrap();
        counts.entry(word).or_insert([1.0; LABELS.len()])[label] += 1.0;
    }
    let row = |word: &String| {
        let counts = counts.get(word.as_str()).copied().unwrap_or([1.0; LABELS.len()]);
        counts.map(f32::ln)
    };
    let all = sequences(text);
    all.iter().map(|s| s.iter().flat_map(|cells| row(&cells[0])).collect()).collect()
}

fn write(path: &Path, matrices: &[(String, Vec<f32>)], double: bool) {
    let bytes: Vec<Vec<u8>> = matrices
        .iter()
        .map(|(_, values)| match double {
            true => values.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect(),
            false => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        })
        .collect();
    let kind = if double { Dtype::F64 } else { Dtype::F32 };
    let views = matrices.iter().zip(&bytes).map(|((name, values), bytes)| {
        let shape = vec![values.len() / LABELS.len(), LABELS.len()];
        (name.clone(), TensorView::new(kind, shape, bytes).unwrap())
    });
    let views: Vec<(String, TensorView)> = views.collect();
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn write_doubles(path: &Path, matrices: &[(String, Vec<f64>)]) {
    let bytes: Vec<Vec<u8>> = matrices
        .iter()
        .map(|(_, values)| values.iter().flat_map(|v| v.to_le_bytes()).collect())
        .collect();
    let views = matrices.iter().zip(&bytes).map(|((name, values), bytes)| {
        let shape = vec![values.len() / LABELS.len(), LABELS.len()];
        (name.clone(), TensorView::new(Dtype::F64, shape, bytes).unwrap())
    });
    let views: Vec<(String, TensorView)> = views.collect();
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn numbered(matrices: Vec<Vec<f32>>) -> Vec<(String, Vec<f32>)> {
    matrices.into_iter().enumerate().map(|(n, matrix)| (n.to_string(), matrix)).collect()
}

fn folder() -> Folder {
    let (train, test) = (records(100, 1), records(40, 2));
    let folder = Folder::new().with("train.txt", &train).with("test.txt", &test);
    write(&folder.path("train.safetensors"), &numbered(scores(&train)), false);
    write(&folder.path("test.safetensors"), &numbered(scores(&test)), true);
    folder
}

fn flags(labels: &str) -> Vec<&str> {
    vec!["--scores", "train.safetensors", "--labels", labels]
}

#[test]
fn a_model_of_scores_learns_transitions_and_rules() {
    let folder = folder();
    let labels = LABELS.join(",");
    let rules = ["--constraints", "auto", "--rule-penalty", "0.3"];
    let dev = ["--dev", "test.txt", "--dev-scores", "test.safetensors"];
    folder.train("plain", &flags(&labels));
    folder.train("ruled", &[&flags(&labels), &rules[..]].concat());
    folder.train("early", &[&flags(&labels), &dev[..]].concat());
    let f1 = |model: &str| {
        let report = folder.evaluate(model, "test.txt", &["--scores", "test.safetensors"]);
        report["f1"].as_f64().unwrap()
    };
    assert!(f1("plain") > 0.5 && f1("ruled") > f1("plain"), "{} {}", f1("plain"), f1("ruled"));
    assert!(folder.inspect("early")["training"]["dev_f1"].as_f64().unwrap() > 0.5);

    // With a file its rows are repeated; without one there are labels alone.
    let both = sequences(&folder.tag("ruled", "test.txt", &["--scores", "test.safetensors"]));
    let alone = folder.succeeds(&["tag", "ruled", "--scores", "test.safetensors", "--quiet"]);
    let alone = sequences(&alone);
    assert_eq!(both.len(), 40);
    for (both, alone) in both.iter().zip(&alone) {
        assert_eq!(column(both, 2), column(alone, 0));
        assert!(alone.iter().all(|row| row.len() == 1));
    }
    let bare = without_labels(&folder.read("test.txt"));
    let folder = folder.with("bare.txt", &bare);
    let bare = sequences(&folder.tag("ruled", "bare.txt", &["--scores", "test.safetensors"]));
    assert_eq!(column(&bare[0], 1), column(&both[0], 2));
}

#[test]
fn labels_of_rows_are_forced_on_scores() {
    let folder = folder();
    folder.train("model", &flags(&LABELS.join(",")));
    let truth = folder.read("test.txt");
    let told: String = truth
        .lines()
        .map(|line| match line.split_once('\t') {
            Some((_, label)) if label.ends_with("venue") => format!("{line}\n"),
            Some((word, _)) => format!("{word}\t_\n"),
            None => "\n".to_string(),
        })
        .collect();
    let folder = folder.with("told.txt", &told).with("wrong.txt", "a\tB-nothing\n");
    let scores = ["--scores", "test.safetensors"];
    let free = sequences(&folder.tag("model", "told.txt", &scores));
    let forced = sequences(&folder.tag("model", "told.txt", &[&scores[..], &["--force"]].concat()));
    let kept = |all: &[Vec<Vec<String>>]| {
        all.iter().flatten().all(|row| row[1] == "_" || row[1] == row[2])
    };
    assert!(kept(&forced) && !kept(&free));
    let message = folder.refusal(&["tag", "model", "--force", "--scores", "test.safetensors"]);
    assert!(message.starts_with("--force with --scores also needs FILE"), "{message}");
    write(&folder.path("one.safetensors"), &numbered(vec![vec![0.0; LABELS.len()]]), false);
    let arguments = ["tag", "model", "wrong.txt", "--force", "--scores", "one.safetensors"];
    let message = folder.refusal(&arguments);
    assert!(message.starts_with("wrong.txt:1: the label \"B-nothing\""), "{message}");
}

#[test]
fn a_label_of_scores_that_training_data_lack_is_told() {
    let folder = folder();
    let text = folder.read("train.txt").replace("B-year", "O");
    let folder = folder.with("years.txt", &text);
    let labels = LABELS.join(",");
    let fixed = ["train", "years.txt", "--model", "model", "--quiet"];
    let output = folder.bethe(&[&fixed[..], &flags(&labels)].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("the label \"B-year\" of the scores is not in the training data"),
        "{said}"
    );
}

#[test]
fn scores_that_do_not_fit_are_refused() {
    let folder = folder();
    let labels = LABELS.join(",");
    folder.train("model", &flags(&labels));
    folder.train("other", &["--format", "columns", "--max-iterations", "3"]);
    let refusal = |arguments: &[&str]| folder.refusal(arguments);
    let train = |labels: &str| {
        refusal(&[&["train", "train.txt", "--model", "new"], &flags(labels)[..]].concat())
    };
    let message = train("O,B-author");
    assert_eq!(
        message,
        "train.safetensors: tensor 0: found shape [11, 8], expected [positions, 2]"
    );
    let message = train(&labels.replace("B-year", "B-date"));
    assert!(message.contains("the label \"B-year\" has no scores"), "{message}");
    let message = refusal(&["tag", "model", "test.txt"]);
    assert!(message.starts_with("model was trained on scores"), "{message}");
    let message = refusal(&["tag", "other", "test.txt", "--scores", "test.safetensors"]);
    assert!(message.starts_with("--scores: other was not trained on scores"), "{message}");
    let message = refusal(&["tag", "model", "test.txt", "--scores", "train.safetensors"]);
    assert!(message.contains("positions, expected") && message.contains("to match test.txt:"));
    let message = refusal(&["tag", "model", "train.txt", "--scores", "test.txt"]);
    assert!(message.starts_with("test.txt: not a safetensors file"), "{message}");

    let mut matrices = numbered(scores(&folder.read("test.txt")));
    matrices[3].1[9] = f32::NAN;
    write(&folder.path("nan.safetensors"), &matrices, false);
    let message = refusal(&["tag", "model", "--scores", "nan.safetensors"]);
    let expected =
        "nan.safetensors: tensor 3: found NaN in row 1, column 1, expected finite numbers";
    assert_eq!(message, format!("{expected} between ±1e100"));
    matrices[3].1[9] = 0.0;
    let huge = vec![("0".to_string(), vec![1.7e308; LABELS.len()])];
    write_doubles(&folder.path("huge.safetensors"), &huge);
    let message = refusal(&["tag", "model", "--scores", "huge.safetensors"]);
    assert!(message.contains("found 1.7e308 in row 0, column 0, expected finite numbers between"));

    // Too many are found before anything is written.
    matrices.push(("40".to_string(), vec![0.0; LABELS.len()]));
    write(&folder.path("many.safetensors"), &matrices, false);
    let message = refusal(&["tag", "model", "test.txt", "--scores", "many.safetensors"]);
    assert!(message.contains("found 41 tensors, expected 40, one per sequence"), "{message}");
    matrices.truncate(39);
    write(&folder.path("few.safetensors"), &matrices, false);
    let message = refusal(&["evaluate", "model", "test.txt", "--scores", "few.safetensors"]);
    assert!(message.contains("found 39 tensors, but none for test.txt:"), "{message}");
    for flags in [
        ["--template", "x"],
        ["--min-count", "2"],
        ["--column", "1"],
        ["--pool", "2"],
        ["--share-weights", "--quiet"],
    ] {
        let scores = ["--scores", "train.safetensors", "--labels", &labels];
        let fixed = ["train", "train.txt", "--model", "new"];
        let message = refusal(&[&fixed[..], &scores, &flags].concat());
        let expected = format!("{} has no effect with --scores", flags[0]);
        assert!(message.starts_with(&expected), "{message}");
    }
}
