use super::{Curvature, EnergyFunction, Penalty};

/// Sparse linear functions `z_j = a_j·μ + b_j` of the support's marginals.
#[derive(Clone, Debug)]
pub struct Rows {
    /// First entry of each row, and the end of the last. `[rows + 1]`
    starts: Vec<usize>,
    /// Support coordinate of each entry, ascending within a row. `[entries]`
    columns: Vec<usize>,
    /// `[entries]`
    coefficients: Vec<f64>,
    /// `b`. `[rows]`
    offsets: Vec<f64>,
    /// Sum of the sizes of what `b` is the sum of: its rounding follows it. `[rows]`
    offset_sizes: Vec<f64>,
    /// Least and greatest value that a row can take over allowed states. `[rows]`
    ranges: Vec<(f64, f64)>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            starts: vec![0],
            columns: Vec::new(),
            coefficients: Vec::new(),
            offsets: Vec::new(),
            offset_sizes: Vec::new(),
            ranges: Vec::new(),
        }
    }
}

impl Rows {
    /// Adds a row of `(coordinate, coefficient)` entries, ascending, and an offset that is the sum
    /// of parts; `range` bounds the row's values.
    pub fn push(
        &mut self,
        entries: impl IntoIterator<Item = (usize, f64)>,
        offset_parts: &[f64],
        range: (f64, f64),
    ) {
        for (column, coefficient) in entries {
            self.columns.push(column);
            self.coefficients.push(coefficient);
        }
        self.starts.push(self.columns.len());
        self.offsets.push(offset_parts.iter().sum());
        self.offset_sizes.push(offset_parts.iter().map(|p| p.abs()).sum());
        self.ranges.push(range);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offset `b` of a row.
    #[inline]
    pub fn offset(&self, row: usize) -> f64 {
        self.offsets[row]
    }

    /// `|b|`, or more where `b` is a sum whose parts cancel.
    #[inline]
    pub fn offset_size(&self, row: usize) -> f64 {
        self.offset_sizes[row]
    }

    /// Bounds on the values of a row.
    pub fn range(&self, row: usize) -> (f64, f64) {
        self.ranges[row]
    }

    /// The entries of a row.
    #[inline]
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.coefficients[range].iter().copied())
    }

    /// `a_j·μ + b_j`
    #[inline]
    pub fn measure(&self, row: usize, marginals: &[f64]) -> f64 {
        self.entries(row).fold(self.offsets[row], |sum, (c, a)| sum + a * marginals[c])
    }

    /// Adds `factor · a_j` to `target`.
    #[inline]
    pub fn add_row(&self, row: usize, factor: f64, target: &mut [f64]) {
        if factor != 0.0 {
            self.entries(row).for_each(|(c, a)| target[c] += factor * a);
        }
    }

    /// A copy of a row of other rows, shifted by `shift`.
    pub fn push_shifted(&mut self, other: &Rows, row: usize, shift: f64) {
        let (low, high) = other.range(row);
        let parts = [other.offset(row), shift];
        self.push(other.entries(row), &parts, (low + shift, high + shift));
        let size = self.offset_sizes.last_mut().expect("a row was just pushed");
        *size = size.max(other.offset_size(row) + shift.abs());
    }
}

/// The energy `Σ_j w_j φ_j(z_j)` over sparse rows.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    rows: Rows,
    /// `[rows]`
    weights: Vec<f64>,
    /// `[rows]`
    penalties: Vec<Penalty>,
}

impl Measurements {
    /// Adds the penalty on the row that was last pushed to `rows`.
    pub fn push(&mut self, weight: f64, penalty: Penalty) {
        self.weights.push(weight);
        self.penalties.push(penalty);
        debug_assert_eq!(self.weights.len(), self.rows.len());
    }

    /// The linear functions.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The linear functions, to add one.
    pub fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// The weight of each row.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The penalty of each row.
    #[inline]
    pub fn penalties(&self) -> &[Penalty] {
        &self.penalties
    }

    /// Number of measurements.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Whether any of them is a hard constraint.
    pub fn has_hard(&self) -> bool {
        self.penalties.iter().any(|p| p.is_hard())
    }

    /// `w_j φ_j(z_j)`
    pub fn value(&self, row: usize, marginals: &[f64]) -> f64 {
        self.weights[row] * self.penalties[row].value(self.rows.measure(row, marginals))
    }

    /// Whether values, and what they are sums of, stay within the range of a double.
    pub fn is_finite(&self) -> bool {
        (0..self.len()).all(|row| {
            let (low, high) = self.rows.range(row);
            let (weight, penalty) = (self.weights[row], self.penalties[row]);
            let at_ends = [low, high].map(|z| weight * penalty.value(z));
            let counted = matches!(penalty, Penalty::Poisson { .. });
            (low.is_finite() && high.is_finite() || low > high)
                && (counted || at_ends.iter().all(|value| value.is_finite()))
        })
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self, marginals: &[f64]) -> f64 {
        let of = |row: usize| self.penalties[row].violation(self.rows.measure(row, marginals));
        (0..self.len()).filter(|&row| self.penalties[row].is_hard()).map(of).fold(0.0, f64::max)
    }
}

impl EnergyFunction for Measurements {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        let rows = self.rows.starts.windows(2).zip(&self.rows.offsets);
        for ((bounds, &offset), (&weight, penalty)) in
            rows.zip(self.weights.iter().zip(&self.penalties))
        {
            let range = bounds[0]..bounds[1];
            let (columns, coefficients) =
                (&self.rows.columns[range.clone()], &self.rows.coefficients[range]);
            let entries = || columns.iter().zip(coefficients);
            let z = entries().fold(offset, |sum, (&c, a)| sum + a * marginals[c]);
            value += weight * penalty.value(z);
            let slope = weight * penalty.derivative(z);
            entries().for_each(|(&c, a)| gradient[c] += slope * a);
        }
        value
    }

    fn curvature(&self) -> Curvature {
        let mut infimum = 0.0;
        for row in 0..self.len() {
            let (weight, penalty, (low, high)) =
                (self.weights[row], self.penalties[row], self.rows.range(row));
            if penalty == Penalty::Linear {
                infimum += (weight * low).min(weight * high);
            } else if weight < 0.0 {
                return Curvature::Unknown;
            } else {
                infimum += weight * penalty.infimum(low, high);
            }
        }
        Curvature::Convex { infimum }
    }

    fn is_smooth(&self) -> bool {
        self.penalties.iter().all(|p| p.is_smooth())
    }
}
