//! Weights of movement are found again from counts that they made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bethe_core::Cancel;
use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::learn::{LearnSettings, Learner, Progress, Season, choose, learn};
use bethe_flows::model::{Feature, FeatureKind, Movement};
use bethe_flows::simulate::simulate;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Of stride, goal, wind and staying.
const TRUTH: [f64; 4] = [3.0, 5.0, 5.0, 5.0];
const STEPS: usize = 12;

fn movement(cells: &Cells, winds: &Arc<[(f64, f64)]>, weights: [f64; 4]) -> Movement {
    let goal = FeatureKind::Goal(cells.len() - 1);
    let kinds =
        [FeatureKind::Stride, goal, FeatureKind::Wind(winds.clone()), FeatureKind::Stay(2.0)];
    let feature = |(kind, weight)| Feature { name: String::new(), kind, weight };
    let features = kinds.into_iter().zip(weights).map(feature).collect();
    Movement { features, reach: Some(18f64.sqrt()), normalised: true }
}

/// Seasons of 200 000 individuals that set out from one corner.
fn seasons(cells: &Cells, rate: f64, rng: &mut StdRng) -> Vec<Season> {
    (0..3)
        .map(|_| {
            let winds: Arc<[(f64, f64)]> = (0..STEPS)
                .map(|_| [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, 0.0)][rng.random_range(0..4)])
                .collect();
            let moves = movement(cells, &winds, TRUTH).moves(cells, STEPS);
            let mut start = vec![0; cells.len()];
            start[0] = 200_000;
            let simulated = simulate(&moves, &start, STEPS, rng);
            Season {
                movement: movement(cells, &winds, [1.0; 4]),
                start: Some(in_first(cells.len())),
                observations: simulated.observe(cells.len(), rate, rng),
                population: 200_000.0,
            }
        })
        .collect()
}

fn in_first(cells: usize) -> Vec<f64> {
    (0..cells).map(|cell| if cell == 0 { 0.0 } else { f64::NEG_INFINITY }).collect()
}

#[test]
fn weights_and_rate_are_recovered_from_counts_alone() {
    let cells = Cells::grid(6, 6);
    let mut rng = StdRng::seed_from_u64(1);
    let seasons = seasons(&cells, 2.0, &mut rng);
    let mut objectives = Vec::new();
    let learned = learn(&cells, &seasons, 1.0, &LearnSettings::default(), &mut |round| {
        objectives.push(round.objective);
    })
    .unwrap();
    assert!(learned.converged, "{learned:?}");
    for (found, truth) in learned.weights.iter().zip(TRUTH) {
        assert!((found / truth - 1.0).abs() < 0.03, "{learned:?}");
    }
    assert!((learned.rate / 2.0 - 1.0).abs() < 0.01, "{learned:?}");
    let falls = |pair: &[f64]| pair[1] <= pair[0] + 1e-6 * pair[0].abs();
    assert!(objectives.windows(2).all(falls), "both steps lower one objective: {objectives:?}");
}

#[test]
fn impossible_counts_are_forgotten_and_told() {
    let cells = Cells::grid(5, 5);
    let mut rng = StdRng::seed_from_u64(2);
    let mut season = seasons(&cells, 1.0, &mut rng).swap_remove(0);
    let corner = |time: usize| season.observations.at(time)[cells.len() - 1];
    assert!(corner(0).is_some());
    let mut counts = vec![Some(0.0); cells.len()];
    counts[cells.len() - 1] = Some(3.0);
    let mut early = Observations::new(cells.len());
    early.push("1", counts);
    (1..=STEPS).for_each(|time| early.push("later", season.observations.at(time).to_vec()));
    season.observations = early;
    let found = season.forget_impossible(&cells);
    assert_eq!(found, [(0, cells.len() - 1, 3.0)]);
    assert_eq!(season.observations.at(0)[cells.len() - 1], None);
    assert!(season.forget_impossible(&cells).is_empty());
}

#[test]
fn rounds_that_are_left_only_fall() {
    let cells = Cells::grid(3, 3);
    let mut rng = StdRng::seed_from_u64(3);
    let Season { movement, observations, population, .. } =
        seasons(&cells, 1.0, &mut rng).swap_remove(0);
    let learned = vec![true; movement.features.len()];
    let learner = Learner {
        cells: &cells,
        movement: &movement,
        learned: &learned,
        bent: None,
        start: None,
        observations: &observations,
        noise: &Noise::Poisson { rate: vec![1.0] },
        population,
        cancel: Cancel::never(),
        deadline: None,
    };
    let mut seen: Vec<Progress> = Vec::new();
    let choice = choose(&learner, &mut |progress| seen.push(progress)).unwrap();
    assert_eq!(seen.last().unwrap().solves, choice.solves);
    for pair in seen.windows(2) {
        let [before, after] = pair else { unreachable!() };
        // Solves that are cut off are not shown by themselves.
        assert!(after.solves > before.solves, "{pair:?}");
        let round = after.rounds - before.rounds;
        assert!(round <= 1 && after.rounds_left + round <= before.rounds_left, "{pair:?}");
    }
    // The first solve says how many rounds there are at most.
    assert!(seen.last().unwrap().rounds < seen[0].rounds + seen[0].rounds_left);
}

