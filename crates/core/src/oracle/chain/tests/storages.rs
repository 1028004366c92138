//! Every storage on every instruction set of this machine.

use std::sync::Arc;

use pulp::Simd;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{FORBIDDEN, all_marginals, assert_close};
use crate::model::{BaseModel, Model};
use crate::oracle::chain::aligned::{Aligned, padded};
use crate::oracle::chain::edges::add_outer_product;
use crate::oracle::chain::layout::Layout;
use crate::oracle::chain::product::{
    Kernel, MaxSum, Operand, Semiring, Store, SumProduct, WithKernel, with_kernel,
    with_transposed_kernel,
};
use crate::oracle::chain::table::{Storage, lanes};
use crate::oracle::chain::{Chain, ChainModel, Link, Transitions};
use crate::oracle::{BruteForce, Oracle};
use crate::support::Support;

const SHAPES: [(usize, usize); 8] =
    [(1, 1), (2, 9), (9, 2), (8, 8), (30, 17), (17, 30), (64, 64), (70, 133)];

fn instruction_sets() -> Vec<pulp::Arch> {
    #[allow(unused_mut)]
    let mut sets = vec![pulp::Arch::Scalar, pulp::Arch::new()];
    #[cfg(target_arch = "x86_64")]
    sets.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
    sets
}

/// Which entries are allowed. `[rows][columns]`
fn patterns(rng: &mut StdRng, (rows, columns): (usize, usize)) -> Vec<(&'static str, Vec<bool>)> {
    let (row, column) = (rng.random_range(0..rows), rng.random_range(0..columns));
    let mut pattern = |allowed: &dyn Fn(usize, usize) -> bool, density: f64| {
        let cells = (0..rows * columns).map(|cell| (cell / columns, cell % columns));
        cells.map(|(i, j)| allowed(i, j) || rng.random_bool(density)).collect::<Vec<bool>>()
    };
    vec![
        ("nothing", pattern(&|_, _| false, 0.0)),
        ("everything", pattern(&|_, _| true, 0.0)),
        ("a diagonal", pattern(&|i, j| i == j, 0.0)),
        ("a few, with empty rows and columns", pattern(&|_, _| false, 0.02)),
        ("a tenth", pattern(&|_, _| false, 0.1)),
        ("a half", pattern(&|_, _| false, 0.5)),
        ("one full column", pattern(&|_, j| j == column, 0.05)),
        ("one full row", pattern(&|i, _| i == row, 0.05)),
    ]
}

/// The allowed entries of a pattern, with log-potential 0.
fn allowed(pattern: &[bool], columns: usize) -> Transitions {
    let log = |&allowed: &bool| if allowed { 0.0 } else { f64::NEG_INFINITY };
    Transitions::of_dense(columns, &pattern.iter().map(log).collect::<Vec<f64>>())
}

fn layouts(shape: (usize, usize), lanes: usize, pattern: &[bool]) -> Vec<Layout> {
    let (rows, columns) = shape;
    let rows_of = allowed(pattern, columns).transposed();
    let sparse = [
        Layout::blocks(rows, columns, lanes, &rows_of),
        Layout::picks(rows, columns, lanes, &rows_of),
    ];
    [Layout::dense(rows, columns, lanes)].into_iter().chain(sparse.map(Option::unwrap)).collect()
}

#[test]
fn every_storage_holds_each_allowed_entry_once() {
    let mut rng = StdRng::seed_from_u64(1);
    for shape in SHAPES {
        for (name, pattern) in patterns(&mut rng, shape) {
            for lanes in [1, 2, 4, 8] {
                for layout in layouts(shape, lanes, &pattern) {
                    let mut slots = vec![None; pattern.len()];
                    let mut taken = vec![false; layout.slots()];
                    layout.for_each_entry(|i, j, slot| {
                        assert!(slots[i * shape.1 + j].replace(slot).is_none(), "{name}");
                        assert!(!std::mem::replace(&mut taken[slot], true), "{name}");
                    });
                    let missing = pattern.iter().zip(&slots).any(|(&a, slot)| a && slot.is_none());
                    assert!(!missing, "{name} {layout:?}");
                    for row in 0..if layout.is_dense() { shape.0 } else { 0 } {
                        layout.for_each_in_row(row, |column, slot| {
                            let cell = slots[row * shape.1 + column];
                            assert_eq!(cell, Some(slot), "{name} {layout:?}");
                        });
                    }
                    for column in 0..shape.1 {
                        layout.for_each_in_column(column, |row, slot| {
                            let cell = &mut slots[row * shape.1 + column];
                            assert_eq!(cell.take(), Some(slot), "{name} {layout:?}");
                        });
                    }
                    assert!(slots.iter().all(Option::is_none), "{name} {layout:?}");
                }
            }
        }
    }
}

