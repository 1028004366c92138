//! Attributes of a picture: black pixels, and pairs of them.

use bethe_learn::corpus::Corpus;

use super::data::{COLUMNS, Image, ROWS, Word};

/// Pixels of a picture.
const PIXELS: usize = ROWS * COLUMNS;
/// Two pixels are near if they are within a window of 5 × 5 around one of them.
const REACH: usize = 2;

/// Which attributes a picture has, besides a constant one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// For each pair of pixels that are near: the two, as a mask.
    pairs: Vec<u128>,
}

impl Features {
    /// The black pixels.
    pub fn pixels() -> Self {
        Self { pairs: Vec::new() }
    }

    /// The black pixels, and the pairs of black pixels within a window of 5 × 5.
    pub fn pairs() -> Self {
        let places = || (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
        let mut pairs = Vec::new();
        for (first, (row, column)) in places().enumerate() {
            let near = |&(_, (other_row, other_column)): &(usize, (usize, usize))| {
                row.abs_diff(other_row) <= REACH && column.abs_diff(other_column) <= REACH
            };
            let later = places().enumerate().skip(first + 1).filter(near);
            pairs.extend(later.map(|(second, _)| 1u128 << first | 1 << second));
        }
        Self { pairs }
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        1 + PIXELS + self.pairs.len()
    }

    /// Whether there is none, which cannot be.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Visits the attributes of a picture.
    pub fn visit(&self, image: Image, mut visit: impl FnMut(u32)) {
        visit(0);
        let mut left = image.0;
        while left != 0 {
            visit(1 + left.trailing_zeros());
            left &= left - 1;
        }
        for (at, &pair) in self.pairs.iter().enumerate() {
            if image.0 & pair == pair {
                visit((1 + PIXELS + at) as u32);
            }
        }
    }

    /// The attributes of all words.
    pub fn corpus(&self, words: &[Word]) -> Corpus {
        let mut corpus = Corpus::new();
        for word in words {
            for &image in &word.images {
                self.visit(image, |attribute| corpus.push(attribute, 1.0));
                corpus.end_position();
            }
            corpus.end_sequence();
        }
        corpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_within_the_window_each_once() {
        // For each offset to the right or below, as many places as leave room for it.
        let offsets = (0..=2usize).flat_map(|down| (-2..=2isize).map(move |right| (down, right)));
        let forward = offsets.filter(|&(down, right)| down > 0 || right > 0);
        let expected: usize =
            forward.map(|(down, right)| (ROWS - down) * (COLUMNS - right.unsigned_abs())).sum();
        let features = Features::pairs();
        assert_eq!(features.len(), 1 + PIXELS + expected);
        let mut sorted = features.pairs.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), expected);
    }

    #[test]
    fn attributes_are_a_constant_black_pixels_and_black_pairs() {
        let mut image = Image::default();
        for (row, column) in [(0, 0), (2, 1), (15, 7)] {
            image.blacken(row, column);
        }
        let mut found = Vec::new();
        Features::pixels().visit(image, |attribute| found.push(attribute));
        assert_eq!(found, [0, 1, 1 + 17, 1 + 127]);
        let mut more = Vec::new();
        let features = Features::pairs();
        features.visit(image, |attribute| more.push(attribute));
        // Only the first two are near each other.
        assert_eq!((&more[..4], more.len()), (&found[..], 5));
        assert_eq!(features.pairs[more[4] as usize - 129], 1 | 1 << 17);
    }
}
