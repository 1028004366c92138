//! From an elimination order to maximal cliques joined in a forest.

use super::cost::Cost;
use super::elimination::{Elimination, Graph, Heuristic};
use crate::model::{BaseModel, ModelError};
use crate::oracle::Limits;

/// How far a lower bound on the cost must exceed the limit to refuse a model at once. Closer to the
/// limit, the error should state the true cost.
const HOPELESS: f64 = 1024.0;

/// How many seeds to try for elimination orders, if orders are found quickly.
const RESTARTS: usize = 8;
/// Work, in pairs of neighbours, after which no further order is tried.
const ENOUGH: usize = 4_000_000;
/// A table is assigned to the smallest of at most this many cliques.
const MOST_COMPARED: usize = 64;

/// How often elimination is worth trying again.
fn restarts(elimination: &Elimination) -> usize {
    let pairs = elimination.neighbours.iter().map(|around| around.len() * around.len());
    (ENOUGH / (1 + pairs.sum::<usize>())).min(RESTARTS)
}

fn log_sizes(list: &[Clique], cardinalities: &[usize]) -> Vec<f64> {
    let size =
        |clique: &Clique| clique.scope.iter().map(|&v| (cardinalities[v] as f64).log2()).sum();
    list.iter().map(size).collect()
}

fn cliques_of(list: &[Clique], variables: usize) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); variables];
    for (index, clique) in list.iter().enumerate() {
        clique.scope.iter().for_each(|&v| around[v].push(index));
    }
    around
}

/// Maximal cliques in a forest with the running intersection property.
#[derive(Clone, Debug)]
pub(super) struct Cliques {
    /// A parent precedes its children. `[cliques]`
    pub list: Vec<Clique>,
    /// A clique that holds each variable and all its neighbours at elimination. `[variables]`
    home: Vec<usize>,
    /// When each variable was eliminated. `[variables]`
    position: Vec<usize>,
    /// log₂ of the configurations of each clique. `[cliques]`
    sizes: Vec<f64>,
    /// The cliques that hold each variable. `[variables]`
    around: Vec<Vec<usize>>,
    /// The memory of all tables, by estimate; known once the order is chosen.
    pub bytes: f64,
}

/// A clique and the part of it that its parent shares.
#[derive(Clone, Debug)]
pub(super) struct Clique {
    pub parent: Option<usize>,
    /// Variables: those shared with the parent, then the others; both ascending.
    pub scope: Vec<usize>,
    /// How many of them the parent shares.
    pub shared: usize,
}

impl Clique {
    pub fn separator(&self) -> &[usize] {
        &self.scope[..self.shared]
    }
}

impl Cliques {
    /// The cheapest of some elimination orders, if its tables fit into the limit, and into the time
    /// that is left.
    pub fn within(base: &BaseModel, limits: &Limits) -> Result<Self, ModelError> {
        let Limits { memory, cancel } = limits;
        let eliminate = |graph: &Graph, heuristic: Heuristic, seed: u64| {
            graph.clone().eliminate(heuristic, seed, cancel).ok_or(ModelError::Cancelled)
        };
        let graph = Graph::new(base);
        // Dense graphs, whose elimination would take longest, end here.
        let least = Cost::at_least(&graph.widest_core(), &base.cardinalities);
        if least.bytes() > HOPELESS * memory.bytes() as f64 {
            least.check(*memory)?;
        }
        let elimination = eliminate(&graph, Heuristic::Fill, 0)?;
        let mut cliques = Self::new(&elimination, &base.cardinalities);
        let mut cost = Cost::of(&cliques.list, &base.cardinalities);
        let restarts = if elimination.perfect { 0 } else { 1 + 2 * restarts(&elimination) };
        for restart in 1..=restarts {
            let heuristic = if restart % 2 == 1 { Heuristic::Weight } else { Heuristic::Fill };
            let other = eliminate(&graph, heuristic, restart as u64 / 2)?;
            let other = Self::new(&other, &base.cardinalities);
            let other_cost = Cost::of(&other.list, &base.cardinalities);
            if other_cost.is_below(&cost) {
                (cliques, cost) = (other, other_cost);
            }
        }
        cost.check(*memory)?;
        if cancel.remaining().is_some_and(|left| cost.least_seconds() > left.as_secs_f64()) {
            return Err(ModelError::Cancelled);
        }
        cliques.bytes = cost.bytes();
        Ok(cliques)
    }

    /// Takes the variables in reverse order. Each joins the clique of its neighbour that is
    /// eliminated next, if that clique holds all its neighbours; otherwise it starts a clique
    /// below.
    fn new(elimination: &Elimination, cardinalities: &[usize]) -> Self {
        let variables = elimination.order.len();
        let mut position = vec![0; variables];
        for (when, &v) in elimination.order.iter().enumerate() {
            position[v] = when;
        }
        let mut list: Vec<Clique> = Vec::new();
        let mut home = vec![0; variables];
        for &v in elimination.order.iter().rev() {
            let around = &elimination.neighbours[v];
            let parent = around.iter().min_by_key(|&&u| position[u]).map(|&u| home[u]);
            home[v] = match parent {
                Some(clique) if list[clique].scope.len() == around.len() => clique,
                _ => {
                    list.push(Clique { parent, scope: around.clone(), shared: around.len() });
                    list.len() - 1
                }
            };
            list[home[v]].scope.push(v);
        }
        for clique in &mut list {
            clique.scope[..clique.shared].sort_unstable();
            clique.scope[clique.shared..].sort_unstable();
        }
        let sizes = log_sizes(&list, cardinalities);
        let around = cliques_of(&list, variables);
        Self { list, home, position, sizes, around, bytes: 0.0 }
    }

