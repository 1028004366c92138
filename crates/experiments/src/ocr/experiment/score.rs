/// How many letters and words were read right, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Letters that were right.
    pub right: usize,
    /// All letters.
    pub letters: usize,
    /// Words without a mistake.
    pub right_words: usize,
    /// All words.
    pub words: usize,
    /// Time that inference took, with the scores of letters given.
    pub seconds: f64,
}

impl Score {
    /// Counts a word.
    pub fn add(&mut self, read: &[u8], truth: &[u8]) {
        let right = read.iter().zip(truth).filter(|(read, truth)| read == truth).count();
        self.right += right;
        self.letters += truth.len();
        self.right_words += usize::from(read == truth);
        self.words += 1;
    }

    /// Takes another score in.
    pub fn join(&mut self, other: &Self) {
        self.right += other.right;
        self.letters += other.letters;
        self.right_words += other.right_words;
        self.words += other.words;
        self.seconds += other.seconds;
    }

    /// Right letters, in percent.
    pub fn accuracy(&self) -> f64 {
        100.0 * self.right as f64 / self.letters.max(1) as f64
    }

    /// Right words, in percent.
    pub fn word_accuracy(&self) -> f64 {
        100.0 * self.right_words as f64 / self.words.max(1) as f64
    }

    /// Time per word.
    pub fn microseconds(&self) -> f64 {
        1e6 * self.seconds / self.words.max(1) as f64
    }
}
