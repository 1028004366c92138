//! Greedy elimination orders: fewest added edges first, or smallest table first; a seed breaks
//! ties.
//!
//! The number of edges that eliminating a variable would add is kept up to date for every variable,
//! so nothing is counted twice, and a hub with many thousands of neighbours is cheap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::cancel::Cancel;
use crate::model::BaseModel;

/// Steps per unit of log₂. Weights are whole numbers, so sums stay exact after subtraction, and 2³⁰
/// variables of 2³² states do not overflow.
const WEIGHT_STEPS: f64 = (1u64 << 24) as f64;

/// What the next variable to eliminate minimises; the other breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heuristic {
    Fill,
    Weight,
}

/// Variables in the order they left the graph, with the neighbours they then had.
#[derive(Clone, Debug)]
pub(super) struct Elimination {
    /// `[variables]`
    pub order: Vec<usize>,
    /// Neighbours of each variable when it left. `[variables]`
    pub neighbours: Vec<Vec<usize>>,
    /// Whether no edge had to be added, so that no other order makes smaller cliques.
    pub perfect: bool,
}

/// The graph of variables that share a table, shrinking as they are eliminated.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// `[variables]`
    neighbours: Vec<FxHashSet<usize>>,
    /// Pairs of neighbours that are not neighbours of each other; counted when elimination starts.
    /// `[variables]`
    fill: Vec<u64>,
    /// log₂ of the size of the table over a variable and its neighbours, in steps. `[variables]`
    weight: Vec<u64>,
    /// log₂ of the number of states, in steps. `[variables]`
    own_weight: Vec<u64>,
}

impl Graph {
    pub fn new(base: &BaseModel) -> Self {
        let mut neighbours = vec![FxHashSet::default(); base.variables()];
        for table in &base.tables {
            for (i, &a) in table.scope.iter().enumerate() {
                for &b in &table.scope[i + 1..] {
                    neighbours[a].insert(b);
                    neighbours[b].insert(a);
                }
            }
        }
        let own_weight: Vec<u64> = base
            .cardinalities
            .iter()
            .map(|&k| ((k as f64).log2() * WEIGHT_STEPS).round() as u64)
            .collect();
        let weight = |(v, around): (usize, &FxHashSet<usize>)| {
            own_weight[v] + around.iter().map(|&u| own_weight[u]).sum::<u64>()
        };
        let weight = neighbours.iter().enumerate().map(weight).collect();
        Self { neighbours, fill: Vec::new(), weight, own_weight }
    }

    /// Variables for which any junction tree of this graph needs a table at least as large as
    /// theirs.
    ///
    /// Any tree has a leaf clique that holds some variable and all its neighbours. That is true of
    /// every part of the graph; take the part whose lightest such table is heaviest, by always
    /// removing the lightest.
    pub fn widest_core(&self) -> Vec<usize> {
        let mut weight = self.weight.clone();
        let mut removed = vec![false; weight.len()];
        let mut queue: BinaryHeap<_> = weight.iter().copied().zip(0..).map(Reverse).collect();
        let mut heaviest = 0;
        let mut core = Vec::new();
        while let Some(Reverse((lightest, v))) = queue.pop() {
            if removed[v] || lightest != weight[v] {
                continue;
            }
            let left = || self.neighbours[v].iter().copied().filter(|&u| !removed[u]);
            if lightest > heaviest {
                heaviest = lightest;
                core.clear();
                core.extend(left().chain([v]));
            }
            for u in left() {
                weight[u] -= self.own_weight[v];
                queue.push(Reverse((weight[u], u)));
            }
            removed[v] = true;
        }
        core
    }

