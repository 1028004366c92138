//! Words of small drawn letters, for tests and the demo.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::data::{COLUMNS, Image, LETTERS, ROWS, Word};

/// Letters on a grid of 5 columns and 7 rows, one string a row.
const SHAPES: [[&str; 7]; LETTERS] = [
    ["     ", "     ", " ### ", "    #", " ####", "#   #", " ####"], // a
    ["#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#### "], // b
    ["     ", "     ", " ####", "#    ", "#    ", "#    ", " ####"], // c
    ["    #", "    #", " ####", "#   #", "#   #", "#   #", " ####"], // d
    ["     ", "     ", " ### ", "#   #", "#####", "#    ", " ####"], // e
    ["  ## ", " #   ", "#### ", " #   ", " #   ", " #   ", " #   "], // f
    ["     ", " ####", "#   #", "#   #", " ####", "    #", " ### "], // g
    ["#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#   #"], // h
    ["  #  ", "     ", " ##  ", "  #  ", "  #  ", "  #  ", " ### "], // i
    ["    #", "     ", "    #", "    #", "    #", "#   #", " ### "], // j
    ["#    ", "#    ", "#  # ", "# #  ", "##   ", "# #  ", "#  # "], // k
    [" ##  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "], // l
    ["     ", "     ", "## # ", "# # #", "# # #", "# # #", "# # #"], // m
    ["     ", "     ", "#### ", "#   #", "#   #", "#   #", "#   #"], // n
    ["     ", "     ", " ### ", "#   #", "#   #", "#   #", " ### "], // o
    ["     ", "#### ", "#   #", "#   #", "#### ", "#    ", "#    "], // p
    ["     ", " ####", "#   #", "#   #", " ####", "    #", "    #"], // q
    ["     ", "     ", "# ## ", "##  #", "#    ", "#    ", "#    "], // r
    ["     ", "     ", " ####", "#    ", " ### ", "    #", "#### "], // s
    [" #   ", " #   ", "#### ", " #   ", " #   ", " #  #", "  ## "], // t
    ["     ", "     ", "#   #", "#   #", "#   #", "#   #", " ####"], // u
    ["     ", "     ", "#   #", "#   #", "#   #", " # # ", "  #  "], // v
    ["     ", "     ", "# # #", "# # #", "# # #", "# # #", " # # "], // w
    ["     ", "     ", "#   #", " # # ", "  #  ", " # # ", "#   #"], // x
    ["     ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "], // y
    ["     ", "     ", "#####", "   # ", "  #  ", " #   ", "#####"], // z
];

/// Words with neighbours of their own length, some of the same letters.
pub const VOCABULARY: [&str; 15] = [
    "car", "cat", "can", "ear", "oat", "melon", "lemon", "onion", "baker", "brake", "garden",
    "danger", "gander", "ripple", "people",
];

/// How words are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// Parts that words are dealt out to.
    pub folds: usize,
    /// How often each word is in each part.
    pub copies: usize,
    /// Share of pixels that are wrong.
    pub noise: f64,
    /// The seed of places and noise.
    pub seed: u64,
}

/// Draws words of the letters a to z.
///
/// # Panics
/// If a word has another letter.
pub fn draw(vocabulary: &[&str], how: &Drawing) -> Vec<Word> {
    let mut rng = StdRng::seed_from_u64(how.seed);
    let mut words = Vec::with_capacity(vocabulary.len() * how.folds * how.copies);
    for fold in 0..how.folds {
        for _ in 0..how.copies {
            for text in vocabulary {
                assert!(text.bytes().all(|letter| letter.is_ascii_lowercase()), "letters a to z");
                let letters: Vec<u8> = text.bytes().map(|letter| letter - b'a').collect();
                let images = letters.iter().map(|&letter| glyph(letter, how.noise, &mut rng));
                words.push(Word { images: images.collect(), letters, fold });
            }
        }
    }
    words
}

/// One letter, somewhere in its picture, with noise.
fn glyph(letter: u8, noise: f64, rng: &mut StdRng) -> Image {
    let shape = &SHAPES[usize::from(letter)];
    // Each row of the shape is two rows high.
    let down = rng.random_range(0..=ROWS - 2 * shape.len());
    let across = rng.random_range(0..=COLUMNS - shape[0].len());
    let mut image = Image::default();
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let inked = row
                .checked_sub(down)
                .zip(column.checked_sub(across))
                .and_then(|(row, column)| shape.get(row / 2)?.as_bytes().get(column))
                .is_some_and(|&cell| cell == b'#');
            if inked != rng.random_bool(noise) {
                image.blacken(row, column);
            }
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_distinct_and_fit() {
        for (at, shape) in SHAPES.iter().enumerate() {
            assert!(shape.iter().all(|row| row.len() == 5), "letter {at}");
            assert!(!SHAPES[..at].contains(shape), "letter {at}");
        }
    }

    #[test]
    fn every_fold_has_every_word_and_seeds_decide() {
        let how = Drawing { folds: 3, copies: 2, noise: 0.05, seed: 1 };
        let words = draw(&["ab", "cde"], &how);
        assert_eq!(words.len(), 12);
        for fold in 0..3 {
            assert_eq!(words.iter().filter(|word| word.fold == fold).count(), 4);
        }
        assert_eq!(words, draw(&["ab", "cde"], &how));
        assert_ne!(words, draw(&["ab", "cde"], &Drawing { seed: 2, ..how }));
    }
}
