use super::Derivative;
use super::activity::Row;

/// The gradient of `⟨v, μ*⟩` in all that a bound problem has.
#[derive(Clone, Debug, PartialEq)]
pub struct RowGradients {
    /// The gradient in the potentials of what the energies read. `[support]`
    pub potentials: Vec<f64>,
    /// The gradient in the weight of each row; 0 for hard constraints, which have none. `[rows]`
    pub weights: Vec<f64>,
    /// The gradient in the offset of each row. `[rows]`
    pub offsets: Vec<f64>,
    /// The multipliers that coefficients have a part of. `[rows]`
    multipliers: Vec<f64>,
    /// `[support]`
    marginals: Vec<f64>,
}

impl RowGradients {
    pub(super) fn new(
        derivative: &Derivative,
        rows: &[Row],
        potentials: Vec<f64>,
        responses: &[f64],
    ) -> Self {
        let measured = derivative.measurements.rows();
        let weight = |(row, of): (usize, &Row)| {
            let along: f64 = measured.entries(row).map(|(c, a)| a * potentials[c]).sum();
            if derivative.measurements.penalty(row).is_hard() { 0.0 } else { -of.slope * along }
        };
        let weights = rows.iter().enumerate().map(weight).collect();
        let mut offsets = vec![0.0; rows.len()];
        for (&row, response) in derivative.system.active().iter().zip(responses) {
            offsets[row] = -response;
        }
        let multipliers = rows.iter().map(|row| row.multiplier).collect();
        Self { potentials, weights, offsets, multipliers, marginals: derivative.marginals.clone() }
    }

    /// The gradient in a row's coefficient of a coordinate, also where that is 0.
    pub fn coefficient(&self, row: usize, coordinate: usize) -> f64 {
        self.offsets[row] * self.marginals[coordinate]
            - self.multipliers[row] * self.potentials[coordinate]
    }
}
