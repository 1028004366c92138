//! The immutable part of a junction tree: where everything lies and what never changes.

use std::ops::Range;
use std::sync::Arc;

use super::cliques::Cliques;
use super::projection::Projections;
use super::statics::{Joined, Static, united};
use crate::model::table::{strides_within, walk};
use crate::model::{BaseModel, ModelError};
use crate::oracle::Limits;
use crate::support::Support;

/// A product of the smallest entries of all tables may be this small, in logarithms, and a product
/// of the largest this large; beyond, a clique is computed in logarithms.
pub(super) const SAFE: f64 = 640.0;

/// A junction forest bound to a support.
///
/// Variables are numbered anew in the order of their numbers of states: the last axis of every
/// table is then its longest, and passes run along it.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// A parent precedes its children, and the cliques below one follow it. `[cliques]`
    pub nodes: Vec<Node>,
    /// Where each table of the base model is read. `[tables]`
    pub homes: Vec<Home>,
    pub projections: Projections,
    /// Subtrees that different threads may take, none where one thread is enough.
    pub subtrees: Vec<Range<usize>>,
    /// `[variables]`
    pub cardinalities: Vec<usize>,
    /// The base model's variables, in the order of the new numbers. `[variables]`
    pub origin: Vec<usize>,
    /// The base model's variables of each clique. `[cliques]`
    pub cliques: Vec<Vec<usize>>,
    pub constant: f64,
    /// What the constant and the log-potentials of the model are divided by.
    pub heat: f64,
    /// The memory of all tables, by estimate.
    pub bytes: f64,
    pub support: Support,
}

/// A clique. Its table is row-major over ascending variables, of which the last have most states.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Where the cliques below it end.
    pub end: usize,
    /// Ascending.
    pub scope: Vec<usize>,
    /// Variables shared with the parent, ascending.
    pub separator: Vec<usize>,
    /// Configurations of the scope, and of the separator.
    pub cells: usize,
    pub separator_cells: usize,
    /// Configurations of all separators before it.
    pub separators: usize,
    /// Projection of its table on the separator.
    pub up: usize,
    /// What is multiplied into its table in each pass; what others are multiplied into comes later.
    pub operands: Vec<Operand>,
    /// Cells of all operands but the whole one.
    pub operand_cells: usize,
    /// Tables that stand for several of the model that live here.
    pub joined: Vec<Joined>,
    /// Tables of the model that live here and are not all zero, joined where they can be.
    pub statics: Vec<Static>,
    /// The part of their log-potentials that counts, one over the heat.
    pub part: f64,
    /// The product of their exponentials, the greatest 1; empty where there are none, or where it
    /// leaves the range of a double. A clique that is not `tilted` is computed once, and has none.
    pub product: Vec<f64>,
    /// What its logarithms were less, and how far below 0 they reach.
    pub shift: f64,
    pub lowest: f64,
    /// Whether a tilt lives here or below. Where none does, messages upward never change.
    pub tilted: bool,
}

/// Before a table of this many cells is worked on, it is worth checking whether to stop.
const LARGE: usize = 1 << 13;

impl Node {
    /// Whether its table takes so long that a stop should be possible before it.
    pub fn is_large(&self) -> bool {
        self.cells >= LARGE
    }

    /// The operand over all variables of the clique, and its first coordinate in the support.
    #[inline]
    pub fn whole(&self) -> Option<(usize, usize)> {
        let last = self.operands.len().checked_sub(1)?;
        match self.operands[last] {
            Operand { source: Source::Tilt { start, .. }, buffer: None, .. } => Some((last, start)),
            _ => None,
        }
    }
}

/// A table that is multiplied into a clique's: that of a tilt, or a child's message.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub source: Source,
    /// Where it goes: a later operand over more variables, or the clique.
    pub target: Option<usize>,
    /// How it lies there, and in the clique's table.
    pub projection: usize,
    pub within: usize,
    /// Ascending.
    pub scope: Vec<usize>,
    /// Whether a solver's loop asks for its marginals, or for those of one that goes into it.
    pub wanted: bool,
    /// Its place among the cells of all operands, padded to whole vectors; none for a tilt over all
    /// variables of the clique, which is never copied.
    pub buffer: Option<Range<usize>>,
    pub cells: usize,
    /// The cells of a tilt in this order, where it is not their own.
    pub order: Option<Arc<[u32]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A block of the support: its first coordinate, and whether other tables share it.
    Tilt { start: usize, shared: bool },
    /// A child, and whether a tilt lives there or below.
    Message { child: usize, tilted: bool },
    /// Nothing of its own: others are multiplied into it first.
    Joined,
}

/// A table of the base model: the clique that holds it, its projection and its size.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub node: usize,
    /// The joined table of that clique that it is read from, if it is not the clique's own.
    pub joined: Option<usize>,
    pub projection: usize,
    pub cells: usize,
    /// Ascending.
    pub scope: Vec<usize>,
    /// The base table's cells in the order of this scope, where it is not their own.
    pub order: Option<Arc<[u32]>>,
}

