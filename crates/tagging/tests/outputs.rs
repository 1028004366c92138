//! What a tagger says of short sequences, against every label sequence there is.

use bethe_tagging::labels::{Scheme, leaf_segments};
use bethe_tagging::rules::{Form, Relation, Rule, RulePenalty, Weight};
use bethe_tagging::{Decoding, TagOptions, Tagger, Tagging, states_of};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const BIO: [&str; 5] = ["O", "B-a", "I-a", "B-b", "I-b"];
const IOBES: [&str; 9] = ["O", "B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b"];
/// A segment `a` with segments `x` in it, and tokens of `a` around these.
const HIERARCHY: [&str; 7] = ["O", "B-a", "I-a", "B-a:B-x", "I-a:B-x", "I-a:I-x", "B-b"];

fn tagger(scheme: Scheme, labels: &[&str], rules: Vec<Rule>, decoding: Decoding) -> Tagger {
    let states = states_of(scheme, labels).unwrap();
    let tagger = Tagger::of_scores(states, labels, &[], rules).unwrap();
    let mut parts = tagger.parts().clone();
    parts.decoding = decoding;
    Tagger::new(parts).unwrap()
}

fn random_scores(rng: &mut StdRng, cells: usize) -> Vec<f64> {
    (0..cells).map(|_| rng.random_range(-2.0..2.0)).collect()
}

/// Every label sequence that the scheme allows, as places of labels.
fn sequences(tagger: &Tagger, labels: &[&str], length: usize) -> Vec<Vec<usize>> {
    let states = tagger.states();
    let state = |label: usize| states.matching(labels[label])[0];
    (0..labels.len().pow(length as u32))
        .map(|code| (0..length as u32).map(|t| code / labels.len().pow(t) % labels.len()).collect())
        .filter(|path: &Vec<usize>| {
            let ends = (state(path[0]), state(path[length - 1]));
            let follows = |pair: &[usize]| states.may_follow(state(pair[0]), state(pair[1]));
            states.may_start(ends.0) && states.may_end(ends.1) && path.windows(2).all(follows)
        })
        .collect()
}

fn score(path: &[usize], scores: &[f64], labels: usize) -> f64 {
    path.iter().enumerate().map(|(t, &label)| scores[t * labels + label]).sum()
}

#[test]
fn probabilities_of_labels_and_segments_match_brute_force() {
    let mut rng = StdRng::seed_from_u64(3);
    let options = TagOptions { marginals: true, n_best: 3, ..TagOptions::default() };
    for (scheme, labels, length) in [
        (Scheme::Bio, &BIO[..], 5),
        (Scheme::Iobes, &IOBES[..], 4),
        (Scheme::Bio, &HIERARCHY[..], 5),
    ] {
        let before =
            Rule { form: Form::Before { first: 0, second: 1 }, weight: Weight::Given(0.0) };
        for rules in [Vec::new(), vec![before]] {
            let tagger = tagger(scheme, labels, rules, Decoding::Tilted);
            let all = sequences(&tagger, labels, length);
            let scores = random_scores(&mut rng, length * labels.len());
            let weight = |path: &Vec<usize>| score(path, &scores, labels.len()).exp();
            let total: f64 = all.iter().map(weight).sum();
            let share = |keeps: &dyn Fn(&Vec<&str>) -> bool| -> f64 {
                let texts = |path: &Vec<usize>| path.iter().map(|&l| labels[l]).collect::<Vec<_>>();
                all.iter().filter(|path| keeps(&texts(path))).map(weight).sum::<f64>() / total
            };
            let tagged = Tagging::new(&tagger).tag_scores(&scores, &options).unwrap();
            for (rank, (path, _)) in tagged.best.iter().enumerate() {
                let own: Vec<&str> = path.iter().map(|&s| tagger.states().label(s)).collect();
                for (t, probability) in tagged.probabilities[rank].iter().enumerate() {
                    let expected = share(&|other| other[t] == own[t]);
                    assert!((probability - expected).abs() < 1e-9, "{probability} {expected}");
                }
                let segments = leaf_segments(scheme, &own);
                assert_eq!(segments.len(), tagged.segments[rank].len());
                for (segment, &(first, end, probability)) in
                    segments.iter().zip(&tagged.segments[rank])
                {
                    assert_eq!((segment.start, segment.end), (first, end));
                    let expected = share(&|other| {
                        other[first..end] == own[first..end]
                            && leaf_segments(scheme, other)
                                .iter()
                                .any(|s| (s.start, s.end) == (first, end))
                    });
                    assert!((probability - expected).abs() < 1e-9, "{probability} {expected}");
                }
            }
        }
    }
}

/// Segments of a label.
fn segments_of(path: &[usize], label: usize) -> f64 {
    path.iter().filter(|&&own| own == label).count() as f64
}

fn smoothed_hinge(z: f64) -> f64 {
    match z {
        z if z >= 1.0 => 0.0,
        z if z <= 0.0 => 0.5 - z,
        z => 0.5 * (1.0 - z) * (1.0 - z),
    }
}

