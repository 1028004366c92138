//! Products with the covariance of a tree's statistics: one more pass up and one down.
//!
//! Let `b` be the marginals of cliques and separators, and `V_c` the direction of the tables in a
//! clique, less its mean. What is expected of all directions in a clique and below it, given the
//! states of its separator, is `M_s / b_s`; of all beyond the separator, `U_s`:
//!
//! ```text
//! up     M_s = Σ_{c ∖ s} b_c (V_c + Σ_children M / b)
//! down   N_c = b_c (V_c + Σ_children M / b + U_s),   U_s = (Σ_{parent ∖ s} N − M_s) / b_s
//! ```
//!
//! `N_c` is how the marginals of the clique change. Only conditional expectations are formed, and
//! all means are 0, so nothing large is subtracted; 0/0 counts as 0. Cliques below which no tilt
//! lives expect nothing and are left out.

use std::ops::Range;

use rayon::prelude::*;

use super::projection::Projection;
use super::structure::{Node, Source, Structure, pair};
use super::sums::{Scratch, Stopped, Sums, above, deliver, split};
use crate::cancel::Cancel;
use crate::vector::vectorised;

/// Room for the product in one clique.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    /// Directions of tilts, and what children expect; small ones are added to larger ones.
    /// `[operands][cells]`
    directions: Vec<f64>,
    /// How the marginals of operands change. `[operands][cells]`
    products: Vec<f64>,
    /// `M_s`. `[separator]`
    moment: Vec<f64>,
    /// `U_s`. `[separator]`
    beyond: Vec<f64>,
    /// The mean of the directions here, before it is taken off.
    mean: f64,
    /// A block of the clique's table.
    block: Vec<f64>,
    /// How the marginals of a tilt over the whole clique change, if other tables share it.
    /// `[cells]`
    shared: Vec<f64>,
}

/// What a product is taken of.
#[derive(Clone, Copy)]
struct Pass<'a> {
    structure: &'a Structure,
    direction: &'a [f64],
    /// Calibrated where tilts live. `[cliques]`
    cliques: &'a [Scratch],
    stopped: &'a Stopped<'a>,
    cancel: &'a Cancel,
}

/// Where a clique's changes go, if its tilt over all its variables has a block to itself.
type Target<'a> = Option<&'a mut [f64]>;

impl Sums {
    /// Writes the product at the latest call; all NaN if it is cancelled.
    pub fn covariance(
        &mut self,
        structure: &Structure,
        direction: &[f64],
        product: &mut [f64],
        cancel: &Cancel,
    ) {
        let mut moments = std::mem::take(&mut self.moments);
        moments.resize_with(structure.nodes.len(), Moments::default);
        let stopped = Stopped::new(cancel);
        self.scale_tilted(structure);
        let subtrees = self.shared_out(structure);
        let pass =
            Pass { structure, direction, cliques: self.cliques(), stopped: &stopped, cancel };
        pass.up(&mut moments, subtrees);
        product.fill(0.0);
        pass.down(&mut moments, whole_targets(structure, product), subtrees);
        if stopped.is_so() {
            product.fill(f64::NAN);
        } else {
            // In the order of one thread: sums of tables are then the same to the last bit.
            let tilted = structure.nodes.iter().zip(&moments).filter(|(node, _)| node.tilted);
            tilted.for_each(|(node, own)| write(node, own, product));
        }
        self.moments = moments;
    }
}

/// The part of the product that each clique's own tilt over all its variables has. `[cliques]`
fn whole_targets<'a>(structure: &Structure, product: &'a mut [f64]) -> Vec<Target<'a>> {
    let mut owners: Vec<(usize, usize)> = Vec::new();
    for (index, node) in structure.nodes.iter().enumerate() {
        if let Some((place, start)) = node.whole()
            && matches!(node.operands[place].source, Source::Tilt { shared: false, .. })
        {
            owners.push((start, index));
        }
    }
    owners.sort_unstable();
    let mut targets: Vec<Target> = structure.nodes.iter().map(|_| None).collect();
    let (mut rest, mut first) = (product, 0);
    for (start, index) in owners {
        let cells = structure.nodes[index].cells;
        let (_, after) = rest.split_at_mut(start - first);
        let (own, after) = after.split_at_mut(cells);
        targets[index] = Some(own);
        (rest, first) = (after, start + cells);
    }
    targets
}