/// Two operands are joined where their product has at most one cell for this many of their clique.
const JOINED: usize = 2;
/// Among more than this many, no pair is sought.
const MOST_JOINED: usize = 64;

/// Fewer cells than this are not worth a second thread.
const CELLS_FOR_THREADS: usize = 1 << 17;
/// The work is cut into pieces of about one part in this many.
const PIECES: usize = 8;

impl Structure {
    pub fn new(base: &BaseModel, support: &Support, limits: &Limits) -> Result<Self, ModelError> {
        let cliques = Cliques::within(base, limits)?;
        let mut wanted = vec![false; cliques.list.len()];
        for &table in support.blocks().iter().flat_map(|block| &block.tables) {
            wanted[cliques.home(&base.tables[table].scope)] = true;
        }
        let cliques = cliques.rooted(&wanted);
        let mut origin: Vec<usize> = (0..base.variables()).collect();
        origin.sort_by_key(|&v| base.cardinalities[v]);
        let mut structure = Self {
            nodes: Vec::with_capacity(cliques.list.len()),
            homes: Vec::with_capacity(base.tables.len()),
            projections: Projections::default(),
            subtrees: Vec::new(),
            cardinalities: origin.iter().map(|&v| base.cardinalities[v]).collect(),
            origin,
            cliques: cliques.list.iter().map(|clique| clique.scope.clone()).collect(),
            constant: base.constant,
            heat: 1.0,
            bytes: cliques.bytes,
            support: support.clone(),
        };
        let mut number = vec![0; base.variables()];
        structure.origin.iter().enumerate().for_each(|(new, &v)| number[v] = new);
        structure.place_cliques(&cliques, &number);
        let homes: Vec<usize> =
            base.tables.iter().map(|table| cliques.home(&table.scope)).collect();
        structure.place_tables(base, &homes, &number);
        structure.place_operands();
        structure.multiply_statics(&limits.cancel)?;
        structure.share_out();
        Ok(structure)
    }

