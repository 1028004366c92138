//! One clique's part of a pass, block by block: a block stays in the cache while all operands are
//! multiplied into it and all sums are taken from it.

use pulp::Simd;

use super::projection::Projection;
use super::statics::add_up;
use super::structure::{Node, Operand, SAFE, Source, Structure, WIDEST, pair};
use super::sums::{Scratch, deliver, normalise};
use crate::cancel::Cancel;
use crate::vector::exponential::exponential;

/// A tilt whose greatest entry is within this distance of the last call's reuses its scale.
const DRIFT: f64 = 40.0;

/// How many reordered entries to gather at a time.
const GATHERED: usize = 256;

/// The product of all that goes into a clique, and its message.
pub(super) struct Up<'a> {
    pub structure: &'a Structure,
    pub index: usize,
    pub node: &'a Node,
    pub tilt: &'a [f64],
    pub own: &'a mut Scratch,
    /// The cliques after this one.
    pub below: &'a [Scratch],
    pub cancel: &'a Cancel,
}

/// The outcome of a clique's product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Multiplied {
    Done,
    /// It leaves the range of a double.
    OutOfRange,
    /// It was cancelled.
    Stopped,
}

/// Logarithms of the least and greatest that a product can be.
#[derive(Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// Further factors in this range, scaled.
    fn add(&mut self, range: (f64, f64), shift: f64) {
        self.low += range.0 - shift;
        self.high += range.1 - shift;
    }

    fn is_safe(self) -> bool {
        self.low >= -SAFE && self.high <= SAFE
    }
}

impl pulp::WithSimd for Up<'_> {
    type Output = Multiplied;

    // One function, so that all of it is compiled for the same instructions.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Multiplied {
        let Self { structure, node, tilt, cancel, .. } = self;
        let mut bounds = Bounds { low: node.lowest, high: 0.0 };
        self.own.shift = node.shift;
        let mut product = Product { structure, node, cancel, statics: Statics::Kept };
        if !node.statics.is_empty() && !node.tilted {
            let sums = add_up(&structure.projections, node, &mut self.own.belief, cancel);
            let Some(reach) = sums else { return Multiplied::Stopped };
            product.statics = Statics::Logarithms { highest: reach.highest };
            bounds.low = reach.depth();
            self.own.shift = reach.highest;
        } else if !node.statics.is_empty() && node.product.is_empty() {
            return Multiplied::OutOfRange;
        }
        if !self.load_operands(simd, &mut bounds) {
            return Multiplied::OutOfRange;
        }
        let own = self.own;
        multiply_operands(structure, node, &mut own.operands);
        match node.whole() {
            None => {
                if product.multiply(simd, own, None).is_none() {
                    return Multiplied::Stopped;
                }
            }
            Some((place, start)) => {
                let tilt = &tilt[start..start + node.cells];
                let mut shift = own.guesses[place];
                let mut range = product.multiply(simd, own, Some((tilt, shift)));
                if let Some(far) = range.filter(|range| !is_near(*range, shift)) {
                    shift = far.1;
                    range = product.multiply(simd, own, Some((tilt, shift)));
                }
                let Some(range) = range else { return Multiplied::Stopped };
                own.guesses[place] = range.1;
                own.shift += shift;
                bounds.add(range, shift);
            }
        }
        if !bounds.is_safe() {
            return Multiplied::OutOfRange;
        }
        finish(own);
        Multiplied::Done
    }
}

