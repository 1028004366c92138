//! Tables of the model in their cliques: what never changes from call to call.
//!
//! A large clique may hold hundreds of small tables. Each of them would take a walk over the whole
//! clique, to add it and again to read its marginals. So tables that fit into a table much smaller
//! than the clique's are joined: they are added up there first, and read from sums over it.

use std::sync::Arc;

use pulp::Simd;

use super::passes::exponentiate;
use super::projection::{Projection, Projections};
use super::structure::{Home, Node, SAFE, Structure};
use crate::cancel::Cancel;
use crate::model::table::strides_within;
use crate::model::{BaseModel, ModelError};
use crate::vector::dispatch;

/// Log-potentials of a table, or of several that are joined.
#[derive(Clone, Debug)]
pub(super) struct Static {
    pub projection: usize,
    /// Shared with the base model where nothing is reordered or added.
    pub log_potentials: Arc<Vec<f64>>,
    pub scope: Vec<usize>,
}

/// A table over the variables of several tables of one clique.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    /// Ascending.
    pub scope: Vec<usize>,
    /// How it lies in the clique's table.
    pub projection: usize,
    pub cells: usize,
}

/// A joined table has at most one cell for this many of its clique.
const FEWER: usize = 64;

/// How far a sum of log-potentials reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub highest: f64,
    /// The least that is allowed.
    lowest: f64,
}

impl Reach {
    /// The least below the greatest. Where nothing is allowed, or sums overflow, it is `-∞`, and
    /// logarithms say so.
    pub fn depth(self) -> f64 {
        if self.highest.is_finite() { self.lowest - self.highest } else { f64::NEG_INFINITY }
    }
}

impl Structure {
    /// Gives every table of the base model a place in its clique, or in a table joined with others.
    pub(super) fn place_tables(&mut self, base: &BaseModel, nodes: &[usize], number: &[usize]) {
        let stated = |table: usize| -> Vec<usize> {
            base.tables[table].scope.iter().map(|&v| number[v]).collect()
        };
        let ascending = |table: usize| {
            let mut scope = stated(table);
            scope.sort_unstable();
            scope
        };
        let scopes: Vec<Vec<usize>> = (0..base.tables.len()).map(ascending).collect();
        let joined = self.join_tables(nodes, &scopes);
        for (table, scope) in scopes.into_iter().enumerate() {
            let (node, joined) = (nodes[table], joined[table]);
            let outer = match joined {
                Some(place) => self.nodes[node].joined[place].scope.clone(),
                None => self.nodes[node].scope.clone(),
            };
            let own = stated(table);
            let order = (own != scope).then(|| self.order(&own, &scope));
            let projection = self.projection(&scope, &outer);
            let cells = base.tables[table].log_potentials.len();
            self.homes.push(Home { node, joined, projection, cells, scope, order });
        }
        self.add_statics(base);
    }

    /// Which joined table of its clique each table goes into, if any: the first that has room.
    fn join_tables(&mut self, nodes: &[usize], scopes: &[Vec<usize>]) -> Vec<Option<usize>> {
        let mut joined = vec![None; scopes.len()];
        let mut large: Vec<usize> =
            (0..scopes.len()).filter(|&table| self.nodes[nodes[table]].is_large()).collect();
        // Tables of one clique one after the other, those over the same variables together.
        large.sort_by_key(|&table| (nodes[table], &scopes[table]));
        for tables in large.chunk_by(|&a, &b| nodes[a] == nodes[b]) {
            let node = nodes[tables[0]];
            let room = self.nodes[node].cells / FEWER;
            let mut unions: Vec<Vec<usize>> = Vec::new();
            for &table in tables.iter().filter(|&&table| self.cells(&scopes[table]) <= room) {
                let wider = unions.iter().map(|union| united(union, &scopes[table]));
                let found = wider.enumerate().find(|(_, union)| self.cells(union) <= room);
                joined[table] = Some(match found {
                    Some((place, union)) => {
                        unions[place] = union;
                        place
                    }
                    None => {
                        unions.push(scopes[table].clone());
                        unions.len() - 1
                    }
                });
            }
            let outer = self.nodes[node].scope.clone();
            for scope in unions {
                let (projection, cells) = (self.projection(&scope, &outer), self.cells(&scope));
                self.nodes[node].joined.push(Joined { scope, projection, cells });
            }
        }
        joined
    }

