//! Products with the covariance: equal to enumeration and to finite differences of the marginals,
//! symmetric, positive semidefinite.

use std::sync::Arc;

use bethe_core::model::BaseModel;
use bethe_core::oracle::{BruteForce, JunctionTree, Oracle, Tables};
use bethe_core::{Model, Support};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::{ORACLES, graphs, supports};

pub fn product(oracle: &mut dyn Oracle, direction: &[f64]) -> Vec<f64> {
    let mut product = vec![7.0; direction.len()];
    oracle.second_order().expect("an exact oracle").covariance(direction, &mut product);
    product
}

pub fn vector(random: &mut StdRng, len: usize, reach: f64) -> Vec<f64> {
    (0..len).map(|_| random.random_range(-reach..=reach)).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The greatest score of a model, whose rounding both sides of a comparison carry.
fn reach(base: &BaseModel) -> f64 {
    let all = base.tables.iter().flat_map(|table| table.log_potentials.iter());
    all.filter(|score| score.is_finite()).fold(1.0, |most, score| most.max(score.abs()))
}

fn assert_product(case: &str, oracle: &mut dyn Oracle, exact: &mut BruteForce, allowed: f64) {
    let mut random = StdRng::seed_from_u64(3);
    let len = exact.support().len();
    let [v, w] = [0; 2].map(|_| vector(&mut random, len, 1.0));
    let [found, other] = [&v, &w].map(|v| product(oracle, v));
    for (at, (f, e)) in found.iter().zip(product(exact, &v)).enumerate() {
        assert!((f - e).abs() < allowed, "{case}, coordinate {at}: {f}, expected {e}");
    }
    assert!(
        (dot(&found, &w) - dot(&other, &v)).abs() < allowed * (1 + len) as f64,
        "{case}: symmetric"
    );
    assert!(dot(&found, &v) > -allowed, "{case}: positive semidefinite");
}

#[test]
fn products_match_enumeration_on_every_graph() {
    for (graph, model) in graphs::graphs() {
        let base = BaseModel::new(&model, []).unwrap();
        for (looks, support) in supports(&base) {
            for (name, bind) in ORACLES {
                let Some(mut oracle) = bind(&base, &support) else { continue };
                let mut exact = BruteForce::new(&base, &support);
                let mut random = StdRng::seed_from_u64(support.len() as u64);
                for scale in [0.0, 1.0, 50.0] {
                    let case = format!("{name} on {graph}, support: {looks}, tilts of {scale}");
                    let tilt = vector(&mut random, support.len(), scale);
                    let mut marginals = vec![0.0; support.len()];
                    exact.tilted(&tilt, &mut marginals);
                    oracle.tilted(&tilt, &mut marginals);
                    let allowed = 1e-13 * reach(&base).max(scale).max(1.0);
                    assert_product(&case, oracle.as_mut(), &mut exact, allowed);
                    // Looking at tables leaves the answer where it is.
                    oracle.visit_marginals(Tables::All, &mut |_, _| ());
                    assert_product(&case, oracle.as_mut(), &mut exact, allowed);
                }
            }
        }
    }
}

#[test]
fn warm_oracles_have_their_potentials_divided() {
    for (graph, model) in graphs::graphs() {
        let base = BaseModel::new(&model, []).unwrap();
        for (looks, support) in supports(&base) {
            for (name, bind) in ORACLES {
                let Some(mut oracle) = bind(&base, &support) else { continue };
                let tilt = vector(&mut StdRng::seed_from_u64(11), support.len(), 2.0);
                let mut stated = vec![0.0; support.len()];
                let before = oracle.tilted(&tilt, &mut stated);
                for heat in [300.0, 5.0] {
                    let case = format!("{name} on {graph}, support: {looks}, heat {heat}");
                    let mut exact = BruteForce::new(&divided(&base, heat), &support);
                    assert!(oracle.second_order().unwrap().warm(heat), "{case}");
                    let mut marginals = [0; 2].map(|_| vec![0.0; support.len()]);
                    let [own, other] = &mut marginals;
                    let sums = [oracle.tilted(&tilt, own), exact.tilted(&tilt, other)];
                    let allowed = 1e-13 * reach(&base);
                    let apart = (sums[0] - sums[1]).abs();
                    assert!(apart <= 10.0 * allowed * sums[1].abs().max(1.0), "{case}: {sums:?}");
                    assert!(
                        own.iter().zip(&*other).all(|(f, e)| (f - e).abs() < allowed),
                        "{case}"
                    );
                    assert_product(&case, oracle.as_mut(), &mut exact, allowed);
                    let mut tables = Vec::new();
                    exact
                        .visit_marginals(Tables::All, &mut |_, values| tables.push(values.clone()));
                    oracle.visit_marginals(Tables::All, &mut |table, values| {
                        let mut cells = values.iter().zip(&tables[table]);
                        assert!(cells.all(|(f, e)| (f - e).abs() < allowed), "{case}: {table}");
                    });
                    let mut best = vec![0; base.variables()];
                    let scores = [oracle.decode(&tilt, &mut best), exact.decode(&tilt, &mut best)];
                    let apart = (scores[0] - scores[1]).abs();
                    assert!(apart <= 10.0 * allowed, "{case}: {scores:?}");
                }
                assert!(oracle.second_order().unwrap().warm(1.0));
                let mut again = vec![0.0; support.len()];
                let case = format!("{name} on {graph}, support: {looks}, as stated");
                let (after, allowed) = (oracle.tilted(&tilt, &mut again), 1e-14 * reach(&base));
                assert!((after - before).abs() <= 10.0 * allowed * before.abs().max(1.0), "{case}");
                assert!(again.iter().zip(&stated).all(|(a, b)| (a - b).abs() <= allowed), "{case}");
            }
        }
    }
}

/// The same with all potentials divided.
fn divided(base: &BaseModel, heat: f64) -> BaseModel {
    let mut divided = base.clone();
    for table in &mut divided.tables {
        let potentials = table.log_potentials.iter().map(|potential| potential / heat);
        table.log_potentials = Arc::new(potentials.collect());
    }
    divided.constant /= heat;
    divided
}

#[test]
fn products_are_derivatives_of_marginals() {
    for (graph, model) in graphs::graphs() {
        let base = BaseModel::new(&model, []).unwrap();
        for (looks, support) in supports(&base) {
            for (name, bind) in &ORACLES[1..] {
                let Some(mut oracle) = bind(&base, &support) else { continue };
                let mut random = StdRng::seed_from_u64(5);
                let [tilt, direction] = [0; 2].map(|_| vector(&mut random, support.len(), 1.0));
                let mut at = |step: f64| {
                    let moved = tilt.iter().zip(&direction).map(|(t, v)| t + step * v);
                    let mut marginals = vec![0.0; support.len()];
                    oracle.tilted(&moved.collect::<Vec<_>>(), &mut marginals);
                    marginals
                };
                let step = 1e-4;
                let [up, down, twice_up, twice_down] =
                    [step, -step, 2.0 * step, -2.0 * step].map(&mut at);
                at(0.0);
                let found = product(oracle.as_mut(), &direction);
                for (at, found) in found.iter().enumerate() {
                    let near = (up[at] - down[at]) / (2.0 * step);
                    let far = (twice_up[at] - twice_down[at]) / (4.0 * step);
                    let expected = (4.0 * near - far) / 3.0;
                    let case = format!("{name} on {graph}, support: {looks}");
                    assert!((found - expected).abs() < 1e-8, "{case}: {found} for {expected}");
                }
            }
        }
    }
}

/// Large cliques in several subtrees, some of them tilted as a whole.
fn wide(shared: bool) -> (BaseModel, Support) {
    let mut random = StdRng::seed_from_u64(8);
    let mut model = Model::new(&[2; 57]).unwrap();
    let mut scopes: Vec<Vec<usize>> = Vec::new();
    for part in 0..4 {
        let mut scope: Vec<usize> = (14 * part + 1..14 * part + 15).collect();
        scope.push(0);
        model.add_factor(&scope, &vector(&mut random, 1 << 15, 2.0)).unwrap();
        scopes.push(scope);
    }
    let base = BaseModel::new(&model, []).unwrap();
    let mut support = Support::new();
    let tables: Vec<usize> = scopes.iter().map(|scope| base.table_of(scope).unwrap()).collect();
    if shared {
        support.add(tables, 1 << 15);
    } else {
        tables.into_iter().for_each(|table| _ = support.add(vec![table], 1 << 15));
    }
    for variable in [0, 3, 20, 50] {
        support.add(vec![variable], 2);
    }
    (base, support)
}

#[test]
fn products_are_the_same_on_any_number_of_threads_and_derivatives() {
    for shared in [false, true] {
        let (base, support) = wide(shared);
        let mut random = StdRng::seed_from_u64(9);
        let [tilt, direction] = [0; 2].map(|_| vector(&mut random, support.len(), 1.0));
        let found = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut tree = JunctionTree::new(&base, &support).unwrap();
                let mut at = |step: f64| {
                    let moved = tilt.iter().zip(&direction).map(|(t, v)| t + step * v);
                    let mut marginals = vec![0.0; support.len()];
                    tree.tilted(&moved.collect::<Vec<_>>(), &mut marginals);
                    marginals
                };
                let [up, down] = [1e-4, -1e-4].map(&mut at);
                at(0.0);
                let found = product(&mut tree, &direction);
                for (found, (up, down)) in found.iter().zip(up.iter().zip(&down)) {
                    assert!((found - (up - down) / 2e-4).abs() < 1e-8, "{found}");
                }
                found
            })
        });
        assert_eq!(found[0], found[1]);
    }
}
