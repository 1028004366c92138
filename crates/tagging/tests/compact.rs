//! Model files without names of attributes.

use std::fmt::Write as _;

use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::train::{Labelled, RuleSource, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger, Tagging, WeightFeatures};

/// Names, a year and a title, in two orders.
fn sequences() -> Vec<Sequence> {
    let mut text = String::new();
    for i in 0..40 {
        let name = ["Zylinski", "Quaxton", "Wiborough", "Vexley"][i % 4];
        let title = ["waves", "fields", "graphs"][i % 3];
        let year = 1950 + i;
        let rows = [format!("{name}\tB-author"), format!("{year}\tB-date")];
        let order = if i % 2 == 0 { [0, 1] } else { [1, 0] };
        order.iter().for_each(|&at| _ = writeln!(text, "{}", rows[at]));
        let _ = writeln!(text, "On\tB-title\n{title}\tI-title\n");
    }
    let read = Sequences::new(text.as_bytes(), "made", Format::Columns);
    read.collect::<Result<_, _>>().unwrap()
}

fn trained(sequences: &[Sequence]) -> Tagger {
    let settings = TrainSettings { rule_source: RuleSource::None, ..TrainSettings::default() };
    train(Labelled { sequences, scores: None }, None, &settings, &mut |_| ()).unwrap()
}

fn labels(tagger: &Tagger, sequences: &[Sequence]) -> Vec<Vec<usize>> {
    let mut tagging = Tagging::new(tagger);
    let mut best = |one| tagging.tag(one, &TagOptions::default()).unwrap().best.remove(0).0;
    sequences.iter().map(&mut best).collect()
}

#[test]
fn a_compact_file_is_smaller_holds_no_words_and_gives_the_same_labels() {
    let sequences = sequences();
    let tagger = trained(&sequences);
    let compact = tagger.compacted().unwrap();
    let [long, short] = [&tagger, &compact].map(|tagger| tagger.to_bytes().unwrap());
    let holds = |bytes: &[u8], word: &str| {
        bytes.windows(word.len()).any(|own| own.eq_ignore_ascii_case(word.as_bytes()))
    };
    for word in ["Zylinski", "Quaxton", "waves"] {
        assert!(holds(&long, word) && !holds(&short, word), "{word}");
    }
    assert!(3 * short.len() < 2 * long.len(), "{} and {}", short.len(), long.len());
    let read = Tagger::from_bytes(&short).unwrap();
    assert_eq!(read.to_bytes().unwrap(), short, "read and written again");
    assert_eq!(labels(&read, &sequences), labels(&tagger, &sequences));
    assert_eq!(labels(&read, &sequences), labels(&compact, &sequences));
    assert!(read.parts().attributes.name(0).is_none());
    assert_eq!(read.compacted().unwrap().to_bytes().unwrap(), short);
}

#[test]
fn annotations_are_kept_and_files_without_them_are_as_before() {
    let tagger = trained(&sequences());
    let plain = tagger.to_bytes().unwrap();
    assert!(Tagger::from_bytes(&plain).unwrap().parts().annotations.is_empty());
    let mut parts = tagger.parts().clone();
    parts.annotations.insert("text.tokens".to_string(), "punctuation".to_string());
    let annotated = Tagger::new(parts).unwrap();
    let read = Tagger::from_bytes(&annotated.to_bytes().unwrap()).unwrap();
    assert_eq!(read.parts().annotations, annotated.parts().annotations);
    let says = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
    assert!(says(&plain, "\\\"form\\\":2") && !says(&plain, "annotations"));
}

#[test]
fn weights_that_depend_on_numbers_of_attributes_are_not_renumbered() {
    let mut parts = trained(&sequences()).parts().clone();
    parts.weight_features = WeightFeatures::Fourier { count: 2, seed: 1 };
    assert!(Tagger::new(parts).unwrap().compacted().is_none());
}

#[test]
fn damaged_hashes_are_refused() {
    let bytes = trained(&sequences()).compacted().unwrap().to_bytes().unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(Tagger::from_bytes(&damaged).is_err(), "byte {at}");
    }
}
