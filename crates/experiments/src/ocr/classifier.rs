//! Words as classes: which word of the right length fits all pictures together?
//!
//! Multinomial logistic regression on a word's [mean map](super::mean_map), one per length, since
//! only words of the right length are candidates.

use bethe_learn::optimise::{Outcome, QuasiNewton, QuasiNewtonSettings};
use rayon::prelude::*;

use super::data::Word;
use super::lexicon::Lexicon;

/// Chunks that examples are cut into, whatever the number of threads.
const CHUNKS: usize = 16;
/// Numbers that are summed side by side.
const LANES: usize = 8;

/// How a classifier is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifierSettings {
    /// Features of the mean map that are used.
    pub features: usize,
    /// `l2 ‖w‖²` is added to the loss.
    pub l2: f64,
    /// Iterations, at most.
    pub iterations: usize,
}

/// A classifier of words.
pub struct Classifier {
    features: usize,
    /// `[lengths]`
    by_length: Vec<Option<Classes>>,
}

/// The words of one length.
struct Classes {
    words: Vec<Vec<u8>>,
    /// A constant's first, then those of the features. `[words][1 + features]`
    weights: Vec<f64>,
}

impl Classifier {
    /// Learns from some words, given the mean maps of all. `[words][features]`
    pub fn train(
        words: &[Word],
        maps: &[Vec<f64>],
        which: &[usize],
        settings: &ClassifierSettings,
    ) -> Self {
        let lexicon = Lexicon::new(which.iter().map(|&word| &words[word].letters[..]));
        let longest = lexicon.words().iter().map(Vec::len).max().unwrap_or(0);
        let by_length = (0..=longest).map(|length| {
            let classes: Vec<Vec<u8>> = lexicon
                .of_length(length)
                .iter()
                .map(|&word| lexicon.words()[word].clone())
                .collect();
            let own: Vec<usize> =
                which.iter().copied().filter(|&word| words[word].letters.len() == length).collect();
            let examples: Vec<Example> = own
                .iter()
                .map(|&word| Example {
                    features: &maps[word][..settings.features],
                    class: classes
                        .binary_search(&words[word].letters)
                        .expect("a class for every word learned from"),
                })
                .collect();
            (!classes.is_empty()).then(|| Classes::train(classes, &examples, settings))
        });
        Self { features: settings.features, by_length: by_length.collect() }
    }

    /// The class of a word of this length with this mean map, if there is one.
    pub fn classify(&self, length: usize, map: &[f64]) -> Option<&[u8]> {
        let classes = self.by_length.get(length)?.as_ref()?;
        let mut scores = vec![0.0; classes.words.len()];
        score(&classes.weights, &map[..self.features], &mut scores);
        let best =
            (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
        best.map(|best| &classes.words[best][..])
    }
}

/// A word's features and its class.
struct Example<'a> {
    features: &'a [f64],
    class: usize,
}

impl Classes {
    fn train(words: Vec<Vec<u8>>, examples: &[Example], settings: &ClassifierSettings) -> Self {
        let mut objective = |weights: &[f64], gradient: &mut [f64]| {
            let loss = evaluate(words.len(), examples, weights, gradient);
            let slopes = gradient.iter_mut().zip(weights);
            slopes.for_each(|(slope, weight)| *slope += 2.0 * settings.l2 * weight);
            loss + settings.l2 * weights.iter().map(|weight| weight * weight).sum::<f64>()
        };
        let start = vec![0.0; words.len() * (1 + settings.features)];
        let stops = QuasiNewtonSettings { least_decrease: 1e-3, ..QuasiNewtonSettings::default() };
        let mut minimiser = QuasiNewton::start(stops, start, &mut objective);
        while minimiser.iterations() < settings.iterations
            && minimiser.step(&mut objective) == Outcome::Advanced
        {}
        let weights = minimiser.weights().to_vec();
        Self { words, weights }
    }
}

/// The loss over examples, `Σ log Σ_c exp s_c − s_y`; its gradient overwrites `gradient`.
fn evaluate(classes: usize, examples: &[Example], weights: &[f64], gradient: &mut [f64]) -> f64 {
    let part = |examples: &[Example]| {
        let (mut loss, mut slopes) = (0.0, vec![0.0; weights.len()]);
        let mut scores = vec![0.0; classes];
        for Example { features, class } in examples {
            score(weights, features, &mut scores);
            loss -= scores[*class];
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
            let sum: f64 = scores.iter().sum();
            loss += highest + sum.ln();
            for (c, row) in slopes.chunks_mut(1 + features.len()).enumerate() {
                let residual = scores[c] / sum - f64::from(u8::from(c == *class));
                row[0] += residual;
                let slopes = row[1..].iter_mut().zip(*features);
                slopes.for_each(|(slope, feature)| *slope += residual * feature);
            }
        }
        (loss, slopes)
    };
    let chunk = examples.len().div_ceil(CHUNKS).max(1);
    let parts: Vec<(f64, Vec<f64>)> = examples.par_chunks(chunk).map(part).collect();
    gradient.fill(0.0);
    let mut loss = 0.0;
    for (own, slopes) in parts {
        loss += own;
        gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
    }
    loss
}

/// Scores of classes.
fn score(weights: &[f64], features: &[f64], scores: &mut [f64]) {
    for (score, row) in scores.iter_mut().zip(weights.chunks(1 + features.len())) {
        *score = row[0] + dot(&row[1..], features);
    }
}

/// Sums in lanes, which no sum has to wait for.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let numbers = |count: usize| (0..count).map(|i| ((i * i * 7 + 3 * i) % 11) as f64 / 11.0);
        let features: Vec<f64> = numbers(3 * 10).collect();
        let class = |at: usize| Example { features: &features[at * 10..][..10], class: at % 2 };
        let examples: Vec<Example> = (0..3).map(class).collect();
        let mut weights: Vec<f64> = numbers(2 * 11).map(|x| x - 0.5).collect();
        let mut gradient = vec![0.0; weights.len()];
        let mut ignored = gradient.clone();
        evaluate(2, &examples, &weights, &mut gradient);
        for at in 0..weights.len() {
            let mut at_offset = |offset: f64| {
                weights[at] += offset;
                let loss = evaluate(2, &examples, &weights, &mut ignored);
                weights[at] -= offset;
                loss
            };
            let slope = (at_offset(1e-5) - at_offset(-1e-5)) / 2e-5;
            assert!((slope - gradient[at]).abs() < 1e-8, "{at}: {slope} for {}", gradient[at]);
        }
    }
}
