//! Probabilities of all labels at every position, against every path of states there is.

use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::{Form, Relation, Rule, Weight};
use bethe_tagging::{TagOptions, Tagger, Tagging, states_of};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Schemes with labels: two states of each label but `O`, levels, and ends of segments.
const CASES: [(Scheme, &[&str], usize); 5] = [
    (Scheme::Io, &["b", "O", "a"], 5),
    (Scheme::Io, &["a", "a:x", "O"], 4),
    (Scheme::Bio, &["O", "B-a", "I-a", "B-a:B-x", "I-a:B-x", "I-a:I-x", "B-b"], 4),
    (Scheme::Iobes, &["O", "B-a", "I-a", "E-a", "S-a", "S-b"], 4),
    (Scheme::Bilou, &["O", "B-a", "I-a", "L-a", "U-a", "U-b"], 4),
];
const WEIGHT: f64 = 3.0;

/// A tagger whose rule is "at most one `a`", with this weight.
fn tagger(scheme: Scheme, labels: &[&str], weight: f64) -> Tagger {
    let states = states_of(scheme, labels).unwrap();
    let kind = states.kinds().iter().position(|kind| kind.name == "a").unwrap();
    let form = Form::linear([(kind, 1)], Relation::AtMost, 1);
    let rules = vec![Rule { form, weight: Weight::Given(weight) }];
    Tagger::of_scores(states, labels, &[], rules).unwrap()
}

/// A path of states, its score, and how many segments of the rule's kind it has.
struct Path {
    states: Vec<usize>,
    score: f64,
    segments: f64,
}

fn paths(tagger: &Tagger, scores: &[f64], length: usize) -> Vec<Path> {
    let (states, labels) = (tagger.states(), tagger.labels());
    let kind = states.kinds().iter().position(|kind| kind.name == "a").unwrap();
    let column = |s: usize| labels.iter().position(|label| label == states.label(s)).unwrap();
    let all = (0..states.len().pow(length as u32)).map(|code| -> Vec<usize> {
        (0..length as u32).map(|t| code / states.len().pow(t) % states.len()).collect()
    });
    let allowed = all.filter(|path| {
        let follows = |pair: &[usize]| states.may_follow(pair[0], pair[1]);
        states.may_start(path[0])
            && states.may_end(path[length - 1])
            && path.windows(2).all(follows)
    });
    let measured = allowed.map(|path| {
        let score = path.iter().enumerate().map(|(t, &s)| scores[t * labels.len() + column(s)]);
        let begun = path.iter().filter(|&&state| states.begins(state).contains(&kind));
        Path { score: score.sum(), segments: begun.count() as f64, states: path }
    });
    measured.collect()
}

/// Marginals of labels where every segment of the rule's kind has this much added to its score, and
/// the expected number of segments.
fn exact(tagger: &Tagger, paths: &[Path], length: usize, tilt: f64) -> (Vec<f64>, f64) {
    let (states, labels) = (tagger.states(), tagger.labels());
    let (mut marginals, mut segments, mut total) = (vec![0.0; length * labels.len()], 0.0, 0.0);
    for path in paths {
        let share = (path.score + tilt * path.segments).exp();
        total += share;
        segments += share * path.segments;
        for (t, &state) in path.states.iter().enumerate() {
            let label = labels.iter().position(|label| label == states.label(state)).unwrap();
            marginals[t * labels.len() + label] += share;
        }
    }
    marginals.iter_mut().for_each(|marginal| *marginal /= total);
    (marginals, segments / total)
}

/// `weight · φ′(z)` of the smoothed hinge, for a bound of one segment: what the rule adds to the
/// score of a segment where so many are expected.
fn pull(weight: f64, segments: f64) -> f64 {
    weight * (2.0 - segments - 1.0).clamp(-1.0, 0.0)
}

#[test]
fn all_labels_have_the_probability_of_brute_force_with_rules_and_without() {
    let mut rng = StdRng::seed_from_u64(21);
    let mut moved = 0;
    for (scheme, labels, length) in CASES {
        let tagger = tagger(scheme, labels, WEIGHT);
        assert_eq!(tagger.labels(), labels);
        for _ in 0..4 {
            let cells = length * labels.len();
            let scores: Vec<f64> = (0..cells).map(|_| rng.random_range(-1.5..1.5)).collect();
            let paths = paths(&tagger, &scores, length);
            let plain = exact(&tagger, &paths, length, 0.0).0;
            // The tilt at which the rule pulls as hard as it tilts; the difference is monotone.
            let (mut low, mut high) = (-WEIGHT, 0.0);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                let segments = exact(&tagger, &paths, length, middle).1;
                if pull(WEIGHT, segments) > middle { low = middle } else { high = middle }
            }
            let ruled = exact(&tagger, &paths, length, low).0;
            moved += usize::from(low < -0.1);
            for (rules, expected) in [(false, plain), (true, ruled)] {
                let mut options =
                    TagOptions { label_marginals: true, rules, ..TagOptions::default() };
                options.inference.tolerance = 1e-10;
                options.inference.max_iterations = 1000;
                let tagged = Tagging::new(&tagger).tag_scores(&scores, &options).unwrap();
                assert_eq!(tagged.label_marginals.len(), expected.len());
                for (found, expected) in tagged.label_marginals.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-6, "{scheme:?}: {found} {expected}");
                }
                for row in tagged.label_marginals.chunks(labels.len()) {
                    assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
                }
            }
        }
    }
    assert!(moved >= 4, "the rule pulls in {moved} cases only");
}

#[test]
fn label_marginals_agree_with_the_probabilities_of_the_best_labels() {
    let (scheme, labels, length) = CASES[0];
    let tagger = tagger(scheme, labels, WEIGHT);
    let mut rng = StdRng::seed_from_u64(22);
    let scores: Vec<f64> =
        (0..length * labels.len()).map(|_| rng.random_range(-1.5..1.5)).collect();
    let asked = TagOptions { marginals: true, label_marginals: true, ..TagOptions::default() };
    let tagged = Tagging::new(&tagger).tag_scores(&scores, &asked).unwrap();
    for (t, &state) in tagged.best[0].0.iter().enumerate() {
        let label = labels.iter().position(|label| *label == tagger.states().label(state)).unwrap();
        let (all, own) = (tagged.label_marginals[t * 3 + label], tagged.probabilities[0][t]);
        assert!((all - own).abs() < 1e-12, "{all} {own}");
    }
    let unasked = Tagging::new(&tagger).tag_scores(&scores, &TagOptions::default()).unwrap();
    assert!(unasked.label_marginals.is_empty());
    assert_eq!(unasked.best, tagged.best);
}
