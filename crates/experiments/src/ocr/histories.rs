//! States of a chain that remember the last few letters.

use rustc_hash::FxHashMap;

use super::data::LETTERS;

/// The last letters at a position, fewer at a word's beginning.
type History = Vec<u8>;

/// Which states a chain has, and which may follow which.
///
/// With a memory of one letter these are the letters, and any may follow any. With a longer one
/// they are the histories that some word of a lexicon has; one follows another if it continues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histories {
    memory: usize,
    /// The last letter of each state.
    letters: Vec<u8>,
    /// Whether a word may start with a state.
    may_start: Vec<bool>,
    /// From which state to which, ascending.
    transitions: Vec<(u16, u16)>,
    /// `[states]`, for longer memories only.
    numbers: FxHashMap<History, u16>,
}

impl Histories {
    /// The letters themselves.
    pub fn letters() -> Self {
        let all = 0..LETTERS as u16;
        Self {
            memory: 1,
            letters: (0..LETTERS as u8).collect(),
            may_start: vec![true; LETTERS],
            transitions: all
                .clone()
                .flat_map(|from| all.clone().map(move |to| (from, to)))
                .collect(),
            numbers: FxHashMap::default(),
        }
    }

    /// The histories of up to `memory` letters, at least 2, in these words.
    ///
    /// # Panics
    /// If there are more of them than 16 bits tell apart.
    pub fn of_words<'a>(memory: usize, words: impl IntoIterator<Item = &'a [u8]>) -> Self {
        assert!(memory >= 2, "a memory of one letter needs no words");
        let mut found: Vec<History> = Vec::new();
        for word in words {
            found
                .extend((1..=word.len()).map(|end| word[end.saturating_sub(memory)..end].to_vec()));
        }
        // Shorter ones first: they begin words.
        found.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        found.dedup();
        assert!(found.len() <= usize::from(u16::MAX), "at most 65535 histories");
        let numbers: FxHashMap<History, u16> =
            found.iter().cloned().enumerate().map(|(at, history)| (history, at as u16)).collect();
        let mut transitions = Vec::new();
        for (from, history) in found.iter().enumerate() {
            let next = (0..LETTERS as u8).filter_map(|letter| {
                let mut longer = history.clone();
                longer.push(letter);
                numbers.get(&longer[longer.len().saturating_sub(memory)..])
            });
            transitions.extend(next.map(|&to| (from as u16, to)));
        }
        transitions.sort_unstable();
        Self {
            memory,
            letters: found.iter().map(|history| history[history.len() - 1]).collect(),
            may_start: found.iter().map(|history| history.len() == 1).collect(),
            transitions,
            numbers,
        }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether there is no state.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Whether the states are the letters.
    pub fn are_letters(&self) -> bool {
        self.memory == 1
    }

    /// The last letter of a state.
    pub fn letter(&self, state: usize) -> u8 {
        self.letters[state]
    }

    /// Which state may follow which, ascending.
    pub fn transitions(&self) -> &[(u16, u16)] {
        &self.transitions
    }

    /// The states of a word; `None` where it has a history that is none of them.
    pub fn path(&self, word: &[u8]) -> Option<Vec<u16>> {
        if self.are_letters() {
            return Some(word.iter().map(|&letter| u16::from(letter)).collect());
        }
        let state = |end: usize| {
            let history = &word[end.saturating_sub(self.memory)..end];
            self.numbers.get(history).copied()
        };
        (1..=word.len()).map(state).collect()
    }

    /// Scores of states (`[positions][states]`) from those of letters.
    pub fn widen(&self, scores: &[f64], wide: &mut Vec<f64>) {
        wide.clear();
        for (t, row) in scores.chunks(LETTERS).enumerate() {
            wide.extend(self.letters.iter().zip(&self.may_start).map(|(&letter, may_start)| {
                let possible = t > 0 || *may_start;
                if possible { row[usize::from(letter)] } else { f64::NEG_INFINITY }
            }));
        }
    }

    /// Sums marginals of states (`[positions][states]`) to those of letters.
    pub fn narrow(&self, wide: &[f64], marginals: &mut Vec<f64>) {
        marginals.clear();
        for row in wide.chunks(self.len()) {
            let start = marginals.len();
            marginals.resize(start + LETTERS, 0.0);
            for (&letter, marginal) in self.letters.iter().zip(row) {
                marginals[start + usize::from(letter)] += marginal;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_those_of_words_and_continue_each_other() {
        // abc, abd, bca
        let words: [&[u8]; 3] = [&[0, 1, 2], &[0, 1, 3], &[1, 2, 0]];
        let histories = Histories::of_words(2, words);
        // a, b; ab, bc, bd, ca
        assert_eq!(histories.len(), 6);
        let path = |word: &[u8]| histories.path(word);
        assert_eq!(path(&[0, 1, 2]), Some(vec![0, 2, 3]));
        assert_eq!(path(&[0, 1, 2, 0]), Some(vec![0, 2, 3, 5]), "a word of known histories");
        assert_eq!(path(&[0, 2]), None);
        let expected = [(0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (5, 2)];
        assert_eq!(histories.transitions(), expected);
        let mut wide = Vec::new();
        let scores: Vec<f64> = (0..2 * LETTERS).map(|i| i as f64).collect();
        histories.widen(&scores, &mut wide);
        let none = f64::NEG_INFINITY;
        assert_eq!(wide[..6], [0.0, 1.0, none, none, none, none]);
        assert_eq!(wide[6..], [26.0, 27.0, 27.0, 28.0, 29.0, 26.0]);
        let mut narrow = Vec::new();
        histories.narrow(&[0.5, 0.0, 0.25, 0.125, 0.0, 0.125], &mut narrow);
        assert_eq!(narrow[..4], [0.625, 0.25, 0.125, 0.0]);
    }
}