#[test]
fn picks_of_a_scattered_tenth_are_half_full() {
    let mut rng = StdRng::seed_from_u64(2);
    for states in [128, 256] {
        let pattern: Vec<bool> = (0..states * states).map(|_| rng.random_bool(0.1)).collect();
        let rows_of = allowed(&pattern, states).transposed();
        let layout = Layout::picks(states, states, 8, &rows_of).unwrap();
        let entries = pattern.iter().filter(|&&allowed| allowed).count();
        assert!(2 * entries > layout.slots(), "{entries} entries in {}", layout.slots());
    }
}

/// A product in both semirings, and an outer product.
struct Products<'a> {
    layout: &'a Layout,
    log_values: &'a [f64],
    /// Not a number in the padding.
    x: &'a [f64],
    y: &'a [f64],
}

struct Multiply<'a, R> {
    rows: usize,
    x: &'a [f64],
    product: &'a mut [f64],
    _semiring: R,
}

impl<S: Simd, R: Semiring> WithKernel<S> for Multiply<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) {
        let mut sink = Store::<S>(S::as_mut_simd_f64s(self.product).0);
        kernel.multiply::<R>(simd, Operand::new(self.rows, self.x), &mut sink);
    }
}

impl pulp::WithSimd for Products<'_> {
    /// `Σ x e`, `max x + log e`, `x yᵀ` in slots, and where the layout is dense `Σ e y`.
    type Output = [Aligned; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Aligned; 4] {
        let Self { layout, log_values, x, y } = self;
        let mut values = Aligned::filled(log_values.len(), 0.0);
        values.iter_mut().zip(log_values).for_each(|(value, log)| *value = log.exp());
        let (rows, width) = (layout.rows, padded(layout.columns));
        let mut sums = Aligned::filled(width, f64::NAN);
        let sum = Multiply { rows, x, product: &mut sums, _semiring: SumProduct };
        with_kernel(simd, layout, &values, sum);
        let mut maxima = Aligned::filled(width, f64::NAN);
        let maximum = Multiply { rows, x, product: &mut maxima, _semiring: MaxSum };
        with_kernel(simd, layout, log_values, maximum);
        let mut outer = Aligned::filled(layout.slots(), 1.0);
        add_outer_product(simd, layout, (x, y), 0.5, &mut outer);
        let mut transposed = Aligned::filled(padded(rows), f64::NAN);
        if layout.is_dense() {
            let product = &mut transposed;
            let sum = Multiply { rows: layout.columns, x: y, product, _semiring: SumProduct };
            with_transposed_kernel(simd, layout, &values, sum);
        }
        [sums, maxima, outer, transposed]
    }
}

#[test]
fn every_storage_multiplies_like_a_loop() {
    let mut rng = StdRng::seed_from_u64(3);
    for shape in SHAPES {
        let (rows, columns) = shape;
        for (name, pattern) in patterns(&mut rng, shape) {
            let table: Vec<f64> = (0..pattern.len()).map(|_| rng.random_range(-3.0..3.0)).collect();
            let at = |i: usize, j: usize| {
                let cell = i * columns + j;
                if pattern[cell] { table[cell] } else { FORBIDDEN }
            };
            let mut x = Aligned::filled(padded(rows), f64::NAN);
            x[..rows].fill_with(|| rng.random_range(0.0..1.0));
            let mut y = Aligned::filled(padded(columns), 0.0);
            y[..columns].fill_with(|| rng.random_range(0.0..1.0));
            for instructions in instruction_sets() {
                for layout in layouts(shape, lanes(instructions), &pattern) {
                    let log_values = layout.pack(FORBIDDEN, at);
                    let products =
                        Products { layout: &layout, log_values: &log_values, x: &x, y: &y };
                    let [sums, maxima, outer, transposed] = instructions.dispatch(products);
                    for j in 0..columns {
                        let sum: f64 = (0..rows).map(|i| x[i] * at(i, j).exp()).sum();
                        let maximum = (0..rows).map(|i| x[i] + at(i, j)).fold(FORBIDDEN, f64::max);
                        assert!((sums[j] - sum).abs() <= 1e-14 * sum, "{name} {layout:?}");
                        assert_eq!(maxima[j], maximum, "{name} {layout:?}");
                    }
                    for i in 0..if layout.is_dense() { rows } else { 0 } {
                        let sum: f64 = (0..columns).map(|j| at(i, j).exp() * y[j]).sum();
                        assert!((transposed[i] - sum).abs() <= 1e-14 * sum, "{name} {layout:?}");
                    }
                    layout.for_each_entry(|i, j, slot| {
                        let expected = 1.0 + 0.5 * x[i] * y[j];
                        assert!((outer[slot] - expected).abs() < 1e-15, "{name} {layout:?}");
                    });
                }
            }
        }
    }
}

/// A chain of random tables, a fifth of whose entries is allowed, and a support that tilts a table
/// of each kind.
struct Problem {
    states: Vec<usize>,
    nodes: Vec<Vec<f64>>,
    edges: Vec<Vec<f64>>,
    support: Support,
    tilt: Vec<f64>,
}