    /// A clique that holds every variable of a table's scope; the smallest, if there are few.
    pub fn home(&self, scope: &[usize]) -> usize {
        let first = scope.iter().min_by_key(|&&v| self.position[v]);
        let known = self.home[*first.expect("a base table has a variable")];
        let fewest = scope.iter().map(|&v| &self.around[v]).min_by_key(|cliques| cliques.len());
        let candidates = fewest.into_iter().flatten().copied().take(MOST_COMPARED);
        let holds = |&clique: &usize| scope.iter().all(|v| self.list[clique].scope.contains(v));
        let smaller = |a: usize, b: usize| if self.sizes[b] < self.sizes[a] { b } else { a };
        candidates.filter(holds).fold(known, smaller)
    }

    /// Roots every tree at a `wanted` clique, if it has one, so that only paths between wanted
    /// cliques lie above them, and orders the cliques from the roots down.
    pub fn rooted(self, wanted: &[bool]) -> Self {
        let count = self.list.len();
        let mut around = vec![Vec::new(); count];
        for (child, clique) in self.list.iter().enumerate() {
            if let Some(parent) = clique.parent {
                around[parent].push(child);
                around[child].push(parent);
            }
        }
        let mut renumbered = vec![usize::MAX; count];
        let mut list = Vec::with_capacity(count);
        let mut pending = Vec::new();
        let wanted_first = (0..count).filter(|&c| wanted[c]).chain(0..count);
        for root in wanted_first {
            if renumbered[root] == usize::MAX {
                pending.push((root, None));
            }
            while let Some((clique, parent)) = pending.pop() {
                renumbered[clique] = list.len();
                for &next in around[clique].iter().filter(|&&next| Some(next) != parent) {
                    pending.push((next, Some(clique)));
                }
                list.push(self.facing(clique, parent, &renumbered));
            }
        }
        let home = self.home.iter().map(|&clique| renumbered[clique]).collect();
        let mut sizes = vec![0.0; count];
        self.sizes.iter().zip(&renumbered).for_each(|(&size, &clique)| sizes[clique] = size);
        let around = cliques_of(&list, self.position.len());
        Self { list, home, position: self.position, sizes, around, bytes: self.bytes }
    }

    /// A clique with its scope laid out for a parent that may have been its child.
    fn facing(&self, clique: usize, parent: Option<usize>, renumbered: &[usize]) -> Clique {
        let Clique { parent: old_parent, scope, .. } = &self.list[clique];
        let separator = match parent {
            None => &[],
            Some(_) if parent == *old_parent => self.list[clique].separator(),
            Some(child) => self.list[child].separator(),
        };
        let mut facing = separator.to_vec();
        facing.extend(scope.iter().filter(|v| separator.binary_search(v).is_err()));
        facing[separator.len()..].sort_unstable();
        let parent = parent.map(|parent| renumbered[parent]);
        Clique { parent, scope: facing, shared: separator.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn random_base(random: &mut StdRng, variables: usize, density: f64) -> BaseModel {
        let mut model = Model::new(&vec![2; variables]).unwrap();
        for a in 0..variables {
            for b in a + 1..variables {
                if random.random_bool(density) {
                    model.add_factor(&[a, b], &[0.0; 4]).unwrap();
                }
            }
        }
        BaseModel::new(&model, []).unwrap()
    }

    fn contains(outer: &Clique, inner: &[usize]) -> bool {
        inner.iter().all(|v| outer.scope.contains(v))
    }

    fn check(base: &BaseModel, cliques: &Cliques) {
        for table in &base.tables {
            assert!(contains(&cliques.list[cliques.home(&table.scope)], &table.scope));
        }
        for (index, clique) in cliques.list.iter().enumerate() {
            for (other, outer) in cliques.list.iter().enumerate() {
                assert!(other == index || !contains(outer, &clique.scope), "not maximal");
            }
            if let Some(parent) = clique.parent {
                assert!(parent < index);
                assert!(contains(&cliques.list[parent], clique.separator()));
            } else {
                assert_eq!(clique.shared, 0);
            }
        }
        // Running intersection: a variable is new in exactly one clique.
        let mut introduced = vec![0; base.variables()];
        for clique in &cliques.list {
            clique.scope[clique.shared..].iter().for_each(|&v| introduced[v] += 1);
        }
        assert!(introduced.iter().all(|&times| times == 1));
    }

    #[test]
    fn cliques_are_maximal_and_joined_by_their_intersections() {
        let mut random = StdRng::seed_from_u64(3);
        for round in 0..100 {
            let base = random_base(&mut random, 1 + round % 14, [0.1, 0.25, 0.6][round % 3]);
            let cliques = Cliques::within(&base, &Limits::default()).unwrap();
            check(&base, &cliques);
            let wanted: Vec<bool> = cliques.list.iter().map(|_| random.random_bool(0.3)).collect();
            check(&base, &cliques.rooted(&wanted));
        }
    }

    #[test]
    fn a_model_without_variables_has_no_clique() {
        let base = BaseModel::new(&Model::new(&[]).unwrap(), []).unwrap();
        assert!(Cliques::within(&base, &Limits::default()).unwrap().rooted(&[]).list.is_empty());
    }
}
