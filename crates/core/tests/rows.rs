//! Rows are evaluated in runs; what they come to does not depend on how they run.

mod common;

use bethe_core::energy::{EnergyFunction, Measurements};
use bethe_core::{Energy, Method, Model, Penalty, Problem, Settings, Status, Term};
use common::{rng, run};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use rand::Rng;
use rand::seq::SliceRandom;

const COLUMNS: usize = 90;

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/rows.regressions"
        )))),
        ..ProptestConfig::default()
    }
}

/// Nine kinds, parameters from gentle to extreme.
fn penalties() -> impl Strategy<Value = Penalty> {
    let positive = || prop_oneof![Just(1.0), 1e-3..1e3, Just(1e-12), Just(1e12)];
    prop_oneof![
        Just(Penalty::Linear),
        Just(Penalty::Hinge),
        Just(Penalty::SmoothedHinge),
        Just(Penalty::Squared),
        Just(Penalty::Absolute),
        positive().prop_map(|delta| Penalty::Huber { delta }),
        (positive(), prop_oneof![Just(0.0), Just(7.0), 0.0..100.0])
            .prop_map(|(rate, count)| Penalty::Poisson { rate, count }),
        Just(Penalty::AtMost),
        Just(Penalty::Equal),
    ]
}

/// What a measurement may come to: zero, tiny, at the penalties' kinks, ordinary, far out.
fn marginals() -> impl Strategy<Value = f64> {
    let special = vec![0.0, -0.0, 1.0, -1.0, 700.0, -700.0, 1e-17, 1e-300, 5e-324, -1e-300];
    prop_oneof![-3.0..3.0, proptest::sample::select(special)]
}

/// A stretch of rows of one kind of penalty: how many, the columns of each (a single one that moves
/// on by the stride, or several), and a seed for the numbers.
fn stretches() -> impl Strategy<Value = (Penalty, usize, usize, usize, u64)> {
    (penalties(), 1..80usize, 0..4usize, 1..4usize, any::<u64>())
}

fn measurements(stretches: &[(Penalty, usize, usize, usize, u64)]) -> Measurements {
    let mut all = Measurements::default();
    for &(penalty, rows, entries, stride, seed) in stretches {
        let mut rng = rng(seed);
        let first = rng.random_range(0..COLUMNS);
        let plain = rng.random_bool(0.5);
        for row in 0..rows {
            let column = |entry: usize| (first + stride * row + 7 * entry) % COLUMNS;
            let mut columns: Vec<usize> = (0..entries).map(column).collect();
            columns.sort_unstable();
            let mut coefficient = || if plain { 1.0 } else { rng.random_range(-2.0..2.0) };
            let row: Vec<(usize, f64)> = columns.iter().map(|&c| (c, coefficient())).collect();
            let parts = [0.0, if plain { 0.0 } else { rng.random_range(-1.0..1.0) }];
            all.rows_mut().push(row, &parts, (-1e3, 1e3));
            let weight = rng.random_range(0.01..50.0);
            all.push(weight, penalty);
        }
    }
    all
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn runs_come_to_what_their_rows_come_to(
        stretches in prop::collection::vec(stretches(), 1..6),
        marginals in prop::collection::vec(marginals(), COLUMNS),
    ) {
        let mut all = measurements(&stretches);
        let mut gradient = vec![0.25; COLUMNS];
        let value = all.evaluate(&marginals, &mut gradient);

        let (mut expected, mut size) = (0.0, 0.0);
        let mut slopes = vec![0.25; COLUMNS];
        let mut slope_sizes = vec![0.25; COLUMNS];
        for row in 0..all.len() {
            let own = all.value(row, &marginals);
            (expected, size) = (expected + own, size + own.abs());
            let z = all.rows().measure(row, &marginals);
            let slope = all.weights()[row] * all.penalty(row).derivative(z);
            for (column, coefficient) in all.rows().entries(row) {
                slopes[column] += slope * coefficient;
                slope_sizes[column] += (slope * coefficient).abs();
            }
        }
        let close = |a: f64, b: f64, size: f64| {
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-13 * size
        };
        prop_assert!(close(value, expected, size), "{value} for {expected}");
        for column in 0..COLUMNS {
            let (found, expected) = (gradient[column], slopes[column]);
            prop_assert!(close(found, expected, slope_sizes[column]), "{found} for {expected}");
        }
    }
}

/// A chain under one measurement of each marginal, kinds in blocks, then counts and a constant.
fn problem(seed: u64, shuffled: bool) -> Problem {
    let (length, states) = (15, 6);
    let mut random = rng(seed);
    let mut model = Model::new(&vec![states; length]).unwrap();
    let mut table =
        |cells: usize| -> Vec<f64> { (0..cells).map(|_| random.random_range(-1.5..1.5)).collect() };
    for v in 0..length {
        model.add_factor(&[v], &table(states)).unwrap();
        if v > 0 {
            model.add_factor(&[v - 1, v], &table(states * states)).unwrap();
        }
    }
    let kinds = [
        Penalty::Squared,
        Penalty::SmoothedHinge,
        Penalty::Huber { delta: 0.2 },
        Penalty::Poisson { rate: 6.0, count: 1.0 },
        Penalty::Linear,
    ];
    let mut energies = Vec::new();
    let per_kind = length * states / kinds.len();
    for cell in 0..length * states {
        let penalty = kinds[(cell / per_kind).min(kinds.len() - 1)];
        let counted = matches!(penalty, Penalty::Poisson { .. });
        let mut coefficients = vec![0.0; states];
        coefficients[cell % states] = if counted { 1.0 } else { random.random_range(0.5..2.0) };
        energies.push(Energy::Measurement {
            weight: random.random_range(0.5..4.0),
            penalty,
            offset: if counted { 0.0 } else { -random.random_range(0.0..1.0) },
            terms: vec![Term { scope: vec![cell / states], coefficients }],
        });
    }
    let terms = (0..length).map(|v| Term { scope: vec![v], coefficients: table_of(v, states) });
    energies.push(Energy::Measurement {
        weight: 2.0,
        penalty: Penalty::Squared,
        offset: -4.0,
        terms: terms.collect(),
    });
    energies.push(Energy::Measurement {
        weight: 3.0,
        penalty: Penalty::Squared,
        offset: 0.7,
        terms: Vec::new(),
    });
    if shuffled {
        energies.shuffle(&mut rng(seed + 1));
    }
    Problem::new(model, energies).unwrap()
}

fn table_of(v: usize, states: usize) -> Vec<f64> {
    (0..states).map(|state| ((v + state) % 3) as f64 * 0.5).collect()
}

#[test]
fn the_order_of_measurements_changes_no_answer() {
    for seed in 0..6 {
        for method in [Method::Dual, Method::Adaptive] {
            let settings =
                Settings { method, tolerance: 1e-7, max_iterations: 20_000, ..Settings::default() };
            let [grouped, shuffled] = [false, true].map(|shuffled| {
                run(&mut problem(seed, shuffled).bind().unwrap(), &settings).unwrap()
            });
            let label =
                format!("{method:?}, seed {seed}: {} {}", grouped.objective, shuffled.objective);
            let statuses = [grouped.status, shuffled.status];
            assert_eq!(statuses, [Status::Converged; 2], "{label}");
            let apart = (grouped.objective - shuffled.objective).abs();
            assert!(apart <= grouped.gap.unwrap() + shuffled.gap.unwrap() + 1e-12, "{label}");
            let worst = grouped.marginals.iter().zip(&shuffled.marginals);
            let worst = worst.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst <= 1e-3, "{label}, marginals {worst}");
        }
    }
}
