//! The values of features of all moves, and the tables that they make with weights.

use rayon::prelude::*;

use super::law::Learner;
use super::pulls::AXES;
use crate::model::{Feature, FeatureKind, Moves, normalise};

/// What is learned of features.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters {
    /// `[features]`
    pub weights: Vec<f64>,
    /// Of the feature whose exponent is learned.
    pub exponent: f64,
}

/// Features of all moves.
pub(super) struct Design {
    /// Which moves there are; their log-probabilities are those of the latest [`Design::set`].
    pub moves: Moves,
    /// `[tables][moves][features]`
    values: Vec<Vec<f64>>,
    /// Logarithms of the values of the feature whose exponent is learned. `[tables][moves]`
    logs: Vec<Vec<f64>>,
    /// Features whose weight is learned.
    pub unknown: Vec<usize>,
    /// The feature whose exponent is learned; its value is that to the power 1.
    pub bent: Option<usize>,
    /// Where cells are, in units of their spacing.
    pub positions: Vec<[f64; AXES]>,
}

impl Design {
    pub fn new(learner: &Learner) -> Self {
        let Learner { cells, movement, learned, bent, .. } = *learner;
        let steps = learner.observations.times().len() - 1;
        let moves = movement.moves(cells, steps);
        let straight = |(place, feature): (usize, &Feature)| match feature.kind {
            FeatureKind::Power { unit, .. } if bent == Some(place) => {
                FeatureKind::Power { unit, exponent: 1.0 }
            }
            _ => feature.kind.clone(),
        };
        let kinds: Vec<FeatureKind> = movement.features.iter().enumerate().map(straight).collect();
        let values = (0..moves.tables.len()).map(|table| {
            let step = moves.of_step.iter().position(|&own| own == table).unwrap_or(0);
            let of_row = |from: usize| -> Vec<f64> {
                let to = moves.tables[table].row(from).0.iter();
                let of_move = |&to: &u32| {
                    kinds.iter().map(move |kind| kind.value(cells, step, (from, to as usize)))
                };
                to.flat_map(of_move).collect()
            };
            let rows: Vec<Vec<f64>> = (0..cells.len()).into_par_iter().map(of_row).collect();
            rows.concat()
        });
        let values: Vec<Vec<f64>> = values.collect();
        let logs = |bent: usize| {
            let of_table = |own: &Vec<f64>| -> Vec<f64> {
                own.iter().skip(bent).step_by(kinds.len()).map(|value| value.ln()).collect()
            };
            values.iter().map(of_table).collect()
        };
        let logs = bent.map_or(Vec::new(), logs);
        let unknown = (0..learned.len()).filter(|&feature| learned[feature]).collect();
        Self { moves, values, logs, unknown, bent, positions: cells.positions() }
    }

    /// Number of what is learned of features.
    pub fn unknowns(&self) -> usize {
        self.unknown.len() + usize::from(self.bent.is_some())
    }

    /// What is learned, as a vector. `[unknowns]`
    pub fn vector(&self, parameters: &Parameters) -> Vec<f64> {
        let weights = self.unknown.iter().map(|&feature| parameters.weights[feature]);
        weights.chain(self.bent.map(|_| parameters.exponent.ln())).collect()
    }

    /// The parameters with other values of what is learned.
    pub fn with(&self, parameters: &Parameters, vector: &[f64]) -> Parameters {
        let mut changed = parameters.clone();
        self.unknown.iter().zip(vector).for_each(|(&f, value)| changed.weights[f] = *value);
        if self.bent.is_some() {
            changed.exponent = vector[self.unknown.len()].clamp(-LARGEST, LARGEST).exp();
        }
        changed
    }

    /// Whether the exponent is as large or as small as it may be.
    pub fn is_at_bound(&self, parameters: &Parameters) -> bool {
        self.bent.is_some() && parameters.exponent.ln().abs() >= LARGEST - NEAR_BOUND
    }

    /// Scores of the moves of a table, `[moves]`, and how they change with what is learned,
    /// `[moves][unknowns]`.
    pub fn terms(&self, table: usize, parameters: &Parameters) -> (Vec<f64>, Vec<f64>) {
        let Parameters { weights, exponent } = parameters;
        let values = &self.values[table];
        let (features, unknowns) = (weights.len(), self.unknowns());
        let count = self.moves.tables[table].len();
        let (mut all_scores, mut all_slopes) = (vec![0.0; count], vec![0.0; count * unknowns]);
        let chunk = 1 << 14;
        let scores = all_scores.par_chunks_mut(chunk);
        let slopes = all_slopes.par_chunks_mut((chunk * unknowns).max(1));
        let fill = |at: usize, score: &mut f64, slopes: &mut [f64]| {
            let own = &values[at * features..][..features];
            let mut bent = 0.0;
            for (feature, (&value, weight)) in own.iter().zip(weights).enumerate() {
                let mut value = value;
                if self.bent == Some(feature) && value > 0.0 {
                    let log_power = exponent * self.logs[table][at];
                    value = log_power.exp();
                    bent = weight * value * log_power;
                }
                *score += weight * value;
                if let Some(place) = self.unknown.iter().position(|&own| own == feature) {
                    slopes[place] = value;
                }
            }
            if self.bent.is_some() {
                slopes[unknowns - 1] = bent;
            }
        };
        if unknowns == 0 {
            scores.enumerate().for_each(|(at, own)| {
                own.iter_mut()
                    .enumerate()
                    .for_each(|(m, score)| fill(at * chunk + m, score, &mut []));
            });
        } else {
            scores.zip(slopes).enumerate().for_each(|(at, (own, slopes))| {
                let moves = own.iter_mut().zip(slopes.chunks_mut(unknowns)).enumerate();
                moves.for_each(|(m, (score, slopes))| fill(at * chunk + m, score, slopes));
            });
        }
        (all_scores, all_slopes)
    }

    /// Sets the tables to the probabilities that these parameters give.
    pub fn set(&mut self, parameters: &Parameters) {
        for table in 0..self.moves.tables.len() {
            let (scores, _) = self.terms(table, parameters);
            let transitions = &mut self.moves.tables[table];
            let mut first = 0;
            for from in 0..transitions.shape().0 {
                let row = transitions.row_mut(from);
                row.copy_from_slice(&scores[first..first + row.len()]);
                first += row.len();
                normalise(row);
            }
        }
    }
}

/// Bounds on the logarithm of an exponent, and how near counts as being there.
const LARGEST: f64 = 2.0;
const NEAR_BOUND: f64 = 1e-9;
