//! A dual program's passes against its rows, one by one.

use super::program::DualProgram;
use crate::energy::Penalty;
use crate::problem::BoundProblem;
use crate::solve::Task;
use crate::solve::engine::Engine;
use crate::solve::quasi_newton::{Iterate, Program};
use crate::{Energy, Model, Problem, Term};

const STATES: usize = 7;
const POSITIONS: usize = 24;

const PENALTIES: [Penalty; 9] = [
    Penalty::Linear,
    Penalty::Hinge,
    Penalty::SmoothedHinge,
    Penalty::Squared,
    Penalty::Absolute,
    Penalty::Huber { delta: 0.3 },
    Penalty::Poisson { rate: 3.0, count: 2.0 },
    Penalty::AtMost,
    Penalty::Equal,
];

/// A number between 0 and 1 for each place.
fn noise(place: usize) -> f64 {
    (place as f64 * 0.618_033_988_749_894_9).fract()
}

/// Which rows a problem has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// One for each marginal, in order; a few sums and a constant as well.
    InOrder,
    /// The same, in another order.
    Scattered,
}

/// Marginals under one penalty.
fn problem(penalty: Penalty, layout: Layout) -> BoundProblem {
    let mut model = Model::new(&[STATES; POSITIONS]).unwrap();
    for v in 0..POSITIONS {
        let scores: Vec<f64> = (0..STATES).map(|k| 3.0 * noise(v * STATES + k)).collect();
        model.add_factor(&[v], &scores).unwrap();
    }
    let term = |v: usize, state: usize, coefficient: f64| {
        let mut coefficients = vec![0.0; STATES];
        coefficients[state] = coefficient;
        Term { scope: vec![v], coefficients }
    };
    let measurement = |place: usize, terms| {
        let weight = if penalty.is_hard() { 1.0 } else { 0.1 + 5.0 * noise(3 * place) };
        Energy::Measurement { weight, penalty, offset: 0.5 * noise(7 * place), terms }
    };
    let cells = STATES * POSITIONS;
    let cell = |place: usize| if layout == Layout::Scattered { 5 * place % cells } else { place };
    let mut energies: Vec<Energy> = (0..cells)
        .map(|place| {
            let (v, state) = (cell(place) / STATES, cell(place) % STATES);
            measurement(place, vec![term(v, state, 0.2 + noise(place))])
        })
        .collect();
    energies.extend((0..5).map(|place| {
        let terms = (0..4).map(|v| term(v, place, 0.5 + noise(v))).collect();
        measurement(place, terms)
    }));
    energies.push(measurement(1, Vec::new()));
    Problem::new(model, energies).unwrap().bind().unwrap()
}

#[test]
fn passes_over_runs_come_to_what_their_rows_come_to() {
    for penalty in PENALTIES {
        for (layout, scale, tilted) in [
            (Layout::InOrder, 1.0, true),
            (Layout::Scattered, 1.0, true),
            (Layout::InOrder, 2.5, true),
            (Layout::InOrder, 1.0, false),
        ] {
            let mut bound = problem(penalty, layout);
            let measurements = bound.energies.measurements.clone();
            let (rows, width) = (measurements.len(), bound.energies.support().len());
            let mut engine = Engine::new(Task::new(bound.oracle.as_mut(), &mut bound.energies));
            let size = if tilted { 0.3 } else { 0.0 };
            let base_tilt: Vec<f64> = (0..width).map(|c| size * noise(11 * c)).collect();
            let given = tilted.then_some(&*base_tilt);
            let mut program = DualProgram::new(&engine, measurements, given, scale);
            let (mut origin, mut found) = (Iterate::new(rows, width), Iterate::new(rows, width));
            program.start(&mut origin.unknowns);
            // A constant has a multiplier of its own.
            let is_constant = |measurement: usize| program.largest[measurement] == 0.0;
            let step = |measurement: usize| 0.4 * (2.0 * noise(13 * measurement) - 1.0);
            let step = |measurement| if is_constant(measurement) { 0.0 } else { step(measurement) };
            let steps: Vec<f64> = (0..rows).map(step).collect();
            program.place(&origin, &steps, &mut found);
            program.evaluate(&mut engine, 8.0, &mut found);
            compare(&program, &found, &base_tilt, &format!("{penalty:?}, {layout:?}, {scale}"));
        }
    }
}

