//! Words that a reading may be compared with.

use super::data::LETTERS;

/// Distinct words, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexicon {
    words: Vec<Vec<u8>>,
    /// Numbers of the words of each length. `[lengths]`
    by_length: Vec<Vec<usize>>,
}

impl Lexicon {
    /// The distinct ones of some words.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut words: Vec<Vec<u8>> = words.into_iter().map(<[u8]>::to_vec).collect();
        words.sort_unstable();
        words.dedup();
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        let mut by_length = vec![Vec::new(); longest + 1];
        for (number, word) in words.iter().enumerate() {
            by_length[word.len()].push(number);
        }
        Self { words, by_length }
    }

    /// The words.
    pub fn words(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// The words of a length, by number.
    pub fn of_length(&self, length: usize) -> &[usize] {
        self.by_length.get(length).map_or(&[], Vec::as_slice)
    }

    /// The number of a word, if it is there.
    pub fn number(&self, word: &[u8]) -> Option<usize> {
        self.words.binary_search_by(|known| known[..].cmp(word)).ok()
    }
}

/// How often each letter occurs in a word. `[letters]`
pub fn counts(word: &[u8]) -> Vec<f64> {
    let mut counts = vec![0.0; LETTERS];
    for &letter in word {
        counts[usize::from(letter)] += 1.0;
    }
    counts
}