impl Pass<'_> {
    fn up(&self, moments: &mut [Moments], subtrees: &[Range<usize>]) {
        let mut pieces = split(moments, subtrees);
        pieces.par_iter_mut().for_each(|(start, piece)| {
            (0..piece.len()).rev().for_each(|at| self.send_up(*start + at, &mut piece[at..]));
        });
        for index in above(self.structure.nodes.len(), subtrees).rev() {
            self.send_up(index, &mut moments[index..]);
        }
    }

    fn down(&self, moments: &mut [Moments], mut targets: Vec<Target>, subtrees: &[Range<usize>]) {
        for index in above(self.structure.nodes.len(), subtrees) {
            self.send_down(index, &mut moments[index..], &mut targets[index]);
        }
        let pieces = split(moments, subtrees).into_iter().zip(split(&mut targets, subtrees));
        let pieces: Vec<_> = pieces.collect();
        pieces.into_par_iter().for_each(|((start, piece), (_, targets))| {
            for at in 0..piece.len() {
                self.send_down(start + at, &mut piece[at..], &mut targets[at]);
            }
        });
    }

    /// A clique's moments over its separator, given those below it. Its own come first.
    fn send_up(&self, index: usize, moments: &mut [Moments]) {
        let node = &self.structure.nodes[index];
        if !node.tilted || self.stopped.before(node) {
            return;
        }
        let [own, below @ ..] = moments else { unreachable!("its own moments come first") };
        own.make_room(node, &self.structure.projections[node.up]);
        self.load(index, own, below);
        let is_done = vectorised(
            #[inline(always)]
            || self.sum_up(index, own),
        );
        self.stopped.unless(is_done);
    }

    /// The directions of all that goes into a clique except a tilt over all of it.
    fn load(&self, index: usize, own: &mut Moments, below: &[Moments]) {
        let node = &self.structure.nodes[index];
        for operand in &node.operands {
            let Some(buffer) = operand.buffer.clone() else { continue };
            let target = &mut own.directions[buffer.clone()];
            match operand.source {
                Source::Joined | Source::Message { tilted: false, .. } => target.fill(0.0),
                Source::Message { child, tilted: true } => {
                    let moment = &below[child - index - 1].moment;
                    write_ratios(target, moment, &self.cliques[child].inbox);
                }
                Source::Tilt { start, .. } => {
                    let direction = &self.direction[start..start + operand.cells];
                    read(direction, operand.order.as_deref(), target);
                    let marginal = &self.cliques[index].operands[buffer];
                    let mean: f64 = target.iter().zip(marginal).map(|(v, b)| v * b).sum();
                    target.iter_mut().for_each(|value| *value -= mean);
                }
            }
        }
        for operand in &node.operands {
            let Some(target) = operand.target else { continue };
            let [small, large] = pair(&mut own.directions, operand, &node.operands[target]);
            self.structure.projections[operand.projection].add(small, large);
        }
    }

    /// Sums over the separator, less their mean; whether it was not cancelled.
    #[inline(always)]
    fn sum_up(&self, index: usize, own: &mut Moments) -> bool {
        let (node, clique) = (&self.structure.nodes[index], &self.cliques[index]);
        let up = &self.structure.projections[node.up];
        own.moment.fill(0.0);
        for (block, cells) in up.blocks() {
            if Projection::is_time_to_look(block) && self.cancel.is_cancelled() {
                return false;
            }
            self.fill_block(node, own, block, cells.clone());
            weigh(&mut own.block, &clique.belief[cells]);
            up.collect(block, &own.block, &mut own.moment);
        }
        own.mean = own.moment.iter().sum();
        let Moments { moment, mean, .. } = own;
        moment.iter_mut().zip(&clique.inbox).for_each(|(m, b)| *m -= *mean * b);
        true
    }

    /// Directions and what children expect, in one block of a clique.
    #[inline(always)]
    fn fill_block(&self, node: &Node, own: &mut Moments, block: usize, cells: Range<usize>) {
        match node.whole() {
            None => own.block.fill(0.0),
            Some((place, start)) => {
                let direction = &self.direction[start..start + node.cells];
                match &node.operands[place].order {
                    None => own.block.copy_from_slice(&direction[cells]),
                    Some(order) => read(direction, Some(&order[cells]), &mut own.block),
                }
            }
        }
        for operand in node.operands.iter().filter(|operand| operand.target.is_none()) {
            let Some(buffer) = operand.buffer.clone() else { continue };
            let projection = &self.structure.projections[operand.projection];
            let small = &own.directions[buffer];
            projection.spread(block, small, &mut own.block, |cell, value| *cell += value);
        }
    }

    /// How a clique's marginals change, given what is beyond it, and what its children are told.
    fn send_down(&self, index: usize, moments: &mut [Moments], target: &mut Target) {
        let node = &self.structure.nodes[index];
        if !node.tilted || self.stopped.before(node) {
            return;
        }
        let [own, below @ ..] = moments else { unreachable!("its own moments come first") };
        if node.parent.is_none() {
            own.beyond.fill(0.0);
        }
        let is_done = vectorised(
            #[inline(always)]
            || self.change(index, own, target),
        );
        self.stopped.unless(is_done);
        for operand in node.operands.iter().rev().filter(|operand| operand.wanted) {
            let Some(buffer) = operand.buffer.clone() else { continue };
            if let Some(target) = operand.target {
                let [small, large] = pair(&mut own.products, operand, &node.operands[target]);
                self.structure.projections[operand.projection].sum(large, small);
            }
            if let Source::Message { child, tilted: true } = operand.source {
                let Moments { moment, beyond, .. } = &mut below[child - index - 1];
                let told = own.products[buffer].iter().zip(moment.iter()).map(|(n, m)| n - m);
                let inbox = &self.cliques[child].inbox;
                let ratios = told.zip(inbox).map(|(told, &b)| ratio(told, b));
                beyond.iter_mut().zip(ratios).for_each(|(beyond, ratio)| *beyond = ratio);
            }
        }
    }

    /// `N_c`, and its sums over operands; whether it was not cancelled.
    #[inline(always)]
    fn change(&self, index: usize, own: &mut Moments, target: &mut Target) -> bool {
        let (node, clique) = (&self.structure.nodes[index], &self.cliques[index]);
        let up = &self.structure.projections[node.up];
        let whole = node.whole().map(|(place, _)| &node.operands[place]);
        own.products.fill(0.0);
        if whole.is_some() && target.is_none() {
            own.shared.resize(node.cells, 0.0);
        }
        for (block, cells) in up.blocks() {
            if Projection::is_time_to_look(block) && self.cancel.is_cancelled() {
                return false;
            }
            self.fill_block(node, own, block, cells.clone());
            let mean = own.mean;
            up.spread(block, &own.beyond, &mut own.block, |cell, value| *cell += value - mean);
            weigh(&mut own.block, &clique.belief[cells.clone()]);
            match (whole, &mut *target) {
                (None, _) => {}
                (Some(_), None) => own.shared[cells].copy_from_slice(&own.block),
                (Some(operand), Some(target)) => match &operand.order {
                    None => target[cells].copy_from_slice(&own.block),
                    Some(order) => {
                        let placed = order[cells].iter().zip(&own.block);
                        placed.for_each(|(&cell, value)| target[cell as usize] = *value);
                    }
                },
            }
            let outermost = node.operands.iter().filter(|operand| operand.target.is_none());
            for operand in outermost.filter(|operand| operand.wanted) {
                let Some(buffer) = operand.buffer.clone() else { continue };
                let projection = &self.structure.projections[operand.projection];
                projection.collect(block, &own.block, &mut own.products[buffer]);
            }
        }
        true
    }
}

