//! The same energy where routes branch.

use bethe_core::energy::Energies;
use bethe_core::model::BaseModel;
use bethe_core::oracle::{BruteForce, Tables};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Cancel, Oracle, Request, Settings};
use bethe_flows::energy::{Counts, Noise};
use bethe_flows::infer::{FlowError, TreeProblem};

use super::{Migration, POPULATION, close, dense_problem, fitting, noises, precise};

/// A route that splits after its second node, one branch once more.
const TREE: [Option<usize>; 6] = [None, Some(0), Some(1), Some(1), Some(3), Some(3)];

fn tree<'a>(migration: &'a Migration, noise: &'a Noise) -> TreeProblem<'a> {
    TreeProblem {
        parents: &TREE,
        moves: &migration.moves,
        start: Some(&migration.start),
        observations: &migration.observations,
        noise,
        population: POPULATION as f64,
        cancel: Cancel::never(),
    }
}

#[test]
fn trees_agree_with_the_same_problem_and_with_brute_force() {
    for noise in noises() {
        let mut migration = Migration::new(2, 6, Some(1.0));
        fitting(&mut migration, &noise);
        let flows = tree(&migration, &noise).solve(&precise(), &mut Ignore).unwrap();
        let problem = dense_problem(&migration, &noise, &TREE, |node| node);
        let request = Request { marginals: Tables::Nodes, ..Request::default() };
        let answer = problem.solve_with(&precise(), &request, &mut Ignore).unwrap();
        let error = flows.solution.objective - answer.objective.unwrap();
        assert!(error.abs() < 1e-8, "{noise:?} {error}");
        let shares = answer.marginals.iter().flat_map(|marginal| &marginal.values);
        let counts: Vec<f64> = shares.map(|share| share * POPULATION as f64).collect();
        assert!(close(&flows.counts, &counts, 1e-3), "{noise:?}");
        assert!(close(&flows.counts, &brute_force(&migration, &noise), 1e-3), "{noise:?}");
    }
}

/// The counts that enumeration finds.
fn brute_force(migration: &Migration, noise: &Noise) -> Vec<f64> {
    let mut model = dense_problem(migration, noise, &TREE, |node| node).model().clone();
    let population = POPULATION as f64;
    let Counts { mut energies, scores } = Counts::new(&migration.observations, noise, population);
    let cells = migration.cells.len();
    for node in 0..TREE.len() {
        model.add_factor(&[node], &scores[node * cells..][..cells]).unwrap();
    }
    let base = BaseModel::new(&model, Energies::scopes(&[])).unwrap();
    let mut oracle = BruteForce::new(&base, energies.support());
    let task = Task::new(&mut oracle, &mut energies);
    solve(task, &precise(), &mut Ignore).unwrap();
    let mut counts = Vec::new();
    oracle.visit_marginals(Tables::Nodes, &mut |_, shares| {
        counts.extend(shares.iter().map(|share| share * population));
    });
    counts
}

#[test]
fn flows_from_a_parent_add_up_to_its_counts() {
    let migration = Migration::new(3, 6, None);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let flows = tree(&migration, &noise).solve(&Settings::default(), &mut Ignore).unwrap();
    for (node, parent) in TREE.iter().enumerate() {
        let Some(parent) = parent else {
            assert!(flows.flows[node].is_empty());
            continue;
        };
        for (from, row) in flows.flows[node].chunks(9).enumerate() {
            assert!((row.iter().sum::<f64>() - flows.counts[parent * 9 + from]).abs() < 1e-9);
        }
    }
}

#[test]
fn impossible_counts_on_a_tree_are_named() {
    let mut migration = Migration::new(3, 6, Some(1.0));
    migration.start = vec![f64::NEG_INFINITY; 9];
    migration.start[8] = 0.0;
    let mut counts = vec![None; 9];
    counts[0] = Some(4.0);
    let mut observations = bethe_flows::data::Observations::new(9);
    for node in 0..6 {
        let own = if node == 3 { counts.clone() } else { vec![None; 9] };
        observations.push(node.to_string(), own);
    }
    migration.observations = observations;
    let noise = Noise::Poisson { rate: vec![1.0] };
    let error = tree(&migration, &noise).solve(&precise(), &mut Ignore).unwrap_err();
    assert_eq!(error, FlowError::Impossible { time: 3, cell: 0, count: 4.0 });
}
