//! Every oracle on every graph, against enumeration.

#[path = "oracles/graphs.rs"]
mod graphs;
#[path = "oracles/limits.rs"]
mod limits;
#[path = "oracles/properties.rs"]
mod properties;
#[path = "oracles/second_order.rs"]
mod second_order;

use std::collections::BTreeMap;
use std::sync::Arc;

use bethe_core::model::BaseModel;
use bethe_core::model::table::{strides_within, walk};
use bethe_core::oracle::{BruteForce, Chain, JunctionTree, Oracle, Tables};
use bethe_core::{Model, Support};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Binds an oracle to a model and a support; `None` where it does not serve the graph.
type Bind = fn(&BaseModel, &Support) -> Option<Box<dyn Oracle>>;

/// The first is the reference, the others are held against it.
const ORACLES: &[(&str, Bind)] = &[
    ("brute force", |base, support| Some(Box::new(BruteForce::new(base, support)))),
    ("chain", |base, support| Some(Box::new(Chain::from_base(base, support)?))),
    ("junction tree", |base, support| Some(Box::new(JunctionTree::new(base, support).unwrap()))),
];

/// Rounding of scores around ±700 that both sides of a comparison carry.
const TOLERANCE: f64 = 1e-10;

#[test]
fn every_oracle_matches_brute_force_on_every_graph() {
    for (graph, model) in graphs::graphs() {
        let base = BaseModel::new(&model, []).unwrap();
        let possible = possible_cells(&base);
        for (looks, support) in supports(&base) {
            for (name, bind) in &ORACLES[1..] {
                let Some(mut oracle) = bind(&base, &support) else { continue };
                let case = format!("{name} on {graph}, support: {looks}");
                assert_eq!(oracle.support(), &support, "{case}");
                Comparison { case, base: &base, possible: &possible }.run(oracle.as_mut());
            }
        }
    }
}

#[test]
fn graphs_have_distinct_names() {
    let names: Vec<&str> = graphs::graphs().iter().map(|(name, _)| *name).collect();
    for (index, name) in names.iter().enumerate() {
        assert!(!names[..index].contains(name), "{name} is listed twice");
    }
}

#[test]
fn a_model_without_any_allowed_configuration_has_log_partition_minus_infinity() {
    const NO: f64 = f64::NEG_INFINITY;
    let mut model = Model::new(&[2; 5]).unwrap();
    model.add_factor(&[0, 1], &[0.0, NO, NO, 0.0]).unwrap();
    model.add_factor(&[1, 2], &[0.0, NO, NO, 0.0]).unwrap();
    model.add_factor(&[0, 2], &[NO, 0.0, 0.0, NO]).unwrap();
    model.add_factor(&[3, 4], &[1.0, 0.0, 0.0, 1.0]).unwrap();
    let base = BaseModel::new(&model, []).unwrap();
    for (looks, support) in supports(&base) {
        for (name, bind) in ORACLES {
            let Some(mut oracle) = bind(&base, &support) else { continue };
            let tilt = vec![0.5; support.len()];
            for _ in 0..2 {
                let log_partition = oracle.tilted(&tilt, &mut vec![0.0; support.len()]);
                assert_eq!(log_partition, NO, "{name}, support: {looks}");
                assert_eq!(oracle.decode(&tilt, &mut [0; 5]), NO, "{name}, support: {looks}");
            }
        }
    }
}

#[test]
fn tilts_that_are_not_finite_do_not_panic() {
    for (_, model) in graphs::graphs() {
        let base = BaseModel::new(&model, []).unwrap();
        for (_, support) in supports(&base) {
            for (_, bind) in ORACLES {
                let Some(mut oracle) = bind(&base, &support) else { continue };
                for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut tilt = vec![0.0; support.len()];
                    tilt.iter_mut().step_by(2).for_each(|x| *x = value);
                    oracle.tilted(&tilt, &mut vec![0.0; support.len()]);
                    oracle.visit_marginals(Tables::All, &mut |_, _| ());
                    oracle.decode(&tilt, &mut vec![0; base.variables()]);
                }
            }
        }
    }
}

