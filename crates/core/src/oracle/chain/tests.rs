mod second_order;
mod storages;

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::cancel::Cancel;
use crate::model::{BaseModel, Model, ModelError};
use crate::oracle::{BruteForce, Covariance, Oracle, Tables};
use crate::support::Support;

pub(super) const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// A random union of paths: shapes, score range and share of forbidden entries vary.
pub(super) struct Case {
    pub(super) scale: f64,
    pub(super) forbidden: f64,
    pub(super) shared_states: Option<usize>,
}

impl Case {
    fn table(&self, rng: &mut StdRng, cells: usize) -> Vec<f64> {
        let mut entry = |_| {
            if rng.random_bool(self.forbidden) {
                FORBIDDEN
            } else {
                rng.random_range(-self.scale..=self.scale)
            }
        };
        (0..cells).map(&mut entry).collect()
    }

    pub(super) fn model(&self, rng: &mut StdRng) -> Model {
        let count = rng.random_range(1..=6);
        let states: Vec<usize> = (0..count)
            .map(|_| self.shared_states.unwrap_or_else(|| rng.random_range(1..=4)))
            .collect();
        let mut model = Model::new(&states).unwrap();
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let shared = self.shared_states.map(|k| self.table(rng, k * k));
        for (variable, &states) in states.iter().enumerate() {
            if rng.random_bool(0.8) {
                let table = self.table(rng, states);
                model.add_factor(&[variable], &table).unwrap();
            }
        }
        for pair in order.windows(2) {
            if rng.random_bool(0.2) {
                continue;
            }
            for _ in 0..rng.random_range(1..=2) {
                let table = match &shared {
                    Some(table) if rng.random_bool(0.7) => table.clone(),
                    _ => self.table(rng, states[pair[0]] * states[pair[1]]),
                };
                model.add_factor(pair, &table).unwrap();
            }
        }
        if rng.random_bool(0.2) {
            let variable = rng.random_range(0..count);
            model.observe(variable, rng.random_range(0..states[variable])).unwrap();
        }
        model
    }
}

/// Puts each table into no block, a block of its own, or a block with others of its size.
pub(super) fn random_support(rng: &mut StdRng, base: &BaseModel) -> Support {
    let mut support = Support::new();
    let mut left: Vec<usize> = (0..base.tables.len()).filter(|_| rng.random_bool(0.7)).collect();
    while let Some(first) = left.pop() {
        let cells = base.tables[first].log_potentials.len();
        let mut block = vec![first];
        left.retain(|&table| {
            let joins = base.tables[table].log_potentials.len() == cells && rng.random_bool(0.6);
            if joins {
                block.push(table);
            }
            !joins
        });
        support.add(block, cells);
    }
    support
}

/// Every allowed assignment and its score at a tilt, best first.
pub(super) fn ranking(base: &BaseModel, support: &Support, tilt: &[f64]) -> Vec<Path> {
    let mut all = vec![Path { assignment: Vec::new(), score: base.constant }];
    for &states in &base.cardinalities {
        let extended = all.iter().flat_map(|path| {
            (0..states).map(|state| Path {
                assignment: path.assignment.iter().copied().chain([state]).collect(),
                score: path.score,
            })
        });
        all = extended.collect();
    }
    let block_of = support.block_of_table(base.tables.len());
    for path in &mut all {
        for (table, block) in base.tables.iter().zip(&block_of) {
            let scope = table.scope.iter();
            let cell = scope.fold(0, |cell, &v| cell * base.cardinalities[v] + path.assignment[v]);
            path.score += table.log_potentials[cell];
            path.score += block.map_or(0.0, |block| tilt[support.blocks()[block].start + cell]);
        }
    }
    all.retain(|path| path.score > FORBIDDEN);
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

fn all_marginals(oracle: &mut dyn Oracle) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    oracle.visit_marginals(Tables::All, &mut |table, marginal| {
        assert_eq!(table, all.len());
        all.push(marginal.to_vec());
    });
    all
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what} {index}: found {a}, expected {b}");
        // Brute force's zeros are either forbidden states or probabilities that no double holds.
        assert!(*b != 0.0 || (0.0..1e-300).contains(a), "{what} {index}: {a} for a zero");
    }
}

