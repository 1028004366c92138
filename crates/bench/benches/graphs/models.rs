//! The models of the comparison, made from seeds.

use bethe_core::model::{BaseModel, Model};
use bethe_core::oracle::JunctionTree;
use bethe_core::{Energy, Penalty, Support};
use rand::rngs::StdRng;
use rand::seq::index::sample;
use rand::{Rng, SeedableRng};

/// Attributes, and the tables that potentials are on.
pub struct Shape {
    pub name: &'static str,
    pub sizes: Vec<usize>,
    pub scopes: Vec<Vec<usize>>,
}

impl Shape {
    /// Cells of a table.
    pub fn cells(&self, scope: &[usize]) -> usize {
        scope.iter().map(|&v| self.sizes[v]).product()
    }

    /// Cells of all tables.
    pub fn table_cells(&self) -> usize {
        self.scopes.iter().map(|scope| self.cells(scope)).sum()
    }

    /// A model without factors, and a table for each scope.
    pub fn base(&self) -> BaseModel {
        let model = Model::new(&self.sizes).expect("sizes");
        BaseModel::new(&model, self.scopes.iter().map(Vec::as_slice)).expect("a small model")
    }

    /// The tables of all scopes, in their order.
    pub fn support(&self, base: &BaseModel) -> Support {
        let mut support = Support::new();
        for scope in &self.scopes {
            let table = base.table_of(scope).expect("a table for each scope");
            support.add(vec![table], self.cells(scope));
        }
        support
    }

    /// Cells of the cliques of our junction tree.
    pub fn clique_cells(&self) -> usize {
        let tree = JunctionTree::new(&self.base(), &Support::new()).expect("narrow enough");
        tree.cliques().map(|clique| self.cells(clique)).sum()
    }

    /// Noisy counts of `total` records that a random model would show, one table per scope, as
    /// energies of weight `scale / deviation²`.
    pub fn measure(&self, total: f64, deviation: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = StdRng::seed_from_u64(seed);
        let base = self.base();
        let support = self.support(&base);
        let mut tree = JunctionTree::new(&base, &support).expect("narrow enough");
        let tilt: Vec<f64> = (0..support.len()).map(|_| random.random_range(-1.0..1.0)).collect();
        let mut marginals = vec![0.0; support.len()];
        bethe_core::Oracle::tilted(&mut tree, &tilt, &mut marginals);
        let mut noise = || {
            let (a, b): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            deviation * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        let table = |block: &bethe_core::support::Block| {
            marginals[block.range()].iter().map(|m| total * m + noise()).collect()
        };
        support.blocks().iter().map(table).collect()
    }

    /// Energies that ask for measured tables.
    pub fn energies(&self, tables: &[Vec<f64>], weight: f64, total: f64) -> Vec<Energy> {
        let energy = |(scope, target): (&Vec<usize>, &Vec<f64>)| Energy::TableMeasurement {
            weight,
            penalty: Penalty::Squared,
            scope: scope.clone(),
            target: target.clone(),
            total,
        };
        self.scopes.iter().zip(tables).map(energy).collect()
    }
}

/// Four models: 14 attributes and 22,000 cells of cliques, 50 and 75,000, one of 100³ cells among
/// 1.7 million, and 5.9 million.
pub fn all() -> Vec<Shape> {
    let mut random = StdRng::seed_from_u64(1);
    let census = vec![2, 16, 7, 6, 15, 5, 9, 2, 10, 4, 8, 12, 20, 2];
    let many = (0..50).map(|_| [2, 2, 3, 4, 5, 6, 8, 10, 12, 16][random.random_range(0..10)]);
    let many: Vec<usize> = many.collect();
    let [first, second] = [("14 attributes", census, 22_000), ("50 attributes", many, 75_000)]
        .map(|(name, sizes, limit)| grown(name, sizes, limit, &mut random));
    vec![
        first,
        second,
        wide("one clique of 100³", 1, 70, &mut random),
        wide("five cliques of 100³", 5, 90, &mut random),
    ]
}

/// Random tables of two and three attributes, as long as the cliques stay small.
fn grown(name: &'static str, sizes: Vec<usize>, limit: usize, random: &mut StdRng) -> Shape {
    let mut shape = Shape { name, sizes, scopes: Vec::new() };
    for _ in 0..400 {
        let count = if random.random_bool(0.2) { 3 } else { 2 };
        let mut scope = sample(random, shape.sizes.len(), count).into_vec();
        scope.sort_unstable();
        let within = |a: &[usize], b: &[usize]| a.iter().all(|v| b.contains(v));
        if shape.scopes.iter().any(|known| within(&scope, known)) {
            continue;
        }
        let before = shape.scopes.clone();
        shape.scopes.retain(|known| !within(known, &scope));
        shape.scopes.push(scope);
        if shape.clique_cells() > limit {
            shape.scopes = before;
        }
    }
    shape
}

/// Attributes of 100 values: tables of three that share two with another, and then of two in a
/// tree.
fn wide(name: &'static str, triples: usize, pairs: usize, random: &mut StdRng) -> Shape {
    let mut scopes = vec![vec![0, 1, 2]];
    let mut next = 3;
    for _ in 1..triples {
        let other = scopes[random.random_range(0..scopes.len())].clone();
        let mut scope: Vec<usize> =
            sample(random, 3, 2).into_iter().map(|place| other[place]).collect();
        scope.sort_unstable();
        scope.push(next);
        scopes.push(scope);
        next += 1;
    }
    for _ in 0..pairs {
        scopes.push(vec![random.random_range(0..next), next]);
        next += 1;
    }
    Shape { name, sizes: vec![100; next], scopes }
}
