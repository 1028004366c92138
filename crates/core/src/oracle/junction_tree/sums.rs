//! Sum-product: products of tables up, their sums over separators as messages; marginals down.
//!
//! A clique's table is the product of the exponentials of its tables and tilts and of its
//! children's messages, each scaled so that the greatest entry is about 1; the scales are added up
//! separately. Going down, a separator's marginals over its message scale the table to marginals.
//! Only separators are divided, and what is forbidden stays exactly zero. Where products
//! could leave the range of a double, [`logarithms`](super::logarithms) take over for the clique.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::covariance::Moments;
use super::logarithms;
use super::passes::{Down, Multiplied, Up};
use super::statics::Joined;
use super::structure::{Node, Source, Structure};
use crate::cancel::Cancel;
use crate::model::ModelError;
use crate::vector::dispatch;

/// Memory of the sum-product passes.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// `[cliques]`
    cliques: Vec<Scratch>,
    /// One table of the base model, and the same in the order of the base model's variables.
    table: Vec<f64>,
    stated: Vec<f64>,
    /// What the cliques below which no tilt lives hold.
    untilted: Untilted,
    /// Room for products with the covariance. `[cliques]`, empty before the first
    pub(super) moments: Vec<Moments>,
}

/// What the passes keep of one clique.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// The product of all tables; marginals once `calibrated`. `[cells]`
    pub belief: Vec<f64>,
    pub calibrated: bool,
    /// Sums of the product over rows of the separator. `[separator]`
    pub sums: Vec<f64>,
    /// The message to the parent, the greatest 1: its logarithms where it is `in_logs`, which only
    /// what would leave the range of a double is. `[separator]`
    pub message: Vec<f64>,
    pub in_logs: bool,
    /// Least entry of the message that is not zero, as a logarithm.
    pub lowest: f64,
    /// The sum of the logarithms of all scales here.
    pub shift: f64,
    /// Marginals of the separator, from above. `[separator]`
    pub inbox: Vec<f64>,
    /// What rows of the separator are multiplied by to become marginals. `[separator]`
    pub ratios: Vec<f64>,
    /// Operands going up, their marginals going down. `[operands][cells]`
    pub operands: Vec<f64>,
    /// About the greatest entry of each tilt: that of the last call. `[operands]`
    pub guesses: Vec<f64>,
    /// Marginals of the tables that stand for several, once one of those was read.
    /// `[joined][cells]`
    joined: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Untilted {
    Nothing,
    Messages,
    Marginals,
}

impl Scratch {
    fn new(node: &Node) -> Self {
        let separator = || vec![0.0; node.separator_cells];
        Self {
            belief: vec![0.0; node.cells],
            calibrated: false,
            sums: separator(),
            message: separator(),
            in_logs: false,
            lowest: 0.0,
            shift: 0.0,
            inbox: separator(),
            ratios: separator(),
            operands: vec![0.0; node.operand_cells],
            guesses: vec![0.0; node.operands.len()],
            joined: vec![Vec::new(); node.joined.len()],
        }
    }
}

impl Sums {
    /// # Errors
    /// If it is cancelled.
    pub fn new(structure: &Structure, cancel: &Cancel) -> Result<Self, ModelError> {
        let tables = structure.homes.iter().map(|home| home.cells);
        let scratch = |node: &Node| {
            let stops = node.is_large() && cancel.is_cancelled();
            if stops { Err(ModelError::Cancelled) } else { Ok(Scratch::new(node)) }
        };
        Ok(Self {
            cliques: structure.nodes.iter().map(scratch).collect::<Result<_, _>>()?,
            table: Vec::with_capacity(tables.max().unwrap_or(0)),
            stated: Vec::new(),
            untilted: Untilted::Nothing,
            moments: Vec::new(),
        })
    }

    /// The model has changed: no message holds any more.
    pub fn forget(&mut self) {
        self.untilted = Untilted::Nothing;
    }

    /// Whether a pass up has been made, to its end.
    pub fn is_collected(&self) -> bool {
        self.untilted != Untilted::Nothing
    }

    /// What the passes keep of each clique.
    pub fn cliques(&self) -> &[Scratch] {
        &self.cliques
    }

    /// The pass up; returns the log-partition, NaN if it is cancelled.
    pub fn collect(&mut self, structure: &Structure, tilt: &[f64], cancel: &Cancel) -> f64 {
        let known = self.untilted == Untilted::Messages;
        let stopped = Stopped::new(cancel);
        let due = |index: usize| {
            let node = &structure.nodes[index];
            (node.tilted || !known) && !stopped.before(node)
        };
        let up = |index: usize, cliques: &mut [Scratch]| {
            if due(index) {
                let [own, below @ ..] = cliques else {
                    unreachable!("its own scratch comes first")
                };
                let up = Up {
                    structure,
                    index,
                    node: &structure.nodes[index],
                    tilt,
                    own,
                    below,
                    cancel,
                };
                stopped.unless(collect_one(up));
            }
        };
        let subtrees = self.shared_out(structure);
        if subtrees.is_empty() {
            (0..self.cliques.len()).rev().for_each(|index| up(index, &mut self.cliques[index..]));
        } else {
            let mut pieces = split(&mut self.cliques, subtrees);
            pieces.par_iter_mut().for_each(|(start, piece)| {
                (0..piece.len()).rev().for_each(|at| up(*start + at, &mut piece[at..]));
            });
            for index in above(structure.nodes.len(), subtrees).rev() {
                up(index, &mut self.cliques[index..]);
            }
        }
        if stopped.is_so() {
            self.untilted = Untilted::Nothing;
            return f64::NAN;
        }
        self.untilted = Untilted::Messages;
        // Solvers compare log-partitions of long models at close tilts: rounding must not add up.
        compensated_sum(self.cliques.iter().map(|clique| clique.shift))
            + structure.constant / structure.heat
    }

