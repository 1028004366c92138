use super::{Curvature, EnergyFunction, Measurements, Penalty, Rows};

/// The distance from measurements to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// `Σ_j |z_j − p_j|`
    L1,
    /// `Σ_j huber_δ(z_j − p_j)`, the penalty `huber` with this `δ`.
    Huber(f64),
}

impl Norm {
    /// The penalty on each coordinate.
    pub fn penalty(self) -> Penalty {
        match self {
            Self::L1 => Penalty::Absolute,
            Self::Huber(delta) => Penalty::Huber { delta },
        }
    }
}

/// `w·min(cap, min_i ‖p_i − Mμ‖)`, bound to a support.
///
/// With `w ≥ 0` this is a minimum of convex pieces: one per point, and the constant `w·cap` as the
/// last one if there is a cap.
#[derive(Clone, Debug)]
pub struct Nearest {
    pub(super) rows: Rows,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) weight: f64,
    pub(super) norm: Norm,
    pub(super) cap: Option<f64>,
    /// `[rows]`
    pub(super) measured: Vec<f64>,
}

impl Nearest {
    /// The energy of measurements and points (`[points][rows]`), already in coordinates of a
    /// support.
    ///
    /// # Panics
    /// If there are no points, or one does not have a coordinate for every row.
    pub fn new(
        rows: Rows,
        points: Vec<Vec<f64>>,
        weight: f64,
        norm: Norm,
        cap: Option<f64>,
    ) -> Self {
        assert!(!points.is_empty(), "a point to be near to");
        assert!(points.iter().all(|point| point.len() == rows.len()), "a coordinate for every row");
        let measured = vec![0.0; rows.len()];
        Self { rows, points, weight, norm, cap, measured }
    }

    /// Sets the weight.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// Whether distances stay within the range of a double.
    pub fn is_finite(&self) -> bool {
        let farthest = |point: &Vec<f64>| {
            let ends = point.iter().enumerate().flat_map(|(row, p)| {
                let (low, high) = self.rows.range(row);
                [low - p, high - p]
            });
            ends.map(|z| self.norm.penalty().value(z)).sum::<f64>()
        };
        self.points.iter().map(farthest).all(|distance| (self.weight * distance).is_finite())
    }

    /// Number of pieces.
    pub fn pieces(&self) -> usize {
        self.points.len() + usize::from(self.cap.is_some())
    }

    /// The piece that is lowest at `marginals`, and its value.
    pub fn lowest_piece(&mut self, marginals: &[f64]) -> (usize, f64) {
        for row in 0..self.rows.len() {
            self.measured[row] = self.rows.measure(row, marginals);
        }
        let mut lowest = self.cap.map_or((0, f64::INFINITY), |cap| (self.points.len(), cap));
        for (index, point) in self.points.iter().enumerate() {
            let distance = distance(&self.measured, point, self.norm.penalty());
            if distance < lowest.1 {
                lowest = (index, distance);
            }
        }
        (lowest.0, self.weight * lowest.1)
    }

    /// The value of one piece at `marginals`.
    pub fn piece_value(&self, piece: usize, marginals: &[f64]) -> f64 {
        let Some(point) = self.points.get(piece) else { return self.piece_constant(piece) };
        let penalty = self.norm.penalty();
        let off = |(row, p): (usize, &f64)| penalty.value(self.rows.measure(row, marginals) - p);
        self.weight * point.iter().enumerate().map(off).sum::<f64>()
    }

    /// The constant part of a piece: `w·cap` for the capped one.
    pub fn piece_constant(&self, piece: usize) -> f64 {
        if piece < self.points.len() { 0.0 } else { self.weight * self.cap.unwrap_or(0.0) }
    }

    /// Adds a piece to `target` as measurements, without its constant.
    ///
    /// If a coordinate lies on one side of the point for all marginals, such as a count where the
    /// point has 0, its distance is linear and its multiplier is known.
    pub fn add_piece(&self, piece: usize, target: &mut Measurements) {
        let Some(point) = self.points.get(piece) else { return };
        // Rows of one kind together, so that one pass serves them all.
        for side in [Some(1.0), Some(-1.0), None] {
            for (row, &coordinate) in point.iter().enumerate() {
                if self.side(row, coordinate) != side {
                    continue;
                }
                target.rows_mut().push_shifted(&self.rows, row, -coordinate);
                match side {
                    Some(sign) => target.push(sign * self.weight, Penalty::Linear),
                    None => target.push(self.weight, self.norm.penalty()),
                }
            }
        }
    }

    /// The slope of the distance in a row, if it is the same over the row's range.
    fn side(&self, row: usize, coordinate: f64) -> Option<f64> {
        let (low, high) = self.rows.range(row);
        match self.norm {
            Norm::L1 if low >= coordinate => Some(1.0),
            Norm::L1 if high <= coordinate => Some(-1.0),
            _ => None,
        }
    }
}

fn distance(measured: &[f64], point: &[f64], penalty: Penalty) -> f64 {
    measured.iter().zip(point).map(|(z, p)| penalty.value(z - p)).sum()
}

impl EnergyFunction for Nearest {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        let (piece, value) = self.lowest_piece(marginals);
        if let Some(point) = self.points.get(piece) {
            let penalty = self.norm.penalty();
            for (row, &coordinate) in point.iter().enumerate() {
                let slope = penalty.derivative(self.measured[row] - coordinate);
                self.rows.add_row(row, self.weight * slope, gradient);
            }
        }
        value
    }

    fn curvature(&self) -> Curvature {
        if self.pieces() == 1 && self.weight >= 0.0 {
            Curvature::Convex { infimum: 0.0 }
        } else {
            Curvature::Unknown
        }
    }

    fn is_smooth(&self) -> bool {
        self.pieces() == 1 && self.norm != Norm::L1
    }
}