impl Up<'_> {
    /// Writes all that is multiplied into the clique except a tilt over all of it. Whether the
    /// product stays within the range of a double.
    #[inline(always)]
    fn load_operands<S: Simd>(&mut self, simd: S, bounds: &mut Bounds) -> bool {
        let Self { index, node, tilt, own, below, .. } = self;
        for (place, operand) in node.operands.iter().enumerate() {
            let Some(buffer) = operand.buffer.clone() else { continue };
            let target = &mut own.operands[buffer];
            match operand.source {
                Source::Joined => target.fill(1.0),
                Source::Message { child, .. } => {
                    let child = &below[child - *index - 1];
                    if child.in_logs {
                        return false;
                    }
                    target.copy_from_slice(&child.message);
                    bounds.low += child.lowest;
                }
                Source::Tilt { start, .. } => {
                    let tilt = &tilt[start..start + operand.cells];
                    let order = operand.order.as_deref();
                    let mut shift = own.guesses[place];
                    let mut range = exponentials(simd, (tilt, order, shift), target);
                    if !is_near(range, shift) {
                        shift = range.1;
                        range = exponentials(simd, (tilt, order, shift), target);
                    }
                    own.guesses[place] = range.1;
                    own.shift += shift;
                    bounds.add(range, shift);
                }
            }
        }
        bounds.is_safe()
    }
}

/// Whether entries in this range keep their size when they are scaled by this.
#[inline(always)]
fn is_near(range: (f64, f64), shift: f64) -> bool {
    (range.1 - shift).abs() <= DRIFT
}

/// Multiplies small operands into larger ones.
#[inline(always)]
fn multiply_operands(structure: &Structure, node: &Node, buffers: &mut [f64]) {
    for operand in &node.operands {
        let Some(target) = operand.target else { continue };
        let [small, large] = pair(buffers, operand, &node.operands[target]);
        let projection = &structure.projections[operand.projection];
        for (block, cells) in projection.blocks() {
            projection.spread(block, small, &mut large[cells], |cell, value| *cell *= value);
        }
    }
}

/// A clique's product in progress.
struct Product<'a> {
    structure: &'a Structure,
    node: &'a Node,
    cancel: &'a Cancel,
    statics: Statics,
}

/// Where the product of a clique's static tables is.
#[derive(Clone, Copy)]
enum Statics {
    /// With the clique, if there are any.
    Kept,
    /// Its logarithms are where the whole product goes. The greatest is this.
    Logarithms { highest: f64 },
}

impl Product<'_> {
    /// The clique's product, and its sums over the separator. A tilt over the whole clique comes
    /// with what it is scaled by; its least and greatest entries are returned, or none if it was
    /// cancelled.
    #[inline(always)]
    fn multiply<S: Simd>(
        &self,
        simd: S,
        own: &mut Scratch,
        whole: Option<(&[f64], f64)>,
    ) -> Option<(f64, f64)> {
        let Self { structure, node, cancel, statics } = self;
        let Scratch { belief, sums, operands: buffers, .. } = own;
        let up = &structure.projections[node.up];
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        sums.fill(0.0);
        for (block, cells) in up.blocks() {
            if Projection::is_time_to_look(block) && cancel.is_cancelled() {
                return None;
            }
            let target = &mut belief[cells.clone()];
            let mut is_filled = false;
            if let Some((tilt, shift)) = whole {
                let order = node.operands.last().and_then(|operand| operand.order.as_ref());
                let own = match order {
                    Some(order) => {
                        exponentials(simd, (tilt, Some(&order[cells.clone()]), shift), target)
                    }
                    None => exponentials(simd, (&tilt[cells.clone()], None, shift), target),
                };
                range = (range.0.min(own.0), range.1.max(own.1));
                is_filled = true;
            }
            if let Statics::Logarithms { highest } = *statics {
                exponentiate(simd, highest, target);
                is_filled = true;
            }
            if !node.product.is_empty() {
                let product = &node.product[cells];
                if is_filled {
                    target.iter_mut().zip(product).for_each(|(t, p)| *t *= p);
                } else {
                    target.copy_from_slice(product);
                }
                is_filled = true;
            }
            for operand in node.operands.iter().filter(|operand| operand.target.is_none()) {
                let Some(buffer) = operand.buffer.clone() else { continue };
                let projection = &structure.projections[operand.projection];
                let small = &buffers[buffer];
                if is_filled {
                    projection.spread(block, small, target, |cell, value| *cell *= value);
                } else {
                    projection.spread(block, small, target, |cell, value| *cell = value);
                }
                is_filled = true;
            }
            if !is_filled {
                target.fill(1.0);
            }
            up.collect(block, target, sums);
        }
        Some(range)
    }
}