    fn add_statics(&mut self, base: &BaseModel) {
        let mut sums: Vec<Vec<Option<Vec<f64>>>> =
            self.nodes.iter().map(|node| vec![None; node.joined.len()]).collect();
        for (home, table) in self.homes.iter().zip(&base.tables) {
            if table.log_potentials.iter().all(|&value| value == 0.0) {
                continue;
            }
            let log_potentials = match &home.order {
                None => Arc::clone(&table.log_potentials),
                Some(order) => {
                    let values = order.iter().map(|&cell| table.log_potentials[cell as usize]);
                    Arc::new(values.collect())
                }
            };
            let Some(place) = home.joined else {
                let (projection, scope) = (home.projection, home.scope.clone());
                self.nodes[home.node].statics.push(Static { projection, log_potentials, scope });
                continue;
            };
            let outer = &self.nodes[home.node].joined[place];
            let sum = sums[home.node][place].get_or_insert_with(|| vec![0.0; outer.cells]);
            self.projections[home.projection].add(&log_potentials, sum);
        }
        for (node, sums) in self.nodes.iter_mut().zip(sums) {
            for (joined, sum) in node.joined.iter().zip(sums) {
                let Some(sum) = sum else { continue };
                let (projection, scope) = (joined.projection, joined.scope.clone());
                node.statics.push(Static { projection, log_potentials: Arc::new(sum), scope });
            }
        }
    }

    /// The product of each clique's tables, where it is needed in every call.
    pub(super) fn multiply_statics(&mut self, cancel: &Cancel) -> Result<(), ModelError> {
        let Self { nodes, projections, .. } = self;
        for node in nodes.iter_mut().filter(|node| node.tilted && !node.statics.is_empty()) {
            let mut product = std::mem::take(&mut node.product);
            product.resize(node.cells, 0.0);
            let multiply = Multiply { projections, node, product: &mut product, cancel };
            let reach = dispatch(multiply).ok_or(ModelError::Cancelled)?;
            node.shift = reach.highest;
            node.lowest = reach.depth();
            if node.lowest >= -SAFE {
                node.product = product;
            }
        }
        Ok(())
    }

    /// Divides what the model states by `heat` from now on.
    pub(super) fn set_heat(&mut self, heat: f64) {
        self.heat = heat;
        self.nodes.iter_mut().for_each(|node| node.part = 1.0 / heat);
        self.multiply_statics(&Cancel::never()).expect("nothing cancels it");
    }

    pub(super) fn cells(&self, scope: &[usize]) -> usize {
        scope.iter().map(|&v| self.cardinalities[v]).product()
    }

    pub(super) fn projection(&mut self, inner: &[usize], outer: &[usize]) -> usize {
        let strides = strides_within(inner, outer, &self.cardinalities);
        let shape = outer.iter().map(|&v| self.cardinalities[v]).collect();
        self.projections.add(shape, strides)
    }
}

/// The variables of two ascending scopes, ascending.
pub(super) fn united(first: &[usize], second: &[usize]) -> Vec<usize> {
    let mut union = [first, second].concat();
    union.sort_unstable();
    union.dedup();
    union
}

/// A clique's static tables: their product, the greatest entry 1, unless it leaves the range of a
/// double.
struct Multiply<'a> {
    projections: &'a Projections,
    node: &'a Node,
    product: &'a mut [f64],
    cancel: &'a Cancel,
}

impl pulp::WithSimd for Multiply<'_> {
    /// How far the logarithms reach; none if it was cancelled.
    type Output = Option<Reach>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<Reach> {
        let Self { projections, node, product, cancel } = self;
        let reach = add_up(projections, node, product, cancel)?;
        if reach.depth() >= -SAFE {
            for (block, cells) in projections[node.up].blocks() {
                if Projection::is_time_to_look(block) && cancel.is_cancelled() {
                    return None;
                }
                exponentiate(simd, reach.highest, &mut product[cells]);
            }
        }
        Some(reach)
    }
}

/// Writes the sums of a clique's static log-potentials; none if it was cancelled.
#[inline(always)]
pub(super) fn add_up(
    projections: &Projections,
    node: &Node,
    sums: &mut [f64],
    cancel: &Cancel,
) -> Option<Reach> {
    let mut reach = Reach { highest: f64::NEG_INFINITY, lowest: f64::INFINITY };
    for (block, cells) in projections[node.up].blocks() {
        if Projection::is_time_to_look(block) && cancel.is_cancelled() {
            return None;
        }
        let target = &mut sums[cells];
        fill_block(projections, node, block, target);
        for &sum in target.iter() {
            reach.highest = if sum > reach.highest { sum } else { reach.highest };
            let allowed = if sum > f64::NEG_INFINITY { sum } else { f64::INFINITY };
            reach.lowest = if allowed < reach.lowest { allowed } else { reach.lowest };
        }
    }
    Some(reach)
}

