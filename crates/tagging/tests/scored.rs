//! Taggers for scores that come from elsewhere.

use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::{Form, Relation, Rule, Weight};
use bethe_tagging::{ScoredError, TagError, TagOptions, Tagger, Tagging, states_of};

const LABELS: [&str; 3] = ["O", "B-x", "I-x"];

fn labels(tagger: &Tagger, scores: &[f64], options: &TagOptions) -> Vec<String> {
    let tagged = Tagging::new(tagger).tag_scores(scores, options).unwrap();
    tagged.best[0].0.iter().map(|&state| tagger.states().label(state).to_string()).collect()
}

fn tagger(transitions: &[f64], weight: Weight) -> Result<Tagger, ScoredError> {
    let states = states_of(Scheme::Bio, &LABELS).unwrap();
    let form = Form::linear([(0, 1)], Relation::AtMost, 1);
    Tagger::of_scores(states, &LABELS, transitions, vec![Rule { form, weight }])
}

const SCORES: [f64; 12] = [0.0, 9.0, 0.0, 4.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 2.0];

#[test]
fn rules_change_labels_that_scores_alone_would_give() {
    let options = TagOptions::default();
    for weight in [Weight::Given(100.0), Weight::Hard] {
        let tagger = tagger(&[], weight).unwrap();
        let plain = labels(&tagger, &SCORES, &TagOptions { rules: false, ..options.clone() });
        assert_eq!(plain, ["B-x", "O", "B-x", "I-x"]);
        let ruled = labels(&tagger, &SCORES, &options);
        assert_eq!(ruled.iter().filter(|label| *label == "B-x").count(), 1, "{ruled:?}");
    }
}

#[test]
fn transitions_are_scores_of_their_own() {
    let mut transitions = [0.0; 9];
    transitions[5] = f64::NEG_INFINITY; // B-x to I-x
    transitions[8] = f64::NEG_INFINITY;
    let tagger = tagger(&transitions, Weight::Given(0.0)).unwrap();
    let found = labels(&tagger, &SCORES, &TagOptions::default());
    assert!(!found.contains(&"I-x".to_string()), "{found:?}");
}

#[test]
fn what_cannot_be_a_tagger_is_refused() {
    assert!(matches!(tagger(&[0.0; 4], Weight::Hard), Err(ScoredError::Transitions { .. })));
    assert!(matches!(tagger(&[f64::NAN; 9], Weight::Hard), Err(ScoredError::Transitions { .. })));
    assert!(matches!(tagger(&[], Weight::Learned), Err(ScoredError::NoWeight { rule: 0 })));
    let tagger = tagger(&[], Weight::Hard).unwrap();
    let not_a_score =
        Tagging::new(&tagger).tag_scores(&[0.0, f64::NAN, 0.0], &TagOptions::default());
    assert!(matches!(not_a_score, Err(TagError::NotAScore { place: 1, .. })));
    assert!(Tagging::new(&tagger).tag_scores(&[0.0; 4], &TagOptions::default()).is_err());
}

#[test]
fn a_rule_on_a_difference_says_what_is_expected_even_if_it_is_negative() {
    let labels = ["O", "B-a", "B-b"];
    let states = states_of(Scheme::Bio, &labels).unwrap();
    let form = Form::linear([(0, 1), (1, -1)], Relation::AtLeast, 0);
    let rule = Rule { form, weight: Weight::Given(0.5) };
    let tagger = Tagger::of_scores(states, &labels, &[], vec![rule]).unwrap();
    let options = TagOptions { explain: true, ..TagOptions::default() };
    let tagged = Tagging::new(&tagger).tag_scores(&[0.0, 0.0, 4.0], &options).unwrap();
    let lines = tagger.explanation(&tagged);
    let expected = "no fewer a than b: expected a − b: −0.95 without rules, −0.";
    assert!(lines[0].starts_with(expected) && lines[0].ends_with(" with"), "{lines:?}");
}
