//! Probabilities of labels and segments.

use bethe_core::oracle::{Chain, Oracle, Tables};
use bethe_core::support::Support;

use super::{TagOptions, Tagged, Tagging};
use crate::labels::{Role, Segment, leaf_segments};
use crate::model::Tagger;

impl Tagging {
    /// The probabilities that are asked for, under the chain whose node scores are `self.wide`.
    pub(super) fn add_marginals(&mut self, tagged: &mut Tagged, options: &TagOptions) {
        let (states, space) = (&self.tagger.parts.states, &self.tagger.compiled.space);
        let chain = self.inference.chain();
        chain.load(&self.wide, Support::new()).expect("scores are numbers or -∞");
        chain.tilted(&[], &mut []);
        if options.label_marginals {
            tagged.label_marginals = label_marginals(&self.tagger, chain);
        }
        if !options.marginals {
            return;
        }
        let best = &tagged.best;
        let mut probabilities = vec![vec![0.0; chain.length()]; best.len()];
        chain.visit_marginals(Tables::Nodes, &mut |t, marginal| {
            for (own, (path, _)) in probabilities.iter_mut().zip(best) {
                let same = |s: usize| states.label(space.state(s)) == states.label(path[t]);
                let alike = marginal.iter().enumerate().filter(|&(s, _)| same(s));
                own[t] = alike.map(|(_, p)| p).sum();
            }
        });
        tagged.probabilities = probabilities;
        tagged.segments =
            best.iter().map(|(path, _)| segments(&self.tagger, chain, path)).collect();
    }
}

/// Probabilities of labels, summed over the states of each. `[positions][labels]`
fn label_marginals(tagger: &Tagger, chain: &mut Chain) -> Vec<f64> {
    let (space, labels) = (&tagger.compiled.space, &tagger.labels);
    let mut marginals = vec![0.0; chain.length() * labels.names.len()];
    chain.visit_marginals(Tables::Nodes, &mut |t, marginal| {
        let row = &mut marginals[t * labels.names.len()..][..labels.names.len()];
        for (state, probability) in marginal.iter().enumerate() {
            if let Some(label) = labels.of_states[space.state(state)] {
                row[label] += probability;
            }
        }
    });
    marginals
}

/// The segments of a label sequence `(first, end)`, each with the probability of its labels, and
/// that it begins and ends there.
fn segments(tagger: &Tagger, chain: &mut Chain, path: &[usize]) -> Vec<(usize, usize, f64)> {
    let (states, space) = (&tagger.parts.states, &tagger.compiled.space);
    let labels: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
    let with_probability = |segment: Segment| {
        let (first, end) = (segment.start, segment.end);
        let level = states.leaf_level(path[first]);
        let is_later = |state| matches!(states.role(state, level), Role::Inside | Role::End);
        // A deeper tag is another leaf, even if the segment around it continues.
        let is_leaf = |state| states.leaf_level(state) == level;
        let mut allowed = |t: usize, list: &mut Vec<usize>| {
            list.extend((0..space.len()).filter(|&s| match space.state(s) {
                before if t < first => !is_leaf(before),
                after if t >= end => !(is_leaf(after) && is_later(after)),
                state => state == path[t],
            }));
        };
        // Include the position after it, if there is one, and the one before it if its first label
        // does not mark a beginning: between inner segments of the same outer one.
        let start = if is_later(path[first]) { first.saturating_sub(1) } else { first };
        let length = (end + 1).min(path.len()) - start;
        (first, end, chain.span_probability((start, length), &mut allowed))
    };
    leaf_segments(states.scheme(), &labels).into_iter().map(with_probability).collect()
}
