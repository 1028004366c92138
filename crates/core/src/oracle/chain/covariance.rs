//! Products with the covariance of a chain's statistics: one more pass over the latest messages.
//!
//! Let `u_t` be the direction at a position, less its mean there, and `V_t` that of a link, less
//! its mean. What is expected of all directions before position `t`, given its state, is `a_t`; of
//! all after it, `b_t`. Multiplied by the messages they obey the recurrences of the messages:
//!
//! ```text
//! (α a)_{t+1} = w_{t+1} ∘ (eᵀ(α_t ∘ (u_t + a_t)) + (e ∘ V_t)ᵀ α_t)
//! (β b)_t     = e(γ_{t+1} ∘ (u_{t+1} + b_{t+1})) + (e ∘ V_t) γ_{t+1}          γ = w ∘ β
//! ```
//!
//! The product is `μ_t ∘ (u_t + a_t + b_t)` at a position, `μ_ij (u_i + a_i + V_ij + u_j + b_j)` at
//! a link: all means are 0, so nothing large is subtracted.

mod in_log_domain;

use in_log_domain::Pairs;

use pulp::{Simd, WithSimd};

use super::aligned::Aligned;
use super::edges::{EdgeGroup, add_outer_product, multiply};
use super::forward_backward::Messages;
use super::marginals::write_gamma;
use super::multiply::{Direction, Multiply};
use super::node_tilts::inner_product;
use super::oracle::{Chain, State};
use super::product::Operand;
use super::table::TransitionTable;
use super::tilts::TiltedTable;
use super::watch::Watch;
use crate::oracle::{Covariance, Inverse};

/// Room for a product.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// `u`, 0 in the padding. `[positions][padded states]`
    centred: Aligned,
    /// `α ∘ a`; in the log domain `μ ∘ a`. `[positions][padded states]`
    before: Aligned,
    /// `β ∘ b` of the position that the backward pass has reached; in the log domain `μ ∘ b`.
    /// `[padded states]`
    after: Aligned,
    /// What goes into a product with a table, and what comes out. `[padded states]`
    vectors: [Aligned; 4],
    /// The mean of the direction over each link. `[positions]`
    link_means: Vec<f64>,
    /// `[active groups]`
    groups: Vec<GroupScratch>,
    /// In the log domain.
    pairs: Pairs,
}

/// Of the links of a block that share a table.
#[derive(Clone, Debug, Default)]
struct GroupScratch {
    /// The direction, in the forward layout. `[forward slots]`
    direction: Aligned,
    /// `e ∘ V`, then a vector of zeros. `[forward slots + lanes]`
    forward: Aligned,
    /// The same in the backward layout, if there is one. `[backward slots]`
    backward: Aligned,
    /// Outer products `α γᵀ` of all links, which the direction will multiply. `[forward slots]`
    products: Aligned,
    /// Whether the direction is other than 0.
    is_moved: bool,
}

impl Covariance for Chain {
    fn covariance(&mut self, direction: &[f64], product: &mut [f64]) {
        let length = self.tilt.len();
        assert_eq!((direction.len(), product.len()), (length, length));
        product.fill(0.0);
        if self.sequence.positions.is_empty() {
            return;
        }
        if self.state == State::Cancelled {
            return product.fill(f64::NAN);
        }
        assert!(self.state != State::Nothing, "an answer to differentiate");
        let (model, mut scratch) = (self.model.clone(), std::mem::take(&mut self.scratch));
        scratch.prepare(self, direction);
        let is_log = self.state == State::Log;
        let mut pass = Pass { chain: self, scratch: &mut scratch, direction, product };
        if is_log {
            pass.run_in_log_domain();
        } else {
            model.instructions.dispatch(pass);
        }
        self.scratch = scratch;
    }

    fn warm(&mut self, heat: f64) -> bool {
        self.set_heat(heat);
        true
    }

    fn inverse(&mut self, shift: &[f64]) -> Option<Inverse> {
        self.smoother(shift)
    }
}

impl Scratch {
    /// There was another call.
    pub(super) fn forget(&mut self) {
        self.pairs.forget();
    }

    /// Makes room, and takes up the direction of links.
    fn prepare(&mut self, chain: &Chain, direction: &[f64]) {
        let Chain { model, sequence, tilts, .. } = chain;
        for buffer in [&mut self.centred, &mut self.before] {
            buffer.reset(sequence.cells(), 0.0);
        }
        for buffer in self.vectors.iter_mut().chain([&mut self.after]) {
            buffer.reset(sequence.width, 0.0);
        }
        self.link_means.clear();
        self.link_means.resize(sequence.positions.len(), 0.0);
        self.groups.resize_with(tilts.active, GroupScratch::default);
        for (scratch, group) in self.groups.iter_mut().zip(&tilts.groups) {
            scratch.prepare(group, &model.tables[group.key.0], direction);
        }
    }
}

