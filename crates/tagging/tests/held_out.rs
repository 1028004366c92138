//! Predictions for sequences by models that have not seen them.

use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::train::{Base, Labelled, TrainSettings};

fn sequences(text: &str) -> Vec<Sequence> {
    Sequences::new(text.as_bytes(), "here", Format::Columns).map(Result::unwrap).collect()
}

fn settings() -> TrainSettings {
    TrainSettings {
        template: Some("Uword:%x[0,0]\nB\n".parse().unwrap()),
        ..TrainSettings::default()
    }
}

#[test]
fn a_model_knows_nothing_of_labels_that_only_the_held_out_part_has() {
    // "odd" is an x everywhere but in one sequence: a model of the others has no weight for y
    // there, not even one that learned to avoid it.
    let common = "odd\tB-x\neven\tB-y\n\n".repeat(9);
    let all = sequences(&format!("{common}odd\tB-y\neven\tB-y\n\n"));
    let labelled = Labelled { sequences: &all, scores: None };
    let mut base = Base::train(labelled, None, &settings(), &mut |_| ()).unwrap();
    let held_out = base.hold_out(&mut |_| ()).unwrap();
    let state = |label: &str| base.states().matching(label)[0];
    let strange = held_out.predictions.iter().find(|one| one.labels[0] == "B-y").unwrap();
    assert_eq!(strange.scores[state("B-y")], 0.0);
    assert!(strange.scores[state("B-x")] > 0.0);
    assert_eq!(strange.predicted[0], state("B-x"));
    let usual = held_out.predictions.iter().filter(|one| one.model != strange.model);
    assert!(usual.clone().count() > 0);
    usual.for_each(|one| assert!(one.scores[state("B-y")] != 0.0));
}

#[test]
fn sequences_with_labels_that_the_model_lacks_are_predicted_without_a_truth() {
    let train = sequences(&"odd\tB-x\neven\tB-y\n\n".repeat(5));
    let labelled = Labelled { sequences: &train, scores: None };
    let base = Base::train(labelled, None, &settings(), &mut |_| ()).unwrap();
    let others = sequences("odd\tB-x\n\nodd\tB-z\n\n");
    let predicted = base.predict(Labelled { sequences: &others, scores: None }).unwrap();
    let [known, unknown] = &predicted.predictions[..] else { panic!("one for each") };
    assert_eq!((known.truth.len(), unknown.truth.len()), (1, 0));
    assert_eq!(known.predicted, unknown.predicted);
    assert_eq!(unknown.labels, ["B-z"]);
}

#[test]
fn a_pool_is_the_mean_of_a_model_of_all_attributes_and_models_without_a_part() {
    let made = |count: usize| -> String {
        let word = |n: usize| ["odd", "even", "prime", "add", "dozen"][n * n % 5];
        let label = |n: usize| ["B-x", "B-y", "O"][(n * n % 5 + n / 7) % 3];
        let sequence =
            |n: usize| format!("{}\t{}\n{}\t{}\n\n", word(n), label(n), word(n + 1), label(n + 1));
        (0..count).map(sequence).collect()
    };
    let (train, others) = (sequences(&made(40)), sequences(&made(9)));
    let scores = |template: &str, pool: usize| {
        let mut settings = settings();
        settings.template = Some(template.parse().unwrap());
        settings.base.pool = pool;
        settings.base.least_decrease = 1e-12;
        let labelled = Labelled { sequences: &train, scores: None };
        let base = Base::train(labelled, None, &settings, &mut |_| ()).unwrap();
        let found = base.predict(Labelled { sequences: &others, scores: None }).unwrap();
        let mut numbers = found.tables[0].clone();
        numbers.extend(found.predictions.iter().flat_map(|one| &one.scores));
        numbers
    };
    let (word, ending) = ("Uword:%x[0,0]", "Uending:%suffix1[0,0]");
    let both = format!("{word}\n{ending}\nB\n");
    let pooled = scores(&both, 2);
    let all = scores(&both, 1);
    let [a, b] = [word, ending].map(|line| scores(&format!("{line}\nB\n"), 1));
    assert_eq!((pooled.len(), all.len(), a.len()), (all.len(), a.len(), b.len()));
    for (((pooled, all), a), b) in pooled.iter().zip(&all).zip(&a).zip(&b) {
        let mean = (all + a + b) / 3.0;
        assert!(*pooled == mean || (pooled - mean).abs() < 1e-4, "{pooled} for {mean}");
    }
    assert!(all != a);
    assert!(a != b);
}

#[test]
fn labels_share_what_one_of_them_was_seen_with() {
    // "1999" is a year of its own; years within a venue have other words.
    let train = sequences(&"in\tB-venue\n2004\tI-venue:B-year\n\n1999\tB-year\nx\tO\n\n".repeat(8));
    let others = sequences("in\tB-venue\n1999\tI-venue:B-year\n\n");
    let score_within = |share: bool| {
        let mut settings = settings();
        settings.base.share_weights = share;
        let labelled = Labelled { sequences: &train, scores: None };
        let base = Base::train(labelled, None, &settings, &mut |_| ()).unwrap();
        let found = base.predict(Labelled { sequences: &others, scores: None }).unwrap();
        let states = base.states();
        found.predictions[0].scores[states.len() + states.matching("I-venue:B-year")[0]]
    };
    assert_eq!(score_within(false), 0.0);
    assert!(score_within(true) > 0.1, "{}", score_within(true));
}