impl Moments {
    fn make_room(&mut self, node: &Node, up: &Projection) {
        self.directions.resize(node.operand_cells, 0.0);
        self.products.resize(node.operand_cells, 0.0);
        self.moment.resize(node.separator_cells, 0.0);
        self.beyond.resize(node.separator_cells, 0.0);
        self.block.resize(up.block_cells(), 0.0);
    }
}

/// Multiplies a block by the clique's marginals.
#[inline(always)]
fn weigh(values: &mut [f64], marginals: &[f64]) {
    values.iter_mut().zip(marginals).for_each(|(value, marginal)| *value *= marginal);
}

/// Adds a clique's part of the product, except what went straight to its target.
fn write(node: &Node, own: &Moments, product: &mut [f64]) {
    for operand in &node.operands {
        let Source::Tilt { start, shared } = operand.source else { continue };
        let found = match &operand.buffer {
            Some(buffer) => &own.products[buffer.clone()],
            None if shared => &own.shared[..],
            None => continue,
        };
        let how = (operand.order.as_deref(), shared);
        deliver(&mut product[start..start + operand.cells], found, how);
    }
}

/// Entries in an order, or as they are.
#[inline(always)]
fn read(from: &[f64], order: Option<&[u32]>, to: &mut [f64]) {
    match order {
        None => to.copy_from_slice(from),
        Some(order) => {
            to.iter_mut().zip(order).for_each(|(value, &cell)| *value = from[cell as usize]);
        }
    }
}

fn write_ratios(to: &mut [f64], moments: &[f64], marginals: &[f64]) {
    let ratios = moments.iter().zip(marginals).map(|(&m, &b)| ratio(m, b));
    to.iter_mut().zip(ratios).for_each(|(to, ratio)| *to = ratio);
}

/// `moment / marginal`; what is given on an impossible state does not matter.
fn ratio(moment: f64, marginal: f64) -> f64 {
    if marginal > 0.0 { moment / marginal } else { 0.0 }
}