impl GroupScratch {
    fn prepare(&mut self, group: &EdgeGroup, table: &TransitionTable, direction: &[f64]) {
        let slots = table.forward.slots();
        self.direction.reset(slots, 0.0);
        group.gather(direction, &mut self.direction);
        self.is_moved = self.direction.iter().any(|&value| value != 0.0);
        self.products.reset(slots, 0.0);
        self.forward.reset(group.exp_forward.len(), 0.0);
        let both = self.direction.iter().zip(&group.exp_forward);
        self.forward.iter_mut().zip(both).for_each(|(out, (v, e))| *out = v * e);
        self.backward.reset(group.exp_backward.len(), 0.0);
        group.mirror(&self.forward, &mut self.backward);
    }

    /// `e ∘ V` in the place of `e`.
    #[inline(always)]
    fn table<'a>(&'a self, table: &'a TransitionTable) -> TiltedTable<'a> {
        let exp_forward = &self.forward[..table.forward.slots()];
        TiltedTable {
            table,
            log_forward: &[],
            exp_forward,
            exp_backward: &self.backward,
            highest: 0.0,
        }
    }
}

/// One product.
struct Pass<'a> {
    chain: &'a mut Chain,
    scratch: &'a mut Scratch,
    direction: &'a [f64],
    product: &'a mut [f64],
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let last = self.chain.sequence.positions.len() - 1;
        let cancel = self.chain.cancel.clone();
        let mut watch = Watch::new(&cancel);
        // Plain loops: a closure need not be compiled for the same instructions.
        for t in 0..=last {
            self.centre(simd, t);
        }
        for run in 0..self.chain.tilts.runs.len() {
            if watch.stops_before(self.chain.tilts.runs[run].cells) {
                return self.product.fill(f64::NAN);
            }
            for t in self.chain.tilts.runs[run].links() {
                self.step_forward(simd, run, t);
            }
        }
        for group in &mut self.chain.tilts.groups[..self.scratch.groups.len()] {
            group.counts.fill(0.0);
        }
        self.add_position(simd, last);
        for run in (0..self.chain.tilts.runs.len()).rev() {
            if watch.stops_before(self.chain.tilts.runs[run].cells) {
                return self.product.fill(f64::NAN);
            }
            for t in self.chain.tilts.runs[run].links().rev() {
                self.step_backward(simd, run, t);
                self.add_link(simd, t);
                self.add_position(simd, t);
            }
        }
        let Chain { model, tilts, .. } = &mut *self.chain;
        for (group, scratch) in tilts.groups.iter_mut().zip(&self.scratch.groups) {
            let moved = scratch.direction.iter().zip(&scratch.products);
            group.counts.iter_mut().zip(moved).for_each(|(count, (v, p))| *count += v * p);
            multiply(simd, &mut group.counts, &group.exp_forward);
            group.scatter(&model.tables[group.key.0].forward, self.product);
        }
    }
}

