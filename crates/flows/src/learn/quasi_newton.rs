//! A limited-memory quasi-Newton method for the few steps that a round of learning takes.

/// Steps whose curvature is remembered.
const MEMORY: usize = 8;
/// Least fraction of the decrease that the slope promises.
const ENOUGH: f64 = 1e-4;
/// Steps this small do not help any more.
const SHORTEST: f64 = 1e-6;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Value and gradient at a point, which is moved to where it may be.
pub(super) type Evaluate<'a> = dyn FnMut(&mut [f64]) -> (f64, Vec<f64>) + 'a;

/// How long to search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// Most steps.
    pub steps: usize,
    /// Stops where the value is expected to fall by less than this.
    pub decrease: f64,
}

/// Lowers a function from a point. `evaluate` gives value and gradient, `divide` divides a vector by
/// about the curvature.
pub(super) fn minimise(
    mut point: Vec<f64>,
    search: Search,
    evaluate: &mut Evaluate,
    divide: &dyn Fn(&mut [f64]),
) -> Vec<f64> {
    let (mut value, mut gradient) = evaluate(&mut point);
    let mut memory: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..search.steps {
        let direction = direction(&gradient, &memory, divide);
        let slope = dot(&gradient, &direction);
        if -slope < search.decrease || !slope.is_finite() {
            break;
        }
        let mut length = 1.0;
        let found = loop {
            let mut there: Vec<f64> =
                point.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            let (own, slopes) = evaluate(&mut there);
            let step = there.iter().zip(&point).map(|(there, here)| there - here);
            let fall = step.zip(&gradient).map(|(step, g)| step * g).sum::<f64>();
            if fall < 0.0 && own <= value + ENOUGH * fall {
                break Some((there, own, slopes));
            }
            length /= 3.0;
            if length < SHORTEST {
                break None;
            }
        };
        let Some((there, own, slopes)) = found else { break };
        let step: Vec<f64> = there.iter().zip(&point).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = slopes.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        if dot(&step, &change) > 1e-12 * dot(&change, &change) {
            memory.push((step, change));
            memory.drain(..memory.len().saturating_sub(MEMORY));
        }
        (point, value, gradient) = (there, own, slopes);
    }
    point
}

/// The direction in which the remembered curvature expects the lowest value.
fn direction(
    gradient: &[f64],
    memory: &[(Vec<f64>, Vec<f64>)],
    divide: &dyn Fn(&mut [f64]),
) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for (step, change) in memory.iter().rev() {
        let share = dot(step, &direction) / dot(step, change);
        direction.iter_mut().zip(change).for_each(|(d, c)| *d -= share * c);
        shares.push(share);
    }
    divide(&mut direction);
    if let Some((step, change)) = memory.last() {
        // The latest step says how far off the approximate curvature is.
        let mut divided = change.clone();
        divide(&mut divided);
        let scale = dot(step, change) / dot(change, &divided);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((step, change), share) in memory.iter().zip(shares.into_iter().rev()) {
        let back = share - dot(change, &direction) / dot(step, change);
        direction.iter_mut().zip(step).for_each(|(d, s)| *d += back * s);
    }
    direction
}

#[cfg(test)]
mod tests {
    use super::{Search, minimise};

    #[test]
    fn a_bent_valley_is_followed_to_its_lowest_point() {
        let mut evaluate = |x: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * b * x[0], 200.0 * b])
        };
        let search = Search { steps: 200, decrease: 1e-16 };
        let found = minimise(vec![-1.2, 1.0], search, &mut evaluate, &|v| {
            v.iter_mut().for_each(|v| *v /= 100.0);
        });
        assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
    }
}
