//! Hard rules hold on what a tagger says, also of long sequences.

use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::{Form, Relation, Rule, Weight};
use bethe_tagging::{HardRules, TagOptions, Tagged, Tagger, Tagging, states_of};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const LABELS: [&str; 9] = ["O", "B-a", "I-a", "B-b", "I-b", "B-c", "I-c", "B-d", "I-d"];
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;

fn tagger(forms: &[Form]) -> Tagger {
    let states = states_of(Scheme::Bio, &LABELS).unwrap();
    let hard = |form: &Form| Rule { form: form.clone(), weight: Weight::Hard };
    Tagger::of_scores(states, &LABELS, &[], forms.iter().map(hard).collect()).unwrap()
}

fn tag(tagger: &Tagger, seed: u64, length: usize) -> Tagged {
    let mut random = StdRng::seed_from_u64(seed);
    let scores: Vec<f64> =
        (0..length * LABELS.len()).map(|_| random.random_range(-3.0..3.0)).collect();
    Tagging::new(tagger).tag_scores(&scores, &TagOptions::default()).unwrap()
}

fn equal(a: usize, b: usize) -> [Form; 2] {
    [(1, -1), (-1, 1)].map(|(x, y)| Form::linear([(a, x), (b, y)], Relation::AtMost, 0))
}

fn exactly(kind: usize, count: u32) -> [Form; 2] {
    [Relation::AtMost, Relation::AtLeast].map(|side| Form::linear([(kind, 1)], side, count))
}

#[test]
fn hard_rules_hold_on_thousands_of_tokens_with_hundreds_of_segments() {
    let sets: [Vec<Form>; 6] = [
        equal(A, B).into(),
        vec![Form::linear([(A, 1)], Relation::AtMost, 1)],
        exactly(C, 100).into(),
        vec![
            Form::linear([(D, 1)], Relation::AtMost, 0),
            Form::Implies { premise: A, conclusion: D },
        ],
        vec![Form::Before { first: A, second: B }, Form::Before { first: B, second: C }],
        [
            &equal(A, B)[..],
            &exactly(C, 100)[..],
            &[Form::linear([(D, 1)], Relation::AtMost, 30)],
            &[Form::Implies { premise: A, conclusion: D }, Form::Before { first: A, second: D }],
        ]
        .concat(),
    ];
    for (seed, forms) in sets.iter().enumerate() {
        let tagger = tagger(forms);
        let tagged = tag(&tagger, seed as u64, 2000);
        assert!(tagged.broken.is_empty(), "{forms:?}");
        assert_eq!(tagged.hard, HardRules::Best, "{forms:?}");
        let begins = |&&state: &&usize| tagger.states().label(state).starts_with("B-");
        let segments = tagged.best[0].0.iter().filter(begins).count();
        assert!(segments > 100, "{segments} segments");
    }
}

#[test]
fn rules_that_no_labels_keep_are_told_from_rules_that_none_were_found_for() {
    let tagger = tagger(&exactly(A, 5));
    let tagged = tag(&tagger, 1, 4);
    assert_eq!(tagged.hard, HardRules::Impossible);
    assert_eq!(tagged.broken, vec![1]);
    assert_eq!(tag(&tagger, 1, 5).hard, HardRules::Best);
}

#[test]
fn sequences_that_cannot_keep_hard_rules_get_the_labels_without_them() {
    let soft =
        Rule { form: Form::linear([(B, 1)], Relation::AtMost, 1), weight: Weight::Given(2.0) };
    let tagger = |hard: &[Form]| {
        let states = states_of(Scheme::Bio, &LABELS).unwrap();
        let hard = hard.iter().map(|form| Rule { form: form.clone(), weight: Weight::Hard });
        let rules = [soft.clone()].into_iter().chain(hard).collect();
        Tagger::of_scores(states, &LABELS, &[], rules).unwrap()
    };
    let (plain, short) = (tagger(&[]), tagger(&exactly(A, 30)));
    let torn = tagger(&[exactly(A, 1), exactly(A, 2)].concat());
    for seed in 0..10 {
        let expected = tag(&plain, seed, 20);
        for ruled in [&short, &torn] {
            let found = tag(ruled, seed, 20);
            assert_eq!(found.hard, HardRules::Impossible, "seed {seed}");
            assert_eq!(found.best[0].0, expected.best[0].0, "seed {seed}");
        }
    }
}