/// What energies may look at: nothing, single tables, sums of tables, some of each.
fn supports(base: &BaseModel) -> Vec<(&'static str, Support)> {
    let variables = base.variables();
    let every = 0..base.tables.len();
    let singly = |tables: &mut dyn Iterator<Item = usize>| {
        let mut support = Support::new();
        tables.for_each(|table| _ = support.add(vec![table], cells(base, table)));
        support
    };
    let mut mixed = summed(base, (0..variables).filter(|v| v % 3 != 1));
    for table in every.clone().skip(variables).step_by(2) {
        mixed.add(vec![table], cells(base, table));
    }
    vec![
        ("nothing", Support::new()),
        ("nodes", singly(&mut (0..variables))),
        ("sums of nodes", summed(base, 0..variables)),
        ("factors", singly(&mut every.clone().skip(variables))),
        ("sums of factors", summed(base, every.clone().skip(variables))),
        ("mixed", mixed),
        ("every table, last first", singly(&mut every.clone().rev())),
        ("the first table", singly(&mut every.clone().take(1))),
        ("the last table", singly(&mut every.rev().take(1))),
    ]
}

/// One block per size of table.
fn summed(base: &BaseModel, tables: impl Iterator<Item = usize>) -> Support {
    let mut by_size: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    tables.for_each(|table| by_size.entry(cells(base, table)).or_default().push(table));
    let mut support = Support::new();
    by_size.into_iter().for_each(|(cells, tables)| _ = support.add(tables, cells));
    support
}

fn cells(base: &BaseModel, table: usize) -> usize {
    base.tables[table].log_potentials.len()
}

/// Whether some allowed configuration passes through a cell. `[tables][cells]`
fn possible_cells(base: &BaseModel) -> Vec<Vec<bool>> {
    let mut flat = base.clone();
    for table in &mut flat.tables {
        for score in
            Arc::make_mut(&mut table.log_potentials).iter_mut().filter(|score| score.is_finite())
        {
            *score = 0.0;
        }
    }
    let mut enumerated = BruteForce::new(&flat, &Support::new());
    enumerated.tilted(&[], &mut []);
    let mut possible = Vec::new();
    enumerated.visit_marginals(Tables::All, &mut |_, values| {
        possible.push(values.iter().map(|&p| p > 0.0).collect());
    });
    possible
}

/// One oracle against enumeration, at several tilts one after the other.
struct Comparison<'a> {
    case: String,
    base: &'a BaseModel,
    /// `[tables][cells]`
    possible: &'a [Vec<bool>],
}

impl Comparison<'_> {
    fn run(&self, oracle: &mut dyn Oracle) {
        let support = oracle.support().clone();
        let mut reference = BruteForce::new(self.base, &support);
        let mut random = StdRng::seed_from_u64(support.len() as u64);
        let mut expected = vec![0.0; support.len()];
        let mut found = vec![f64::NAN; support.len()];
        // A repeated scale checks what was cached: before, between and after visits and decoding.
        for (round, scale) in [0.0, 1.0, 1.0, 50.0, 50.0, 1.0].into_iter().enumerate() {
            let tilt: Vec<f64> =
                expected.iter().map(|_| scale * random.random_range(-1.0..=1.0)).collect();
            let log_partition = oracle.tilted(&tilt, &mut found);
            let exact = reference.tilted(&tilt, &mut expected);
            self.close("log-partition", &[log_partition], &[exact], exact.abs().max(1.0));
            self.close("support marginals", &found, &expected, self.base.tables.len() as f64);
            self.check_blocks(&support, &found);
            if round != 1 {
                self.check_tables(oracle, &mut reference, Tables::All);
                self.check_tables(oracle, &mut reference, Tables::Nodes);
                oracle.visit_marginals(Tables::None, &mut |_, _| panic!("{}", self.case));
            }
            if round != 2 {
                self.check_map(oracle, &mut reference, &tilt);
            }
        }
    }

    fn check_blocks(&self, support: &Support, found: &[f64]) {
        for block in support.blocks() {
            let tables = block.tables.len() as f64;
            let total: f64 = found[block.range()].iter().sum();
            assert!((total - tables).abs() < 1e-14 * tables.max(4.0), "{}: {total}", self.case);
            for (cell, &value) in found[block.range()].iter().enumerate() {
                let possible = block.tables.iter().any(|&table| self.possible[table][cell]);
                assert!(value >= 0.0 && (possible || value == 0.0), "{}: {value}", self.case);
            }
        }
    }

    fn check_tables(&self, oracle: &mut dyn Oracle, reference: &mut BruteForce, tables: Tables) {
        let found = visited(oracle, tables);
        let expected = visited(reference, tables);
        assert_eq!(found.len(), expected.len(), "{}", self.case);
        for (table, (found, expected)) in found.iter().zip(&expected).enumerate() {
            self.close("table", found, expected, 1.0);
            let total: f64 = found.iter().sum();
            assert!((total - 1.0).abs() < 1e-14, "{}: table {table} sums to {total}", self.case);
            for (&value, &possible) in found.iter().zip(&self.possible[table]) {
                assert!(value >= 0.0 && (possible || value == 0.0), "{}: {value}", self.case);
            }
        }
        for (table, values) in self.base.tables.iter().zip(&found) {
            self.check_consistency(&table.scope, values, &found);
        }
    }

    /// A table's marginals sum to those of each of its variables.
    fn check_consistency(&self, scope: &[usize], values: &[f64], nodes: &[Vec<f64>]) {
        let cardinalities = &self.base.cardinalities;
        let shape: Vec<usize> = scope.iter().map(|&v| cardinalities[v]).collect();
        for &v in scope {
            let mut sums = vec![0.0; cardinalities[v]];
            let mut cells = values.iter();
            walk(&shape, &strides_within(&[v], scope, cardinalities), |state| {
                sums[state] += cells.next().unwrap();
            });
            for (sum, node) in sums.iter().zip(&nodes[v]) {
                assert!((sum - node).abs() < 1e-12, "{}: {sum} against {node}", self.case);
            }
        }
    }

    fn check_map(&self, oracle: &mut dyn Oracle, reference: &mut BruteForce, tilt: &[f64]) {
        let variables = self.base.variables();
        let mut assignment = vec![usize::MAX; variables];
        let score = oracle.decode(tilt, &mut assignment);
        let best = reference.decode(tilt, &mut vec![0; variables]);
        let direct = direct_score(self.base, oracle.support(), tilt, &assignment);
        assert!(score.is_finite(), "{}: MAP score {score}", self.case);
        self.close("MAP score", &[score, direct], &[best, best], best.abs().max(1.0));
    }

    fn close(&self, what: &str, found: &[f64], expected: &[f64], scale: f64) {
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() <= TOLERANCE * scale, "{}: {what} {f}, not {e}", self.case);
        }
    }
}

