//! Ancestral sampling: each clique's variables, given those that its parent has drawn.

use rand::Rng;

use super::structure::Structure;
use super::sums::Scratch;

/// Draws independent assignments of the base variables.
///
/// ```
/// use bethe_core::model::{BaseModel, Model};
/// use bethe_core::oracle::JunctionTree;
/// use bethe_core::Support;
/// use rand::SeedableRng;
///
/// let mut model = Model::new(&[2, 2])?;
/// model.add_factor(&[0, 1], &[f64::NEG_INFINITY, 0.0, 0.0, f64::NEG_INFINITY])?;
/// let base = BaseModel::new(&model, [])?;
/// let sampler = JunctionTree::new(&base, &Support::new())?.sampler(&[]).expect("possible");
/// let (mut random, mut states) = (rand::rngs::StdRng::seed_from_u64(1), [0; 2]);
/// sampler.draw(&mut random, &mut states);
/// assert_ne!(states[0], states[1]);
/// # Ok::<(), bethe_core::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    /// A parent precedes its children. `[cliques]`
    cliques: Vec<Clique>,
    /// Running sums of `p(rest | separator)`, up to a factor, within rows.
    /// `[cliques][separator][rest]`
    sums: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Clique {
    /// Variables, with their numbers of states: those of the separator, then the others.
    scope: Vec<(usize, usize)>,
    /// How many are in the separator.
    shared: usize,
    /// Its first row.
    start: usize,
    /// Cells of a row.
    row: usize,
}

impl Sampler {
    pub(super) fn new(structure: &Structure, kept: &[Scratch]) -> Self {
        let mut sums = vec![0.0; structure.nodes.iter().map(|node| node.cells).sum()];
        let mut start = 0;
        let mut cliques = Vec::with_capacity(kept.len());
        for (node, kept) in structure.nodes.iter().zip(kept) {
            let row = node.cells / node.separator_cells;
            let rows = &mut sums[start..start + node.cells];
            // Cells of one row of the separator come in the order of the other variables' states.
            let mut filled = vec![0; node.separator_cells];
            structure.projections[node.up].each(|cell, separator| {
                let place = separator * row + filled[separator];
                let before = if filled[separator] == 0 { 0.0 } else { rows[place - 1] };
                rows[place] = before + kept.belief[cell];
                filled[separator] += 1;
            });
            let others = node.scope.iter().filter(|v| node.separator.binary_search(v).is_err());
            let scope = node.separator.iter().chain(others);
            let scope = scope.map(|&v| (structure.origin[v], structure.cardinalities[v])).collect();
            cliques.push(Clique { scope, shared: node.separator.len(), start, row });
            start += node.cells;
        }
        Self { cliques, sums }
    }

    /// Writes one assignment. States of probability zero are never drawn.
    pub fn draw(&self, random: &mut impl Rng, assignment: &mut [usize]) {
        for clique in &self.cliques {
            let (separator, others) = clique.scope.split_at(clique.shared);
            let position =
                |position, &(v, states): &(usize, usize)| position * states + assignment[v];
            let start = clique.start + clique.row * separator.iter().fold(0, position);
            let row = &self.sums[start..start + clique.row];
            let point = random.random::<f64>() * row[row.len() - 1];
            // Skip every cell whose sum is not above the point, which includes cells of probability
            // zero.
            let mut cell = row.partition_point(|&sum| sum <= point).min(row.len() - 1);
            for &(v, states) in others.iter().rev() {
                assignment[v] = cell % states;
                cell /= states;
            }
        }
    }
}