/// The message: sums over their greatest.
#[inline(always)]
fn finish(own: &mut Scratch) {
    let (mut greatest, mut least) = (0.0f64, f64::INFINITY);
    for &sum in &own.sums {
        greatest = if sum > greatest { sum } else { greatest };
        least = if sum > 0.0 && sum < least { sum } else { least };
    }
    own.in_logs = false;
    own.shift += greatest.ln();
    let scale = if greatest > 0.0 { 1.0 / greatest } else { 0.0 };
    own.lowest = if greatest > 0.0 { (least / greatest).ln() } else { 0.0 };
    own.message.iter_mut().zip(&own.sums).for_each(|(message, sum)| *message = sum * scale);
}

/// `e^(x − shift)` of all entries, possibly reordered, and the least and greatest `x`.
#[inline(always)]
fn exponentials<S: Simd>(
    simd: S,
    (from, order, shift): (&[f64], Option<&[u32]>, f64),
    to: &mut [f64],
) -> (f64, f64) {
    let Some(order) = order else { return exponentials_in_order(simd, from, shift, to) };
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    let mut piece = [0.0; GATHERED];
    for (cells, to) in order.chunks(GATHERED).zip(to.chunks_mut(GATHERED)) {
        piece.iter_mut().zip(cells).for_each(|(x, &cell)| *x = from[cell as usize]);
        let own = exponentials_in_order(simd, &piece[..cells.len()], shift, to);
        range = (range.0.min(own.0), range.1.max(own.1));
    }
    range
}

#[inline(always)]
fn exponentials_in_order<S: Simd>(simd: S, from: &[f64], shift: f64, to: &mut [f64]) -> (f64, f64) {
    let (vectors, rest) = S::as_simd_f64s(from);
    let (targets, _) = S::as_mut_simd_f64s(to);
    let shifts = simd.splat_f64s(shift);
    let (mut low, mut high) = (simd.splat_f64s(f64::INFINITY), simd.splat_f64s(f64::NEG_INFINITY));
    for (target, &x) in targets.iter_mut().zip(vectors) {
        low = simd.min_f64s(low, x);
        high = simd.max_f64s(high, x);
        *target = exponential(simd, simd.sub_f64s(x, shifts));
    }
    let mut range = (simd.reduce_min_f64s(low), simd.reduce_max_f64s(high));
    if !rest.is_empty() {
        let mut tail = [shift; WIDEST];
        tail[..rest.len()].copy_from_slice(rest);
        let (vectors, _) = S::as_mut_simd_f64s(&mut tail);
        for vector in vectors {
            *vector = exponential(simd, simd.sub_f64s(*vector, shifts));
        }
        let done = from.len() - rest.len();
        to[done..done + rest.len()].copy_from_slice(&tail[..rest.len()]);
        for &x in rest {
            range = (range.0.min(x), range.1.max(x));
        }
    }
    range
}

/// `e^(x − shift)` in place.
#[inline(always)]
pub(super) fn exponentiate<S: Simd>(simd: S, shift: f64, table: &mut [f64]) {
    let shifts = simd.splat_f64s(shift);
    let (vectors, rest) = S::as_mut_simd_f64s(table);
    for x in vectors {
        *x = exponential(simd, simd.sub_f64s(*x, shifts));
    }
    if !rest.is_empty() {
        let mut tail = [shift; WIDEST];
        tail[..rest.len()].copy_from_slice(rest);
        let (vectors, _) = S::as_mut_simd_f64s(&mut tail);
        for x in vectors {
            *x = exponential(simd, simd.sub_f64s(*x, shifts));
        }
        rest.copy_from_slice(&tail[..rest.len()]);
    }
}

