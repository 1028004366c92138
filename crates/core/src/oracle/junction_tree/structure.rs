//! The immutable part of a junction tree: where everything lies and which sums never change.

use std::ops::Range;

use super::cliques::Cliques;
use super::projection::Projections;
use crate::model::table::strides_within;
use crate::model::{BaseModel, ModelError};
use crate::support::Support;

/// A junction forest bound to a support.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// A parent precedes its children. `[cliques]`
    pub nodes: Vec<Node>,
    /// Where each table of the base model is read. `[tables]`
    pub homes: Vec<Home>,
    pub projections: Projections,
    /// Sums of the log-potentials of each clique's tables. `[cliques][cells]`
    pub scores: Vec<f64>,
    /// Number of separator cells, of all cliques together.
    pub separator_cells: usize,
    /// `[variables]`
    pub cardinalities: Vec<usize>,
    pub constant: f64,
    pub support: Support,
}

/// A clique. Its table is row-major over the separator's variables, then the others, so that each
/// state of the separator has one contiguous row.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Separator, then the other variables.
    pub scope: Vec<usize>,
    /// Variables in the separator.
    pub shared: usize,
    /// Its table, in every flat buffer over all cliques.
    pub cells: Range<usize>,
    /// Its separator's table, in every flat buffer over all separators.
    pub separator: Range<usize>,
    /// Number of states of the variables that are not in the separator.
    pub row: usize,
    /// Projection of the parent's table on the separator.
    pub within_parent: usize,
    /// Tables of the support that live here.
    pub tilts: Vec<Tilt>,
    /// Whether a tilt lives here or below. Where none does, messages upward never change.
    pub tilted: bool,
}

/// A table of the support: its projection, and its block's first coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    pub projection: usize,
    pub start: usize,
}

/// A table of the base model: the clique that holds it, its projection and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub node: usize,
    pub projection: usize,
    pub cells: usize,
}

impl Structure {
    pub fn new(
        base: &BaseModel,
        support: &Support,
        limit_gibibytes: f64,
    ) -> Result<Self, ModelError> {
        let cliques = Cliques::within(base, limit_gibibytes)?;
        let mut wanted = vec![false; cliques.list.len()];
        for &table in support.blocks().iter().flat_map(|block| &block.tables) {
            wanted[cliques.home(&base.tables[table].scope)] = true;
        }
        let cliques = cliques.rooted(&wanted);

        let mut structure = Self {
            nodes: Vec::with_capacity(cliques.list.len()),
            homes: Vec::with_capacity(base.tables.len()),
            projections: Projections::default(),
            scores: Vec::new(),
            separator_cells: 0,
            cardinalities: base.cardinalities.clone(),
            constant: base.constant,
            support: support.clone(),
        };
        structure.place_cliques(&cliques);
        structure.place_tables(base, &cliques);
        structure.place_tilts();
        Ok(structure)
    }

    fn place_cliques(&mut self, cliques: &Cliques) {
        let mut cells = 0;
        for (index, clique) in cliques.list.iter().enumerate() {
            let rows: usize = self.shape(clique.separator()).iter().product();
            let row: usize = self.shape(&clique.scope[clique.shared..]).iter().product();
            let within_parent = clique.parent.map_or(0, |parent| {
                self.nodes[parent].children.push(index);
                self.projection(clique.separator(), &cliques.list[parent].scope)
            });
            self.nodes.push(Node {
                parent: clique.parent,
                children: Vec::new(),
                scope: clique.scope.clone(),
                shared: clique.shared,
                cells: cells..cells + rows * row,
                separator: self.separator_cells..self.separator_cells + rows,
                row,
                within_parent,
                tilts: Vec::new(),
                tilted: false,
            });
            cells += rows * row;
            self.separator_cells += rows;
        }
        self.scores = vec![0.0; cells];
    }

    fn place_tables(&mut self, base: &BaseModel, cliques: &Cliques) {
        for table in &base.tables {
            let node = cliques.home(&table.scope);
            let projection = self.projection(&table.scope, &cliques.list[node].scope);
            let scores = &mut self.scores[self.nodes[node].cells.clone()];
            self.projections[projection].add(&table.log_potentials, scores);
            self.homes.push(Home { node, projection, cells: table.log_potentials.len() });
        }
    }

    fn place_tilts(&mut self) {
        for block in self.support.blocks() {
            for &table in &block.tables {
                let Home { node, projection, cells } = self.homes[table];
                assert_eq!(block.len, cells, "size of the block that table {table} is in");
                self.nodes[node].tilts.push(Tilt { projection, start: block.start });
                self.nodes[node].tilted = true;
            }
        }
        for index in (0..self.nodes.len()).rev() {
            if let (true, Some(parent)) = (self.nodes[index].tilted, self.nodes[index].parent) {
                self.nodes[parent].tilted = true;
            }
        }
    }

    fn projection(&mut self, inner: &[usize], outer: &[usize]) -> usize {
        let strides = strides_within(inner, outer, &self.cardinalities);
        self.projections.add(self.shape(outer), strides)
    }

    fn shape(&self, scope: &[usize]) -> Vec<usize> {
        scope.iter().map(|&v| self.cardinalities[v]).collect()
    }
}
