//! The same where messages are logarithms: conditional expectations, multiplied by marginals.
//!
//! Where exponentials serve, they are products with the transition table. Pairs of states are listed
//! for the rest: states with a peak of their own, and links in a direction.

use super::super::log_domain::LogAnswer;
use super::super::multiply::Direction;
use super::super::oracle::Chain;
use super::super::watch::Watch;
use super::{Pass, Scratch};

/// A pair whose probability is below this part (as a logarithm) of those of both its states is lost
/// in the rounding of what is expected given either.
const NEGLIGIBLE: f64 = -60.0;
/// This many pairs over all links are kept from one product to the next.
const MOST_KEPT: usize = 8 << 20;

/// Two states of successive positions.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: u32,
    to: u32,
    /// In the forward layout of the table.
    slot: u32,
    probability: f64,
}

/// The pairs of links, which all products after a call share.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// `[links]`
    kept: Vec<Option<Vec<Pair>>>,
    number: usize,
}

impl Pairs {
    /// There was another call.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.number = 0;
    }

    /// Keeps those of a link, if they are not too many.
    fn keep(&mut self, t: usize, pairs: Vec<Pair>) {
        if self.number + pairs.len() <= MOST_KEPT {
            self.number += pairs.len();
            self.kept.resize_with(self.kept.len().max(t + 1), || None);
            self.kept[t] = Some(pairs);
        }
    }

    /// Takes those of a link out, if they were kept.
    fn take(&mut self, t: usize) -> Option<Vec<Pair>> {
        let pairs = self.kept.get_mut(t)?.take()?;
        self.number -= pairs.len();
        Some(pairs)
    }
}

