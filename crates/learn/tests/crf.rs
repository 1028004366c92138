//! The likelihood against enumeration and finite differences, and training on it.

mod common;

use bethe_learn::corpus::Observations;
use bethe_learn::crf::{Crf, Likelihood, Scorer, Stochastic, Structure};
use bethe_learn::optimise::{AdaGrad, Outcome, QuasiNewton, QuasiNewtonSettings, Region};
use common::{Example, example, pool, random_weights};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// `−log p(y | x)` by enumeration.
fn brute_force(structure: &Structure, weights: &[f64], x: Observations, truth: &[u16]) -> f64 {
    let states = structure.states();
    let mut scorer = Scorer::default();
    let scores = scorer.scores(structure, weights, x).to_vec();
    let table = structure.transition_table(weights);
    let score = |assignment: &[usize]| -> f64 {
        let nodes = assignment.iter().enumerate().map(|(t, &s)| scores[t * states + s]);
        let links = assignment.windows(2).map(|pair| table[pair[0] * states + pair[1]]);
        nodes.sum::<f64>() + links.sum::<f64>()
    };
    let mut total = 0.0;
    for mut code in 0..states.pow(x.len() as u32) {
        let assignment: Vec<usize> = (0..x.len())
            .map(|_| {
                let state = code % states;
                code /= states;
                state
            })
            .collect();
        total += score(&assignment).exp();
    }
    let truth: Vec<usize> = truth.iter().map(|&s| usize::from(s)).collect();
    total.ln() - score(&truth)
}

#[test]
fn the_likelihood_is_that_of_enumeration() {
    for states in [1, 2, 3, 5] {
        let Example { corpus, truth, structure } = example(states as u64, states, 30);
        let weights = random_weights(1, &structure);
        let mut gradient = vec![0.0; weights.len()];
        let loss = Likelihood::new(&structure, &corpus, &truth).evaluate(&weights, &mut gradient);
        let by_hand: f64 = (0..corpus.len())
            .map(|s| {
                let x = corpus.sequence(s);
                brute_force(&structure, &weights, x, &truth[corpus.first_position(s)..][..x.len()])
            })
            .sum();
        assert!((loss - by_hand).abs() < 1e-9 * loss.abs().max(1.0), "{states}");
    }
}

#[test]
fn the_gradient_matches_finite_differences() {
    for states in [1, 2, 3, 9, 17] {
        let Example { corpus, truth, structure } = example(7 + states as u64, states, 25);
        let weights = random_weights(2, &structure);
        let mut likelihood = Likelihood::new(&structure, &corpus, &truth);
        let mut gradient = vec![0.0; weights.len()];
        likelihood.evaluate(&weights, &mut gradient);
        let mut unseen = vec![false; weights.len()];
        structure.rows().for_each_unseen(|weight| unseen[weight] = true);
        let mut unused = gradient.clone();
        for weight in 0..weights.len() {
            if unseen[weight] {
                assert_eq!(gradient[weight], 0.0);
                continue;
            }
            let mut at = |shift: f64| {
                let mut moved = weights.clone();
                moved[weight] += shift;
                likelihood.evaluate(&moved, &mut unused)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[weight]).abs() < 1e-5, "{states} {weight} {slope}");
        }
    }
}

#[test]
fn threads_change_no_digit() {
    let Example { corpus, truth, structure } = example(3, 6, 4000);
    let weights = random_weights(3, &structure);
    let run = |threads| {
        pool(threads).install(|| {
            let mut gradient = vec![0.0; weights.len()];
            let loss =
                Likelihood::new(&structure, &corpus, &truth).evaluate(&weights, &mut gradient);
            (loss, gradient)
        })
    };
    assert_eq!(run(1), run(3));
}

/// Minimises `−Σ log p + l2 ‖w‖²`, or with an L1 norm.
fn train(Example { corpus, truth, structure }: &Example, l2: f64, region: Region) -> QuasiNewton {
    let mut likelihood = Likelihood::new(structure, corpus, truth);
    let mut objective = |weights: &[f64], gradient: &mut [f64]| {
        let mut loss = likelihood.evaluate(weights, gradient);
        for (slope, weight) in gradient.iter_mut().zip(weights) {
            *slope += 2.0 * l2 * weight;
            loss += l2 * weight * weight;
        }
        loss
    };
    let settings =
        QuasiNewtonSettings { region, least_decrease: 1e-9, ..QuasiNewtonSettings::default() };
    let zeros = vec![0.0; structure.weights()];
    let mut minimiser = QuasiNewton::start(settings, zeros, &mut objective);
    while minimiser.step(&mut objective) == Outcome::Advanced {}
    minimiser
}

#[test]
fn stochastic_gradients_come_near_the_optimum_of_all_at_once() {
    let data = example(4, 4, 300);
    let l2 = 0.5;
    let best = train(&data, l2, Region::Free).value();
    let Example { corpus, truth, structure } = &data;
    let run = |threads| {
        pool(threads).install(|| {
            let mut stochastic = Stochastic::new(structure, corpus, truth, l2);
            let mut descent = AdaGrad::new(0.3, vec![0.0; structure.weights()]);
            let mut rng = StdRng::seed_from_u64(0);
            let mut order: Vec<usize> = (0..corpus.len()).collect();
            for _ in 0..60 {
                order.shuffle(&mut rng);
                stochastic.epoch(&order, &mut descent);
            }
            descent.average()
        })
    };
    let average = run(1);
    let mut gradient = vec![0.0; average.len()];
    let loss = Likelihood::new(structure, corpus, truth).evaluate(&average, &mut gradient);
    let value = loss + l2 * average.iter().map(|w| w * w).sum::<f64>();
    assert!(value >= best - 1e-6 && value < 1.02 * best, "{value} against {best}");
    assert_eq!(average, run(2));
}

#[test]
fn pruning_keeps_every_score() {
    let data = example(5, 6, 300);
    let minimiser = train(&data, 0.0, Region::L1 { coefficient: 3.0, from: 0 });
    let Example { corpus, structure, .. } = data;
    let whole = Crf { structure: structure.into(), weights: minimiser.weights().to_vec() };
    let (pruned, numbers) = whole.pruned();
    assert!(pruned.structure.free_weights() < whole.structure.free_weights() / 2);
    let mut smaller = corpus.clone();
    smaller.renumber(&numbers);
    let (mut a, mut b) = (Scorer::default(), Scorer::default());
    for (x, y) in corpus.iter().zip(smaller.iter()) {
        let scores = a.scores(&whole.structure, &whole.weights, x);
        let again = b.scores(&pruned.structure, &pruned.weights, y);
        assert!(scores.iter().zip(&*again).all(|(s, t)| s == t || (s - t).abs() < 1e-12));
    }
}
