use crate::energy::{Measurements, Penalty, Rows};
use crate::solve::engine::{Engine, Point, rounding};

/// How a multiplier is parametrised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coordinate {
    /// The only value there is.
    Fixed(f64),
    /// `λ` itself, between bounds.
    Bounded(f64, f64),
    /// `λ = ceiling − e^v`
    Log {
        /// What the multiplier stays below.
        ceiling: f64,
    },
}

impl Coordinate {
    fn new(penalty: Penalty, weight: f64) -> Self {
        if let Penalty::Poisson { rate, .. } = penalty {
            return Self::Log { ceiling: weight * rate };
        }
        let (low, high) = penalty.multipliers(weight);
        if low == high { Self::Fixed(low) } else { Self::Bounded(low, high) }
    }

    /// The unknown for a multiplier, moved into its range.
    pub fn unknown(self, multiplier: f64) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Bounded(low, high) => multiplier.clamp(low, high),
            // A multiplier at the ceiling has no logarithm: stay a little below.
            Self::Log { ceiling } => (ceiling - multiplier).max(1e-3 * ceiling).ln(),
        }
    }

    #[inline]
    fn multiplier(self, unknown: f64) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Bounded(..) => unknown,
            Self::Log { ceiling } => ceiling - unknown.exp(),
        }
    }

    /// The nearest unknown within bounds.
    #[inline]
    pub fn clip(self, unknown: f64) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Bounded(low, high) => unknown.clamp(low, high),
            Self::Log { .. } => unknown,
        }
    }

    /// Whether no bound holds the unknown against its gradient.
    #[inline]
    pub fn is_free(self, unknown: f64, gradient: f64) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Bounded(low, high) => {
                !(unknown <= low && gradient > 0.0 || unknown >= high && gradient < 0.0)
            }
            Self::Log { .. } => true,
        }
    }
}

/// The dual program: what is maximised, and over which unknowns.
pub(super) struct Program {
    pub measurements: Measurements,
    /// Added to every tilt: what other energies contribute. `[support]`
    base_tilt: Vec<f64>,
    /// Weights are divided by this.
    pub scale: f64,
    /// `[measurements]`
    pub coordinates: Vec<Coordinate>,
    /// Largest coefficient of each row. `[measurements]`
    pub largest: Vec<f64>,
    /// Block of each support coordinate. `[support]`
    block_of: Vec<usize>,
    /// Number of tables in each block. `[blocks]`
    sharing: Vec<f64>,
}

/// Multipliers and all that follows from them.
pub(super) struct Iterate {
    /// `λ_j` or `v_j`. `[measurements]`
    pub unknowns: Vec<f64>,
    /// `λ`. `[measurements]`
    pub multipliers: Vec<f64>,
    /// `z`. `[measurements]`
    pub measured: Vec<f64>,
    /// Gradient of `value` in the unknowns. `[measurements]`
    pub gradient: Vec<f64>,
    /// The negative dual objective.
    pub value: f64,
    /// Sum of the sizes of its terms: its rounding follows it.
    pub value_size: f64,
    /// Sum of the Fenchel gaps.
    pub gap: f64,
    pub point: Point,
}

impl Program {
    pub fn new(
        engine: &Engine,
        measurements: Measurements,
        base_tilt: Vec<f64>,
        scale: f64,
    ) -> Self {
        let support = engine.energies.support();
        let mut block_of = vec![0; support.len()];
        for (index, block) in support.blocks().iter().enumerate() {
            block_of[block.range()].fill(index);
        }
        let largest_of = |row| {
            let sizes = measurements.rows().entries(row).map(|(_, a)| a.abs());
            sizes.fold(0.0, f64::max)
        };
        let largest = (0..measurements.len()).map(largest_of).collect();
        let mut program = Self {
            measurements,
            base_tilt,
            scale,
            coordinates: Vec::new(),
            largest,
            block_of,
            sharing: support.blocks().iter().map(|b| b.tables.len() as f64).collect(),
        };
        program.coordinates = vec![Coordinate::Fixed(0.0); program.measurements.len()];
        program.find_coordinates();
        program
    }

    pub fn rebase(&mut self, base_tilt: &[f64], scale: f64) {
        self.base_tilt.copy_from_slice(base_tilt);
        self.scale = scale;
        self.find_coordinates();
    }

