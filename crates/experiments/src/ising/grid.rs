use bethe_core::{Energy, Model, Problem};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The signs of couplings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Couplings {
    /// From 0 to the strength: neighbours like to agree.
    Attractive,
    /// From minus to plus the strength: frustrated.
    Mixed,
}

impl Couplings {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attractive => "attractive",
            Self::Mixed => "mixed",
        }
    }
}

/// The couplings that a base model keeps; mean field takes the others as products of marginals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// All of them: no mean field at all.
    Whole,
    /// None: naive mean field.
    Sites,
    /// Those within rows: chains.
    Rows,
    /// Those within rows, and the first column: a spanning tree.
    Comb,
}

/// `p(x) ∝ exp(Σ h_i x_i + Σ J_ij x_i x_j)` with `x_i = ±1` on a square grid, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    side: usize,
    /// `h`. `[sites]`
    fields: Vec<f64>,
    /// Two neighbours and `J`.
    couplings: Vec<(usize, usize, f64)>,
}

impl Grid {
    /// Fields uniform in ±`field`, couplings uniform within `strength`.
    pub fn random(side: usize, signs: Couplings, strength: f64, field: f64, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let fields = (0..side * side).map(|_| field * random.random_range(-1.0..=1.0)).collect();
        let mut couplings = Vec::new();
        for site in 0..side * side {
            let right = (site % side + 1 < side).then_some(site + 1);
            let below = (site + side < side * side).then_some(site + side);
            for other in [right, below].into_iter().flatten() {
                let share: f64 = random.random_range(-1.0..=1.0);
                let share = if signs == Couplings::Attractive { share.abs() } else { share };
                couplings.push((site, other, strength * share));
            }
        }
        Self { side, fields, couplings }
    }

    /// Sites along each edge.
    pub fn side(&self) -> usize {
        self.side
    }

    /// The grid as a problem: state 1 is `x = +1`.
    pub fn problem(&self, base: Base) -> Problem {
        let mut model = Model::new(&vec![2; self.fields.len()]).expect("two states each");
        for (site, &h) in self.fields.iter().enumerate() {
            model.add_factor(&[site], &[-h, h]).expect("a finite field");
        }
        let mut products = Vec::new();
        for &(a, b, j) in &self.couplings {
            let table = [j, -j, -j, j];
            if self.keeps(base, a, b) {
                model.add_factor(&[a, b], &table).expect("a finite coupling");
            } else {
                products
                    .push(Energy::Product { scope: vec![a, b], log_potentials: table.to_vec() });
            }
        }
        Problem::new(model, products).expect("products of two sites each")
    }

    fn keeps(&self, base: Base, a: usize, b: usize) -> bool {
        let in_row = b == a + 1;
        match base {
            Base::Whole => true,
            Base::Sites => false,
            Base::Rows => in_row,
            Base::Comb => in_row || a.is_multiple_of(self.side),
        }
    }
}
