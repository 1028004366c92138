//! Flows on chains, against dense problems and against each other.

use bethe_core::Request;
use bethe_core::solve::Ignore;
use bethe_flows::data::Observations;
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowError, fit};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Migration, POPULATION, close, dense_problem, fitting, noises, precise};

const CHAIN: [Option<usize>; 5] = [None, Some(0), Some(1), Some(2), Some(3)];

#[test]
fn chains_agree_with_the_same_problem_over_dense_tables() {
    for reach in [None, Some(1.5)] {
        for noise in noises() {
            let mut migration = Migration::new(3, 5, reach);
            fitting(&mut migration, &noise);
            let mut flows = migration.solve(&noise);
            let problem = dense_problem(&migration, &noise, &CHAIN, |node| node - 1);
            let answer = problem.solve_with(&precise(), &Request::default(), &mut Ignore).unwrap();
            let objective = flows.solution.objective;
            assert!((objective - answer.objective.unwrap()).abs() < 1e-8, "{noise:?} {objective}");
            let population = POPULATION as f64;
            let shares: Vec<f64> = answer.marginals[..5]
                .iter()
                .flat_map(|marginal| &marginal.values)
                .copied()
                .collect();
            let counts: Vec<f64> = flows.counts().iter().map(|count| count / population).collect();
            assert!(close(&counts, &shares, 1e-5), "{noise:?}");
            // After one entry a variable, and the factor of the start, come the tables of the
            // steps.
            let cells = migration.cells.len();
            flows.visit(&mut |step, from, to, number| {
                let exact = answer.marginals[6 + step].values[from * cells + to];
                assert!((number / population - exact).abs() < 1e-5);
            });
        }
    }
}

#[test]
fn flows_add_up_to_counts() {
    let migration = Migration::new(4, 5, Some(2.0));
    let noise = Noise::Poisson { rate: vec![1.0] };
    let mut flows = migration.solve(&noise);
    let (counts, cells) = (flows.counts(), migration.cells.len());
    let (mut left, mut came) = (vec![0.0; counts.len()], vec![0.0; counts.len()]);
    flows.visit(&mut |step, from, to, number| {
        assert!(migration.cells.distance(from, to) <= 2.0 || number == 0.0);
        left[step * cells + from] += number;
        came[(step + 1) * cells + to] += number;
    });
    assert!(close(&left[..4 * cells], &counts[..4 * cells], 1e-9));
    assert!(close(&came[cells..], &counts[cells..], 1e-9));
}

#[test]
fn what_is_given_one_place_adds_up_to_all_places() {
    let migration = Migration::new(3, 5, None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let mut flows = migration.solve(&noise);
    let (counts, cells) = (flows.counts(), migration.cells.len());
    let mut mixed = vec![0.0; counts.len()];
    for cell in 0..cells {
        let shares = flows.given(2, cell).unwrap();
        assert!((shares[2 * cells + cell] - 1.0).abs() < 1e-12);
        let number = counts[2 * cells + cell];
        mixed.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share * number);
    }
    assert!(close(&mixed, &counts, 1e-8));
}

#[test]
fn nobody_is_given_where_nobody_can_be() {
    let mut migration = Migration::new(3, 3, Some(1.0));
    migration.start = vec![f64::NEG_INFINITY; 9];
    migration.start[0] = 0.0;
    migration.observations = migration.observations.map(|_, _| None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let flows = migration.solve(&noise);
    assert_eq!(flows.given(1, 8), None);
    assert!(flows.given(1, 1).is_some());
}

#[test]
fn routes_are_drawn_as_often_as_the_marginals_say() {
    let migration = Migration::new(3, 4, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let (counts, cells) = (flows.counts(), migration.cells.len());
    let mut rng = StdRng::seed_from_u64(3);
    let (draws, mut seen) = (20_000, vec![0.0; counts.len()]);
    for _ in 0..draws {
        for (time, cell) in flows.sample(&mut || rng.random()).into_iter().enumerate() {
            seen[time * cells + cell] += POPULATION as f64 / f64::from(draws);
        }
    }
    // Four standard deviations of a frequency, times the population.
    assert!(close(&seen, &counts, 60.0 * 4.0 * 0.5 / f64::from(draws).sqrt()));
}

#[test]
fn forecasts_are_what_unobserved_times_would_get() {
    let migration = Migration::new(3, 4, None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let longer = Migration::new(3, 6, None);
    let forecast = migration.solve(&noise).forecast(&longer.moves, 2);
    // The same counts, with two more times at which nobody looked.
    let mut extended = Observations::new(migration.cells.len());
    for time in 0..6 {
        let counts =
            (0..9).map(|cell| (time < 4).then(|| migration.observations.at(time)[cell])?);
        extended.push((time + 1).to_string(), counts.collect::<Vec<_>>());
    }
    let extended = Migration { observations: extended, ..longer };
    let counts = extended.solve(&noise).counts();
    assert!(close(&forecast, &counts[4 * 9..], 1e-4), "{forecast:?}");
}

#[test]
fn impossible_counts_are_named() {
    let mut migration = Migration::new(3, 3, Some(1.0));
    migration.start = vec![f64::NEG_INFINITY; 9];
    migration.start[0] = 0.0;
    let mut counts = vec![Some(0.0); 9];
    counts[8] = Some(2.0);
    let mut early = Observations::new(9);
    early.push("1", vec![None; 9]);
    early.push("2", counts);
    migration.observations = early;
    let noise = Noise::Poisson { rate: vec![1.0] };
    let error = migration.problem(&noise).solve(&precise(), &mut Ignore).err().unwrap();
    assert_eq!(error, FlowError::Impossible { time: 1, cell: 8, count: 2.0 });
    // Gaussian noise has a term for everything.
    let noise = Noise::Gaussian { rate: vec![1.0], variance: 1.0 };
    assert!(migration.problem(&noise).solve(&precise(), &mut Ignore).is_ok());
    // Nobody can be anywhere, whatever the noise.
    migration.start = vec![f64::NEG_INFINITY; 9];
    let error = migration.problem(&noise).solve(&precise(), &mut Ignore).err().unwrap();
    assert_eq!(error, FlowError::Closed { time: 0 });
}

#[test]
fn one_cell_one_time_and_no_counts_are_problems_too() {
    let noise = Noise::Poisson { rate: vec![1.0] };
    let mut single = Migration::new(3, 2, None);
    single.observations = {
        let mut one = Observations::new(9);
        one.push("only", vec![Some(3.0); 9]);
        one
    };
    let counts = single.solve(&noise).counts();
    assert!((counts.iter().sum::<f64>() - POPULATION as f64).abs() < 1e-9);
    let mut unseen = Migration::new(3, 4, None);
    unseen.observations = unseen.observations.map(|_, _| None);
    // Nothing but rounding is left.
    assert!(unseen.solve(&noise).solution.gap.unwrap() < 1e-12);
    let alone = Migration::new(1, 4, None);
    let mut flows = alone.solve(&noise);
    assert!(close(&flows.counts(), &[60.0; 4], 1e-9));
}

#[test]
fn the_fit_compares_what_was_counted_with_what_is_expected() {
    let migration = Migration::new(3, 4, None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let counts = migration.solve(&noise).counts();
    let fits = fit(&migration.observations, &counts, &noise, POPULATION as f64);
    assert_eq!(fits.iter().map(|fit| fit.observed).collect::<Vec<_>>(), [8, 8, 0, 8]);
    assert!(fits[3].correlation.unwrap() > 0.8 && fits[2].correlation.is_none());
    assert!(fits[3].mean_deviance.unwrap() < 2.0 && fits[2].mean_deviance.is_none());
}
