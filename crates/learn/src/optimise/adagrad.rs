/// Stochastic gradient descent with a step size per weight, and the average of all iterates.
///
/// `w ← w − rate · g / √(Σ g²)`; a weight is touched only if its gradient is not zero (Duchi, Hazan
/// and Singer, 2011). The average over all steps is kept without touching the others:
/// `mean = w − (Σ_t t Δw_t) / steps`.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaGrad {
    /// Size of the first step of every weight.
    pub rate: f64,
    /// The current point.
    pub weights: Vec<f64>,
    /// `Σ g²` of each weight.
    pub squares: Vec<f64>,
    /// `Σ_t t Δw_t` of each weight.
    pub moves: Vec<f64>,
    /// Steps so far.
    pub steps: u64,
}

impl AdaGrad {
    /// Starts at `weights`.
    pub fn new(rate: f64, weights: Vec<f64>) -> Self {
        let size = weights.len();
        Self { rate, weights, squares: vec![0.0; size], moves: vec![0.0; size], steps: 0 }
    }

    /// Starts a step; the following moves belong to it.
    pub fn begin_step(&mut self) {
        self.steps += 1;
    }

    /// Moves one weight against its gradient, not below `lowest`.
    #[inline]
    pub fn descend(&mut self, weight: usize, gradient: f64, lowest: f64) {
        if gradient == 0.0 {
            return;
        }
        self.squares[weight] += gradient * gradient;
        let before = self.weights[weight];
        let after = (before - self.rate * gradient / self.squares[weight].sqrt()).max(lowest);
        self.weights[weight] = after;
        self.moves[weight] += (self.steps - 1) as f64 * (after - before);
    }

    /// The mean of the points after each step.
    pub fn average(&self) -> Vec<f64> {
        let steps = self.steps.max(1) as f64;
        self.weights.iter().zip(&self.moves).map(|(w, moved)| w - moved / steps).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_that_of_the_points_after_each_step() {
        let mut descent = AdaGrad::new(0.3, vec![1.0, -2.0]);
        let mut sum = [0.0; 2];
        for step in 0..20 {
            descent.begin_step();
            if step % 3 != 1 {
                descent.descend(0, descent.weights[0] - 0.2, 0.0);
            }
            descent.descend(1, 0.1 * step as f64 - 0.7, f64::NEG_INFINITY);
            sum[0] += descent.weights[0];
            sum[1] += descent.weights[1];
        }
        for (mean, sum) in descent.average().iter().zip(sum) {
            assert!((mean - sum / 20.0).abs() < 1e-12);
        }
    }

    #[test]
    fn weights_stop_at_their_lowest_value() {
        let mut descent = AdaGrad::new(1.0, vec![0.1]);
        descent.begin_step();
        descent.descend(0, 5.0, 0.0);
        assert_eq!(descent.weights, [0.0]);
    }
}