/// Compares every answer of `chain` with that of brute force; returns whether it used logarithms.
fn assert_matches(base: &BaseModel, support: &Support, rng: &mut StdRng, reach: f64) -> bool {
    let mut chain = Chain::from_base(base, support).expect("a union of paths");
    let mut brute = BruteForce::new(base, support);
    let tolerance = 1e-11;
    let mut any_log = false;
    for call in 0..4 {
        let tilt: Vec<f64> = (0..support.len()).map(|_| rng.random_range(-reach..=reach)).collect();
        chain.always_log_domain(call == 3);
        let (mut found, mut expected) = (vec![7.0; support.len()], vec![0.0; support.len()]);
        let log_partition = chain.tilted(&tilt, &mut found);
        let reference = brute.tilted(&tilt, &mut expected);
        if reference == FORBIDDEN {
            assert_eq!(log_partition, FORBIDDEN);
            let mut states = vec![0; base.variables()];
            assert_eq!(chain.decode(&tilt, &mut states), FORBIDDEN);
            continue;
        }
        any_log |= call < 3 && chain.used_log_domain();
        let scale = reference.abs().max(1.0);
        assert!((log_partition - reference).abs() < 1e-12 * scale, "{log_partition} {reference}");
        assert_close(&found, &expected, tolerance, "support marginal");
        let (found, expected) = (all_marginals(&mut chain), all_marginals(&mut brute));
        assert_eq!(found.len(), expected.len());
        for (table, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_close(found, expected, tolerance, &format!("table {table} marginal"));
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let (mut best, mut state) = (vec![0; base.variables()], vec![0; base.variables()]);
        let score = chain.decode(&tilt, &mut state);
        let reference = brute.decode(&tilt, &mut best);
        assert!((score - reference).abs() < 1e-12 * scale, "{score} {reference}");
    }
    any_log
}

#[test]
fn chain_matches_brute_force_on_unions_of_paths() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut log_calls = 0;
    for round in 0..3000 {
        let case = Case {
            scale: [1.0, 5.0, 40.0, 700.0][round % 4],
            forbidden: [0.0, 0.0, 0.2, 0.5][round / 4 % 4],
            shared_states: [None, Some(2), Some(3)][round / 16 % 3],
        };
        let model = case.model(&mut rng);
        let Ok(base) = BaseModel::new(&model, []) else { continue };
        let support = random_support(&mut rng, &base);
        let reach = [1.0, 30.0, 300.0][round / 48 % 3];
        log_calls += usize::from(assert_matches(&base, &support, &mut rng, reach));
    }
    assert!(log_calls > 10, "the log domain was needed only {log_calls} times");
}

#[test]
fn tables_that_are_kept_once_match_brute_force() {
    let mut rng = StdRng::seed_from_u64(8);
    for round in 0..12 {
        // Beside a large table one that has a layout for each direction.
        let states = [rng.random_range(70..100), rng.random_range(75..100), 3];
        let scale = [1.0, 30.0, 700.0][round % 3];
        let case = Case { scale, forbidden: 0.0, shared_states: None };
        let mut model = Model::new(&states).unwrap();
        model.add_factor(&[1], &case.table(&mut rng, states[1])).unwrap();
        for pair in [[0, 1], [1, 2]] {
            let cells = states[pair[0]] * states[pair[1]];
            let case = Case { forbidden: [0.0, 0.02][round / 3 % 2], ..case };
            model.add_factor(&pair, &case.table(&mut rng, cells)).unwrap();
        }
        let base = BaseModel::new(&model, []).unwrap();
        let support = random_support(&mut rng, &base);
        let chain = Chain::from_base(&base, &support).unwrap();
        let once = chain.model().tables.iter().filter(|table| table.backward.is_none());
        assert_eq!(once.count(), 1);
        assert_matches(&base, &support, &mut rng, 20.0);
    }
}

#[test]
fn marginals_of_forbidden_states_are_exactly_zero() {
    let mut rng = StdRng::seed_from_u64(2);
    for _ in 0..300 {
        let case = Case { scale: 2.0, forbidden: 0.4, shared_states: Some(3) };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let mut chain = Chain::from_base(&base, &Support::new()).unwrap();
        let mut brute = BruteForce::new(&base, &Support::new());
        if brute.tilted(&[], &mut []) == FORBIDDEN {
            assert_eq!(chain.tilted(&[], &mut []), FORBIDDEN);
            continue;
        }
        for always_log_domain in [false, true] {
            chain.always_log_domain(always_log_domain);
            chain.tilted(&[], &mut []);
            assert_eq!(chain.used_log_domain(), always_log_domain && base.variables() > 0);
            for (found, expected) in all_marginals(&mut chain).iter().zip(all_marginals(&mut brute))
            {
                for (found, expected) in found.iter().zip(expected) {
                    assert_eq!(*found == 0.0, expected == 0.0);
                }
            }
        }
    }
}