    /// The pass down to the cliques of the support, whose marginals are written; whether it was not
    /// cancelled.
    pub fn distribute(
        &mut self,
        structure: &Structure,
        marginals: &mut [f64],
        cancel: &Cancel,
    ) -> bool {
        let stopped = Stopped::new(cancel);
        for block in structure.support.blocks().iter().filter(|block| block.tables.len() > 1) {
            marginals[block.range()].fill(0.0);
        }
        let subtrees = self.shared_out(structure);
        let down = |index: usize, cliques: &mut [Scratch], marginals: Option<&mut [f64]>| {
            if structure.nodes[index].tilted && !stopped.before(&structure.nodes[index]) {
                let [own, below @ ..] = cliques else {
                    unreachable!("its own scratch comes first")
                };
                let node = &structure.nodes[index];
                let all = false;
                let down = Down { structure, index, node, own, below, marginals, all, cancel };
                stopped.unless(dispatch(down));
            }
        };
        if subtrees.is_empty() {
            for index in 0..self.cliques.len() {
                down(index, &mut self.cliques[index..], Some(marginals));
            }
            return self.is_whole(&stopped);
        }
        for index in above(structure.nodes.len(), subtrees) {
            down(index, &mut self.cliques[index..], None);
        }
        let mut pieces = split(&mut self.cliques, subtrees);
        pieces.par_iter_mut().for_each(|(start, piece)| {
            (0..piece.len()).for_each(|at| down(*start + at, &mut piece[at..], None));
        });
        // In the order of one thread: sums of tables are then the same to the last bit.
        for (node, own) in structure.nodes.iter().zip(&self.cliques).filter(|(node, _)| node.tilted)
        {
            write_marginals(node, own, marginals);
        }
        self.is_whole(&stopped)
    }

    /// Whether a pass was not stopped. If it was, a clique may be half done: all start anew.
    fn is_whole(&mut self, stopped: &Stopped) -> bool {
        if stopped.is_so() {
            self.untilted = Untilted::Nothing;
        }
        !stopped.is_so()
    }

    /// Scales every clique's table to marginals, those without a tilt too; whether it was not
    /// cancelled.
    pub fn calibrate(&mut self, structure: &Structure, cancel: &Cancel) -> bool {
        if self.untilted == Untilted::Marginals {
            return true;
        }
        let stopped = Stopped::new(cancel);
        for (index, node) in structure.nodes.iter().enumerate() {
            let [own, below @ ..] = &mut self.cliques[index..] else {
                unreachable!("its own scratch comes first")
            };
            if stopped.before(node) {
                break;
            }
            own.joined.iter_mut().for_each(Vec::clear);
            let (marginals, all) = (None, true);
            stopped.unless(dispatch(Down {
                structure,
                index,
                node,
                own,
                below,
                marginals,
                all,
                cancel,
            }));
        }
        if self.is_whole(&stopped) {
            self.untilted = Untilted::Marginals;
        }
        self.untilted == Untilted::Marginals
    }

    /// Scales to marginals the tables of tilted cliques whose marginals went elsewhere, and left the
    /// products they were made of.
    pub(super) fn scale_tilted(&mut self, structure: &Structure) {
        for (node, own) in structure.nodes.iter().zip(&mut self.cliques) {
            if node.tilted && !own.calibrated {
                let up = &structure.projections[node.up];
                for (block, cells) in up.blocks() {
                    let table = &mut own.belief[cells];
                    up.spread(block, &own.ratios, table, |cell, ratio| *cell *= ratio);
                }
                own.calibrated = true;
            }
        }
    }

    /// The marginals of a table, once all cliques are calibrated. They may be taken.
    pub fn marginals(&mut self, structure: &Structure, table: usize) -> &mut Vec<f64> {
        let home = &structure.homes[table];
        let node = &structure.nodes[home.node];
        let Scratch { belief, joined, .. } = &mut self.cliques[home.node];
        let outer = match home.joined {
            None => belief,
            Some(place) => {
                let Joined { projection, cells, .. } = node.joined[place];
                if joined[place].is_empty() {
                    joined[place].resize(cells, 0.0);
                    structure.projections[projection].sum(belief, &mut joined[place]);
                }
                &mut joined[place]
            }
        };
        self.table.clear();
        // A table over all variables of the clique is the clique's own.
        if home.cells == outer.len() {
            self.table.extend_from_slice(outer);
        } else {
            self.table.resize(home.cells, 0.0);
            structure.projections[home.projection].sum(outer, &mut self.table);
        }
        normalise(&mut self.table);
        let Some(order) = &home.order else { return &mut self.table };
        self.stated.clear();
        self.stated.resize(home.cells, 0.0);
        deliver(&mut self.stated, &self.table, (Some(order), false));
        &mut self.stated
    }

