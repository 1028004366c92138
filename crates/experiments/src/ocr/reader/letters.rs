//! `L^w` in the L1 norm, in closed form.
//!
//! A position's marginals sum to 1, so `‖w − μ‖₁ = 2 Σ_t (1 − μ_t(w_t))`: linear in `μ`. The piece
//! of a word is solved by the tilt `2ψ` on its letters, with the value `2ψT − A_w`, `A_w` the
//! log-partition there: one oracle call a word.
//!
//! For the best of all words, calls are skipped if bounds rule them out. With `p_w` the word's
//! probability, every other assignment misses at least one letter, so
//!
//! ```text
//! log p_w ≤ A_w − A − 2ψT ≤ log(p_w + e^(−2ψ)(1 − p_w))
//! ```

use bethe_core::oracle::Oracle;

use super::{Found, Reader};
use crate::ocr::data::LETTERS;
use crate::ocr::energy::{Energy, Search};

/// A word whose distance is less by no more than this is no nearer.
const TIE: f64 = 1e-12;

impl Reader {
    /// Inference of a loaded word that has candidates, under a positive weight.
    pub(super) fn infer_letters(&mut self, energy: &Energy, scores: &[f64], weight: f64) -> Found {
        match energy.search {
            Search::Local => self.nearest_word(energy, scores.len() / LETTERS, weight),
            Search::Exact => self.best_word(energy, scores, weight),
        }
    }

    fn nearest_word(&mut self, energy: &Energy, length: usize, weight: f64) -> Found {
        let mut point = self.at_base(length);
        let (mut word, distance) = nearest(energy, &point.marginals);
        if let Some(cap) = energy.cap.filter(|&cap| distance >= cap) {
            return capped(point, weight, cap);
        }
        loop {
            self.move_to(word, weight, &mut point);
            let (next, there) = nearest(energy, &point.marginals);
            if there >= point.distance - TIE {
                return point;
            }
            word = next;
        }
    }

    fn best_word(&mut self, energy: &Energy, scores: &[f64], weight: f64) -> Found {
        let length = scores.len() / LETTERS;
        let mut point = self.at_base(length);
        let base = point.log_partition;
        let mut candidates: Vec<(f64, &[u8])> =
            energy.candidates(length).map(|word| (self.score(scores, word) - base, word)).collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        // Values are negated and relative to the base: `A_w − A − 2ψT`, or `−ψ·cap`.
        let mut best = (energy.cap.map_or(f64::NEG_INFINITY, |cap| -weight * cap), None);
        let mut last = None;
        for (probability, word) in candidates {
            if highest(probability, weight) <= best.0 {
                // They are in order of probability, so no later one does better.
                break;
            }
            self.move_to(word, weight, &mut point);
            last = Some(word);
            let value = point.log_partition - base - 2.0 * weight * length as f64;
            if value > best.0 {
                best = (value, last);
            }
        }
        match best.1 {
            None => capped(self.at_base(length), weight, energy.cap.unwrap_or(0.0)),
            Some(word) => {
                if last != Some(word) {
                    self.move_to(word, weight, &mut point);
                }
                point
            }
        }
    }

    /// The optimum of a word's piece.
    fn move_to(&mut self, word: &[u8], weight: f64, point: &mut Found) {
        point.tilt.fill(0.0);
        for (t, &letter) in word.iter().enumerate() {
            point.tilt[t * LETTERS + usize::from(letter)] = 2.0 * weight;
        }
        point.log_partition = self.chain.tilted(&point.tilt, &mut point.marginals);
        point.objective = 2.0 * weight * word.len() as f64 - point.log_partition;
        point.distance = distance(word, &point.marginals);
        point.iterations += 1;
    }
}

/// The base model's answer, where no word is within the cap.
fn capped(mut base: Found, weight: f64, cap: f64) -> Found {
    base.objective += weight * cap;
    base.distance = cap;
    base
}

/// An upper bound on `A_w − A − 2ψT`, from the log of the word's probability.
fn highest(log_probability: f64, weight: f64) -> f64 {
    let probability = log_probability.min(0.0).exp();
    (probability + (-2.0 * weight).exp() * (1.0 - probability)).ln()
}

/// `‖w − μ‖₁`
fn distance(word: &[u8], marginals: &[f64]) -> f64 {
    let rows = marginals.chunks(LETTERS).zip(word);
    rows.map(|(row, &letter)| 2.0 * (1.0 - row[usize::from(letter)])).sum()
}

/// The word that is nearest to marginals, and its distance.
fn nearest<'a>(energy: &'a Energy, marginals: &[f64]) -> (&'a [u8], f64) {
    let mut nearest: (&[u8], f64) = (&[], f64::INFINITY);
    for word in energy.candidates(marginals.len() / LETTERS) {
        let distance = distance(word, marginals);
        if distance < nearest.1 {
            nearest = (word, distance);
        }
    }
    nearest
}
