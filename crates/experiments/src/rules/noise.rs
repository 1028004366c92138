//! Text as it comes from scanners, from hasty typing, from other systems.

use bethe_tagging::data::Sequence;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::sets::from_rows;

/// What is wrong with a text. Labels stay as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Nothing.
    None,
    /// This share of letters and digits is another one.
    Characters(f64),
    /// Punctuation is dropped, from words and where it stands alone.
    NoPunctuation,
    /// All letters are small.
    LowerCase,
}

impl Noise {
    /// All kinds that are tried.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Characters(0.05),
        Self::Characters(0.15),
        Self::NoPunctuation,
        Self::LowerCase,
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "as it is",
            Self::Characters(share) if share < 0.1 => "5 % of characters wrong",
            Self::Characters(_) => "15 % of characters wrong",
            Self::NoPunctuation => "no punctuation",
            Self::LowerCase => "lower case",
        }
    }

    /// Sequences of words and labels, distorted. A token that is punctuation alone stays as a dash: it
    /// has a label.
    pub fn distort(self, sequences: &[Sequence], seed: u64) -> Vec<Sequence> {
        let mut random = StdRng::seed_from_u64(seed ^ 0x6e6f);
        let rows = sequences.iter().map(|sequence| {
            let cell = |t: usize, column| sequence.cell(t, column).unwrap_or_default();
            let tokens = 0..sequence.len();
            tokens.map(|t| [self.word(cell(t, 0), &mut random), cell(t, 1).to_string()]).collect()
        });
        from_rows(&rows.collect::<Vec<Vec<[String; 2]>>>())
    }

    fn word(self, word: &str, random: &mut StdRng) -> String {
        match self {
            Self::None => word.to_string(),
            Self::LowerCase => word.to_lowercase(),
            Self::NoPunctuation => {
                let kept: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
                if kept.is_empty() { "-".to_string() } else { kept }
            }
            Self::Characters(share) => {
                let mut other = |c: char| match c {
                    c if !c.is_alphanumeric() || !random.random_bool(share) => c,
                    c if c.is_numeric() => random.random_range('0'..='9'),
                    c if c.is_uppercase() => random.random_range('A'..='Z'),
                    _ => random.random_range('a'..='z'),
                };
                word.chars().map(&mut other).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_and_labels_stay() {
        let rows =
            vec![
                vec![["Fuchs,".to_string(), "B-author".to_string()], [".".into(), "O".into()]];
                200
            ];
        let sequences = from_rows(&rows);
        let words = |noise: Noise, column: usize| -> Vec<String> {
            let distorted = noise.distort(&sequences, 1);
            let cells = distorted.iter().flat_map(|one| (0..one.len()).map(move |t| (one, t)));
            cells.map(|(one, t)| one.cell(t, column).unwrap().to_string()).collect()
        };
        assert_eq!(words(Noise::NoPunctuation, 0)[..2], ["Fuchs", "-"]);
        assert_eq!(words(Noise::LowerCase, 0)[..2], ["fuchs,", "."]);
        let changed = words(Noise::Characters(0.15), 0);
        let letters = changed.iter().flat_map(|word| word.chars().zip("Fuchs,".chars()));
        let wrong = letters.filter(|(a, b)| a != b && *a != '.').count();
        assert!((100..200).contains(&wrong), "{wrong} of 1000 letters");
        for noise in Noise::ALL {
            assert_eq!(words(noise, 1), words(Noise::None, 1), "{}", noise.name());
        }
    }
}
