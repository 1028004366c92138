//! Energies that pull a reading towards words.
//!
//! ```text
//! L^u(μ) = ψ·min_i ‖u_i − U(μ)‖₁      U(μ) = Σ_t μ_t, u_i how often word i has each letter
//! L^w(μ) = ψ·min_i ‖w_i − μ‖₁         w_i the letters of word i, one position after another
//! ```
//!
//! either one possibly capped, `ψ·min(cap, …)`, and with every `|z|` smoothed to `huber_δ(z)/δ`.
//!
//! Both read the marginals of letters at each position; tilts and marginals are
//! `[positions][letters]`.

use std::sync::Arc;

use bethe_core::Norm;
use bethe_core::energy::{Energies, Nearest, Rows};
use bethe_core::support::Support;

use super::data::LETTERS;
use super::lexicon::{Lexicon, counts};

/// What of a reading is compared with words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// How often it has each letter, with words of any length or of its own.
    Counts {
        /// Whether words of other lengths count.
        any_length: bool,
    },
    /// The letter at each position, with words of its own length.
    Letters,
}

/// How the minimum over words is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The word that is nearest to the current reading, until it stays the same.
    Local,
    /// One inference for every word that bounds do not rule out.
    Exact,
}

/// An energy, without its weight.
#[derive(Clone, Debug)]
pub struct Energy {
    /// The words.
    pub lexicon: Arc<Lexicon>,
    /// What is compared.
    pub statistic: Statistic,
    /// How distances are taken; with `Huber(δ)` as `huber_δ(z)/δ`, which far away is `|z| − δ/2`.
    pub norm: Norm,
    /// The distance never counts for more than this.
    pub cap: Option<f64>,
    /// How the minimum is found.
    pub search: Search,
}

impl Energy {
    /// An uncapped energy in the L1 norm.
    pub fn new(lexicon: Arc<Lexicon>, statistic: Statistic, search: Search) -> Self {
        Self { lexicon, statistic, norm: Norm::L1, cap: None, search }
    }

    /// The words that a reading of this length is compared with.
    pub fn candidates(&self, length: usize) -> impl Iterator<Item = &[u8]> + Clone {
        let any = matches!(self.statistic, Statistic::Counts { any_length: true });
        let words = self.lexicon.words();
        let all = if any { words } else { &[] };
        let own = if any { &[] } else { self.lexicon.of_length(length) };
        let own = own.iter().map(|&word| &words[word][..]);
        all.iter().map(Vec::as_slice).chain(own)
    }

    /// What is measured of marginals: a point that words are points beside.
    pub fn measured(&self, marginals: &[f64]) -> Vec<f64> {
        match self.statistic {
            Statistic::Counts { .. } => sums(marginals),
            Statistic::Letters => marginals.to_vec(),
        }
    }

    /// A word as a point.
    pub fn point(&self, word: &[u8]) -> Vec<f64> {
        match self.statistic {
            Statistic::Counts { .. } => counts(word),
            Statistic::Letters => indicators(word),
        }
    }

    /// How far points are apart.
    pub fn apart(&self, a: &[f64], b: &[f64]) -> f64 {
        let penalty = self.norm.penalty();
        self.scale() * a.iter().zip(b).map(|(a, b)| penalty.value(a - b)).sum::<f64>()
    }

    /// The distance of marginals from the nearest word, cap included; 0 where there is no word to
    /// compare with.
    pub fn distance(&self, marginals: &[f64]) -> f64 {
        let measured = self.measured(marginals);
        let words = self.candidates(marginals.len() / LETTERS);
        let nearest = words.map(|word| self.apart(&measured, &self.point(word)));
        match nearest.fold(f64::INFINITY, f64::min) {
            f64::INFINITY => 0.0,
            nearest => nearest.min(self.cap.unwrap_or(f64::INFINITY)),
        }
    }

    /// What a penalty is multiplied by: slopes far away are 1 in every norm.
    fn scale(&self) -> f64 {
        match self.norm {
            Norm::L1 => 1.0,
            Norm::Huber(delta) => 1.0 / delta,
        }
    }

    /// The energy as the core's solvers take it, for readings of this length and weight 0; `None`
    /// where there is no word to compare with.
    pub fn bind(&self, length: usize) -> Option<Energies> {
        let points: Vec<Vec<f64>> = self.candidates(length).map(|word| self.point(word)).collect();
        if points.is_empty() {
            return None;
        }
        let mut rows = Rows::default();
        let cells = length * LETTERS;
        match self.statistic {
            Statistic::Counts { .. } => (0..LETTERS).for_each(|letter| {
                let entries = (letter..cells).step_by(LETTERS).map(|cell| (cell, 1.0));
                rows.push(entries, &[0.0], (0.0, length as f64));
            }),
            Statistic::Letters => {
                (0..cells).for_each(|cell| rows.push([(cell, 1.0)], &[0.0], (0.0, 1.0)));
            }
        }
        let cap = self.cap.map(|cap| cap / self.scale());
        let nearest = Nearest::new(rows, points, 0.0, self.norm, cap);
        Some(Energies::of_nearest(support(length), nearest))
    }

    /// Gives the core's energy the weight `ψ`.
    pub fn weigh(&self, energies: &mut Energies, weight: f64) {
        energies.nearest[0].set_weight(weight * self.scale());
    }
}

/// A block for each position.
pub fn support(length: usize) -> Support {
    let mut support = Support::new();
    for t in 0..length {
        support.add(vec![t], LETTERS);
    }
    support
}

/// `U(μ) = Σ_t μ_t`
pub fn sums(marginals: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; LETTERS];
    for row in marginals.chunks(LETTERS) {
        sums.iter_mut().zip(row).for_each(|(sum, marginal)| *sum += marginal);
    }
    sums
}

/// The marginals of a certain reading.
pub fn indicators(word: &[u8]) -> Vec<f64> {
    let mut indicators = vec![0.0; word.len() * LETTERS];
    for (t, &letter) in word.iter().enumerate() {
        indicators[t * LETTERS + usize::from(letter)] = 1.0;
    }
    indicators
}