fn visited(oracle: &mut dyn Oracle, tables: Tables) -> Vec<Vec<f64>> {
    let mut visited = Vec::new();
    oracle.visit_marginals(tables, &mut |table, values| {
        assert_eq!(table, visited.len());
        visited.push(values.to_vec());
    });
    visited
}

fn direct_score(base: &BaseModel, support: &Support, tilt: &[f64], assignment: &[usize]) -> f64 {
    let block_of = support.block_of_table(base.tables.len());
    let scores = base.tables.iter().zip(block_of).map(|(table, block)| {
        let cell =
            table.scope.iter().fold(0, |cell, &v| cell * base.cardinalities[v] + assignment[v]);
        let tilted = block.map_or(0.0, |block| tilt[support.blocks()[block].start + cell]);
        table.log_potentials[cell] + tilted
    });
    scores.sum::<f64>() + base.constant
}

/// Enough cells in independent subtrees that several threads are used.
#[test]
fn threads_change_no_bit() {
    let mut model = Model::new(&[40; 14]).unwrap();
    let mut random = StdRng::seed_from_u64(4);
    let mut noise = || random.random_range(-1.0..1.0);
    let triples: Vec<Vec<usize>> = (0..6).map(|i| vec![0, 2 * i + 1, 2 * i + 2]).collect();
    for scope in &triples {
        let values: Vec<f64> = (0..40 * 40 * 40).map(|_| noise()).collect();
        model.add_factor(scope, &values).unwrap();
    }
    model.add_factor(&[3, 13], &(0..1600).map(|_| noise()).collect::<Vec<_>>()).unwrap();
    let base = BaseModel::new(&model, []).unwrap();
    let mut support = Support::new();
    support.add(vec![0, 5, 13], 40);
    for scope in &triples[..4] {
        support.add(vec![base.table_of(scope).unwrap()], 64_000);
    }
    let tilt: Vec<f64> = (0..support.len()).map(|i| (i % 7) as f64 * 0.1).collect();
    let answers = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut tree = JunctionTree::new(&base, &support).unwrap();
            let mut marginals = vec![0.0; support.len()];
            let mut all = Vec::new();
            for factor in [1.0, -2.0] {
                let tilt: Vec<f64> = tilt.iter().map(|t| factor * t).collect();
                all.push(tree.tilted(&tilt, &mut marginals));
                all.extend(&marginals);
                tree.visit_marginals(Tables::All, &mut |_, values| all.append(values));
            }
            all
        })
    });
    assert!(answers[0] == answers[1]);
    let start = 1 + 40;
    let total: f64 = answers[0][start..start + 64_000].iter().sum();
    assert!((total - 1.0).abs() < 1e-12);
}
