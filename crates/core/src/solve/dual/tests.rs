//! A dual program's passes against its rows, one by one.

use super::placement::Blend;
use super::program::{Iterate, Program};
use super::quasi_newton::Memory;
use crate::energy::Penalty;
use crate::problem::BoundProblem;
use crate::solve::Task;
use crate::solve::engine::Engine;
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
    /// One for each marginal as it is, in order, of one weight: the tilt is made of them.
    Alike,
    /// The same, but not for the first few states: the tilt has gaps.
    AlikeWithGaps,
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
    let alike = matches!(layout, Layout::Alike | Layout::AlikeWithGaps);
    let measurement = |place: usize, terms| {
        let weight = match penalty.is_hard() {
            true => 1.0,
            false => 0.1 + 5.0 * if alike { 0.3 } else { noise(3 * place) },
        };
        Energy::Measurement { weight, penalty, offset: 0.5 * noise(7 * place), terms }
    };
    let cells = STATES * POSITIONS;
    let cell = |place: usize| if layout == Layout::Scattered { 5 * place % cells } else { place };
    let first = if layout == Layout::AlikeWithGaps { STATES / 2 } else { 0 };
    let mut energies: Vec<Energy> = (first..cells)
        .map(|place| {
            let (v, state) = (cell(place) / STATES, cell(place) % STATES);
            let coefficient = if alike { 1.0 } else { 0.2 + noise(place) };
            measurement(place, vec![term(v, state, coefficient)])
        })
        .collect();
    if !alike {
        energies.extend((0..5).map(|place| {
            let terms = (0..4).map(|v| term(v, place, 0.5 + noise(v))).collect();
            measurement(place, terms)
        }));
        energies.push(measurement(1, Vec::new()));
    }
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
            (Layout::Alike, 1.0, false),
            (Layout::Alike, 2.5, true),
            (Layout::AlikeWithGaps, 1.0, false),
        ] {
            let mut bound = problem(penalty, layout);
            let measurements = bound.energies.measurements.clone();
            let (rows, width) = (measurements.len(), bound.energies.support().len());
            let mut engine = Engine::new(Task::new(bound.oracle.as_mut(), &mut bound.energies));
            let size = if tilted { 0.3 } else { 0.0 };
            let base_tilt: Vec<f64> = (0..width).map(|c| size * noise(11 * c)).collect();
            let given = tilted.then_some(&*base_tilt);
            let program = Program::new(&engine, measurements, given, scale);
            let logarithms = matches!(penalty, Penalty::Poisson { .. });
            let direct = layout == Layout::Alike && !tilted && !logarithms;
            assert_eq!(program.tilts_are_unknowns, direct, "{penalty:?}, {layout:?}");
            let mut origin = Iterate::new(&program, width);
            let mut found = Iterate::new(&program, width);
            program.set_unknowns(origin.unknowns_mut(), |_| 0.0);
            for row in 0..rows {
                found.unknowns_mut()[row] = 0.4 * (2.0 * noise(13 * row) - 1.0);
            }
            origin.diagonal.fill(1.0);
            program.place(&origin, Blend::GIVEN, &mut found);
            program.evaluate(&mut engine, &origin, 8.0, &mut found);
            compare(&program, &found, &base_tilt, &format!("{penalty:?}, {layout:?}, {scale}"));
        }
    }
}