fn compare(program: &DualProgram, found: &Iterate, base_tilt: &[f64], label: &str) {
    let rows = program.rows();
    let (mut tilt, mut energy, mut gap) = (base_tilt.to_vec(), 0.0, 0.0);
    let (mut value, mut size) = (found.point.log_partition, found.point.log_partition.abs());
    let close = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-12 * (1.0 + size) || a == b;
    for (measurement, multiplier) in program.multipliers(&found.unknowns).enumerate() {
        let (penalty, weight) = (program.penalty(measurement), program.weights[measurement]);
        let z = rows.measure(measurement, &found.point.marginals);
        let (low, high) = penalty.multipliers(weight);
        assert!(
            (low..=high).contains(&multiplier),
            "{label}: {multiplier} in measurement {measurement}"
        );
        rows.add_row(measurement, -multiplier, &mut tilt);
        let conjugate = penalty.conjugate(weight, multiplier);
        value += conjugate - multiplier * rows.offset(measurement);
        let terms = rows.offset(measurement).abs() + program.largest[measurement].abs();
        size += conjugate.abs() + multiplier.abs() * terms;
        gap += penalty.fenchel_gap(weight, z, multiplier);
        energy += weight * penalty.value(z);
        let slope = z - penalty.conjugate_derivative(weight, multiplier);
        let slope = match penalty {
            _ if program.largest[measurement] == 0.0 || low == high => 0.0,
            Penalty::Poisson { .. } => slope * (high - multiplier),
            _ => slope,
        };
        assert!(
            close(found.gradient[measurement], slope, slope.abs()),
            "{label}: gradient of {measurement}"
        );
        let is_held = multiplier <= low && slope < 0.0 || multiplier >= high && slope > 0.0;
        let moves = low < high && program.largest[measurement] > 0.0 && !is_held;
        assert_eq!(found.diagonal[measurement] > 0.0, moves, "{label}: diagonal of {measurement}");
    }
    for (found, expected) in found.point.tilt.iter().zip(&tilt) {
        assert!(close(*found, *expected, expected.abs()), "{label}: tilt");
    }
    assert!(close(found.value, value, size), "{label}: value {} for {value}", found.value);
    assert!(close(found.size, size, size), "{label}: size");
    assert!(close(found.gap, gap, gap.abs()), "{label}: gap {} for {gap}", found.gap);
    let tilt_dot: f64 =
        tilt.iter().zip(base_tilt).zip(&found.point.marginals).map(|((t, b), m)| (t - b) * m).sum();
    let objective = tilt_dot - found.point.log_partition + energy;
    let found = found.objective;
    assert!(close(found, objective, size + energy), "{label}: objective {found} for {objective}");
}

/// The multipliers of two points, and where the line through them leads: beyond the range of some
/// Poisson multipliers, if the part is large.
#[test]
fn unknowns_follow_the_line_of_multipliers() {
    for penalty in [Penalty::Squared, Penalty::Poisson { rate: 3.0, count: 2.0 }] {
        let mut bound = problem(penalty, Layout::InOrder);
        let measurements = bound.energies.measurements.clone();
        let engine = &mut Engine::new(bound.task());
        let program = DualProgram::new(engine, measurements, None, 1.0);
        let points: [Vec<f64>; 2] = [5, 11].map(|step| {
            (0..program.measurements.len()).map(|row| noise(step * row) - 0.5).collect()
        });
        let multipliers =
            points.clone().map(|point| program.multipliers(&point).collect::<Vec<_>>());
        for part in [0.5, 4.0] {
            let mut reached = points[1].clone();
            program.extrapolate(&points[0], &mut reached, part);
            for (row, found) in program.multipliers(&reached).enumerate() {
                let [before, now] = [0, 1].map(|point| multipliers[point][row]);
                let expected = now + part * (now - before);
                let bound = program.penalty(row).multipliers(program.weights[row]).1;
                let (size, is_inside) = (1.0 + expected.abs(), expected < bound);
                assert!(found < bound, "{penalty:?}, row {row}: {found}");
                assert!(
                    !is_inside || (found - expected).abs() < 1e-12 * size,
                    "{penalty:?}, row {row}: {found} for {expected}"
                );
            }
        }
    }
}
