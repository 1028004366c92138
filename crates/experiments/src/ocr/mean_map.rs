//! Random Fourier features of pictures, averaged over the letters of a word.
//!
//! ```text
//! f_d(x) = 1/T Σ_t √2 cos(ω_d·x_t + b_d)      ω_d ~ N(0, 1/σ²), b_d uniform in [0, 2π]
//! ```
//!
//! `⟨f(x), f(x′)⟩/D` tends to the inner product of the mean maps of two words in the Hilbert space
//! of the kernel `exp(−‖x − x′‖²/2σ²)` on pictures (Rahimi and Recht 2007; Smola et al. 2007).

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use super::data::{COLUMNS, Image, ROWS, Word};

/// Pixels of a picture.
const PIXELS: usize = ROWS * COLUMNS;

/// A choice of random features.
#[derive(Clone, Debug)]
pub struct MeanMap {
    count: usize,
    /// `ω`. `[pixels][features]`
    directions: Vec<f32>,
    /// `b`. `[features]`
    shifts: Vec<f32>,
}

impl MeanMap {
    /// This many features of a kernel, given the square `σ²` of its width. The first ones are the
    /// same for any number.
    pub fn new(count: usize, width_squared: f64, seed: u64) -> Self {
        let mut map =
            Self { count, directions: vec![0.0; PIXELS * count], shifts: vec![0.0; count] };
        let mut rng = StdRng::seed_from_u64(seed);
        for feature in 0..count {
            map.shifts[feature] = rng.random_range(0.0..std::f32::consts::TAU);
            for pixel in 0..PIXELS {
                map.directions[pixel * count + feature] =
                    normal(&mut rng) / width_squared.sqrt() as f32;
            }
        }
        map
    }

    /// The features of a word. `[features]`
    pub fn of(&self, images: &[Image]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        let mut waves = vec![0.0; self.count];
        for image in images {
            waves.copy_from_slice(&self.shifts);
            let mut left = image.0;
            while left != 0 {
                let row =
                    &self.directions[left.trailing_zeros() as usize * self.count..][..self.count];
                waves.iter_mut().zip(row).for_each(|(wave, along)| *wave += along);
                left &= left - 1;
            }
            sums.iter_mut().zip(&waves).for_each(|(sum, wave)| *sum += f64::from(wave.cos()));
        }
        let factor = std::f64::consts::SQRT_2 / images.len().max(1) as f64;
        sums.iter_mut().for_each(|sum| *sum *= factor);
        sums
    }

    /// The features of all words. `[words][features]`
    pub fn of_all(&self, words: &[Word]) -> Vec<Vec<f64>> {
        words.par_iter().map(|word| self.of(&word.images)).collect()
    }
}

/// A number from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut StdRng) -> f32 {
    let radius = (-2.0 * rng.random::<f32>().max(f32::MIN_POSITIVE).ln()).sqrt();
    radius * (std::f32::consts::TAU * rng.random::<f32>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_tend_to_the_kernel() {
        let map = MeanMap::new(20_000, 25.0, 3);
        let images = [0u128, 0xff, 0xffff_ffff_ffff].map(Image);
        for a in images {
            for b in images {
                let [x, y] = [a, b].map(|image| map.of(&[image]));
                let found = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / 20_000.0;
                let apart = f64::from((a.0 ^ b.0).count_ones());
                let kernel = (-apart / (2.0 * 25.0)).exp();
                assert!((found - kernel).abs() < 0.03, "{found} for {kernel}");
            }
        }
    }

    #[test]
    fn a_word_has_the_mean_of_its_pictures() {
        let map = MeanMap::new(10, 25.0, 1);
        let (a, b) = (Image(5), Image(1 << 100));
        let [x, y, both] = [&[a][..], &[b], &[a, b]].map(|images| map.of(images));
        for d in 0..10 {
            assert!((both[d] - 0.5 * (x[d] + y[d])).abs() < 1e-12);
        }
    }
}
