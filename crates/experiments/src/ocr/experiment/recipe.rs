use crate::ocr::learning::{Loss, Minimisation};

/// How models are learned, and what is tried where something is tuned inside the training folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Base models of pixels, and those of letter histories; the penalty is tuned.
    pub pixels: Minimisation,
    /// Penalties that are tried, each from the weights that the one before led to.
    pub l2: Vec<f64>,
    /// The base model of pixels and pairs; the penalty is tuned.
    pub pairs: Minimisation,
    /// Penalties that are tried there, as before.
    pub pairs_l2: Vec<f64>,
    /// Random features that `ψ` may depend on.
    pub mean_map_features: usize,
    /// The square of the width of their kernel: two pictures of different letters differ in about
    /// this many pixels.
    pub mean_map_width: f64,
    /// Squares of widths that the classifier's kernel may have.
    pub classifier_widths: Vec<f64>,
    /// Numbers of random features that the classifier may have.
    pub classifier_features: Vec<usize>,
    /// The classifier's penalty.
    pub classifier_l2: f64,
    /// Passes of stochastic learning from a pretrained base.
    pub passes: usize,
    /// Passes of stochastic learning from zero.
    pub passes_from_zero: usize,
    /// First steps of the base model's weights that are tried where it is learned further.
    pub rates: Vec<f64>,
    /// Penalties `‖v‖²` that are tried for the Fenchel–Young loss.
    pub energy_l2: Vec<f64>,
    /// Weights `ψ` that are tried for an open vocabulary.
    pub open_weights: Vec<f64>,
    /// Caps that are tried there.
    pub open_caps: Vec<f64>,
}

impl Default for Recipe {
    fn default() -> Self {
        let pixels = Minimisation { l2: 1.0, energy_l2: 0.0, iterations: 50, least_decrease: 1e-4 };
        Self {
            pixels,
            l2: vec![1.0, 0.3, 0.1],
            pairs: pixels,
            pairs_l2: vec![3.0, 1.0],
            mean_map_features: 1000,
            mean_map_width: 36.0,
            classifier_widths: vec![9.0, 16.0, 36.0],
            classifier_features: vec![500, 1000, 2000],
            classifier_l2: 1e-3,
            passes: 3,
            passes_from_zero: 6,
            rates: vec![0.02, 0.1],
            energy_l2: vec![0.1, 1.0, 10.0],
            open_weights: vec![0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
            open_caps: vec![0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 10.0],
        }
    }
}

/// What is learned, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// `ψ` on a base model that stays as it is.
    Psi,
    /// `ψ` on a base model, then both.
    Joint,
    /// Both from zero.
    Zero,
}

/// A way to learn an energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What is learned.
    pub start: Start,
    /// The loss.
    pub loss: Loss,
}

impl Variant {
    /// All of them. Rows without a suffix have the one that reads held-out words of the training
    /// folds best.
    pub fn all() -> impl Iterator<Item = Self> {
        let losses = [Loss::Surrogate, Loss::FenchelYoung];
        let starts = [Start::Psi, Start::Joint, Start::Zero];
        starts.into_iter().flat_map(move |start| losses.map(|loss| Self { start, loss }))
    }

    /// What a row's name ends in.
    pub fn suffix(self) -> String {
        let start = match self.start {
            Start::Psi => "psi",
            Start::Joint => "joint",
            Start::Zero => "zero",
        };
        let loss = match self.loss {
            Loss::FenchelYoung => "fenchel-young",
            _ => "surrogate",
        };
        format!("-{start}-{loss}")
    }
}
