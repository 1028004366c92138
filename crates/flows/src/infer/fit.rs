use crate::data::Observations;
use crate::energy::Noise;

/// How well inferred counts explain those of one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// How many cells were observed.
    pub observed: usize,
    /// Pearson correlation of observed and expected counts; `None` if one of them is constant.
    pub correlation: Option<f64>,
    /// Mean deviance over the observed cells: twice the distance in log-likelihood from a perfect
    /// fit; `None` if nothing was observed.
    pub mean_deviance: Option<f64>,
}

/// The fit of each time, given the inferred counts `[times][cells]`.
pub fn fit(
    observations: &Observations,
    counts: &[f64],
    noise: &Noise,
    population: f64,
) -> Vec<Fit> {
    let cells = observations.cells();
    let times = 0..observations.times().len();
    times
        .map(|time| {
            let own = &counts[time * cells..][..cells];
            let observed = observations.at(time).iter().zip(own).enumerate();
            let pairs: Vec<(f64, f64, f64)> = observed
                .filter_map(|(cell, (count, inferred))| {
                    let expected = noise.expected(cell, *inferred, population);
                    let count = (*count)?;
                    Some((count, expected, noise.deviance(count, expected)))
                })
                .collect();
            let total: f64 = pairs.iter().map(|(_, _, deviance)| deviance).sum();
            Fit {
                observed: pairs.len(),
                correlation: correlation(&pairs),
                mean_deviance: (!pairs.is_empty()).then(|| total / pairs.len() as f64),
            }
        })
        .collect()
}

fn correlation(pairs: &[(f64, f64, f64)]) -> Option<f64> {
    let number = pairs.len() as f64;
    let mean = |value: fn(&(f64, f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>() / number;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut both, mut squares) = (0.0, [0.0; 2]);
    for (x, y, _) in pairs {
        both += (x - first) * (y - second);
        squares[0] += (x - first).powi(2);
        squares[1] += (y - second).powi(2);
    }
    let scale = (squares[0] * squares[1]).sqrt();
    (scale > 0.0).then(|| both / scale)
}