    fn place_cliques(&mut self, cliques: &Cliques, number: &[usize]) {
        let mut separators = 0;
        for (index, clique) in cliques.list.iter().enumerate() {
            let scope = renumbered(&clique.scope, number);
            let separator = renumbered(clique.separator(), number);
            let (cells, separator_cells) = (self.cells(&scope), self.cells(&separator));
            let up = self.projection(&separator, &scope);
            if let Some(parent) = clique.parent {
                self.nodes[parent].children.push(index);
            }
            self.nodes.push(Node {
                parent: clique.parent,
                children: Vec::new(),
                end: index + 1,
                scope,
                separator,
                cells,
                separator_cells,
                separators,
                up,
                operands: Vec::new(),
                operand_cells: 0,
                joined: Vec::new(),
                statics: Vec::new(),
                part: 1.0,
                product: Vec::new(),
                shift: 0.0,
                lowest: 0.0,
                tilted: false,
            });
            separators += separator_cells;
        }
        for index in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[index].parent {
                self.nodes[parent].end = self.nodes[parent].end.max(self.nodes[index].end);
            }
        }
    }

    /// For each cell of a table over `scope`, the cell of one over `stated`, the same variables.
    pub(super) fn order(&self, stated: &[usize], scope: &[usize]) -> Arc<[u32]> {
        let strides = strides_within(stated, scope, &self.cardinalities);
        let shape: Vec<usize> = scope.iter().map(|&v| self.cardinalities[v]).collect();
        let mut order = Vec::new();
        walk(&shape, &strides, |cell| {
            order.push(u32::try_from(cell).expect("tables of 2³² cells do not fit anywhere"));
        });
        order.into()
    }

    /// Tilts and messages, each into the smallest other one that has all its variables: tables of a
    /// few cells are then not multiplied into many.
    fn place_operands(&mut self) {
        let mut inputs: Vec<Vec<Input>> = vec![Vec::new(); self.nodes.len()];
        for block in self.support.blocks() {
            for &table in &block.tables {
                let Home { node, cells, ref scope, ref order, .. } = self.homes[table];
                assert_eq!(block.len, cells, "size of the block that table {table} is in");
                let source = Source::Tilt { start: block.start, shared: block.tables.len() > 1 };
                inputs[node].push((scope.clone(), source, order.clone()));
                self.nodes[node].tilted = true;
            }
        }
        for index in (0..self.nodes.len()).rev() {
            let Node { parent, tilted, separator, .. } = &self.nodes[index];
            if let (Some(parent), tilted) = (*parent, *tilted) {
                let source = Source::Message { child: index, tilted };
                inputs[parent].push((separator.clone(), source, None));
                self.nodes[parent].tilted |= tilted;
            }
        }
        for (index, mut inputs) in inputs.into_iter().enumerate() {
            loop {
                inputs.sort_by_cached_key(|(scope, source, _)| {
                    let last = matches!(source, Source::Tilt { .. });
                    (self.cells(scope), scope.clone(), last)
                });
                let Some(joined) = self.joined(index, &inputs) else { break };
                inputs.push((joined, Source::Joined, None));
            }
            self.place_operands_of(index, &inputs);
        }
    }

    /// The variables of two inputs that are cheaper to multiply into a table of their own, and that
    /// into the clique, than one by one: the smallest there is.
    fn joined(&self, index: usize, inputs: &[Input]) -> Option<Vec<usize>> {
        let scope = &self.nodes[index].scope;
        let outermost: Vec<&Vec<usize>> = (0..inputs.len())
            .filter(|&place| target(inputs, place, scope).is_none())
            .map(|place| &inputs[place].0)
            .collect();
        if outermost.len() > MOST_JOINED {
            return None;
        }
        let pairs = outermost.iter().enumerate().flat_map(|(place, first)| {
            outermost[place + 1..].iter().map(move |second| united(first, second))
        });
        let small = |union: &Vec<usize>| JOINED * self.cells(union) <= self.nodes[index].cells;
        pairs.filter(small).min_by_key(|union| (self.cells(union), union.clone()))
    }

    fn place_operands_of(&mut self, index: usize, inputs: &[Input]) {
        let scope = self.nodes[index].scope.clone();
        let mut used = 0;
        for (place, (own, source, order)) in inputs.iter().enumerate() {
            let target = target(inputs, place, &scope);
            let outer = target.map_or(&scope, |target| &inputs[target].0).clone();
            let cells = self.cells(own);
            let is_whole = own.len() == scope.len();
            let buffer = (!is_whole).then(|| used..used + cells);
            used += if is_whole { 0 } else { cells.next_multiple_of(WIDEST) };
            let operand = Operand {
                source: *source,
                target,
                projection: self.projection(own, &outer),
                within: self.projection(own, &scope),
                scope: own.clone(),
                wanted: !matches!(source, Source::Message { tilted: false, .. } | Source::Joined),
                buffer,
                cells,
                order: order.clone(),
            };
            self.nodes[index].operands.push(operand);
        }
        let operands = &mut self.nodes[index].operands;
        for place in 0..operands.len() {
            if let (true, Some(target)) = (operands[place].wanted, operands[place].target) {
                operands[target].wanted = true;
            }
        }
        self.nodes[index].operand_cells = used;
    }

    /// Cuts off subtrees of moderate size, the largest that are no larger than that.
    fn share_out(&mut self) {
        let work = |node: &Node| if node.tilted { node.cells } else { 0 };
        let mut below: Vec<usize> = self.nodes.iter().map(work).collect();
        for index in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[index].parent {
                below[parent] += below[index];
            }
        }
        let total: usize = self.nodes.iter().map(work).sum();
        if total < CELLS_FOR_THREADS {
            return;
        }
        let mut index = 0;
        while index < self.nodes.len() {
            if below[index] * PIECES <= total {
                self.subtrees.push(index..self.nodes[index].end);
                index = self.nodes[index].end;
            } else {
                index += 1;
            }
        }
    }

    /// The cell of a table over a scope that an assignment chooses.
    pub fn position(&self, scope: &[usize], assignment: &[usize]) -> usize {
        scope.iter().fold(0, |cell, &v| cell * self.cardinalities[v] + assignment[v])
    }
}

/// A table that goes into a clique's: its scope, what it is of, and the order of its cells.
type Input = (Vec<usize>, Source, Option<Arc<[u32]>>);

/// The first later input that has all variables of one, but not all of the clique's.
fn target(inputs: &[Input], place: usize, scope: &[usize]) -> Option<usize> {
    let own = &inputs[place].0;
    let holds = |other: &Vec<usize>| {
        other.len() < scope.len() && own.iter().all(|v| other.binary_search(v).is_ok())
    };
    (place + 1..inputs.len()).find(|&other| holds(&inputs[other].0))
}

/// The buffers of an operand and of a later one.
#[inline(always)]
pub(super) fn pair<'a>(
    buffers: &'a mut [f64],
    first: &Operand,
    second: &Operand,
) -> [&'a mut [f64]; 2] {
    let (first, second) = (first.buffer.clone(), second.buffer.clone());
    let (Some(first), Some(second)) = (first, second) else {
        unreachable!("no operand goes into a whole one");
    };
    let (before, after) = buffers.split_at_mut(second.start);
    [&mut before[first], &mut after[..second.len()]]
}

/// Variables by their new numbers, ascending.
fn renumbered(scope: &[usize], number: &[usize]) -> Vec<usize> {
    let mut scope: Vec<usize> = scope.iter().map(|&v| number[v]).collect();
    scope.sort_unstable();
    scope
}

/// Numbers in the widest vector there is.
pub(super) const WIDEST: usize = 8;
