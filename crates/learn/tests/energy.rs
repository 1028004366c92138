//! Losses of rule weights: finite differences, convexity, and what learning comes to.

mod common;

use std::sync::Arc;

use bethe_core::solve::SolveError;
use bethe_core::{Method, Penalty, Settings};
use bethe_learn::corpus::Observations;
use bethe_learn::energy::{
    CountRule, CountRules, Examples, Inference, Information, Joint, Learner, LearnerSettings, Loss,
    RuledInference, Sample, Space, Start, Surrogate, learn, log_gains,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const STATES: usize = 4;

/// Sequences in which the truth has exactly one state 1, by scores that do not know it.
fn examples(seed: u64, count: usize, features: usize) -> (Examples, Arc<CountRules>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let space = Space::plain(STATES);
    let mut table: Vec<f64> = (0..STATES * STATES).map(|_| rng.random_range(-1.0..1.0)).collect();
    table[2] = f64::NEG_INFINITY;
    let mut examples = Examples::default();
    let model = examples.add_model(&space, &table);
    for _ in 0..count {
        let length = rng.random_range(1..8);
        let special = rng.random_range(0..length);
        let mut truth: Vec<u16> = Vec::new();
        for t in 0..length {
            let state = match t == special {
                true => 1,
                false => [0, 2, 3][rng.random_range(0..3)],
            };
            let forbidden = truth.last() == Some(&0) && state == 2;
            truth.push(if forbidden { 3 } else { state });
        }
        let scores: Vec<f64> = truth
            .iter()
            .flat_map(|&state| {
                (0..STATES).map(move |k| f64::from(u8::from(k == usize::from(state))))
            })
            .collect::<Vec<_>>()
            .into_iter()
            .map(|lean| lean + rng.random_range(-1.5..1.5))
            .collect();
        let f = (0..features).map(|f| if f == 0 { 1.0 } else { rng.random_range(-0.5..0.5) });
        let f = f.collect();
        examples.push(&space, model, &scores, &truth, f);
    }
    let soft = vec![
        CountRule::at_most(1.0, [(1, 1.0)]),
        CountRule::at_most(-1.0, [(1, -1.0)]),
        CountRule::at_most(0.0, [(0, 1.0), (3, -1.0)]),
        CountRule::at_most(2.0, [(2, 1.0), (3, 1.0)]),
    ];
    let rules =
        CountRules { states: STATES, penalty: Penalty::SmoothedHinge, soft, hard: Vec::new() };
    (examples, Arc::new(rules))
}

fn zeros(examples: &Examples) -> Start {
    Start { parameters: vec![0.0; 4 * examples.features()], fixed: Vec::new() }
}

fn sharp() -> Settings {
    Settings { tolerance: 1e-10, max_iterations: 1000, ..Settings::default() }
}

fn sample<'a>(examples: &'a Examples, which: &'a [usize]) -> Sample<'a> {
    Sample { examples, which }
}

fn assert_gradient(mut f: impl FnMut(&[f64], &mut [f64]) -> f64, at: &[f64]) {
    let mut gradient = vec![0.0; at.len()];
    f(at, &mut gradient);
    let mut unused = gradient.clone();
    for i in 0..at.len() {
        let mut moved = |shift: f64| {
            let mut to = at.to_vec();
            to[i] += shift;
            f(&to, &mut unused)
        };
        let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
        assert!(
            (slope - gradient[i]).abs() < 2e-5 * slope.abs().max(1.0),
            "{i}: {slope} {}",
            gradient[i]
        );
    }
}

#[test]
fn fenchel_young_gradients_match_finite_differences() {
    // The hinge has no slope at its kink; its loss has, since its gradient has values only.
    let penalties = [Penalty::SmoothedHinge, Penalty::Hinge];
    for (features, penalty) in [1, 3].into_iter().flat_map(|f| penalties.map(|p| (f, p))) {
        let (examples, rules) = examples(1, 12, features);
        let rules = Arc::new(CountRules { penalty, ..CountRules::clone(&rules) });
        let which: Vec<usize> = (0..12).collect();
        let at: Vec<f64> = (0..4 * features).map(|i| 0.4 + 0.3 * (i as f64).sin()).collect();
        let (sample, settings) = (sample(&examples, &which), sharp());
        let ruled = RuledInference::new(&rules, &settings);
        let loss =
            |v: &[f64], g: &mut [f64]| Loss::FenchelYoung.evaluate(sample, ruled, v, g).unwrap();
        assert_gradient(loss, &at);
    }
}

#[test]
fn the_information_is_the_curvature_of_the_fenchel_young_loss() {
    let penalties = [Penalty::SmoothedHinge, Penalty::Hinge];
    for (features, penalty) in [1, 3].into_iter().flat_map(|f| penalties.map(|p| (f, p))) {
        let (examples, rules) = examples(5, 12, features);
        let rules = Arc::new(CountRules { penalty, ..CountRules::clone(&rules) });
        let which: Vec<usize> = (0..12).collect();
        let at: Vec<f64> = (0..4 * features).map(|i| 0.4 + 0.3 * (i as f64).sin()).collect();
        let settings = Settings { tolerance: 1e-13, ..sharp() };
        let (sample, ruled) = (sample(&examples, &which), RuledInference::new(&rules, &settings));
        let found = Information::of(sample, ruled, &at).unwrap();
        let slopes = |place: usize, shift: f64| {
            let (mut moved, mut gradient) = (at.clone(), vec![0.0; at.len()]);
            moved[place] += shift;
            Loss::FenchelYoung.evaluate(sample, ruled, &moved, &mut gradient).unwrap();
            gradient
        };
        let mut greatest = 0.0f64;
        for row in 0..at.len() {
            let (up, down) = (slopes(row, 1e-3), slopes(row, -1e-3));
            for column in 0..at.len() {
                let expected = (up[column] - down[column]) / 2e-3;
                let found = found.matrix[row * at.len() + column];
                greatest = greatest.max(expected.abs());
                assert!(
                    (found - expected).abs() < 1e-3 * (1.0 + expected.abs()),
                    "{penalty:?}, {row}, {column}: {found} for {expected}"
                );
            }
        }
        assert!(greatest > 0.1, "{greatest}");
    }
}

#[test]
fn standard_errors_are_those_of_independent_weights_and_shrink_with_the_data() {
    let matrix = vec![4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 16.0];
    let found = Information { matrix, size: 3 };
    assert_eq!(found.standard_errors(&[1.0, 1.0, 1.0], 0.0), [Some(0.5), None, Some(0.25)]);
    assert_eq!(found.standard_errors(&[0.0, 1.0, 1.0], 4.5), [None, Some(1.0 / 3.0), Some(0.2)]);
    // Two weights that do the same.
    let found = Information { matrix: vec![1.0; 4], size: 2 };
    assert_eq!(found.standard_errors(&[1.0, 1.0], 0.0), [None, None]);

    let (examples, rules) = examples(6, 80, 1);
    let settings = sharp();
    let ruled = RuledInference::new(&rules, &settings);
    let at = vec![0.8; 4];
    let errors = [20, 80].map(|count| {
        let which: Vec<usize> = (0..count).collect();
        let found = Information::of(sample(&examples, &which), ruled, &at).unwrap();
        found.standard_errors(&at, 0.0)[0].unwrap()
    });
    let ratio = errors[0] / errors[1];
    assert!((1.4..2.8).contains(&ratio), "{errors:?}");
}

#[test]
fn surrogate_gradients_match_finite_differences_with_marginals_held_fixed() {
    for features in [1, 3] {
        let (examples, rules) = examples(2, 12, features);
        let which: Vec<usize> = (0..12).collect();
        let at: Vec<f64> = (0..4 * features).map(|i| 0.5 + 0.3 * (i as f64).cos()).collect();
        let (sample, settings) = (sample(&examples, &which), sharp());
        let ruled = RuledInference::new(&rules, &settings);
        let fitted = Surrogate::fit(sample, ruled, &at).unwrap();
        assert_gradient(|v, g| fitted.evaluate(sample, &rules, v, g), &at);
        // At the point it was fitted to, Algorithm 3 takes the same gradient.
        let (mut held, mut stochastic) = (vec![0.0; at.len()], vec![0.0; at.len()]);
        let value = fitted.evaluate(sample, &rules, &at, &mut held);
        let again = Loss::Surrogate.evaluate(sample, ruled, &at, &mut stochastic).unwrap();
        assert!((value - again).abs() < 1e-4 * value.abs());
        assert!(held.iter().zip(&stochastic).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}

#[test]
fn the_fenchel_young_loss_is_convex_and_not_negative() {
    let (examples, rules) = examples(3, 10, 1);
    let which: Vec<usize> = (0..10).collect();
    let mut unused = vec![0.0; 4];
    let (sample, settings) = (sample(&examples, &which), sharp());
    let ruled = RuledInference::new(&rules, &settings);
    let mut loss = |v: &[f64]| Loss::FenchelYoung.evaluate(sample, ruled, v, &mut unused).unwrap();
    let mut rng = StdRng::seed_from_u64(4);
    for _ in 0..30 {
        let mut point = || -> Vec<f64> { (0..4).map(|_| rng.random_range(0.0..5.0)).collect() };
        let (a, b) = (point(), point());
        let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        assert!(loss(&middle) <= 0.5 * (loss(&a) + loss(&b)) + 1e-6);
        assert!(loss(&a) >= -1e-6);
    }
}

#[test]
fn every_learner_finds_the_rule_that_the_truth_keeps() {
    let (examples, rules) = examples(5, 150, 1);
    let which: Vec<usize> = (0..150).collect();
    for learner in [Learner::FenchelYoung, Learner::Surrogate, Learner::SurrogateBatch] {
        let settings = LearnerSettings { learner, passes: 20, ..LearnerSettings::default() };
        let (sample, start) = (sample(&examples, &which), zeros(&examples));
        let learned = learn(sample, &rules, &start, &settings, &mut |_, _| true).unwrap();
        let [at_most_one, at_least_one, difference, _] = learned.parameters[..] else { panic!() };
        assert!(at_most_one > 0.5 && at_least_one > 0.5, "{learner:?} {learned:?}");
        assert!(at_most_one.min(at_least_one) > difference, "{learner:?} {learned:?}");
        assert!(learned.losses.last() < learned.losses.first(), "{learner:?} {learned:?}");
        // One sequence after the other, a pass may end a little higher than the one before.
        let monotone = learner != Learner::Surrogate;
        assert!(!monotone || learned.losses.is_sorted_by(|a, b| a >= b), "{learner:?} {learned:?}");
    }
}

#[test]
fn learning_is_the_same_for_any_number_of_threads() {
    let (examples, rules) = examples(6, 100, 2);
    let which: Vec<usize> = (0..100).collect();
    for learner in [Learner::FenchelYoung, Learner::Surrogate, Learner::SurrogateBatch] {
        let settings = LearnerSettings { learner, passes: 4, ..LearnerSettings::default() };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (sample, start) = (sample(&examples, &which), zeros(&examples));
            pool.install(|| learn(sample, &rules, &start, &settings, &mut |_, _| true).unwrap())
        };
        assert_eq!(run(1), run(3), "{learner:?}");
    }
}

#[test]
fn fixed_weights_stay() {
    let which: Vec<usize> = (0..60).collect();
    // Weights that depend on features are pulled to zero in another way.
    for features in [1, 2] {
        let (examples, rules) = examples(7, 60, features);
        let each = |values: [f64; 4]| -> Vec<f64> {
            values.iter().flat_map(|&value| vec![value; features]).collect()
        };
        let parameters = each([0.0, 1.25, 0.0, 0.5]);
        let fixed = each([0.0, 1.0, 0.0, 1.0]).iter().map(|&fixed| fixed == 1.0).collect();
        let start = Start { parameters, fixed };
        for learner in [Learner::FenchelYoung, Learner::Surrogate, Learner::SurrogateBatch] {
            let settings = LearnerSettings { learner, passes: 4, l1: 0.3, ..Default::default() };
            let sample = sample(&examples, &which);
            let learned = learn(sample, &rules, &start, &settings, &mut |_, _| true).unwrap();
            for at in (0..start.fixed.len()).filter(|&at| start.fixed[at]) {
                let (found, given) = (learned.parameters[at], start.parameters[at]);
                assert_eq!(found, given, "{learner:?}, {features} features");
            }
            assert!(learned.parameters[..features].iter().any(|w| *w > 0.0), "{learner:?}");
        }
    }
}

#[test]
fn joint_gradients_match_finite_differences() {
    with_joint(|joint, at| {
        let value = |whole: &[f64], gradient: &mut [f64]| {
            joint.evaluate(Loss::FenchelYoung, whole, gradient).unwrap()
        };
        assert_joint_gradient(joint, at, value);
        // The surrogate's gradient is that with slopes held fixed.
        let slopes = joint.slopes(at).unwrap();
        assert!(slopes.iter().flatten().any(|slope| *slope < 0.0), "some rule is broken");
        let mut fixed = vec![0.0; at.len()];
        let mut free = fixed.clone();
        let value = joint.evaluate_fixed(&slopes, at, &mut fixed).unwrap();
        let inferred = joint.evaluate(Loss::Surrogate, at, &mut free).unwrap();
        assert!((value - inferred).abs() < 1e-4, "{value} and {inferred}");
        for (fixed, free) in fixed.iter().zip(&free) {
            assert!((fixed - free).abs() < 1e-3, "{fixed} and {free}");
        }
        assert_joint_gradient(joint, at, |whole, gradient| {
            joint.evaluate_fixed(&slopes, whole, gradient).unwrap()
        });
    });
}

#[test]
fn every_learner_trains_field_and_rules_together() {
    with_joint(|joint, _| {
        let parameters = vec![0.0; joint.structure.weights() + 2];
        let fixed = vec![false; parameters.len()];
        let start = Start { parameters, fixed };
        let inference = Settings { tolerance: 1e-6, ..sharp() };
        for learner in [Learner::FenchelYoung, Learner::SurrogateBatch, Learner::Surrogate] {
            for batch in [1, 4] {
                let settings = LearnerSettings {
                    learner,
                    batch,
                    passes: 15,
                    rate: 0.2,
                    l1: 0.01,
                    inference: inference.clone(),
                    ..LearnerSettings::default()
                };
                let train = || joint.train(&start, 0.1, &settings, &mut |_, _| true).unwrap();
                let learned = train();
                let [first, .., last] = learned.losses[..] else { panic!("{learner:?}") };
                assert!(last < 0.8 * first, "{learner:?}: {:?}", learned.losses);
                assert_eq!(learned, train(), "{learner:?} twice");
                let (weights, rules) = learned.parameters.split_at(joint.structure.weights());
                assert!(weights.iter().any(|w| w.abs() > 0.1), "{learner:?}");
                assert!(rules.iter().all(|w| *w >= 0.0), "{learner:?}: {rules:?}");
            }
        }
    });
}

/// Weights that depend on features have a kink at zero under L1: the orthant-wise region ends at the
/// conditions of optimality, with zeros among them, and what is fixed stays.
#[test]
fn weights_of_features_that_l1_holds_at_zero_are_zero_in_joint_training() {
    with_joint(|joint, _| {
        let features = |observations: Observations| vec![1.0, 1.0 / observations.len() as f64];
        let joint = Joint { features: &features, inference: sharp(), ..*joint };
        let first = joint.structure.weights();
        let mut start = Start { parameters: vec![0.0; first + 4], fixed: vec![false; first + 4] };
        (start.parameters[first], start.fixed[first]) = (0.4, true);
        let train = |learner: Learner, l1: f64| {
            let settings = LearnerSettings {
                learner,
                l1,
                passes: 300,
                least_decrease: 1e-12,
                inference: sharp(),
                ..LearnerSettings::default()
            };
            joint.train(&start, 0.1, &settings, &mut |_, _| true).unwrap().parameters
        };
        let l1 = 1.0;
        let found = train(Learner::FenchelYoung, l1);
        assert_eq!(found[first], 0.4, "it is fixed");
        let mut slopes = vec![0.0; found.len()];
        joint.evaluate(Loss::FenchelYoung, &found, &mut slopes).unwrap();
        for at in 0..found.len() {
            let (weight, slope) = (found[at], slopes[at]);
            let off = match at {
                at if at < first => (slope + 0.2 * weight).abs(),
                at if start.fixed[at] => 0.0,
                _ if weight == 0.0 => (slope.abs() - l1).max(0.0),
                _ => (slope + l1 * weight.signum()).abs(),
            };
            assert!(off < 1e-3, "{at} of {first}: {weight} {slope}");
        }
        for learner in [Learner::FenchelYoung, Learner::SurrogateBatch] {
            let [heavy, light] = [100.0, 0.01].map(|l1| train(learner, l1));
            assert_eq!(heavy[first..], [0.4, 0.0, 0.0, 0.0], "{learner:?}");
            assert!(light[first + 1..].iter().any(|w| w.abs() > 1e-2), "{learner:?} {light:?}");
        }
    });
}

/// A gradient in the parameters that are not of pairs never seen.
fn assert_joint_gradient(joint: &Joint, at: &[f64], value: impl Fn(&[f64], &mut [f64]) -> f64) {
    let mut unseen = vec![false; at.len()];
    joint.structure.rows().for_each_unseen(|weight| unseen[weight] = true);
    let free: Vec<usize> = (0..at.len()).filter(|&i| !unseen[i]).collect();
    let of_free = |free_values: &[f64], slopes: &mut [f64]| {
        let mut whole = at.to_vec();
        free.iter().zip(free_values).for_each(|(&i, &v)| whole[i] = v);
        let mut gradient = vec![0.0; whole.len()];
        let loss = value(&whole, &mut gradient);
        free.iter().zip(slopes).for_each(|(&i, slope)| *slope = gradient[i]);
        loss
    };
    let start: Vec<f64> = free.iter().map(|&i| at[i]).collect();
    assert_gradient(of_free, &start);
}

/// A field with two rules, one of which needs memory, and parameters of both.
fn with_joint(check: impl Fn(&Joint, &[f64])) {
    let common::Example { corpus, truth, structure } = common::example(11, 4, 12);
    // A bit that state 2 sets, and a rule on state 0 after it.
    let space = Space::with_memory(4, vec![vec![false, false, true, false]]).unwrap();
    let late = (0..space.len()).filter(|&s| space.state(s) == 0 && space.is_set_before(0, s));
    let ones = (0..space.len()).filter(|&s| space.state(s) == 1);
    let soft = vec![
        CountRule::at_most(0.0, late.map(|s| (s, 1.0))),
        CountRule::at_most(1.0, ones.map(|s| (s, 1.0))),
    ];
    let states = space.len();
    let rules =
        Arc::new(CountRules { states, penalty: Penalty::SmoothedHinge, soft, hard: Vec::new() });
    let joint = Joint {
        structure: &structure,
        corpus: &corpus,
        truth: &truth,
        space: &space,
        rules: &rules,
        features: &|_| vec![1.0],
        inference: sharp(),
    };
    let mut at = common::random_weights(3, &structure);
    at.extend([0.7, 1.3]);
    check(&joint, &at);
}

#[test]
fn inference_from_earlier_multipliers_ends_where_inference_does() {
    for penalty in [Penalty::Hinge, Penalty::SmoothedHinge] {
        let (mut examples, rules) = examples(15, 30, 1);
        examples.infer_bases();
        let hard = vec![CountRule::at_most(6.0, [(2, 1.0)])];
        let rules = Arc::new(CountRules { penalty, hard, ..CountRules::clone(&rules) });
        let model = examples.models[0].clone();
        let mut inference = Inference::new(model, rules.clone(), vec![0.0; 4]);
        let (mut cold, mut warm) = (0, 0);
        for example in &examples.sequences {
            let base = example.base.as_ref().unwrap();
            inference.set_weights(vec![1.0, 2.0, 0.0, 0.5]);
            let near = inference.run_from(&example.scores, base, None, &sharp()).unwrap();
            assert_eq!(near.multipliers.len(), 5);
            assert_eq!(near.multipliers[2], 0.0, "a rule without weight does not pull");
            inference.set_weights(vec![1.1, 2.1, 0.1, 0.5]);
            let start = Some(&near.multipliers[..]);
            let plain = inference.run_from(&example.scores, base, None, &sharp()).unwrap();
            let begun = inference.run_from(&example.scores, base, start, &sharp()).unwrap();
            assert!((plain.objective - begun.objective).abs() < 1e-8, "{penalty:?}");
            for (a, b) in plain.counts.iter().zip(&begun.counts) {
                assert!((a - b).abs() < 1e-4, "{penalty:?}: {a} and {b}");
            }
            (cold, warm) = (cold + plain.oracle_calls, warm + begun.oracle_calls);
        }
        assert!(warm < cold, "{penalty:?}: {warm} calls, {cold} without a start");
    }
}

#[test]
fn a_solver_that_cannot_serve_the_rules_is_an_error() {
    let (examples, smooth) = examples(8, 4, 1);
    let hinge = CountRules { penalty: Penalty::Hinge, ..CountRules::clone(&smooth) };
    let hard = vec![CountRule::at_most(1.0, [(1, 1.0)])];
    let hard = CountRules { hard, ..CountRules::clone(&smooth) };
    let adaptive = Settings { method: Method::Adaptive, ..sharp() };
    let rda = Settings { method: Method::Rda { beta: 0.0 }, ..sharp() };
    let refused = [(&hinge, &adaptive), (&hard, &adaptive), (&hard, &rda)];
    for (rules, settings) in refused {
        let rules = Arc::new(rules.clone());
        let model = examples.models[0].clone();
        let mut inference = Inference::new(model, rules.clone(), vec![1.0; 4]);
        let scores = &examples.sequences[0].scores;
        let found = inference.run(scores, settings);
        assert!(matches!(found, Err(SolveError::Unserved { .. })), "{found:?}");
        assert!(inference.run(scores, &sharp()).unwrap().is_some(), "another solver still can");
        for learner in [Learner::FenchelYoung, Learner::Surrogate, Learner::SurrogateBatch] {
            let learner =
                LearnerSettings { learner, inference: settings.clone(), ..Default::default() };
            let (sample, start) = (sample(&examples, &[0, 1]), zeros(&examples));
            let learned = learn(sample, &rules, &start, &learner, &mut |_, _| true);
            assert!(matches!(learned, Err(SolveError::Unserved { .. })), "{learned:?}");
        }
    }
    let never = Settings { tolerance: -1.0, ..sharp() };
    assert!(matches!(smooth.check(&never), Err(SolveError::Setting { .. })));
    assert_eq!(smooth.check(&adaptive), Ok(()));
    assert_eq!(hinge.check(&rda), Ok(()));
}

#[test]
fn what_the_base_model_infers_may_be_known_before() {
    for penalty in [Penalty::SmoothedHinge, Penalty::Hinge] {
        let (mut examples, rules) = examples(4, 20, 1);
        let rules = Arc::new(CountRules { penalty, ..CountRules::clone(&rules) });
        let (which, settings): (Vec<usize>, _) = ((0..20).collect(), sharp());
        let ruled = RuledInference::new(&rules, &settings);
        let evaluate = |examples: &Examples| {
            let mut gradient = vec![0.0; 4];
            let at = [0.7, 0.4, 0.0, 0.3];
            let sample = sample(examples, &which);
            let loss = Loss::FenchelYoung.evaluate(sample, ruled, &at, &mut gradient).unwrap();
            (loss, gradient, log_gains(sample, ruled, &at).unwrap())
        };
        let fresh = evaluate(&examples);
        examples.infer_bases();
        assert!(examples.sequences.iter().all(|example| example.base.is_some()));
        assert_eq!(evaluate(&examples), fresh);
    }
}

#[test]
fn gains_are_differences_of_the_log_loss_and_zero_without_weights() {
    let (examples, rules) = examples(5, 15, 1);
    let (which, settings): (Vec<usize>, _) = ((0..15).collect(), sharp());
    let ruled = RuledInference::new(&rules, &settings);
    let sample = sample(&examples, &which);
    assert!(log_gains(sample, ruled, &[0.0; 4]).unwrap().iter().all(|gain| *gain == 0.0));
    let at = [0.8, 0.5, 0.1, 0.2];
    let loss = |at: &[f64]| Loss::Surrogate.evaluate(sample, ruled, at, &mut [0.0; 4]).unwrap();
    let gains = log_gains(sample, ruled, &at).unwrap();
    let expected = loss(&[0.0; 4]) - loss(&at);
    assert!((gains.iter().sum::<f64>() - expected).abs() < 1e-8, "{gains:?} {expected}");
}

#[test]
fn averaged_stochastic_weights_are_sparse() {
    let (examples, rules) = examples(6, 40, 1);
    let which: Vec<usize> = (0..40).collect();
    let run = |learner: Learner, l1: f64, batch: usize| {
        let settings = LearnerSettings { learner, l1, batch, passes: 10, ..Default::default() };
        let start = zeros(&examples);
        let learned = learn(sample(&examples, &which), &rules, &start, &settings, &mut |_, _| true);
        learned.unwrap().parameters
    };
    for learner in [Learner::Surrogate, Learner::Perceptron] {
        let (heavy, light) = (run(learner, 1e4, 1), run(learner, 0.1, 1));
        assert!(heavy.iter().all(|weight| *weight == 0.0), "{learner:?} {heavy:?}");
        assert!(light.iter().any(|weight| *weight > 0.1), "{learner:?} {light:?}");
    }
    assert!(run(Learner::Surrogate, 0.1, 8) != run(Learner::Surrogate, 0.1, 1), "other steps");
}

/// The perceptron's costs come and go: those that are gone in the end are gone from the average.
#[test]
fn averaged_costs_of_the_perceptron_are_sparse() {
    let (examples, rules) = examples(6, 40, 1);
    let which: Vec<usize> = (0..40).collect();
    let run = |l1: f64| {
        let learner = Learner::Perceptron;
        let settings = LearnerSettings { learner, l1, passes: 10, ..Default::default() };
        let start = zeros(&examples);
        let learned = learn(sample(&examples, &which), &rules, &start, &settings, &mut |_, _| true);
        learned.unwrap().parameters
    };
    let zeros = |costs: &[f64]| costs.iter().filter(|cost| **cost == 0.0).count();
    for l1 in [0.1, 1.0, 10.0] {
        assert_eq!(zeros(&run(l1)), 1, "{l1}: {:?}", run(l1));
    }
    assert_eq!(zeros(&run(0.0)), 0);
}
