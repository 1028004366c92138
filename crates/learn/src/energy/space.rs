use bethe_core::oracle::ChainModel;

/// States of the chain that inference runs on: states of the field with a memory of what occurred
/// before.
///
/// A rule such as "no `x` after a `y`" is not a count of states. With a bit that says whether a `y`
/// occurred, "an `x` while the bit is set" is one. States set bits and never clear them; memories
/// that cannot occur with a state are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    states: usize,
    /// Which states set each bit. `[bits][states]`
    setters: Vec<Vec<bool>>,
    /// State and memory of each state of the chain, by memory, then by state.
    chain: Vec<(u16, u32)>,
}

/// Most bits of a space; each may double the chain.
const MOST_BITS: usize = 8;

impl Space {
    /// The states of the field, without memory.
    pub fn plain(states: usize) -> Self {
        Self::with_memory(states, Vec::new()).expect("no bits")
    }

    /// States with one bit per list of states that set it; `None` for more than eight lists.
    pub fn with_memory(states: usize, setters: Vec<Vec<bool>>) -> Option<Self> {
        if setters.len() > MOST_BITS {
            return None;
        }
        let mut space = Self { states, setters, chain: Vec::new() };
        for memory in 0..1u32 << space.setters.len() {
            for state in 0..states {
                if space.set_by(state) & !memory == 0 {
                    space.chain.push((state as u16, memory));
                }
            }
        }
        Some(space)
    }

    /// Number of states of the chain.
    pub fn len(&self) -> usize {
        self.chain.len()
    }

    /// Whether there is no state.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }

    /// Whether the chain's states are those of the field.
    pub fn is_plain(&self) -> bool {
        self.setters.is_empty()
    }

    /// The field's state of a state of the chain.
    pub fn state(&self, chain_state: usize) -> usize {
        usize::from(self.chain[chain_state].0)
    }

    /// Whether a bit was set by an earlier position.
    pub fn is_set_before(&self, bit: usize, chain_state: usize) -> bool {
        let (state, memory) = self.chain[chain_state];
        memory >> bit & 1 == 1 && !self.setters[bit][usize::from(state)]
    }

    /// Log-potentials between states of the chain, from those between states of the field.
    pub fn chain_model(&self, table: &[f64]) -> ChainModel {
        let model = if self.is_plain() {
            ChainModel::homogeneous(self.states, table)
        } else {
            let mut wide = vec![f64::NEG_INFINITY; self.len() * self.len()];
            for (i, &(from, memory)) in self.chain.iter().enumerate() {
                for (j, &(to, after)) in self.chain.iter().enumerate() {
                    if memory | self.set_by(usize::from(to)) == after {
                        wide[i * self.len() + j] =
                            table[usize::from(from) * self.states + usize::from(to)];
                    }
                }
            }
            ChainModel::homogeneous(self.len(), &wide)
        };
        model.expect("a table of log-potentials")
    }

    /// Node scores of the chain from those of the field, `[positions][states]`.
    pub fn widen(&self, scores: &[f64], wide: &mut Vec<f64>) {
        wide.clear();
        for (t, row) in scores.chunks(self.states).enumerate() {
            wide.extend(self.chain.iter().map(|&(state, memory)| {
                let possible = t > 0 || memory == self.set_by(usize::from(state));
                if possible { row[usize::from(state)] } else { f64::NEG_INFINITY }
            }));
        }
    }

    /// The chain's states of an assignment of the field's.
    pub fn path(&self, assignment: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut memory = 0;
        let path = assignment.into_iter().map(|state| {
            memory |= self.set_by(state);
            let place = self.chain.binary_search_by_key(&(memory, state as u16), |&(s, m)| (m, s));
            place.expect("every memory that states set is there")
        });
        path.collect()
    }

    /// Bits that a state sets.
    fn set_by(&self, state: usize) -> u32 {
        let bits = self.setters.iter().enumerate();
        bits.map(|(bit, setters)| u32::from(setters[state]) << bit).sum()
    }
}

#[cfg(test)]
mod tests {
    use bethe_core::oracle::{Chain, Oracle};
    use bethe_core::support::Support;

    use super::*;

    #[test]
    fn memory_changes_no_probability() {
        let table = [0.3, -0.2, 0.5, 0.1, f64::NEG_INFINITY, 0.0, 0.7, -0.4, 0.2];
        let scores = [0.1, 0.4, -0.3, 0.8, 0.0, 0.2, -0.1, 0.5, 0.3, 0.9, -0.6, 0.1];
        let setters = vec![vec![false, true, false], vec![true, false, false]];
        let log_partition = |space: &Space| {
            let mut wide = Vec::new();
            space.widen(&scores, &mut wide);
            let model = space.chain_model(&table).into();
            let mut chain = Chain::new(model, &wide, Support::new()).unwrap();
            let mut best = vec![0; 4];
            let score = chain.decode(&[], &mut best);
            let best: Vec<usize> = best.iter().map(|&state| space.state(state)).collect();
            (chain.tilted(&[], &mut []), score, best)
        };
        let (plain, wide) = (Space::plain(3), Space::with_memory(3, setters).unwrap());
        let ((a, s, x), (b, t, y)) = (log_partition(&plain), log_partition(&wide));
        assert!((a - b).abs() < 1e-12 && (s - t).abs() < 1e-12);
        assert_eq!(x, y);
        assert_eq!((plain.len(), wide.len()), (3, 2 + 2 + 3 + 1));
    }

    #[test]
    fn bits_tell_what_occurred_before() {
        let space = Space::with_memory(2, vec![vec![false, true]]).unwrap();
        let path = space.path([0, 1, 1, 0]);
        let set: Vec<bool> = path.iter().map(|&state| space.is_set_before(0, state)).collect();
        // The second 1 sets the bit itself; the chain does not say whether it was set before.
        assert_eq!(set, [false, false, false, true]);
        assert_eq!(path.iter().map(|&state| space.state(state)).collect::<Vec<_>>(), [0, 1, 1, 0]);
        assert!(Space::with_memory(2, vec![vec![false; 2]; 9]).is_none());
    }
}