    /// Ties of the heuristic are broken by the variables' numbers, shuffled unless the seed is 0. `None` if it is cancelled.
    pub fn eliminate(
        mut self,
        heuristic: Heuristic,
        seed: u64,
        cancel: &Cancel,
    ) -> Option<Elimination> {
        self.fill = missing_pairs(&self.neighbours, cancel)?;
        let variables = self.neighbours.len();
        let key = |graph: &Self, v: usize| match heuristic {
            Heuristic::Fill => (graph.fill[v], graph.weight[v], shuffled(v, seed), v),
            Heuristic::Weight => (graph.weight[v], graph.fill[v], shuffled(v, seed), v),
        };
        let mut queue: BinaryHeap<_> = (0..variables).map(|v| Reverse(key(&self, v))).collect();
        let mut eliminated = vec![false; variables];
        let mut changed = Changed { list: Vec::new(), marked: vec![false; variables] };
        let mut order = Vec::with_capacity(variables);
        let mut neighbours = vec![Vec::new(); variables];
        let mut perfect = true;
        while let Some(Reverse(entry)) = queue.pop() {
            let v = entry.3;
            // A variable is queued again whenever its key changes; older entries are void.
            if eliminated[v] || entry != key(&self, v) {
                continue;
            }
            if cancel.is_cancelled() {
                return None;
            }
            eliminated[v] = true;
            perfect &= self.fill[v] == 0;
            neighbours[v] = self.remove(v, &mut changed);
            order.push(v);
            for u in changed.list.drain(..) {
                changed.marked[u] = false;
                if !eliminated[u] {
                    queue.push(Reverse(key(&self, u)));
                }
            }
        }
        Some(Elimination { order, neighbours, perfect })
    }

    /// Joins the neighbours of `v` to each other, removes `v` and returns them.
    fn remove(&mut self, v: usize, changed: &mut Changed) -> Vec<usize> {
        let mut around: Vec<usize> = self.neighbours[v].iter().copied().collect();
        around.sort_unstable();
        if self.fill[v] > 0 {
            for (i, &a) in around.iter().enumerate() {
                for &b in &around[i + 1..] {
                    if !self.neighbours[a].contains(&b) {
                        self.join(a, b, changed);
                    }
                }
            }
        }
        for &u in &around {
            // The neighbours of v are now neighbours of each other, so the pairs (v, w) that u was
            // missing are those with w outside of them.
            self.fill[u] -= (self.neighbours[u].len() - around.len()) as u64;
            self.weight[u] -= self.own_weight[v];
            self.neighbours[u].remove(&v);
            changed.mark(u);
        }
        self.neighbours[v] = FxHashSet::default();
        around
    }

    fn join(&mut self, a: usize, b: usize, changed: &mut Changed) {
        let shared = shared_neighbours(&self.neighbours, a, b);
        for &w in &shared {
            self.fill[w] -= 1;
            changed.mark(w);
        }
        for (from, to) in [(a, b), (b, a)] {
            self.fill[from] += (self.neighbours[from].len() - shared.len()) as u64;
            self.weight[from] += self.own_weight[to];
            changed.mark(from);
        }
        self.neighbours[a].insert(b);
        self.neighbours[b].insert(a);
    }
}