/// Writes the sums of a clique's static log-potentials in one block of its table.
#[inline(always)]
pub(super) fn fill_block(projections: &Projections, node: &Node, block: usize, target: &mut [f64]) {
    let Some((first, others)) = node.statics.split_first() else { return target.fill(0.0) };
    let (part, of) = (node.part, |table: &Static| &projections[table.projection]);
    of(first).spread(block, &first.log_potentials, target, |cell, value| *cell = part * value);
    for table in others {
        of(table).spread(block, &table.log_potentials, target, |cell, value| *cell += part * value);
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::model::Model;
    use crate::oracle::{BruteForce, JunctionTree, Limits, Oracle, Tables};
    use crate::support::Support;

    /// All pairs of 14 variables and some triples: one clique, large enough to join tables.
    fn dense(reach: f64) -> BaseModel {
        let mut random = StdRng::seed_from_u64(5);
        let mut model = Model::new(&[2; 14]).unwrap();
        for a in 0..14 {
            for b in a + 1..14 {
                let table: [f64; 4] = std::array::from_fn(|_| random.random_range(-reach..reach));
                model.add_factor(&[b, a], &table).unwrap();
            }
        }
        for triple in [[0, 5, 9], [2, 3, 13], [11, 6, 1]] {
            let mut table: [f64; 8] = std::array::from_fn(|_| random.random_range(-reach..reach));
            table[3] = f64::NEG_INFINITY;
            model.add_factor(&triple, &table).unwrap();
        }
        BaseModel::new(&model, []).unwrap()
    }

    #[test]
    fn joined_tables_agree_with_brute_force() {
        // Within the range of a double, and far beyond it.
        for reach in [0.4, 200.0] {
            let base = dense(reach);
            for tables in [vec![], vec![3, 7, 40]] {
                let mut support = Support::new();
                for table in tables {
                    support.add(vec![table], base.tables[table].log_potentials.len());
                }
                let tilt: Vec<f64> = (0..support.len()).map(|i| 0.3 * i as f64 - 0.5).collect();
                let mut tree = JunctionTree::new(&base, &support).unwrap();
                let mut exact = BruteForce::new(&base, &support);
                let (mut found, mut expected) = (tilt.clone(), tilt.clone());
                let sums = [tree.tilted(&tilt, &mut found), exact.tilted(&tilt, &mut expected)];
                assert!((sums[0] - sums[1]).abs() < 1e-10 * sums[1].abs().max(1.0), "{sums:?}");
                let pairs = found.iter().zip(&expected);
                assert!(pairs.clone().all(|(f, e)| (f - e).abs() < 1e-10), "{reach}");
                let mut all = Vec::new();
                exact.visit_marginals(Tables::All, &mut |_, values| all.push(values.to_vec()));
                tree.visit_marginals(Tables::All, &mut |table, values| {
                    let pairs = values.iter().zip(&all[table]);
                    assert!(pairs.clone().all(|(f, e)| (f - e).abs() < 1e-10), "{table}");
                });
                let mut best = [vec![0; 14], vec![0; 14]];
                let [own, other] = &mut best;
                let scores = [tree.decode(&tilt, own), exact.decode(&tilt, other)];
                assert!((scores[0] - scores[1]).abs() < 1e-9 * scores[1].abs().max(1.0));
                assert_eq!(best[0], best[1]);
            }
        }
    }

    #[test]
    fn a_clique_of_many_tables_has_few_to_add() {
        let structure = Structure::new(&dense(0.4), &Support::new(), &Limits::default()).unwrap();
        let node = &structure.nodes[0];
        assert_eq!((structure.nodes.len(), node.cells), (1, 1 << 14));
        assert!(node.statics.len() < 20, "{} tables", node.statics.len());
        assert!(node.joined.iter().all(|joined| joined.cells * FEWER <= node.cells));
        // Nothing was multiplied that one pass alone needs.
        assert!(node.product.is_empty());
    }

    #[test]
    fn sums_are_left_off_in_the_middle_of_a_clique() {
        let mut model = Model::new(&[2; 17]).unwrap();
        model.add_factor(&(0..17).collect::<Vec<_>>(), &vec![0.5; 1 << 17]).unwrap();
        let base = BaseModel::new(&model, []).unwrap();
        let structure = Structure::new(&base, &Support::new(), &Limits::default()).unwrap();
        let (cancel, mut sums) = (Cancel::new(), vec![0.0; 1 << 17]);
        let node = &structure.nodes[0];
        assert!(add_up(&structure.projections, node, &mut sums, &cancel).is_some());
        cancel.cancel();
        sums.fill(0.0);
        assert!(add_up(&structure.projections, node, &mut sums, &cancel).is_none());
        let done = sums.iter().filter(|&&sum| sum != 0.0).count();
        assert!(done > 0 && done < 1 << 17, "{done}");
    }
}
