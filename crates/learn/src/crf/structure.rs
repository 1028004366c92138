use bethe_core::oracle::ChainModel;

use super::rows::{AttributeRows, MOST_STATES};

/// Which transitions exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Transitions {
    /// Whether a transition is forbidden. `[states][states]`
    pub forbidden: Vec<bool>,
    /// Transitions that have a weight, none of them forbidden.
    pub weighted: Vec<(u16, u16)>,
}

/// The states that each attribute has a weight for, one attribute after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeStates {
    /// Where the list of each attribute ends. `[attributes]`
    pub ends: Vec<u32>,
    /// The lists, each ascending.
    pub states: Vec<u16>,
}

impl AttributeStates {
    /// The list of each attribute.
    pub fn lists(&self) -> impl Iterator<Item = &[u16]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let first = std::mem::replace(&mut start, end as usize);
            &self.states[first..end as usize]
        })
    }
}

/// States that cannot stand at the ends of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Borders {
    /// States that no sequence starts with. `[states]`
    pub not_first: Vec<bool>,
    /// States that no sequence ends with. `[states]`
    pub not_last: Vec<bool>,
}

/// Which weights a conditional random field has, and what it forbids.
///
/// Weights are ordered: those of attributes in the order of [`AttributeRows`], then one per
/// weighted transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    states: usize,
    rows: AttributeRows,
    transitions: Transitions,
    borders: Borders,
}

/// Why parts are not a valid structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructureFault {
    /// No states, or too many for marks.
    #[error("found {found} states, expected 1 to {MOST_STATES}")]
    States {
        /// How many.
        found: usize,
    },
    /// A list has the wrong length.
    #[error("found {found} entries of {list}, expected {expected}")]
    Size {
        /// Which list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A pair names a missing state, or is out of order.
    #[error("found state {found} in {list}, expected states below {states} in ascending order")]
    State {
        /// Which list.
        list: &'static str,
        /// The state.
        found: usize,
        /// Number of states.
        states: usize,
    },
}

impl Structure {
    /// A structure from the states that each attribute has a weight for, and what is forbidden.
    pub fn new(
        states: usize,
        attributes: AttributeStates,
        transitions: Transitions,
        borders: Borders,
    ) -> Result<Self, StructureFault> {
        let AttributeStates { ends, states: pairs } = &attributes;
        if states == 0 || states > MOST_STATES {
            return Err(StructureFault::States { found: states });
        }
        for (list, found, expected) in [
            ("forbidden transitions", transitions.forbidden.len(), states * states),
            ("first states", borders.not_first.len(), states),
            ("last states", borders.not_last.len(), states),
        ] {
            if found != expected {
                return Err(StructureFault::Size { list, found, expected });
            }
        }
        let state_fault = |list, found: u16| {
            Err(StructureFault::State { list, found: usize::from(found), states })
        };
        let mut start = 0;
        for &end in ends {
            let Some(list) = pairs.get(start..end as usize) else {
                let (found, expected) = (end as usize, pairs.len());
                return Err(StructureFault::Size { list: "pairs", found, expected });
            };
            start = end as usize;
            let mut next = 0;
            for &state in list {
                if usize::from(state) < next || usize::from(state) >= states {
                    return state_fault("an attribute", state);
                }
                next = usize::from(state) + 1;
            }
        }
        for &(from, to) in &transitions.weighted {
            let cell = usize::from(from) * states + usize::from(to);
            if usize::from(from.max(to)) >= states || transitions.forbidden[cell] {
                return state_fault("a weighted transition", from.max(to));
            }
        }
        if start != pairs.len() {
            return Err(StructureFault::Size {
                list: "pairs",
                found: pairs.len(),
                expected: start,
            });
        }
        let rows = AttributeRows::new(states, ends, pairs);
        Ok(Self { states, rows, transitions, borders })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The weights of attributes.
    pub fn rows(&self) -> &AttributeRows {
        &self.rows
    }

    /// The transitions.
    pub fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    /// What cannot stand at the ends of a sequence.
    pub fn borders(&self) -> &Borders {
        &self.borders
    }

    /// Number of weights, including those of whole rows that stay zero.
    pub fn weights(&self) -> usize {
        self.rows.weights() + self.transitions.weighted.len()
    }

    /// Number of weights that may differ from zero.
    pub fn free_weights(&self) -> usize {
        self.rows.pairs() + self.transitions.weighted.len()
    }

    /// Log-potentials of all transitions. `[states][states]`
    pub fn transition_table(&self, weights: &[f64]) -> Vec<f64> {
        let forbidden = self.transitions.forbidden.iter();
        let mut table: Vec<f64> =
            forbidden.map(|&forbidden| if forbidden { f64::NEG_INFINITY } else { 0.0 }).collect();
        let weights = &weights[self.rows.weights()..];
        for (&(from, to), &weight) in self.transitions.weighted.iter().zip(weights) {
            table[usize::from(from) * self.states + usize::from(to)] = weight;
        }
        table
    }

    pub(super) fn chain_model(&self, weights: &[f64]) -> ChainModel {
        ChainModel::homogeneous(self.states, &self.transition_table(weights))
            .expect("finite weights make a table of log-potentials")
    }

    pub(super) fn pruned(&self, weights: &[f64]) -> (Self, Vec<f64>, Vec<Option<u32>>) {
        let (mut ends, mut kept): (Vec<u32>, Vec<u16>) = (Vec::new(), Vec::new());
        let mut kept_weights: Vec<f64> = Vec::new();
        let numbers = (0..self.rows.len()).map(|attribute| {
            let nonzero = self.rows.attribute(attribute).filter(|&(_, at)| weights[at] != 0.0);
            let before = kept.len();
            for (state, at) in nonzero {
                kept.push(state);
                kept_weights.push(weights[at]);
            }
            (kept.len() > before).then(|| {
                ends.push(kept.len() as u32);
                ends.len() as u32 - 1
            })
        });
        let numbers = numbers.collect();
        let attributes = AttributeStates { ends, states: kept };
        let (transitions, borders) = (self.transitions.clone(), self.borders.clone());
        let pruned = Self::new(self.states, attributes, transitions, borders)
            .expect("part of a structure is one");
        kept_weights.extend_from_slice(&weights[self.rows.weights()..]);
        let all = pruned.weights_of_pairs(&kept_weights);
        (pruned, all, numbers)
    }

    /// The states of each attribute, and one weight for each of them and each transition.
    pub fn compact(&self, weights: &[f64]) -> (AttributeStates, Vec<f64>) {
        let (mut attributes, mut own) = (AttributeStates::default(), Vec::new());
        for attribute in 0..self.rows.len() {
            for (state, at) in self.rows.attribute(attribute) {
                attributes.states.push(state);
                own.push(weights[at]);
            }
            attributes.ends.push(attributes.states.len() as u32);
        }
        own.extend_from_slice(&weights[self.rows.weights()..]);
        (attributes, own)
    }

    /// The weights in the layout of rows, from one per pair and transition.
    ///
    /// # Panics
    /// If their number is not [`Structure::free_weights`].
    pub fn weights_of_pairs(&self, compact: &[f64]) -> Vec<f64> {
        assert_eq!(compact.len(), self.free_weights(), "a weight for every pair and transition");
        let mut all = vec![0.0; self.weights()];
        let mut own = compact.iter();
        for attribute in 0..self.rows.len() {
            for (_, at) in self.rows.attribute(attribute) {
                all[at] = *own.next().expect("as many as pairs");
            }
        }
        for (weight, &own) in all[self.rows.weights()..].iter_mut().zip(own) {
            *weight = own;
        }
        all
    }
}