/// A pseudo-random number, by the finaliser of SplitMix64; 0 for the seed 0.
fn shuffled(variable: usize, seed: u64) -> u64 {
    if seed == 0 {
        return 0;
    }
    let mut z = (variable as u64).wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Variables whose keys changed, each once.
struct Changed {
    list: Vec<usize>,
    /// `[variables]`
    marked: Vec<bool>,
}

impl Changed {
    fn mark(&mut self, variable: usize) {
        if !std::mem::replace(&mut self.marked[variable], true) {
            self.list.push(variable);
        }
    }
}

fn shared_neighbours(neighbours: &[FxHashSet<usize>], a: usize, b: usize) -> Vec<usize> {
    let (few, many) = if neighbours[a].len() <= neighbours[b].len() { (a, b) } else { (b, a) };
    neighbours[few].iter().copied().filter(|w| neighbours[many].contains(w)).collect()
}

/// For every variable, all pairs of its neighbours less the triangles it is a corner of; `None` if
/// it is cancelled.
fn missing_pairs(neighbours: &[FxHashSet<usize>], cancel: &Cancel) -> Option<Vec<u64>> {
    let pairs = |n: usize| (n as u64) * (n as u64).saturating_sub(1) / 2;
    let mut missing: Vec<u64> = neighbours.iter().map(|around| pairs(around.len())).collect();
    for (a, around) in neighbours.iter().enumerate() {
        if cancel.is_cancelled() {
            return None;
        }
        for &b in around.iter().filter(|&&b| a < b) {
            for corner in shared_neighbours(neighbours, a, b) {
                missing[corner] -= 1;
            }
        }
    }
    Some(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn graph(variables: usize, edges: &[(usize, usize)]) -> Graph {
        let mut model = Model::new(&vec![2; variables]).unwrap();
        for &(a, b) in edges {
            model.add_factor(&[a, b], &[0.0; 4]).unwrap();
        }
        Graph::new(&BaseModel::new(&model, []).unwrap())
    }

    #[test]
    fn counts_stay_exact_while_variables_leave() {
        let mut random = StdRng::seed_from_u64(7);
        for _ in 0..50 {
            let mut edges = Vec::new();
            for a in 0..12 {
                edges.extend((a + 1..12).filter(|_| random.random_bool(0.3)).map(|b| (a, b)));
            }
            let mut graph = graph(12, &edges);
            graph.fill = missing_pairs(&graph.neighbours, &Cancel::never()).unwrap();
            let mut changed = Changed { list: Vec::new(), marked: vec![false; 12] };
            for v in 0..12 {
                graph.remove(v, &mut changed);
                let recounted = missing_pairs(&graph.neighbours, &Cancel::never()).unwrap();
                assert_eq!(graph.fill[v + 1..], recounted[v + 1..]);
                for u in v + 1..12 {
                    let table = 1 + graph.neighbours[u].len() as u64;
                    assert_eq!(graph.weight[u], table * WEIGHT_STEPS as u64);
                }
            }
        }
    }

    #[test]
    fn a_cycle_needs_added_edges_and_a_tree_does_not() {
        let cycle = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let tree = graph(4, &[(0, 1), (0, 2), (0, 3)]);
        for heuristic in [Heuristic::Fill, Heuristic::Weight] {
            let elimination = cycle.clone().eliminate(heuristic, 0, &Cancel::never()).unwrap();
            assert!(!elimination.perfect);
            assert_eq!(elimination.neighbours.iter().map(Vec::len).max(), Some(2));
            let elimination = tree.clone().eliminate(heuristic, 3, &Cancel::never()).unwrap();
            assert!(elimination.perfect);
            assert_eq!(elimination.neighbours.iter().map(Vec::len).max(), Some(1));
        }
        assert_eq!(cycle.widest_core().len(), 3);
        assert_eq!(tree.widest_core().len(), 2);
    }

    #[test]
    fn elimination_stops_when_it_is_cancelled() {
        let cancel = Cancel::new();
        cancel.cancel();
        let cycle = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert!(cycle.eliminate(Heuristic::Fill, 0, &cancel).is_none());
    }

    #[test]
    fn no_order_escapes_the_widest_core() {
        let mut random = StdRng::seed_from_u64(8);
        for round in 0..100 {
            let density = [0.1, 0.4, 0.8][round % 3];
            let mut edges = Vec::new();
            for a in 0..15 {
                edges.extend((a + 1..15).filter(|_| random.random_bool(density)).map(|b| (a, b)));
            }
            let graph = graph(15, &edges);
            let core = graph.widest_core().len();
            for heuristic in [Heuristic::Fill, Heuristic::Weight] {
                let elimination =
                    graph.clone().eliminate(heuristic, round as u64, &Cancel::never()).unwrap();
                let largest = elimination.neighbours.iter().map(|around| 1 + around.len()).max();
                assert!(largest >= Some(core));
            }
        }
    }
}
