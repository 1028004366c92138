//! What a count says of the marginals.

use bethe_flows::energy::{Counts, Noise};

use super::{Migration, POPULATION, fitting, noises};

#[test]
fn gradients_match_finite_differences() {
    for noise in noises() {
        let mut migration = Migration::new(3, 4, None);
        fitting(&mut migration, &noise);
        let counts = Counts::new(&migration.observations, &noise, POPULATION as f64);
        let mut energies = counts.energies;
        let width = energies.support().len();
        let mut marginals: Vec<f64> = (0..width).map(|n| 0.05 + 0.01 * (n % 9) as f64).collect();
        let mut gradient = vec![0.0; width];
        energies.evaluate(&marginals, &mut gradient);
        let mut unused = vec![0.0; width];
        for coordinate in 0..width {
            let step = 1e-6;
            let mut at = |shift: f64| {
                marginals[coordinate] += shift;
                let value = energies.evaluate(&marginals, &mut unused);
                marginals[coordinate] -= shift;
                value
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            let found = gradient[coordinate];
            assert!(
                (slope - found).abs() <= 1e-5 * (1.0 + slope.abs()),
                "{noise:?}: {slope} {found}"
            );
        }
    }
}

#[test]
fn missing_counts_have_no_term_and_zeros_are_scores() {
    let migration = Migration::new(3, 4, None);
    let noise = Noise::Poisson { rate: vec![2.0] };
    let counts = Counts::new(&migration.observations, &noise, POPULATION as f64);
    let cells = migration.cells.len();
    // Time 2 was not observed at all.
    let tables: Vec<usize> =
        counts.energies.support().blocks().iter().map(|block| block.tables[0]).collect();
    assert_eq!(tables, [0, 1, 3]);
    let positive = (0..4).flat_map(|time| migration.observations.at(time));
    let positive = positive.filter(|count| count.is_some_and(|count| count > 0.0)).count();
    assert_eq!(counts.energies.measurements.len(), positive);
    for time in 0..4 {
        for (cell, count) in migration.observations.at(time).iter().enumerate() {
            let expected = if *count == Some(0.0) { -2.0 } else { 0.0 };
            assert_eq!(counts.scores[time * cells + cell], expected);
        }
    }
}

#[test]
fn deviances_are_zero_at_a_perfect_fit_and_else_positive() {
    for noise in noises() {
        for count in [0.0, 1.0, 7.5] {
            assert!(noise.deviance(count, count).abs() < 1e-12);
            for expected in [0.5, 2.0, 30.0] {
                assert!(noise.deviance(count, expected) > 0.0 || count == expected);
            }
        }
    }
}

#[test]
fn only_counts_beyond_the_noise_are_too_many() {
    let migration = Migration::new(3, 4, None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    assert_eq!(noise.excess(&migration.observations, POPULATION as f64), []);
    let excess = noise.excess(&migration.observations, 5.0);
    assert!(excess.iter().any(|excess| excess.time == 0 && excess.counted > 40.0), "{excess:?}");
    assert!(excess.iter().all(|excess| excess.explained == 5.0 && excess.time != 2));
}
