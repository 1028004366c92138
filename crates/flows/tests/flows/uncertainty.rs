//! Standard errors against the derivative of the answer, and against changed log-potentials.

use bethe_core::derivative::Derivative;
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{MemoryLimit, Oracle};
use bethe_flows::infer::{BoundFlows, Flows};
use bethe_flows::model::Moves;
use bethe_flows::uncertainty::StandardErrors;

use super::{Migration, POPULATION, fitting, noises, precise};

fn errors(
    flows: &mut Flows,
    migration: &Migration,
    noise: &bethe_flows::energy::Noise,
) -> StandardErrors {
    let counted = (&migration.observations, noise);
    StandardErrors::new(flows, counted, None, (0.0, MemoryLimit::default())).unwrap()
}

#[test]
fn standard_errors_of_counts_are_those_of_the_derivative() {
    for noise in noises() {
        let mut migration = Migration::new(2, 5, None);
        fitting(&mut migration, &noise);
        let mut bound = migration.problem(&noise).bind().unwrap();
        let BoundFlows { chain, energies, .. } = &mut bound;
        let solution = solve(Task::new(chain, energies), &precise(), &mut Ignore).unwrap();
        let derivative = Derivative::new(chain, energies, &solution).unwrap();
        let support = chain.support().clone();
        let mut expected = Vec::new();
        for block in support.blocks() {
            for (cell, at) in block.range().enumerate() {
                let mut direction = vec![0.0; support.len()];
                direction[at] = 1.0;
                let variance = derivative.inferred(chain, &direction).unwrap()[at];
                expected.push((block.tables[0], cell, (POPULATION as f64 * variance).sqrt()));
            }
        }
        let mut flows = migration.problem(&noise).solve(&precise(), &mut Ignore).unwrap();
        let found = errors(&mut flows, &migration, &noise);
        for (time, cell, expected) in expected {
            let found = found.counts[time * 4 + cell];
            assert!((found - expected).abs() < 1e-4, "{noise:?} {time} {cell}: {found} {expected}");
        }
    }
}

#[test]
fn standard_errors_of_flows_are_how_they_follow_their_log_potential() {
    for noise in noises() {
        let mut migration = Migration::new(2, 4, None);
        fitting(&mut migration, &noise);
        // A table for each step, so that one move at one time can be made likelier.
        let steps = migration.moves.of_step.clone();
        let tables = steps.iter().map(|&table| migration.moves.tables[table].clone()).collect();
        let of_step = (0..steps.len()).collect();
        migration.moves = Moves { tables, of_step, pulls: Vec::new() };
        let mut flows = migration.problem(&noise).solve(&precise(), &mut Ignore).unwrap();
        let found = errors(&mut flows, &migration, &noise);
        let mut listed = Vec::new();
        flows.visit(&mut |step, from, to, number| listed.push((step, from, to, number)));
        listed.sort_by_key(|&(step, from, to, _)| (step, from, to));
        assert_eq!(found.flows.len(), listed.len());
        for (place, &(step, from, to, _)) in listed.iter().enumerate() {
            let number = |change: f64| {
                let mut moved = Migration { moves: migration.moves.clone(), ..migration.clone() };
                moved.moves.tables[step].row_mut(from)[to] += change;
                let mut flows = moved.problem(&noise).solve(&precise(), &mut Ignore).unwrap();
                let mut own = 0.0;
                flows.visit(&mut |s, f, t, n| {
                    own += if (s, f, t) == (step, from, to) { n } else { 0.0 }
                });
                own
            };
            let variance = (number(1e-2) - number(-1e-2)) / 2e-2;
            let (found, expected) = (found.flows[place], variance.max(0.0).sqrt());
            assert!(
                (found - expected).abs() < 0.01,
                "{noise:?} {step} {from} {to}: {found} {expected}"
            );
        }
    }
}