#[test]
fn only_unions_of_paths_are_chains() {
    let chain = |scopes: &[&[usize]]| {
        let mut model = Model::new(&[2; 4]).unwrap();
        for scope in scopes {
            model.add_factor(scope, &vec![0.5; 1 << scope.len()]).unwrap();
        }
        Chain::from_base(&BaseModel::new(&model, []).unwrap(), &Support::new())
    };
    assert!(chain(&[]).is_some());
    assert!(chain(&[&[2, 0], &[3, 1]]).is_some());
    assert!(chain(&[&[2, 0], &[0, 3], &[3, 1], &[0, 2]]).is_some());
    assert!(chain(&[&[0, 1, 2]]).is_none(), "a table of three variables");
    assert!(chain(&[&[0, 1], &[0, 2], &[0, 3]]).is_none(), "a star");
    assert!(chain(&[&[0, 1], &[1, 2], &[2, 0]]).is_none(), "a cycle beside a path");
    assert!(chain(&[&[0, 1], &[1, 2], &[2, 3], &[3, 0]]).is_none(), "a cycle");
}

#[test]
fn equal_tables_are_kept_once_whatever_their_direction() {
    let mut model = Model::new(&[2; 5]).unwrap();
    for scope in [[0, 1], [1, 2], [2, 3]] {
        model.add_factor(&scope, &[0.0, 1.0, 2.0, 3.0]).unwrap();
    }
    model.add_factor(&[4, 3], &[0.0, 2.0, 1.0, 3.0]).unwrap();
    let chain = Chain::from_base(&BaseModel::new(&model, []).unwrap(), &Support::new()).unwrap();
    assert_eq!(chain.model().tables.len(), 1);
}

