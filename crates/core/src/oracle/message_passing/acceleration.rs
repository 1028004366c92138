//! Extrapolation of a fixed-point iteration from its last few steps (Anderson).
//!
//! Where `x ↦ G(x)` moves `x` by `f(x) = G(x) − x`, the next point is `G(x) − Σ_k γ_k ΔG_k` with
//! the `γ` for which `f(x) − Σ_k γ_k Δf_k` is smallest: what would be left if steps added up.

/// Steps that are remembered.
const REMEMBERED: usize = 8;
/// A direction that others span except for this part adds only rounding.
const DEPENDENT: f64 = 1e-9;

/// The last few steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Acceleration {
    /// `Δf`, oldest first. `[steps][unknowns]`
    moves: Vec<Vec<f64>>,
    /// `ΔG`. `[steps][unknowns]`
    images: Vec<Vec<f64>>,
    /// `f` and `G` at the latest point.
    latest: Option<(Vec<f64>, Vec<f64>)>,
}

impl Acceleration {
    /// Starts anew.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Replaces the image of `start` by a better guess. Entries that are `-∞` stay.
    pub fn extrapolate(&mut self, start: &[f64], image: &mut [f64]) {
        let own: Vec<f64> = image.iter().zip(start).map(|(to, from)| apart(*to, *from)).collect();
        if let Some((old_move, old_image)) = self.latest.take() {
            if self.moves.len() == REMEMBERED {
                self.moves.remove(0);
                self.images.remove(0);
            }
            self.moves.push(own.iter().zip(&old_move).map(|(new, old)| new - old).collect());
            let change = image.iter().zip(&old_image).map(|(new, old)| apart(*new, *old));
            self.images.push(change.collect());
        }
        self.latest = Some((own.clone(), image.to_vec()));
        for (share, change) in self.shares(own).into_iter().zip(&self.images) {
            image.iter_mut().zip(change).for_each(|(to, change)| *to -= share * change);
        }
    }

    /// Least squares by orthogonalisation, the latest step first. `[steps]`
    fn shares(&self, mut rest: Vec<f64>) -> Vec<f64> {
        let count = self.moves.len();
        let mut basis: Vec<(usize, Vec<f64>)> = Vec::with_capacity(count);
        // `moves[k] = Σ_i triangle[k][i]·basis[i]`
        let mut triangle = vec![vec![0.0; count]; count];
        let mut heights = Vec::with_capacity(count);
        for step in (0..count).rev() {
            let mut own = self.moves[step].clone();
            let size = dot(&own, &own).sqrt();
            for (at, (_, unit)) in basis.iter().enumerate() {
                let along = dot(unit, &own);
                triangle[step][at] = along;
                own.iter_mut().zip(unit).for_each(|(own, unit)| *own -= along * unit);
            }
            let left = dot(&own, &own).sqrt();
            if left.is_nan() || left <= DEPENDENT * size {
                continue;
            }
            own.iter_mut().for_each(|own| *own /= left);
            triangle[step][basis.len()] = left;
            let height = dot(&own, &rest);
            rest.iter_mut().zip(&own).for_each(|(rest, own)| *rest -= height * own);
            heights.push(height);
            basis.push((step, own));
        }
        let mut shares = vec![0.0; count];
        for at in (0..basis.len()).rev() {
            let step = basis[at].0;
            let later =
                basis[at + 1..].iter().map(|(other, _)| shares[*other] * triangle[*other][at]);
            shares[step] = (heights[at] - later.sum::<f64>()) / triangle[step][at];
        }
        shares
    }
}

/// A difference, 0 where both are `-∞`.
fn apart(to: f64, from: f64) -> f64 {
    if to == from { 0.0 } else { to - from }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_iteration_ends_after_as_many_steps_as_it_has_unknowns() {
        let map = |x: &[f64]| [0.9 * x[0] + 0.3 * x[1] + 1.0, -0.2 * x[0] + 0.95 * x[1] - 1.0];
        let mut acceleration = Acceleration::default();
        let mut x = [0.0, 0.0];
        for _ in 0..4 {
            let mut image = map(&x);
            acceleration.extrapolate(&x, &mut image);
            x = image;
        }
        let image = map(&x);
        assert!((x[0] - image[0]).abs() + (x[1] - image[1]).abs() < 1e-9, "{x:?} {image:?}");
    }
}
