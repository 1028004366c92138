use std::borrow::Borrow;

use super::table::{Stated, Storage, TransitionTable};
use super::transitions::Transitions;
use crate::cancel::Cancel;
use crate::model::ModelError;

/// The link between a position and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The two sides are independent. A union of paths is one chain with free links.
    Free,
    /// The transition table of this index.
    Table(usize),
}

/// The part of a chain that sequences share: transition tables and their exponentials.
///
/// Immutable, so an [`Arc`](std::sync::Arc) of it serves any number of threads. A sequence brings
/// only node scores. Tables that forbid most transitions are stored sparse.
#[derive(Debug)]
pub struct ChainModel {
    shape: Shape,
    pub(super) tables: Vec<TransitionTable>,
    /// Widest range of allowed log-potentials in a table.
    pub(super) spread: f64,
    /// Whether a table forbids a transition.
    pub(super) forbids: bool,
    /// The instruction set that tables are laid out for.
    pub(super) instructions: pulp::Arch,
}

#[derive(Clone, Debug)]
enum Shape {
    /// One table between all positions, of any number.
    Homogeneous { states: usize },
    /// As many positions as `states`, one link fewer.
    Positions { states: Vec<usize>, links: Vec<Link> },
}

impl ChainModel {
    /// A chain of any length with one table of log-potentials (`[states][states]`, row-major, from
    /// rows to columns; `-∞` forbids a transition) between all positions, as in a CRF.
    pub fn homogeneous(states: usize, transitions: &[f64]) -> Result<Self, ModelError> {
        Self::homogeneous_stored(states, transitions, Storage::Automatic)
    }

    /// As [`ChainModel::homogeneous`], with the given storage.
    #[doc(hidden)]
    pub fn homogeneous_stored(
        states: usize,
        transitions: &[f64],
        storage: Storage,
    ) -> Result<Self, ModelError> {
        if states == 0 {
            return Err(ModelError::NoStates { variable: 0 });
        }
        let table = ((states, states), Stated::Dense(transitions));
        let stored = (storage, pulp::Arch::new());
        Self::assemble(Shape::Homogeneous { states }, &[table], stored, &Cancel::never())
    }

    /// A chain with these numbers of states (`[positions]`). `links[t]` is between positions `t`
    /// and `t + 1`; several links may share one of the row-major `tables`.
    ///
    /// # Panics
    /// If there is not one link between every two positions, a link names a missing table, or a
    /// table has no link.
    pub fn new<T: AsRef<[f64]>>(
        states: Vec<usize>,
        links: Vec<Link>,
        tables: &[T],
    ) -> Result<Self, ModelError> {
        Self::stored(states, links, tables, (Storage::Automatic, pulp::Arch::new()))
    }

    /// As [`ChainModel::new`], from the allowed transitions; memory follows their number.
    pub fn with_transitions<T: Borrow<Transitions>>(
        states: Vec<usize>,
        links: Vec<Link>,
        tables: &[T],
    ) -> Result<Self, ModelError> {
        let tables = tables.iter().map(|table| Stated::Sparse(table.borrow())).collect();
        let stored = (Storage::Automatic, pulp::Arch::new());
        Self::stated(states, links, tables, stored, &Cancel::never())
    }

    /// As [`ChainModel::new`], with the given storage and instruction set.
    pub(super) fn stored<T: AsRef<[f64]>>(
        states: Vec<usize>,
        links: Vec<Link>,
        tables: &[T],
        stored: (Storage, pulp::Arch),
    ) -> Result<Self, ModelError> {
        let tables = tables.iter().map(|table| Stated::Dense(table.as_ref())).collect();
        Self::stated(states, links, tables, stored, &Cancel::never())
    }