impl Problem {
    fn new(rng: &mut StdRng, states: Vec<usize>, scale: f64) -> Self {
        let mut table = |cells: usize, allowed: f64| -> Vec<f64> {
            let mut entry = |_| {
                let value = rng.random_range(-scale..=scale);
                if rng.random_bool(allowed) { value } else { FORBIDDEN }
            };
            (0..cells).map(&mut entry).collect()
        };
        let nodes: Vec<_> = states.iter().map(|&k| table(k, 1.0)).collect();
        let edges: Vec<_> = states.windows(2).map(|pair| table(pair[0] * pair[1], 0.2)).collect();
        let mut support = Support::new();
        support.add(vec![1], states[1]);
        support.add(vec![states.len()], states[0] * states[1]);
        let tilt = table(support.len(), 1.0);
        Self { states, nodes, edges, support, tilt }
    }

    fn chain(&self, storage: Storage, instructions: pulp::Arch) -> Chain {
        let links = (0..self.edges.len()).map(Link::Table).collect();
        let how = (storage, instructions);
        let model = ChainModel::stored(self.states.clone(), links, &self.edges, how).unwrap();
        Chain::new(Arc::new(model), &self.nodes.concat(), self.support.clone()).unwrap()
    }

    fn base(&self) -> BaseModel {
        let mut model = Model::new(&self.states).unwrap();
        for (variable, table) in self.nodes.iter().enumerate() {
            model.add_factor(&[variable], table).unwrap();
        }
        for (variable, table) in self.edges.iter().enumerate() {
            model.add_factor(&[variable, variable + 1], table).unwrap();
        }
        BaseModel::new(&model, []).unwrap()
    }

    /// Asks chains of every storage on every instruction set, in both domains, for all that
    /// `reference` knows; returns whether anything is allowed.
    fn assert_all_match(&self, reference: &mut dyn Oracle) -> bool {
        let mut expected = vec![0.0; self.tilt.len()];
        let log_partition = reference.tilted(&self.tilt, &mut expected);
        let tables = all_marginals(reference);
        let mut best = vec![0; self.states.len()];
        let score = reference.decode(&self.tilt, &mut best);
        let scale = log_partition.abs().max(1.0);
        for instructions in instruction_sets() {
            for (storage, log) in [Storage::Dense, Storage::Sparse, Storage::Automatic]
                .into_iter()
                .flat_map(|storage| [(storage, false), (storage, true)])
            {
                let mut chain = self.chain(storage, instructions);
                chain.always_log_domain(log);
                let mut found = vec![7.0; self.tilt.len()];
                let value = chain.tilted(&self.tilt, &mut found);
                let mut states = vec![0; self.states.len()];
                if log_partition == FORBIDDEN {
                    assert_eq!(value, FORBIDDEN);
                    assert_eq!(chain.decode(&self.tilt, &mut states), FORBIDDEN);
                    continue;
                }
                assert!((value - log_partition).abs() <= 1e-12 * scale, "{value} {log_partition}");
                assert_close(&found, &expected, 1e-10, "support marginal");
                for (found, expected) in all_marginals(&mut chain).iter().zip(&tables) {
                    assert_close(found, expected, 1e-10, "marginal");
                }
                let found = chain.decode(&self.tilt, &mut states);
                assert!((found - score).abs() <= 1e-12 * scale, "{found} {score}");
                assert_eq!(states, best);
            }
        }
        log_partition > FORBIDDEN
    }
}

#[test]
fn every_storage_matches_brute_force() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut allowed = 0;
    for round in 0..120 {
        let states = (0..3).map(|_| rng.random_range(2..=12)).collect();
        let problem = Problem::new(&mut rng, states, [3.0, 40.0, 700.0][round % 3]);
        let base = problem.base();
        let mut reference = BruteForce::new(&base, &problem.support);
        allowed += usize::from(problem.assert_all_match(&mut reference));
    }
    assert!(allowed > 60, "only {allowed} of 120 allow anything");
}

#[test]
fn every_storage_matches_dense_storage_in_the_log_domain() {
    let mut rng = StdRng::seed_from_u64(5);
    for scale in [3.0, 40.0, 700.0] {
        for states in [vec![64; 4], vec![70, 33, 130, 8, 41], vec![5, 100, 17, 64, 9]] {
            let problem = Problem::new(&mut rng, states, scale);
            let mut reference = problem.chain(Storage::Dense, pulp::Arch::Scalar);
            reference.always_log_domain(true);
            assert!(problem.assert_all_match(&mut reference));
        }
    }
}

#[test]
fn of_equally_good_paths_every_storage_decodes_the_same() {
    let mut rng = StdRng::seed_from_u64(6);
    for states in [vec![64; 4], vec![30, 33, 70, 8, 41]] {
        let mut problem = Problem::new(&mut rng, states, 1.0);
        let tables = problem.nodes.iter_mut().chain(&mut problem.edges);
        for value in tables.chain([&mut problem.tilt]).flatten() {
            *value = value.round();
        }
        let mut reference = problem.chain(Storage::Dense, pulp::Arch::Scalar);
        assert!(problem.assert_all_match(&mut reference));
    }
}