    /// The subtrees that threads take, none where there is one thread.
    pub(super) fn shared_out<'s>(&self, structure: &'s Structure) -> &'s [std::ops::Range<usize>] {
        let several = structure.subtrees.len() > 1 && rayon::current_num_threads() > 1;
        if several { &structure.subtrees } else { &[] }
    }
}

/// Whether a pass was stopped at a large clique: what comes after it is then left out.
pub(super) struct Stopped<'a> {
    cancel: &'a Cancel,
    flag: AtomicBool,
}

impl<'a> Stopped<'a> {
    pub fn new(cancel: &'a Cancel) -> Self {
        Self { cancel, flag: AtomicBool::new(false) }
    }

    /// Whether to stop before a clique.
    pub fn before(&self, node: &Node) -> bool {
        if node.is_large() && self.cancel.is_cancelled() {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.is_so()
    }

    /// Takes note of a clique that was not finished.
    pub fn unless(&self, is_done: bool) {
        if !is_done {
            self.flag.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_so(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// What belongs to each subtree, with its first clique.
pub(super) fn split<'a, T>(
    mut rest: &'a mut [T],
    subtrees: &[std::ops::Range<usize>],
) -> Vec<(usize, &'a mut [T])> {
    let mut start = 0;
    let mut pieces = Vec::with_capacity(subtrees.len());
    for subtree in subtrees {
        let (_, after) = rest.split_at_mut(subtree.start - start);
        let (own, after) = after.split_at_mut(subtree.len());
        pieces.push((subtree.start, own));
        (rest, start) = (after, subtree.end);
    }
    pieces
}

/// The cliques that are in no subtree.
pub(super) fn above(
    cliques: usize,
    subtrees: &[std::ops::Range<usize>],
) -> impl DoubleEndedIterator<Item = usize> + '_ {
    let inside = move |index: &usize| {
        let after = subtrees.partition_point(|subtree| subtree.start <= *index);
        subtrees[..after].last().is_some_and(|subtree| subtree.contains(index))
    };
    (0..cliques).filter(move |index| !inside(index))
}

/// One clique's product and message, given those below it; whether it was not cancelled.
fn collect_one(up: Up) -> bool {
    let Up { structure, index, node, tilt, own, below, cancel } = up;
    own.calibrated = false;
    match dispatch(Up { structure, index, node, tilt, own: &mut *own, below, cancel }) {
        Multiplied::Done => true,
        Multiplied::Stopped => false,
        Multiplied::OutOfRange => {
            logarithms::collect(Up { structure, index, node, tilt, own, below, cancel })
        }
    }
}

/// The marginals of a clique's tilts, from its operands and its table.
fn write_marginals(node: &Node, own: &Scratch, marginals: &mut [f64]) {
    let (buffered, whole): (Vec<_>, Vec<_>) =
        node.operands.iter().rev().partition(|operand| operand.buffer.is_some());
    for operand in buffered.into_iter().chain(whole) {
        let Source::Tilt { start, shared } = operand.source else { continue };
        let found = match &operand.buffer {
            Some(buffer) => &own.operands[buffer.clone()],
            None => &own.belief,
        };
        let how = (operand.order.as_deref(), shared);
        deliver(&mut marginals[start..start + operand.cells], found, how);
    }
}

/// Writes a table's marginals, whose cells may have an order of their own, or adds them to those of
/// others.
#[inline(always)]
pub(super) fn deliver(target: &mut [f64], found: &[f64], (order, shared): (Option<&[u32]>, bool)) {
    match (order, shared) {
        (None, true) => target.iter_mut().zip(found).for_each(|(sum, value)| *sum += value),
        (None, false) => target.copy_from_slice(found),
        (Some(order), _) => {
            for (&cell, value) in order.iter().zip(found) {
                let target = &mut target[cell as usize];
                *target = if shared { *target + value } else { *value };
            }
        }
    }
}

#[inline(always)]
pub(super) fn normalise(table: &mut [f64]) {
    let total = super::projection::total(table);
    if total > 0.0 {
        let scale = 1.0 / total;
        table.iter_mut().for_each(|probability| *probability *= scale);
    }
}

/// Neumaier's sum: exact to a rounding or two, however many terms.
pub(super) fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = 0.0f64;
    let mut lost = 0.0;
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    // An infinite sum makes the correction NaN.
    if sum.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compensated_sums_keep_what_plain_sums_lose() {
        assert_eq!(compensated_sum([1e16, 1.0, -1e16].into_iter()), 1.0);
        assert_eq!(compensated_sum([1.0, f64::NEG_INFINITY].into_iter()), f64::NEG_INFINITY);
        assert_eq!(compensated_sum(std::iter::empty()), 0.0);
    }
}
