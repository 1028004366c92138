//! Ancestral sampling: each clique's variables given those that its parent has drawn already.

use rand::Rng;

use super::structure::Structure;

/// Draws independent assignments of the base variables. It holds all it needs.
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
    /// Running sums of `p(rest | separator)` within rows. `[cliques][separator][rest]`
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
    pub(super) fn new(structure: &Structure, conditionals: &[f64]) -> Self {
        let clique = |node: &super::structure::Node| Clique {
            scope: node.scope.iter().map(|&v| (v, structure.cardinalities[v])).collect(),
            shared: node.shared,
            start: node.cells.start,
            row: node.row,
        };
        let mut sums = conditionals.to_vec();
        for node in &structure.nodes {
            for row in sums[node.cells.clone()].chunks_exact_mut(node.row) {
                let mut sum = 0.0;
                for cell in row {
                    sum += *cell;
                    *cell = sum;
                }
            }
        }
        Self { cliques: structure.nodes.iter().map(clique).collect(), sums }
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
            // Past every cell whose sum is not above the point: those of probability zero among them.
            let mut cell = row.partition_point(|&sum| sum <= point).min(row.len() - 1);
            for &(v, states) in others.iter().rev() {
                assignment[v] = cell % states;
                cell /= states;
            }
        }
    }
}
