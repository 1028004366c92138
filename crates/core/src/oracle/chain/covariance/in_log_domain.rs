//! The same where messages are logarithms: conditional expectations from the marginals of links.

use super::super::log_domain::{add_edge_marginal, node_marginal};
use super::super::oracle::Chain;
use super::{Pass, Scratch};

impl Pass<'_> {
    pub(super) fn run_in_log_domain(&mut self) {
        let last = self.chain.sequence.positions.len() - 1;
        (0..=last).for_each(|t| self.centre_by_marginal(t));
        let mut pairs = Vec::new();
        for t in 0..last {
            self.write_pairs(t, &mut pairs);
            self.step_forward_by_pairs(t, &pairs);
        }
        for group in &mut self.chain.tilts.groups[..self.scratch.groups.len()] {
            group.counts.fill(0.0);
        }
        self.add_position_by_marginal(last);
        for t in (0..last).rev() {
            self.write_pairs(t, &mut pairs);
            self.step_backward_by_pairs(t, &pairs);
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
        node_marginal(&messages.alpha, &messages.beta, states, &mut self.scratch.vectors[0]);
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

    /// The marginals of a link, in the forward layout of its table; nothing for a free link.
    fn write_pairs(&mut self, t: usize, pairs: &mut Vec<f64>) {
        let Chain { model, sequence, tilts, messages, tilt, .. } = &mut *self.chain;
        pairs.clear();
        let Some(table) = sequence.positions[t].table else { return };
        pairs.resize(model.tables[table].forward.slots(), 0.0);
        add_edge_marginal(model, sequence, tilts, messages, (t, tilt), pairs);
    }

    /// `u + a` of a position, to the second of the scratch vectors.
    fn known_before(&mut self, t: usize) {
        self.marginal(t);
        let states = self.chain.sequence.positions[t].states();
        let Scratch { centred, before, vectors: [marginal, known, _], .. } = &mut *self.scratch;
        let own = centred[states.clone()].iter().zip(&before[states]).zip(marginal.iter());
        let known = known.iter_mut().zip(own);
        known.for_each(|(known, ((u, moment), marginal))| *known = u + ratio(*moment, *marginal));
    }

    /// `μ ∘ a` of the position after a link, and the mean of the link.
    fn step_forward_by_pairs(&mut self, t: usize, pairs: &[f64]) {
        self.known_before(t);
        self.marginal(t + 1);
        let Chain { model, sequence, tilts, .. } = &*self.chain;
        let Scratch { before, vectors: [marginal, known, _], link_means, groups, .. } =
            &mut *self.scratch;
        let Some(table) = sequence.positions[t].table else { return };
        let moved = tilts.links[t].map(|group| &groups[group].direction);
        let out = &mut before[sequence.positions[t + 1].states()];
        let mut mean = 0.0;
        model.tables[table].forward.for_each_entry(|from, to, slot| {
            let value = moved.map_or(0.0, |moved| moved[slot]);
            mean += pairs[slot] * value;
            out[to] += pairs[slot] * (known[from] + value);
        });
        out.iter_mut().zip(marginal.iter()).for_each(|(out, m)| *out -= mean * m);
        link_means[t] = mean;
    }

    /// `μ ∘ b` of the position before a link, and the products of the link.
    fn step_backward_by_pairs(&mut self, t: usize, pairs: &[f64]) {
        self.marginal(t + 1);
        let next = self.chain.sequence.positions[t + 1].states();
        let Scratch { centred, after, vectors: [marginal, _, later], .. } = &mut *self.scratch;
        let own = centred[next].iter().zip(after.iter()).zip(marginal.iter());
        let later = later.iter_mut().zip(own);
        later.for_each(|(later, ((u, moment), marginal))| *later = u + ratio(*moment, *marginal));
        self.known_before(t);
        let Chain { model, sequence, tilts, .. } = &mut *self.chain;
        let Scratch { after, vectors: [marginal, known, later], link_means, groups, .. } =
            &mut *self.scratch;
        after.fill(0.0);
        let Some(table) = sequence.positions[t].table else { return };
        let (layout, mean, group) = (&model.tables[table].forward, link_means[t], tilts.links[t]);
        let moved = group.map(|group| &groups[group].direction);
        layout.for_each_entry(|from, to, slot| {
            let value = moved.map_or(0.0, |moved| moved[slot]);
            after[from] += pairs[slot] * (later[to] + value);
        });
        after.iter_mut().zip(marginal.iter()).for_each(|(out, m)| *out -= mean * m);
        let (Some(group), Some(moved)) = (group, moved) else { return };
        let counts = &mut tilts.groups[group].counts;
        layout.for_each_entry(|from, to, slot| {
            counts[slot] += pairs[slot] * (known[from] + moved[slot] + later[to] - mean);
        });
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

/// `moment / marginal`; what is given on a state that cannot be does not matter.
fn ratio(moment: f64, marginal: f64) -> f64 {
    if marginal > 0.0 { moment / marginal } else { 0.0 }
}