impl Pass<'_> {
    pub(super) fn run_in_log_domain(&mut self) {
        let last = self.chain.sequence.positions.len() - 1;
        (0..=last).for_each(|t| self.centre_by_marginal(t));
        let cancel = self.chain.cancel.clone();
        let mut watch = Watch::new(&cancel);
        for t in 0..last {
            if watch.stops_before(self.chain.cells(t)) {
                return self.product.fill(f64::NAN);
            }
            let pairs = self.pairs(t);
            self.step_forward_by_pairs(t, &pairs);
            self.scratch.pairs.keep(t, pairs);
        }
        for group in &mut self.chain.tilts.groups[..self.scratch.groups.len()] {
            group.counts.fill(0.0);
        }
        self.add_position_by_marginal(last);
        for t in (0..last).rev() {
            if watch.stops_before(self.chain.cells(t)) {
                return self.product.fill(f64::NAN);
            }
            let pairs = self.pairs(t);
            self.step_backward_by_pairs(t, &pairs);
            self.scratch.pairs.keep(t, pairs);
            self.add_position_by_marginal(t);
        }
        let Chain { model, tilts, .. } = &*self.chain;
        for group in &tilts.groups[..tilts.active] {
            group.scatter(&model.tables[group.key.0].forward, self.product);
        }
    }

    /// The marginal of a position, to the first of the scratch vectors.
    fn marginal(&mut self, t: usize) {
        let Chain { sequence, messages, .. } = &*self.chain;
        let states = sequence.positions[t].states();
        self.scratch.vectors[0][..states.len()].copy_from_slice(&messages.nodes[states]);
    }

    fn centre_by_marginal(&mut self, t: usize) {
        let Some(start) = self.chain.tilts.nodes.first_coordinate(t) else { return };
        self.marginal(t);
        let position = self.chain.sequence.positions[t];
        let Scratch { centred, vectors: [marginal, ..], .. } = &mut *self.scratch;
        let own = &self.direction[start..start + position.states];
        let mean: f64 = own.iter().zip(marginal.iter()).map(|(v, m)| v * m).sum();
        let out = centred[position.states()].iter_mut().zip(own);
        out.for_each(|(out, value)| *out = value - mean);
    }

    /// The pairs of a link that matter and that products leave out; none for a free link.
    fn pairs(&mut self, t: usize) -> Vec<Pair> {
        if let Some(pairs) = self.scratch.pairs.take(t) {
            return pairs;
        }
        let Chain { model, sequence, tilts, messages, .. } = &mut *self.chain;
        let mut pairs = Vec::new();
        let keep = |from: usize, to: usize, slot: usize, probability: f64| {
            let (from, to, slot) = (from as u32, to as u32, slot as u32);
            pairs.push(Pair { from, to, slot, probability });
        };
        let mut answer = LogAnswer { model, sequence, tilts, messages };
        match tilts.links[t] {
            Some(_) => answer.visit_pairs(t, keep),
            None => answer.visit_peaked_pairs(t, NEGLIGIBLE, keep),
        }
        pairs
    }

    /// Adds what products give of a link in no direction.
    fn add_expected(&mut self, t: usize, direction: Direction) {
        let Chain { model, sequence, tilts, messages, .. } = &mut *self.chain;
        if tilts.links[t].is_some() {
            return;
        }
        let Scratch { before, after, vectors: [_, known, later, product], .. } = &mut *self.scratch;
        let (values, out) = match direction {
            Direction::Forward => (known, &mut before[sequence.positions[t + 1].states()]),
            Direction::Backward => (later, &mut after[..sequence.positions[t].states]),
        };
        let mut answer = LogAnswer { model, sequence, tilts, messages };
        answer.add_expected((t, direction), values, product, out);
    }

    /// `u + a` of a position, to the second of the scratch vectors.
    fn known_before(&mut self, t: usize) {
        self.marginal(t);
        let states = self.chain.sequence.positions[t].states();
        let Scratch { centred, before, vectors: [marginal, known, ..], .. } = &mut *self.scratch;
        let own = centred[states.clone()].iter().zip(&before[states]).zip(marginal.iter());
        let known = known.iter_mut().zip(own);
        known.for_each(|(known, ((u, moment), marginal))| *known = u + ratio(*moment, *marginal));
    }

    /// `μ ∘ a` of the position after a link, and the mean of the link.
    fn step_forward_by_pairs(&mut self, t: usize, pairs: &[Pair]) {
        self.known_before(t);
        self.add_expected(t, Direction::Forward);
        self.marginal(t + 1);
        let Chain { sequence, tilts, .. } = &*self.chain;
        let Scratch { before, vectors: [marginal, known, ..], link_means, groups, .. } =
            &mut *self.scratch;
        let moved = tilts.links[t].map(|group| &groups[group].direction);
        let out = &mut before[sequence.positions[t + 1].states()];
        let mut mean = 0.0;
        for &Pair { from, to, slot, probability } in pairs {
            let value = moved.map_or(0.0, |moved| moved[slot as usize]);
            mean += probability * value;
            out[to as usize] += probability * (known[from as usize] + value);
        }
        out.iter_mut().zip(marginal.iter()).for_each(|(out, m)| *out -= mean * m);
        link_means[t] = mean;
    }

    /// `μ ∘ b` of the position before a link, and the products of the link.
    fn step_backward_by_pairs(&mut self, t: usize, pairs: &[Pair]) {
        self.marginal(t + 1);
        let next = self.chain.sequence.positions[t + 1].states();
        let Scratch { centred, after, vectors: [marginal, _, later, _], .. } = &mut *self.scratch;
        let own = centred[next].iter().zip(after.iter()).zip(marginal.iter());
        let later = later.iter_mut().zip(own);
        later.for_each(|(later, ((u, moment), marginal))| *later = u + ratio(*moment, *marginal));
        self.known_before(t);
        self.scratch.after.fill(0.0);
        self.add_expected(t, Direction::Backward);
        let Chain { tilts, .. } = &mut *self.chain;
        let Scratch { after, vectors: [marginal, known, later, _], link_means, groups, .. } =
            &mut *self.scratch;
        let (mean, group) = (link_means[t], tilts.links[t]);
        let moved = group.map(|group| &groups[group].direction);
        for &Pair { from, to, slot, probability } in pairs {
            let value = moved.map_or(0.0, |moved| moved[slot as usize]);
            after[from as usize] += probability * (later[to as usize] + value);
        }
        after.iter_mut().zip(marginal.iter()).for_each(|(out, m)| *out -= mean * m);
        let (Some(group), Some(moved)) = (group, moved) else { return };
        let counts = &mut tilts.groups[group].counts;
        for &Pair { from, to, slot, probability } in pairs {
            let (from, to, slot) = (from as usize, to as usize, slot as usize);
            counts[slot] += probability * (known[from] + moved[slot] + later[to] - mean);
        }
    }

    fn add_position_by_marginal(&mut self, t: usize) {
        let Some(start) = self.chain.tilts.nodes.first_coordinate(t) else { return };
        self.marginal(t);
        let states = self.chain.sequence.positions[t].states();
        let Scratch { centred, before, after, vectors: [marginal, ..], .. } = &*self.scratch;
        let moments = before[states.clone()].iter().zip(after.iter());
        let own = marginal.iter().zip(&centred[states.clone()]).zip(moments);
        let out = self.product[start..start + states.len()].iter_mut().zip(own);
        out.for_each(|(out, ((m, u), (before, after)))| *out += m * u + before + after);
    }
}

/// `moment / marginal`; what is given on an impossible state does not matter.
fn ratio(moment: f64, marginal: f64) -> f64 {
    if marginal > 0.0 { moment / marginal } else { 0.0 }
}
