//! How the blocks of a support touch the positions and links of a chain.

use pulp::Simd;

use super::edges::EdgeGroup;
use super::model::ChainModel;
use super::node_tilts::{NodeTilt, NodeTilts};
use super::numbering::{Numbering, TableAt};
use super::product::{WithKernel, with_kernel, with_transposed_kernel};
use super::sequence::{Sequence, Total};
use super::table::TransitionTable;
use super::watch::MOST_CELLS;
use crate::support::Support;

/// Successive links, after positions `first..=last`, that have one table; no more of them than are
/// read between two looks at a token.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) table: Option<usize>,
    group: Option<usize>,
    /// Transitions of all links.
    pub(super) cells: usize,
}

/// A transition table at the latest tilt.
pub(super) struct TiltedTable<'a> {
    pub(super) table: &'a TransitionTable,
    pub(super) log_forward: &'a [f64],
    pub(super) exp_forward: &'a [f64],
    pub(super) exp_backward: &'a [f64],
    /// What the exponentials are relative to.
    pub(super) highest: f64,
}

impl<'a> TiltedTable<'a> {
    /// A table, as a group has tilted it.
    #[inline(always)]
    fn new(table: &'a TransitionTable, group: Option<&'a EdgeGroup>) -> Self {
        match group {
            None => Self {
                table,
                log_forward: &table.log_forward,
                exp_forward: &table.exp_forward,
                exp_backward: &table.exp_backward,
                highest: table.highest,
            },
            Some(group) => Self {
                table,
                log_forward: &group.log_forward,
                exp_forward: &group.exp_forward[..group.log_forward.len()],
                exp_backward: &group.exp_backward,
                highest: group.highest,
            },
        }
    }

    /// Products of sums with the table.
    #[inline(always)]
    pub(super) fn forward<S: Simd, W: WithKernel<S>>(&self, simd: S, with: W) -> W::Output {
        with_kernel(simd, &self.table.forward, self.exp_forward, with)
    }

    /// Products of sums with its transpose.
    #[inline(always)]
    pub(super) fn backward<S: Simd, W: WithKernel<S>>(&self, simd: S, with: W) -> W::Output {
        match &self.table.backward {
            Some(layout) => with_kernel(simd, layout, self.exp_backward, with),
            None => with_transposed_kernel(simd, &self.table.forward, self.exp_forward, with),
        }
    }
}

impl Run {
    /// The positions before these links.
    pub(super) fn links(&self) -> std::ops::Range<usize> {
        self.first..self.last + 1
    }

    /// The table of these links; `None` if they are free.
    #[inline(always)]
    pub(super) fn transitions<'a>(
        &self,
        model: &'a ChainModel,
        groups: &'a [EdgeGroup],
    ) -> Option<TiltedTable<'a>> {
        let table = &model.tables[self.table?];
        Some(TiltedTable::new(table, self.group.map(|group| &groups[group])))
    }
}

/// The support, bound to a sequence; with the exponentials of the latest tilt.
#[derive(Clone, Debug, Default)]
pub(super) struct Tilts {
    pub(super) nodes: NodeTilts,
    /// The group of each link, if its table is tilted. `[positions]`
    pub(super) links: Vec<Option<usize>>,
    pub(super) groups: Vec<EdgeGroup>,
    /// Groups in use; the others wait for a sequence that needs them.
    pub(super) active: usize,
    /// Successive links with one table.
    pub(super) runs: Vec<Run>,
    /// Shifts of all untouched tables.
    untouched: f64,
}

impl Tilts {
    /// Binds `support` to a sequence.
    ///
    /// # Panics
    /// If a block names a table that the chain lacks, or of another size.
    pub(super) fn bind(
        &mut self,
        model: &ChainModel,
        sequence: &Sequence,
        numbering: &Numbering,
        support: &Support,
    ) {
        let length = sequence.positions.len();
        self.nodes.clear(length);
        self.links.clear();
        self.links.resize(length, None);
        self.active = 0;
        for block in support.blocks() {
            let first_group = self.active;
            for &table in &block.tables {
                match numbering.locate(table) {
                    TableAt::Position(t) => self.nodes.join(block, sequence, t),
                    TableAt::Link { position, transposed } => {
                        let table = sequence.positions[position].table.expect("a stated link");
                        let (from, to) = model.tables[table].shape();
                        assert_eq!(block.len, from * to, "cells of a transition table");
                        let group = self.group(first_group, (table, transposed), model);
                        self.groups[group].join(block);
                        self.links[position] = Some(group);
                    }
                }
            }
        }
        self.nodes.settle(sequence);
        self.sum_shifts(model, sequence);
        self.runs.clear();
        for t in 0..length.saturating_sub(1) {
            let (table, group) = (sequence.positions[t].table, self.links[t]);
            let cells = model.cells(table);
            match self.runs.last_mut() {
                Some(run)
                    if (run.table, run.group) == (table, group)
                        && run.cells + cells <= MOST_CELLS =>
                {
                    (run.last, run.cells) = (t, run.cells + cells);
                }
                _ => self.runs.push(Run { first: t, last: t, table, group, cells }),
            }
        }
    }

    /// The table after position `t`; `None` if the link is free.
    pub(super) fn link<'a>(
        &'a self,
        model: &'a ChainModel,
        sequence: &Sequence,
        t: usize,
    ) -> Option<TiltedTable<'a>> {
        let table = &model.tables[sequence.positions[t].table?];
        Some(TiltedTable::new(table, self.links[t].map(|group| &self.groups[group])))
    }

    /// The group of this block (whose groups start at `first`) for a table: found, reused or made.
    fn group(&mut self, first: usize, key: (usize, bool), model: &ChainModel) -> usize {
        let active = &self.groups[first..self.active];
        if let Some(found) = active.iter().position(|group| group.key == key) {
            return first + found;
        }
        if self.groups.get(self.active).is_none_or(|group| group.key != key) {
            let group = EdgeGroup::new(key, &model.tables[key.0]);
            self.groups.truncate(self.active);
            self.groups.push(group);
        }
        self.groups[self.active].clear();
        self.active += 1;
        self.active - 1
    }

    fn sum_shifts(&mut self, model: &ChainModel, sequence: &Sequence) {
        let mut untouched = Total::default();
        for (t, position) in sequence.positions.iter().enumerate() {
            if matches!(self.nodes.tilts[t], NodeTilt::None) {
                untouched.add(sequence.highest[t]);
            }
            if let (Some(table), None) = (position.table, self.links[t]) {
                untouched.add(model.tables[table].highest);
            }
        }
        self.untouched = untouched.value();
    }

    /// Takes the exponentials of tilted tables and of shared tilts of positions. The shifts of
    /// these and of untouched tables go into `shift`.
    #[inline(always)]
    pub(super) fn exponentiate<S: Simd>(
        &mut self,
        simd: S,
        model: &ChainModel,
        tilt: &[f64],
        shift: &mut Total,
    ) {
        shift.add(self.untouched);
        for group in &mut self.groups[..self.active] {
            shift.add(group.exponentiate(simd, &model.tables[group.key.0], tilt));
        }
        self.nodes.exponentiate_shared(simd, tilt, shift);
    }
}
