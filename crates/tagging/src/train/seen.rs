//! Which weights training sequences have a use for.

use bethe_learn::crf::{AttributeStates, Sharing, Structure, Transitions};

use super::super::labels::States;
use super::prepared::Data;
use super::settings::{AllowedTransitions, TrainSettings};
use super::sharing::LabelParts;

/// With more states, only seen transitions are allowed by default.
const MANY_STATES: usize = 64;

/// What some of the training sequences contain.
pub(super) struct Seen {
    attributes: AttributeStates,
    /// Whether a state follows another. `[states][states]`
    follows: Vec<bool>,
}

impl Seen {
    pub(super) fn new(
        attributes: usize,
        states: usize,
        data: &Data,
        which: impl Iterator<Item = usize>,
    ) -> Self {
        let words = states.div_ceil(64);
        let mut seen = vec![0u64; attributes * words];
        let mut follows = vec![false; states * states];
        for sequence in which {
            let (observations, truth) = (data.corpus.sequence(sequence), data.truth(sequence));
            for (t, &state) in truth.iter().enumerate() {
                let state = usize::from(state);
                for &attribute in observations.attributes(t) {
                    seen[attribute as usize * words + state / 64] |= 1 << (state % 64);
                }
            }
            for pair in truth.windows(2) {
                follows[usize::from(pair[0]) * states + usize::from(pair[1])] = true;
            }
        }
        let ends = Vec::with_capacity(attributes);
        let mut attributes = AttributeStates { ends, states: Vec::new() };
        for bits in seen.chunks(words) {
            let of = |state: &usize| bits[state / 64] >> (state % 64) & 1 == 1;
            attributes.states.extend((0..states).filter(of).map(|state| state as u16));
            attributes.ends.push(attributes.states.len() as u32);
        }
        Self { attributes, follows }
    }

    /// Which weights exist, what is forbidden, and how weights are shared.
    pub(super) fn structure(
        self,
        states: &States,
        settings: &TrainSettings,
        weighted: bool,
    ) -> (Structure, Option<Sharing>) {
        let transitions = self.transitions(states, settings.transitions, weighted);
        let count = states.len();
        let (borders, seen) = (states.borders(), self.attributes);
        let expected = "states that were seen with attributes";
        if !settings.base.share_weights {
            return (Structure::new(count, seen, transitions, borders).expect(expected), None);
        }
        let labels = LabelParts::new(states);
        let structure = Structure::new(count, labels.widen(&seen), transitions, borders);
        let structure = structure.expect(expected);
        let sharing = Sharing::new(&structure, &labels.parts, &seen);
        (structure, Some(sharing))
    }

    fn transitions(
        &self,
        states: &States,
        allowed: AllowedTransitions,
        weighted: bool,
    ) -> Transitions {
        let count = states.len();
        let only_seen = match allowed {
            AllowedTransitions::Auto => count > MANY_STATES,
            AllowedTransitions::Seen => true,
            AllowedTransitions::Valid | AllowedTransitions::Weighted => false,
        };
        let cells = || (0..count * count).map(|cell| (cell / count, cell % count));
        let forbidden = cells().map(|(from, to)| {
            let seen = self.follows[from * count + to];
            !seen && (only_seen || !states.may_follow(from, to))
        });
        let forbidden: Vec<bool> = forbidden.collect();
        let has_weight = |cell: usize| match allowed {
            AllowedTransitions::Weighted => !forbidden[cell],
            _ => self.follows[cell],
        };
        let with_weight = cells().filter(|&(from, to)| weighted && has_weight(from * count + to));
        let weighted = with_weight.map(|(from, to)| (from as u16, to as u16)).collect();
        Transitions { forbidden, weighted }
    }
}