/// A clique's marginals, those of its tilts and of its children's separators.
pub(super) struct Down<'a> {
    pub structure: &'a Structure,
    pub index: usize,
    pub node: &'a Node,
    pub own: &'a mut Scratch,
    /// The cliques after this one.
    pub below: &'a mut [Scratch],
    /// Where to write marginals of tilts; `None` leaves them with the operands.
    pub marginals: Option<&'a mut [f64]>,
    /// Whether to inform children without a tilt too, and leave every table as marginals.
    pub all: bool,
    pub cancel: &'a Cancel,
}

impl pulp::WithSimd for Down<'_> {
    /// Whether it was not cancelled.
    type Output = bool;

    // One function, so that all of it is compiled for the same instructions.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { structure, index, node, own, below, marginals, all, cancel } = self;
        let is_wanted = |operand: &Operand| operand.wanted || all;
        let whole = node.whole().map(|(place, start)| {
            let operand = &node.operands[place];
            let shared = matches!(operand.source, Source::Tilt { shared: true, .. });
            (start, operand.order.as_deref(), shared)
        });
        if !own.calibrated {
            if node.parent.is_none() {
                own.inbox.fill(1.0);
            }
            // Separator marginals over messages: what rows are multiplied by.
            let inputs = own.inbox.iter().zip(&own.sums);
            own.ratios.iter_mut().zip(inputs).for_each(|(ratio, (inbox, sum))| {
                *ratio = if *sum > 0.0 { inbox / sum } else { 0.0 };
            });
        }
        for operand in node.operands.iter().filter(|operand| is_wanted(operand)) {
            if let Some(buffer) = operand.buffer.clone() {
                own.operands[buffer].fill(0.0);
            }
        }
        let mut marginals = marginals;
        let up = &structure.projections[node.up];
        for (block, cells) in up.blocks() {
            if Projection::is_time_to_look(block) && cancel.is_cancelled() {
                return false;
            }
            let table = &mut own.belief[cells.clone()];
            // The marginals of a tilt over the whole clique go straight to their target.
            let table = match (&mut marginals, whole) {
                (Some(marginals), Some((start, None, false))) if !own.calibrated => {
                    let target = &mut marginals[start..][cells];
                    target.copy_from_slice(table);
                    up.spread(block, &own.ratios, target, |cell, ratio| *cell *= ratio);
                    &*target
                }
                _ => {
                    if !own.calibrated {
                        up.spread(block, &own.ratios, table, |cell, ratio| *cell *= ratio);
                    }
                    &*table
                }
            };
            let outermost = node.operands.iter().filter(|operand| operand.target.is_none());
            for operand in outermost.filter(|operand| is_wanted(operand)) {
                let Some(buffer) = operand.buffer.clone() else { continue };
                let projection = &structure.projections[operand.projection];
                projection.collect(block, table, &mut own.operands[buffer]);
            }
        }
        let direct =
            marginals.is_some() && matches!(whole, Some((_, None, false))) && !own.calibrated;
        own.calibrated = !direct;
        for operand in node.operands.iter().rev().filter(|operand| is_wanted(operand)) {
            let Some(buffer) = operand.buffer.clone() else { continue };
            if let Some(target) = operand.target {
                let [small, large] = pair(&mut own.operands, operand, &node.operands[target]);
                let projection = &structure.projections[operand.projection];
                for (block, cells) in projection.blocks() {
                    projection.collect(block, &large[cells], small);
                }
            }
            let found = &mut own.operands[buffer];
            // Otherwise rounding would add up along a path of many thousands of cliques.
            normalise(found);
            match (operand.source, &mut marginals) {
                (Source::Message { child, .. }, _) => {
                    below[child - index - 1].inbox.copy_from_slice(found);
                }
                (Source::Tilt { start, shared }, Some(marginals)) => {
                    let how = (operand.order.as_deref(), shared);
                    deliver(&mut marginals[start..start + operand.cells], found, how);
                }
                (Source::Tilt { .. }, None) | (Source::Joined, _) => {}
            }
        }
        if let (Some((start, order, shared)), Some(marginals), false) = (whole, marginals, direct) {
            deliver(&mut marginals[start..start + node.cells], &own.belief, (order, shared));
        }
        true
    }
}