    fn find_coordinates(&mut self) {
        for row in 0..self.coordinates.len() {
            let (penalty, weight) = (self.penalty(row), self.weight(row));
            self.coordinates[row] = if self.largest[row] > 0.0 {
                Coordinate::new(penalty, weight)
            } else {
                // No tilt moves a constant: its multiplier is the slope there.
                Coordinate::Fixed(weight * penalty.derivative(self.rows().offset(row)))
            };
        }
    }

    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.measurements.weights()[row] / self.scale
    }

    #[inline]
    pub fn penalty(&self, row: usize) -> Penalty {
        self.measurements.penalties()[row]
    }

    #[inline]
    pub fn rows(&self) -> &Rows {
        self.measurements.rows()
    }

    /// Fills in an iterate from its unknowns.
    pub fn evaluate(&self, engine: &mut Engine, iterate: &mut Iterate) {
        let Iterate { point, .. } = iterate;
        point.tilt.copy_from_slice(&self.base_tilt);
        for (row, coordinate) in self.coordinates.iter().enumerate() {
            iterate.multipliers[row] = coordinate.multiplier(iterate.unknowns[row]);
            self.rows().add_row(row, -iterate.multipliers[row], &mut point.tilt);
        }
        point.log_partition = engine.call(&point.tilt, &mut point.marginals);
        point.call = engine.oracle_calls;
        point.energy = 0.0;
        iterate.value = point.log_partition;
        iterate.value_size = point.log_partition.abs();
        iterate.gap = 0.0;
        for (row, coordinate) in self.coordinates.iter().enumerate() {
            let (weight, penalty) = (self.weight(row), self.penalty(row));
            let multiplier = iterate.multipliers[row];
            let z = measure(self.rows(), row, &point.marginals);
            iterate.measured[row] = z;
            let conjugate = penalty.conjugate(weight, multiplier);
            let shift = multiplier * self.rows().offset(row);
            iterate.value += conjugate - shift;
            iterate.value_size += conjugate.abs() + shift.abs();
            iterate.gap += penalty.fenchel_gap(weight, z, multiplier);
            point.energy += weight * penalty.value(z);
            let slope = penalty.conjugate_derivative(weight, multiplier) - z;
            iterate.gradient[row] = match coordinate {
                Coordinate::Fixed(_) => 0.0,
                Coordinate::Bounded(..) => slope,
                Coordinate::Log { ceiling } => -slope * (ceiling - multiplier),
            };
        }
        point.summarise();
    }

    /// The curvature of the dual in one unknown, as if tables were independent.
    pub fn curvature(&self, iterate: &Iterate, row: usize) -> f64 {
        let variance = self.variance(&iterate.point.marginals, row);
        let multiplier = iterate.multipliers[row];
        match self.coordinates[row] {
            Coordinate::Log { ceiling } => {
                let slack = ceiling - multiplier;
                slack * (iterate.measured[row].max(0.0) + slack * variance)
            }
            _ => variance + self.penalty(row).conjugate_curvature(self.weight(row), multiplier),
        }
    }

    fn variance(&self, marginals: &[f64], row: usize) -> f64 {
        let (mut total, mut block, mut mean, mut square) = (0.0, None, 0.0, 0.0);
        let of_block = |block: Option<usize>, mean: f64, square: f64| {
            block.map_or(0.0, |b| (square - mean * mean / self.sharing[b]).max(0.0))
        };
        for (column, coefficient) in self.rows().entries(row) {
            if Some(self.block_of[column]) != block {
                total += of_block(block, mean, square);
                (block, mean, square) = (Some(self.block_of[column]), 0.0, 0.0);
            }
            let share = coefficient * marginals[column];
            mean += share;
            square += coefficient * share;
        }
        total + of_block(block, mean, square)
    }
}

impl Iterate {
    pub fn new(measurements: usize, coordinates: usize) -> Self {
        Self {
            unknowns: vec![0.0; measurements],
            multipliers: vec![0.0; measurements],
            measured: vec![0.0; measurements],
            gradient: vec![0.0; measurements],
            value: f64::NAN,
            value_size: 0.0,
            gap: f64::INFINITY,
            point: Point::new(coordinates),
        }
    }
}

/// A measurement, with sums that cancel to within rounding taken as zero: a multiplier must not chase
/// a residue that no tilt can change.
fn measure(rows: &Rows, row: usize, marginals: &[f64]) -> f64 {
    let start = (rows.offset(row), rows.offset_size(row));
    let (sum, size) = rows.entries(row).fold(start, |(sum, size), (c, a)| {
        let part = a * marginals[c];
        (sum + part, size + part.abs())
    });
    if sum.abs() <= 0.5 * rounding(size) { 0.0 } else { sum }
}