#[test]
fn weighed_decoding_finds_what_is_worth_most() {
    let mut rng = StdRng::seed_from_u64(8);
    let options = TagOptions::default();
    let (mut best, mut improved, mut rounds) = (0, 0, 0);
    for round in 0..150 {
        let weight = [0.5, 3.0, 50.0][round % 3];
        let rule = |terms: [(usize, i32); 2], relation, bound| Rule {
            form: Form::linear(terms.into_iter().filter(|(_, c)| *c != 0), relation, bound),
            weight: Weight::Given(weight),
        };
        let rules = vec![
            rule([(0, 1), (1, 0)], Relation::AtMost, 1),
            rule([(0, 1), (1, 0)], Relation::AtLeast, 1),
            rule([(0, 1), (1, -1)], Relation::AtMost, 0),
        ];
        let taggers = [Decoding::Tilted, Decoding::Weighed]
            .map(|decoding| tagger(Scheme::Bio, &BIO, rules.clone(), decoding));
        let scores = random_scores(&mut rng, 5 * BIO.len());
        let worth = |path: &[usize]| {
            let (a, b) = (segments_of(path, 1), segments_of(path, 3));
            let energy: f64 = [2.0 - a, a, 1.0 - a + b].into_iter().map(smoothed_hinge).sum();
            score(path, &scores, BIO.len()) - weight * energy
        };
        let [tilted, weighed] = taggers.each_ref().map(|tagger| {
            let tagged = Tagging::new(tagger).tag_scores(&scores, &options).unwrap();
            let label =
                |&s: &usize| BIO.iter().position(|l| *l == tagger.states().label(s)).unwrap();
            worth(&tagged.best[0].0.iter().map(label).collect::<Vec<_>>())
        });
        let all = sequences(&taggers[0], &BIO, 5);
        let highest = all.iter().map(|path| worth(path)).fold(f64::NEG_INFINITY, f64::max);
        assert!(weighed >= tilted - 1e-9 && weighed <= highest + 1e-9);
        rounds += 1;
        improved += usize::from(weighed > tilted + 1e-9);
        best += usize::from(weighed > highest - 1e-9);
    }
    assert!(improved > 15, "{improved}");
    assert!(best * 10 > rounds * 8, "{best} of {rounds}");
}

#[test]
fn soft_dual_decomposition_finds_what_is_worth_most() {
    let mut rng = StdRng::seed_from_u64(12);
    let at_most = |kind: usize, bound, weight| Rule {
        form: Form::linear([(kind, 1)], Relation::AtMost, bound),
        weight,
    };
    let (mut best, rounds) = (0, 100);
    for round in 0..rounds {
        let cost = [0.5, 2.0, 50.0][round % 3];
        let rules = vec![at_most(0, 1, Weight::Given(cost)), at_most(1, 0, Weight::Hard)];
        let mut parts = tagger(Scheme::Bio, &BIO, rules, Decoding::SoftDual).parts().clone();
        parts.penalty = RulePenalty::Hinge;
        let tagger = Tagger::new(parts).unwrap();
        let scores = random_scores(&mut rng, 5 * BIO.len());
        let worth = |path: &[usize]| {
            let (a, b) = (segments_of(path, 1), segments_of(path, 3));
            let broken = if b > 0.0 { f64::INFINITY } else { cost * (a - 1.0).max(0.0) };
            score(path, &scores, BIO.len()) - broken
        };
        let tag = |n_best| {
            let options = TagOptions { n_best, ..TagOptions::default() };
            let tagged = Tagging::new(&tagger).tag_scores(&scores, &options).unwrap();
            let label =
                |&s: &usize| BIO.iter().position(|l| *l == tagger.states().label(s)).unwrap();
            tagged.best[0].0.iter().map(label).collect::<Vec<usize>>()
        };
        let found = tag(1);
        assert_eq!(found, tag(4), "the first of several is the answer");
        let all = sequences(&tagger, &BIO, 5);
        let highest = all.iter().map(|path| worth(path)).fold(f64::NEG_INFINITY, f64::max);
        assert!(worth(&found).is_finite() && worth(&found) <= highest + 1e-9);
        best += usize::from(worth(&found) > highest - 1e-9);
    }
    assert!(best * 10 >= rounds * 9, "{best} of {rounds}");
}

#[test]
fn the_first_of_the_best_is_the_answer_also_where_rules_are_weighed() {
    let mut rng = StdRng::seed_from_u64(9);
    let form = Form::linear([(0, 1)], Relation::AtMost, 1);
    let rules = vec![Rule { form, weight: Weight::Given(20.0) }];
    let tagger = tagger(Scheme::Bio, &BIO, rules, Decoding::Weighed);
    for _ in 0..40 {
        let scores = random_scores(&mut rng, 8 * BIO.len());
        let tag = |n_best| {
            let options = TagOptions { n_best, ..TagOptions::default() };
            Tagging::new(&tagger).tag_scores(&scores, &options).unwrap().best
        };
        let several = tag(5);
        assert_eq!(several[0].0, tag(1)[0].0);
        assert!(several.windows(2).all(|pair| pair[0].1 >= pair[1].1), "in order");
    }
}