#[test]
fn what_was_learned_in_time_is_kept() {
    let cells = Cells::grid(3, 3);
    let mut rng = StdRng::seed_from_u64(3);
    let Season { movement, observations, population, .. } =
        seasons(&cells, 1.0, &mut rng).swap_remove(0);
    let learned = vec![true; movement.features.len()];
    // Time enough, until the observer lets it pass after a few rounds.
    let deadline = Instant::now() + Duration::from_secs(2);
    let learner = Learner {
        cells: &cells,
        movement: &movement,
        learned: &learned,
        bent: None,
        start: None,
        observations: &observations,
        noise: &Noise::Poisson { rate: vec![1.0] },
        population,
        cancel: Cancel::never(),
        deadline: Some(deadline),
    };
    let choice = choose(&learner, &mut |progress| {
        if progress.rounds == 4 {
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        }
    })
    .unwrap();
    assert!(choice.trials.is_empty() && !choice.converged, "{choice:?}");
    let weights = |movement: &Movement| -> Vec<f64> {
        movement.features.iter().map(|feature| feature.weight).collect()
    };
    assert_ne!(weights(&choice.law.movement), weights(&movement), "rounds were thrown away");
}

#[test]
fn learning_does_not_depend_on_the_number_of_threads() {
    let cells = Cells::grid(4, 4);
    let mut rng = StdRng::seed_from_u64(6);
    let Season { movement, observations, population, .. } =
        seasons(&cells, 1.0, &mut rng).swap_remove(0);
    let learned = vec![true; movement.features.len()];
    let learner = Learner {
        cells: &cells,
        movement: &movement,
        learned: &learned,
        bent: None,
        start: None,
        observations: &observations,
        noise: &Noise::Poisson { rate: vec![1.0] },
        population,
        cancel: Cancel::never(),
        deadline: None,
    };
    let [one, four] = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| choose(&learner, &mut |_| ()).unwrap())
    });
    assert_eq!(one, four);
}

#[test]
fn a_law_is_found_where_individuals_start_spread_out() {
    // Six places in a line, and the counts that a law gives, without noise: staying weighs 2, a
    // distance of 1 costs 1.
    let cells = Cells::grid(6, 1);
    let score = |from: usize, to: usize| match from.abs_diff(to) {
        0 => 2.0,
        distance => -(distance as f64),
    };
    let mut counts = vec![1000.0, 2000.0, 3000.0, 500.0, 3000.0, 500.0];
    let mut observations = Observations::new(6);
    for time in 0..8 {
        observations.push(time.to_string(), counts.iter().copied().map(Some));
        let mut next = vec![0.0; 6];
        for (from, count) in counts.iter().enumerate() {
            let total: f64 = (0..6).map(|to| score(from, to).exp()).sum();
            (0..6).for_each(|to| next[to] += count * score(from, to).exp() / total);
        }
        counts = next;
    }
    let power = FeatureKind::Power { unit: 1.0, exponent: 1.0 };
    let feature = |(kind, weight)| Feature { name: String::new(), kind, weight };
    let features = [(FeatureKind::Stay(1.0), 0.0), (power, -1.0)].map(feature).to_vec();
    let movement = Movement { features, reach: None, normalised: true };
    let learner = Learner {
        cells: &cells,
        movement: &movement,
        learned: &[true, true],
        bent: Some(1),
        start: None,
        observations: &observations,
        noise: &Noise::Poisson { rate: vec![1.0] },
        population: 10_000.0,
        cancel: Cancel::never(),
        deadline: None,
    };
    let choice = choose(&learner, &mut |_| ()).unwrap();
    assert!(choice.converged, "{choice:?}");
    let [stay, distance] = &choice.law.movement.features[..] else { unreachable!() };
    assert!((stay.weight - 2.0).abs() < 0.2, "{choice:?}");
    assert!((distance.weight + 1.0).abs() < 0.2, "{choice:?}");
    assert!(choice.trials.iter().all(|trial| trial.held_out < 0.01), "{:?}", choice.trials);
}