impl Pass<'_> {
    /// Writes `u` of a position.
    #[inline(always)]
    fn centre<S: Simd>(&mut self, simd: S, t: usize) {
        let Chain { sequence, tilts, messages, .. } = &*self.chain;
        let position = sequence.positions[t];
        let Some(start) = tilts.nodes.first_coordinate(t) else { return };
        let centred = &mut self.scratch.centred[position.padded()];
        centred[..position.states].copy_from_slice(&self.direction[start..][..position.states]);
        let (alpha, beta) = (&messages.alpha[position.padded()], &messages.beta[position.padded()]);
        let all = alpha.iter().zip(beta).zip(&*centred);
        let sum: f64 = all.map(|((alpha, beta), value)| alpha * beta * value).sum();
        let mean = sum / inner_product(simd, alpha, beta);
        centred[..position.states].iter_mut().for_each(|value| *value -= mean);
    }

    /// `α ∘ a` of the position after a link, and the mean of the link.
    #[inline(always)]
    fn step_forward<S: Simd>(&mut self, simd: S, run: usize, t: usize) {
        let Chain { model, sequence, tilts, messages, .. } = &*self.chain;
        let Messages { alpha, beta, alpha_scales, beta_scales, .. } = messages;
        let Scratch { centred, before, vectors: [x, y, moved, _], link_means, groups, .. } =
            &mut *self.scratch;
        let (here, next) = (sequence.positions[t], sequence.positions[t + 1]);
        let weights = &tilts.nodes.weights(sequence)[next.padded()];
        let table = tilts.runs[run].transitions(model, &tilts.groups);
        let own = alpha[here.padded()].iter().zip(&centred[here.padded()]);
        let own = own.zip(&before[here.padded()]);
        x.iter_mut().zip(own).for_each(|(x, ((a, u), before))| *x = a * u + before);
        let product = Operand::new(here.states, x);
        Multiply { direction: Direction::Forward, table: table.as_ref(), x: product, out: y }
            .with_simd(simd);
        let group = tilts.links[t].map(|group| &groups[group]).filter(|group| group.is_moved);
        if let (Some(group), Some(table)) = (group, &table) {
            let moved_table = group.table(table.table);
            let x = Operand::new(here.states, &alpha[here.padded()]);
            Multiply { direction: Direction::Forward, table: Some(&moved_table), x, out: moved }
                .with_simd(simd);
            y.iter_mut().zip(moved.iter()).for_each(|(y, moved)| *y += moved);
            let all = weights.iter().zip(&beta[next.padded()]).zip(moved.iter());
            let sum: f64 = all.map(|((w, b), moved)| w * b * moved).sum();
            let total = inner_product(simd, &alpha[here.padded()], &beta[here.padded()]);
            link_means[t] = sum * beta_scales[t] / total;
        }
        let (scale, mean) = (alpha_scales[t + 1], link_means[t]);
        let own = weights.iter().zip(&alpha[next.padded()]).zip(y.iter());
        let out = before[next.padded()].iter_mut();
        out.zip(own).for_each(|(out, ((w, a), y))| *out = y * w * scale - mean * a);
    }

    /// `β ∘ b` of the position before a link. Leaves `γ` and `γ ∘ (u + b)` of the one after it.
    #[inline(always)]
    fn step_backward<S: Simd>(&mut self, simd: S, run: usize, t: usize) {
        let Chain { model, sequence, tilts, messages, .. } = &mut *self.chain;
        let Messages { beta, gamma: [gamma, _], beta_scales, .. } = messages;
        let Scratch { centred, after, vectors: [x, y, moved, _], link_means, groups, .. } =
            &mut *self.scratch;
        let (here, next) = (sequence.positions[t], sequence.positions[t + 1]);
        let weights = &tilts.nodes.weights(sequence)[next.padded()];
        let table = tilts.runs[run].transitions(model, &tilts.groups);
        write_gamma(simd, weights, &beta[next.padded()], gamma);
        let own = gamma.iter().zip(&centred[next.padded()]).zip(weights.iter().zip(after.iter()));
        x.fill(0.0);
        x.iter_mut().zip(own).for_each(|(x, ((g, u), (w, b)))| *x = g * u + w * b);
        let product = Operand::new(next.states, x);
        Multiply { direction: Direction::Backward, table: table.as_ref(), x: product, out: y }
            .with_simd(simd);
        let group = tilts.links[t].map(|group| &groups[group]).filter(|group| group.is_moved);
        if let (Some(group), Some(table)) = (group, &table) {
            let moved_table = group.table(table.table);
            let gamma = Operand::new(next.states, &gamma[..next.padded().len()]);
            Multiply {
                direction: Direction::Backward,
                table: Some(&moved_table),
                x: gamma,
                out: moved,
            }
            .with_simd(simd);
            y.iter_mut().zip(moved.iter()).for_each(|(y, moved)| *y += moved);
        }
        let (scale, mean) = (beta_scales[t], link_means[t]);
        let own = beta[here.padded()].iter().zip(y.iter());
        after.iter_mut().zip(own).for_each(|(out, (b, y))| *out = y * scale - mean * b);
    }

    /// The outer products of a link, if a block reads it.
    #[inline(always)]
    fn add_link<S: Simd>(&mut self, simd: S, t: usize) {
        let Chain { model, sequence, tilts, messages, .. } = &mut *self.chain;
        let Messages { alpha, beta, gamma: [gamma, _], beta_scales, .. } = &*messages;
        let Scratch { centred, before, vectors: [x, y, ..], link_means, groups, .. } =
            &mut *self.scratch;
        let Some(group) = tilts.links[t] else { return };
        let here = sequence.positions[t].padded();
        let layout = &model.tables[tilts.groups[group].key.0].forward;
        let (mean, counts) = (link_means[t], &mut tilts.groups[group].counts);
        let factor =
            beta_scales[t] / inner_product(simd, &alpha[here.clone()], &beta[here.clone()]);
        let own = alpha[here.clone()].iter().zip(&centred[here.clone()]).zip(&before[here.clone()]);
        y.iter_mut().zip(own).for_each(|(y, ((a, u), before))| *y = a * (u - mean) + before);
        let alpha = &alpha[here];
        add_outer_product(simd, layout, (y, gamma), factor, counts);
        add_outer_product(simd, layout, (alpha, x), factor, counts);
        if groups[group].is_moved {
            add_outer_product(simd, layout, (alpha, gamma), factor, &mut groups[group].products);
        }
    }

    /// `μ ∘ (u + a + b)` of a position, if a block reads it.
    #[inline(always)]
    fn add_position<S: Simd>(&mut self, simd: S, t: usize) {
        let Chain { sequence, tilts, messages, .. } = &*self.chain;
        let Scratch { centred, before, after, .. } = &*self.scratch;
        let Some(start) = tilts.nodes.first_coordinate(t) else { return };
        let position = sequence.positions[t];
        let (alpha, beta) = (&messages.alpha[position.padded()], &messages.beta[position.padded()]);
        let inverse = 1.0 / inner_product(simd, alpha, beta);
        let both = centred[position.padded()].iter().zip(&before[position.padded()]).zip(after);
        let all = alpha.iter().zip(beta).zip(both);
        let out = &mut self.product[start..start + position.states];
        out.iter_mut().zip(all).for_each(|(out, ((alpha, beta), ((u, before), after)))| {
            *out += ((alpha * u + before) * beta + alpha * after) * inverse;
        });
    }
}