    /// As [`ChainModel::new`], unless it is cancelled before it is done.
    pub(super) fn until<T: AsRef<[f64]>>(
        states: Vec<usize>,
        links: Vec<Link>,
        tables: &[T],
        cancel: &Cancel,
    ) -> Result<Self, ModelError> {
        let tables = tables.iter().map(|table| Stated::Dense(table.as_ref())).collect();
        Self::stated(states, links, tables, (Storage::Automatic, pulp::Arch::new()), cancel)
    }

    fn stated(
        states: Vec<usize>,
        links: Vec<Link>,
        tables: Vec<Stated>,
        stored: (Storage, pulp::Arch),
        cancel: &Cancel,
    ) -> Result<Self, ModelError> {
        if let Some(variable) = states.iter().position(|&k| k == 0) {
            return Err(ModelError::NoStates { variable });
        }
        assert_eq!(links.len(), states.len().saturating_sub(1), "one link between two positions");
        let mut shapes = vec![None; tables.len()];
        for (pair, &link) in states.windows(2).zip(&links) {
            let Link::Table(table) = link else { continue };
            let shape = (pair[0], pair[1]);
            if *shapes[table].get_or_insert(shape) != shape {
                return Err(ModelError::TableSize {
                    shape: pair.to_vec(),
                    found: tables[table].cells(),
                });
            }
        }
        let tables = tables.into_iter().zip(shapes);
        let tables: Vec<_> = tables
            .map(|(table, shape)| (shape.expect("every table is named by a link"), table))
            .collect();
        Self::assemble(Shape::Positions { states, links }, &tables, stored, cancel)
    }

    fn assemble(
        shape: Shape,
        stated: &[((usize, usize), Stated)],
        (storage, instructions): (Storage, pulp::Arch),
        cancel: &Cancel,
    ) -> Result<Self, ModelError> {
        let table = |&(shape, table): &((usize, usize), Stated)| {
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            TransitionTable::new(shape, table, storage, instructions)
        };
        let tables = stated.iter().map(table).collect::<Result<Vec<_>, _>>()?;
        let spread = tables.iter().map(|table| table.spread).fold(0.0, f64::max);
        let forbids = tables.iter().any(|table| table.forbids);
        Ok(Self { shape, tables, spread, forbids, instructions })
    }

    /// The same with all log-potentials divided by `heat`.
    pub(super) fn warmed(&self, heat: f64) -> Self {
        let Self { shape, tables, spread, forbids, instructions } = self;
        Self {
            shape: shape.clone(),
            tables: tables.iter().map(|table| table.warmed(heat, *instructions)).collect(),
            spread: spread / heat,
            forbids: *forbids,
            instructions: *instructions,
        }
    }

    /// The number of positions; `None` if sequences choose it.
    pub fn length(&self) -> Option<usize> {
        match &self.shape {
            Shape::Homogeneous { .. } => None,
            Shape::Positions { states, .. } => Some(states.len()),
        }
    }

    /// Number of states at a position.
    pub fn states(&self, position: usize) -> usize {
        match &self.shape {
            Shape::Homogeneous { states } => *states,
            Shape::Positions { states, .. } => states[position],
        }
    }

    /// The link between `position` and the next.
    pub fn link(&self, position: usize) -> Link {
        match &self.shape {
            Shape::Homogeneous { .. } => Link::Table(0),
            Shape::Positions { links, .. } => links[position],
        }
    }

    /// Whether a transition table is stored sparse.
    pub fn is_sparse(&self, table: usize) -> bool {
        self.tables[table].is_sparse()
    }

    /// Stored entries of a table; none of a free link.
    pub(super) fn cells(&self, table: Option<usize>) -> usize {
        table.map_or(0, |table| self.tables[table].forward.slots())
    }

    /// The number of positions of a sequence with `cells` node scores, if it has one.
    pub(super) fn length_of(&self, cells: usize) -> Option<usize> {
        match &self.shape {
            Shape::Homogeneous { states } => cells.is_multiple_of(*states).then(|| cells / states),
            Shape::Positions { states, .. } => {
                (states.iter().sum::<usize>() == cells).then_some(states.len())
            }
        }
    }
}
