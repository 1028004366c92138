//! From counts to colours.

/// From nobody to most.
pub(super) const COLOURS: [&str; 8] =
    ["#eef2f5", "#cfe0ea", "#a0c6dd", "#68a4ca", "#3c80b3", "#255f96", "#17437a", "#0e2a58"];
/// Counts enter the scale with this power, so that large ones leave room for small ones.
const POWER: f64 = 0.4;

pub(super) struct Scale {
    /// The greatest count of all.
    pub most: f64,
    /// The greatest flow of all.
    pub strongest: f64,
}

impl Scale {
    /// Where on the scale of colours a count is, from 0 to 1.
    pub fn level(&self, count: f64) -> f64 {
        if self.most > 0.0 { (count / self.most).clamp(0.0, 1.0).powf(POWER) } else { 0.0 }
    }

    /// The colour of a count.
    pub fn colour(&self, count: f64) -> String {
        let place = self.level(count) * (COLOURS.len() - 1) as f64;
        let below = (place as usize).min(COLOURS.len() - 2);
        let part = place - below as f64;
        let [low, high] = [COLOURS[below], COLOURS[below + 1]].map(channels);
        let mix = |n: usize| (low[n] + part * (high[n] - low[n])).round() as u8;
        format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
    }

    /// Counts to mark on a legend, with their places on it: round numbers that are far enough
    /// apart.
    pub fn marks(&self) -> Vec<(f64, f64)> {
        let mut marks = vec![(self.most, 1.0)];
        let mut round = 10f64.powf(self.most.max(f64::MIN_POSITIVE).log10().floor());
        for _ in 0..6 {
            let level = self.level(round);
            if marks[marks.len() - 1].1 - level > 0.14 && level > 0.1 {
                marks.push((round, level));
            }
            round /= 10.0;
        }
        marks.push((0.0, 0.0));
        marks
    }
}

fn channels(colour: &str) -> [f64; 3] {
    let value = u32::from_str_radix(&colour[1..], 16).expect("a constant");
    [value >> 16, value >> 8, value].map(|channel| f64::from(channel & 255))
}