/// The direction that the two iterates hold is that of a memory of one step.
#[test]
fn the_latest_step_leads_where_a_memory_of_one_step_does() {
    for (penalty, layout) in
        PENALTIES.iter().flat_map(|&p| [Layout::InOrder, Layout::Alike].map(|layout| (p, layout)))
    {
        let mut bound = problem(penalty, layout);
        let measurements = bound.energies.measurements.clone();
        let (rows, width) = (measurements.len(), bound.energies.support().len());
        let mut engine = Engine::new(Task::new(bound.oracle.as_mut(), &mut bound.energies));
        let program = Program::new(&engine, measurements, None, 1.0);
        let [mut before, mut old, mut new] = [(); 3].map(|()| Iterate::new(&program, width));
        program.set_unknowns(before.unknowns_mut(), |_| 0.0);
        program.place(&before, Blend::shorter(0.0), &mut old);
        program.evaluate(&mut engine, &before, 8.0, &mut old);
        program.place(&old, Blend::STEEPEST, &mut new);
        program.evaluate(&mut engine, &old, 8.0, &mut new);
        let mut memory = Memory::new(rows, 1);
        memory.keep(old.end(), new.end());
        let mut expected = vec![0.0; rows];
        memory.direction(&new.gradient, &new.diagonal, &mut expected, &mut |_| {});
        let Blend { gradient, older, apart, .. } = new.secant.direction();
        let size = expected.iter().fold(0.0f64, |size, e| size.max(e.abs()));
        for (row, expected) in expected.iter().enumerate() {
            let turned = gradient * new.gradient[row] + older * old.gradient[row];
            let step = apart * (old.unknowns()[row] - new.unknowns()[row]);
            let found = new.diagonal[row] * turned + step;
            let found = if new.diagonal[row] > 0.0 { found } else { 0.0 };
            assert!(
                (found - expected).abs() <= 1e-9 * size,
                "{penalty:?}, {row}: {found}, {expected}"
            );
        }
    }
}

fn compare(program: &Program, found: &Iterate, base_tilt: &[f64], label: &str) {
    let rows = program.rows();
    let (mut tilt, mut energy, mut gap) = (base_tilt.to_vec(), 0.0, 0.0);
    let (mut value, mut size) = (found.point.log_partition, found.point.log_partition.abs());
    let close = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-12 * (1.0 + size) || a == b;
    for row in 0..program.measurements.len() {
        let (penalty, weight) = (program.penalty(row), program.weights[row]);
        let (multiplier, z) = (-found.pulls()[row], rows.measure(row, &found.point.marginals));
        let (low, high) = penalty.multipliers(weight);
        assert!((low..=high).contains(&multiplier), "{label}: {multiplier} in row {row}");
        rows.add_row(row, -multiplier, &mut tilt);
        let conjugate = penalty.conjugate(weight, multiplier);
        value += conjugate - multiplier * rows.offset(row);
        size += conjugate.abs() + (multiplier * rows.offset(row)).abs();
        gap += penalty.fenchel_gap(weight, z, multiplier);
        energy += weight * penalty.value(z);
        let slope = z - penalty.conjugate_derivative(weight, multiplier);
        let slope = match penalty {
            _ if program.largest[row] == 0.0 || low == high => 0.0,
            Penalty::Poisson { .. } => slope * (high - multiplier),
            _ => slope,
        };
        assert!(close(found.gradient[row], slope, slope.abs()), "{label}: gradient of {row}");
        let is_held = multiplier <= low && slope < 0.0 || multiplier >= high && slope > 0.0;
        let moves = low < high && program.largest[row] > 0.0 && !is_held;
        assert_eq!(found.diagonal[row] > 0.0, moves, "{label}: diagonal of {row}");
    }
    for (found, expected) in found.point.tilt.iter().zip(&tilt) {
        assert!(close(*found, *expected, expected.abs()), "{label}: tilt");
    }
    assert!(close(found.value, value, size), "{label}: value {} for {value}", found.value);
    assert!(close(found.value_size, size, size), "{label}: size");
    assert!(close(found.gap, gap, gap.abs()), "{label}: gap {} for {gap}", found.gap);
    let tilt_dot: f64 =
        tilt.iter().zip(base_tilt).zip(&found.point.marginals).map(|((t, b), m)| (t - b) * m).sum();
    let objective = tilt_dot - found.point.log_partition + energy;
    let found = found.objective;
    assert!(close(found, objective, size + energy), "{label}: objective {found} for {objective}");
}