#[test]
fn setting_up_ends_between_tables() {
    let mut model = Model::new(&[2, 2]).unwrap();
    model.add_factor(&[0, 1], &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let base = BaseModel::new(&model, []).unwrap();
    let cancel = Cancel::new();
    assert!(Chain::from_base_until(&base, &Support::new(), &cancel).unwrap().is_some());
    cancel.cancel();
    let stopped = Chain::from_base_until(&base, &Support::new(), &cancel);
    assert_eq!(stopped.err(), Some(ModelError::Cancelled));
}

#[test]
fn a_model_without_variables_has_its_constant() {
    let mut model = Model::new(&[2]).unwrap();
    model.add_factor(&[0], &[0.25, 0.5]).unwrap();
    model.observe(0, 1).unwrap();
    let base = BaseModel::new(&model, []).unwrap();
    let mut chain = Chain::from_base(&base, &Support::new()).unwrap();
    assert_eq!(chain.tilted(&[], &mut []), 0.5);
    assert_eq!(chain.decode(&[], &mut []), 0.5);
}

/// Tilts that cancel between positions and links leave little of them, but rounding of all of them.
#[test]
fn tables_agree_however_large_the_tilts() {
    let mut rng = StdRng::seed_from_u64(12);
    let mut in_logs = 0;
    for round in 0..200 {
        let case = Case { scale: 1.0, forbidden: 0.1, shared_states: None };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let mut support = Support::new();
        for (table, own) in base.tables.iter().enumerate() {
            support.add(vec![table], own.log_potentials.len());
        }
        let reach = 10f64.powi([3, 6, 9, 12][round % 4]);
        let mut tilt: Vec<f64> = (0..support.len()).map(|_| rng.random_range(0.0..reach)).collect();
        let starts: Vec<usize> = support.blocks().iter().map(|block| block.start).collect();
        for (table, own) in base.tables.iter().enumerate().skip(base.variables()) {
            for cell in 0..own.log_potentials.len() {
                let mut rest = cell;
                tilt[starts[table] + cell] = own.scope.iter().rev().fold(0.0, |sum, &v| {
                    let state = rest % base.cardinalities[v];
                    rest /= base.cardinalities[v];
                    sum - tilt[starts[v] + state]
                });
            }
        }
        let mut chain = Chain::from_base(&base, &support).unwrap();
        if chain.tilted(&tilt, &mut vec![0.0; tilt.len()]) == FORBIDDEN {
            continue;
        }
        in_logs += usize::from(chain.used_log_domain());
        let all = all_marginals(&mut chain);
        for (table, own) in base.tables.iter().enumerate().skip(base.variables()) {
            let mut stride = own.log_potentials.len();
            for &variable in &own.scope {
                stride /= base.cardinalities[variable];
                let mut sums = vec![0.0; base.cardinalities[variable]];
                for (cell, marginal) in all[table].iter().enumerate() {
                    sums[cell / stride % base.cardinalities[variable]] += marginal;
                }
                assert_close(&sums, &all[variable], 1e-15, "sums of a link");
            }
        }
    }
    assert!(in_logs > 50, "{in_logs} in the log domain");
}

/// Every state costs more than its neighbour to come to, far beyond what a double holds in all.
#[test]
fn a_cold_chain_of_many_states_matches_one_of_logarithms() {
    let (states, length) = (40, 6);
    let cost = |i: usize, j: usize| -150.0 * (i.abs_diff(j) as f64).sqrt();
    let table: Vec<f64> = (0..states * states).map(|c| cost(c / states, c % states)).collect();
    let mut rng = StdRng::seed_from_u64(3);
    let scores: Vec<f64> = (0..length * states).map(|_| rng.random_range(-900.0..900.0)).collect();
    let mut support = Support::new();
    for t in 0..length {
        support.add(vec![t], states);
    }
    let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
    let mut chain = Chain::new(model, &vec![0.0; length * states], support).unwrap();
    let mut found = vec![0.0; length * states];
    let log_partition = chain.tilted(&scores, &mut found);
    assert!(chain.used_log_domain());

    let log_sum = |terms: &mut dyn Iterator<Item = f64>| {
        let terms: Vec<f64> = terms.collect();
        let highest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        highest + terms.iter().map(|term| (term - highest).exp()).sum::<f64>().ln()
    };
    let score = |t: usize, i: usize| scores[t * states + i];
    let mut ahead = vec![vec![0.0; states]; length];
    let mut back = ahead.clone();
    for t in 1..length {
        for j in 0..states {
            let terms = (0..states).map(|i| ahead[t - 1][i] + score(t - 1, i) + cost(i, j));
            ahead[t][j] = log_sum(&mut terms.into_iter());
            let (from, to) = (length - 1 - t, length - t);
            let terms = (0..states).map(|i| back[to][i] + score(to, i) + cost(j, i));
            back[from][j] = log_sum(&mut terms.into_iter());
        }
    }
    let total = log_sum(&mut (0..states).map(|i| score(0, i) + back[0][i]));
    assert!((log_partition - total).abs() < 1e-12 * total.abs(), "{log_partition} {total}");
    for t in 0..length {
        for i in 0..states {
            let expected = (ahead[t][i] + score(t, i) + back[t][i] - total).exp();
            let found = found[t * states + i];
            assert!((found - expected).abs() < 1e-11 * expected + 1e-140, "{found} {expected}");
        }
    }
}

#[test]
fn a_long_call_that_is_cancelled_is_not_a_number_and_the_next_is_right() {
    let states = 1500;
    let mut support = Support::new();
    support.add(vec![0], states);
    let table: Vec<f64> = (0..states * states).map(|cell| (cell % 7) as f64).collect();
    let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
    let mut chain = Chain::new(model, &vec![0.0; 2 * states], support).unwrap();
    let mut marginals = vec![0.0; states];
    let (tilt, mut assignment) = (vec![0.0; states], vec![0; 2]);
    let expected = chain.tilted(&tilt, &mut marginals);
    let cancel = Cancel::new();
    cancel.cancel();
    for in_logs in [false, true] {
        chain.always_log_domain(in_logs);
        chain.heed(&Cancel::never());
        assert!((chain.tilted(&tilt, &mut marginals) - expected).abs() < 1e-9);
        chain.heed(&cancel);
        let mut visited = 0;
        chain.visit_marginals(Tables::All, &mut |_, _| visited += 1);
        assert_eq!(visited, 2, "no links");
        chain.covariance(&tilt, &mut marginals);
        assert!(marginals.iter().all(|value| value.is_nan()));
        assert!(chain.tilted(&tilt, &mut marginals).is_nan());
        chain.covariance(&tilt, &mut marginals);
        assert!(marginals.iter().all(|value| value.is_nan()));
        assert!(chain.inverse(&tilt).is_none());
        chain.visit_marginals(Tables::All, &mut |_, _| panic!("nothing to visit"));
        assert!(chain.decode(&tilt, &mut assignment).is_nan());
    }
}
