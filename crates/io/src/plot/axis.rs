/// How an axis maps values to places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

/// A range of values with ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub label: String,
    scale: Scale,
    /// In the scale's own coordinate: the value, or its decimal logarithm.
    low: f64,
    high: f64,
}

/// About this many ticks look right on a frame of a few hundred pixels.
const TICKS: f64 = 6.0;

impl Axis {
    /// An axis that just holds these values (the positive ones, for a logarithmic scale).
    pub fn new(label: &str, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let coordinates = values.filter_map(|value| coordinate(scale, value));
        let (low, high) =
            coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)));
        let mut axis = Self { label: label.to_string(), scale, low, high };
        axis.widen(0.03);
        axis
    }

    /// A linear axis over a range, with a margin.
    pub fn linear_over(label: &str, (low, high): (f64, f64)) -> Self {
        let mut axis = Self { label: label.to_string(), scale: Scale::Linear, low, high };
        axis.widen(0.06);
        axis
    }

    /// Makes the range finite and not empty, and adds a margin.
    fn widen(&mut self, margin: f64) {
        if !(self.low.is_finite() && self.high.is_finite()) {
            (self.low, self.high) = (0.0, 1.0);
        }
        let least = 1e-9 * self.low.abs().max(self.high.abs()).max(1.0);
        if self.high - self.low < least {
            let half = 0.05 * self.low.abs().max(1.0);
            (self.low, self.high) = (self.low - half, self.high + half);
        }
        let extra = margin * (self.high - self.low);
        (self.low, self.high) = (self.low - extra, self.high + extra);
    }

    /// Where a value lies, 0 at the low end and 1 at the high end.
    pub fn position(&self, value: f64) -> Option<f64> {
        coordinate(self.scale, value).map(|c| (c - self.low) / (self.high - self.low))
    }

    /// Positions and labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let place = |c: f64| (c - self.low) / (self.high - self.low);
        match self.scale {
            Scale::Linear => {
                let step = nice_step((self.high - self.low) / TICKS);
                let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
                multiples(self.low, self.high, step)
                    .map(|c| (place(c), format!("{:.decimals$}", if c == 0.0 { 0.0 } else { c })))
                    .collect()
            }
            Scale::Log if self.high - self.low < 2.0 => {
                let decades = self.low.floor() as i64..=self.high.ceil() as i64;
                let ticks = decades.flat_map(|d| [1, 2, 5].map(|digit| (digit, d)));
                ticks
                    .map(|(digit, d)| (d as f64 + f64::from(digit).log10(), digit, d))
                    .filter(|(c, ..)| (self.low..=self.high).contains(c))
                    .map(|(c, digit, d)| (place(c), multiple_of_power(digit, d)))
                    .collect()
            }
            Scale::Log => {
                let step = ((self.high - self.low) / TICKS).ceil().max(1.0);
                multiples(self.low, self.high, step)
                    .map(|c| (place(c), power_of_ten(c.round() as i64)))
                    .collect()
            }
        }
    }
}

fn coordinate(scale: Scale, value: f64) -> Option<f64> {
    match scale {
        Scale::Linear => value.is_finite().then_some(value),
        Scale::Log => (value > 0.0 && value.is_finite()).then(|| value.log10()),
    }
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    power * factors.into_iter().find(|f| f * power >= rough * (1.0 - 1e-9)).unwrap_or(10.0)
}

fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let slack = 1e-9 * (high - low);
    let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
    (0..=(last - first).max(-1.0) as i64).map(move |i| (first + i as f64) * step)
}

/// `2·10⁻³`; numbers between 0.01 and 1000 are written out.
fn multiple_of_power(digit: i32, exponent: i64) -> String {
    if (-2..=2).contains(&exponent) {
        let decimals = (-exponent).max(0) as usize;
        return format!("{:.decimals$}", f64::from(digit) * 10f64.powi(exponent as i32));
    }
    let power = power_of_ten(exponent);
    if digit == 1 { power } else { format!("{digit}·{power}") }
}

/// `10⁻³`; 0.1, 1, 10 and 100 are written out.
fn power_of_ten(exponent: i64) -> String {
    if (-1..=2).contains(&exponent) {
        return format!("{}", 10f64.powi(exponent as i32));
    }
    let digits = exponent.unsigned_abs().to_string();
    let raised = digits.chars().map(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize - '0' as usize));
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("10{sign}{}", raised.flatten().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        let axis = Axis::new("x", Scale::Linear, [0.3, 7.7].into_iter());
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["2", "4", "6"]);
        let axis = Axis::new("x", Scale::Linear, [-6.516, -6.511].into_iter());
        assert!(
            axis.ticks().iter().all(|(at, label)| label.len() == 6 && (0.0..=1.0).contains(at))
        );
    }

    #[test]
    fn decades_are_thinned_and_written_as_powers() {
        let axis = Axis::new("x", Scale::Log, [1e-13, 1.0].into_iter());
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "1"]);
        let axis = Axis::new("x", Scale::Log, [4e-4, 6e-3].into_iter());
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["5·10⁻⁴", "10⁻³", "2·10⁻³", "5·10⁻³"]);
    }
}
