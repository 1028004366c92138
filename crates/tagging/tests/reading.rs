//! Training on sequences in memory, and on sequences that are being read.

use std::fmt::Write as _;

use bethe_tagging::WeightFeatures;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::train::{
    Event, Labelled, RuleSource, TrainError, TrainSettings, train, train_reading,
};

fn columns(count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        for t in 0..3 + i % 4 {
            let word = (i * 7 + t * t) % 11;
            let label = ["O", "B-x", "B-y"][(word + t) % 3];
            let _ = writeln!(text, "w{word}\t{label}");
        }
        text.push('\n');
    }
    text
}

fn attributes(count: usize) -> String {
    let row = |row: &str| match row.split_once('\t') {
        Some((word, label)) => format!("{label}\tword={word}\tsize:{}\n", word.len()),
        None => "\n".to_string(),
    };
    columns(count).lines().map(row).collect()
}

fn sequences(text: &str, format: Format) -> Sequences<&[u8]> {
    Sequences::new(text.as_bytes(), "made", format)
}

#[test]
fn both_ways_of_training_give_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [(Format::Columns, columns(60)), (Format::Attributes, attributes(60))];
    for (format, text) in texts {
        let settings = TrainSettings { format, min_count: 2, ..TrainSettings::default() };
        let kept: Vec<Sequence> = sequences(&text, format).collect::<Result<_, _>>().unwrap();
        let labelled = Labelled { sequences: &kept, scores: None };
        let in_memory = train(labelled, None, &settings, &mut |_| ()).unwrap();
        let read = train_reading(sequences(&text, format), None, &settings, &mut |_| ()).unwrap();
        let bytes = [in_memory, read].map(|tagger| {
            let path = folder.path().join("model");
            tagger.write(&path).unwrap();
            std::fs::read(&path).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{format:?}");
    }
}

#[test]
fn mistakes_met_while_reading_end_training() {
    for format in [Format::Columns, Format::Attributes] {
        let settings = TrainSettings { format, ..TrainSettings::default() };
        let run = |text: &str| {
            train_reading(sequences(text, format), None, &settings, &mut |_| ()).unwrap_err()
        };
        assert!(matches!(run("\n\n"), TrainError::NoData));
        let ragged = "w\tO\n\nw\tO\tx:y\n\n";
        assert!(run(ragged).to_string().contains("made:3"), "{}", run(ragged));
    }
}

#[test]
fn values_that_training_cannot_cope_with_are_told() {
    let warnings = |text: &str| {
        let settings = TrainSettings { format: Format::Attributes, ..TrainSettings::default() };
        let mut warnings = Vec::new();
        let sequences = sequences(text, Format::Attributes);
        train_reading(sequences, None, &settings, &mut |event| {
            if let Event::Warning(text) = event {
                warnings.push(text);
            }
        })
        .unwrap();
        warnings
    };
    assert_eq!(warnings(&attributes(20)), [""; 0]);
    let told = warnings("B-x\ta:1e300\nO\tb\n\n");
    assert!(told.len() == 1 && told[0].contains("3.4028235e38"), "{told:?}");
}

#[test]
fn random_features_of_weights_see_all_attributes_that_training_saw() {
    let attributes = |features| {
        let mut settings = TrainSettings {
            rule_source: RuleSource::Auto,
            format: Format::Columns,
            ..TrainSettings::default()
        };
        settings.base.l1 = 2.0;
        settings.rules.l1 = Some(1.0);
        settings.rules.features = features;
        let mut seen = 0;
        let text = columns(80);
        let read = sequences(&text, Format::Columns);
        let tagger = train_reading(read, None, &settings, &mut |event| {
            if let Event::Data { attributes, .. } = event {
                seen = attributes;
            }
        });
        (seen, tagger.unwrap().parts().attributes.len())
    };
    let (seen, kept) = attributes(WeightFeatures::Constant);
    assert!(kept < seen, "{kept} of {seen}: L1 leaves some without a weight");
    let (seen, kept) = attributes(WeightFeatures::Fourier { count: 3, seed: 1 });
    assert_eq!(seen, kept);
}
