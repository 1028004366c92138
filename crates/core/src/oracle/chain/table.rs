//! A transition table with all that is computed once.

use std::borrow::Cow;

use pulp::Simd;

use super::aligned::Aligned;
use super::exponential::exponentiate;
use super::layout::Layout;
use super::transitions::Transitions;
use crate::model::ModelError;

/// Whether a table is stored sparse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Sparse if that is faster.
    #[default]
    Automatic,
    /// Every transition is stored.
    Dense,
    /// Forbidden transitions are left out, up to the padding of vectors.
    Sparse,
}

/// Log-potentials between two successive positions, and their exponentials for both directions.
#[derive(Debug)]
pub(super) struct TransitionTable {
    /// Entry `(from, to)`, as the forward pass reads it.
    pub(super) forward: Layout,
    /// Entry `(to, from)`, as the backward pass reads it; `None` if that reads the forward one.
    pub(super) backward: Option<Layout>,
    /// In the forward layout, `-∞` in the padding.
    pub(super) log_forward: Aligned,
    /// `exp(log_potentials - highest)` in the forward layout.
    pub(super) exp_forward: Aligned,
    /// The same in the backward layout; empty if there is none.
    pub(super) exp_backward: Aligned,
    /// Greatest log-potential; 0 if all are forbidden.
    pub(super) highest: f64,
    /// Greatest minus least allowed log-potential.
    pub(super) spread: f64,
    /// Whether a transition is forbidden.
    pub(super) forbids: bool,
}

/// A table as given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stated<'a> {
    /// Row-major log-potentials, `[from][to]`.
    Dense(&'a [f64]),
    /// The allowed ones.
    Sparse(&'a Transitions),
}

impl<'a> Stated<'a> {
    /// All log-potentials, row-major.
    fn dense(self) -> Cow<'a, [f64]> {
        match self {
            Self::Dense(log_potentials) => Cow::Borrowed(log_potentials),
            Self::Sparse(transitions) => transitions.dense(),
        }
    }

    /// The log-potential from state `i` to state `j`, one of `to` states.
    fn at(self, to: usize, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(log_potentials) => log_potentials[i * to + j],
            Self::Sparse(transitions) => transitions.at(i, j),
        }
    }

    /// Number of pairs of states.
    pub(super) fn cells(self) -> usize {
        match self {
            Self::Dense(log_potentials) => log_potentials.len(),
            Self::Sparse(transitions) => transitions.shape().0 * transitions.shape().1,
        }
    }

    fn fits(self, shape: (usize, usize)) -> bool {
        match self {
            Self::Dense(log_potentials) => log_potentials.len() == shape.0 * shape.1,
            Self::Sparse(transitions) => transitions.shape() == shape,
        }
    }

    fn extent(self) -> Result<Extent, ModelError> {
        match self {
            Self::Dense(log_potentials) => Extent::of(log_potentials),
            Self::Sparse(transitions) => transitions.extent(),
        }
    }
}

impl TransitionTable {
    /// A table of log-potentials between `from` states and `to` states.
    pub(super) fn new(
        (from, to): (usize, usize),
        stated: Stated,
        storage: Storage,
        instructions: pulp::Arch,
    ) -> Result<Self, ModelError> {
        if !stated.fits((from, to)) {
            return Err(ModelError::TableSize { shape: vec![from, to], found: stated.cells() });
        }
        let Extent { highest, spread, forbids } = stated.extent()?;
        let lanes = lanes(instructions);
        let mut forward = Layout::dense(from, to, lanes);
        let mut backward = forward.is_small().then(|| Layout::dense(to, from, lanes));
        if storage != Storage::Dense && (forbids || storage == Storage::Sparse) {
            let allowed = match stated {
                Stated::Dense(log_potentials) => {
                    Cow::Owned(Transitions::of_dense(to, log_potentials))
                }
                Stated::Sparse(transitions) => Cow::Borrowed(transitions),
            };
            let sparse = Layout::sparse(from, to, lanes, &allowed.transposed())
                .zip(Layout::sparse(to, from, lanes, &allowed.lists()));
            if let Some(sparse) = sparse
                && (storage == Storage::Sparse || (sparse.0.pays() && sparse.1.pays()))
            {
                (forward, backward) = (sparse.0, Some(sparse.1));
            }
        }
        let dense = forward.is_dense().then(|| stated.dense());
        let stated = dense.as_deref().map_or(stated, Stated::Dense);
        let log_forward = forward.pack(f64::NEG_INFINITY, |i, j| stated.at(to, i, j));
        let mut exp_forward = log_forward.clone();
        exponentiate(instructions, &mut exp_forward, highest);
        let mut exp_backward = Aligned::default();
        if let Some(backward) = &backward {
            exp_backward = backward.pack(f64::NEG_INFINITY, |j, i| stated.at(to, i, j));
            exponentiate(instructions, &mut exp_backward, highest);
        }
        Ok(Self {
            forward,
            backward,
            log_forward,
            exp_forward,
            exp_backward,
            highest,
            spread,
            forbids,
        })
    }

    /// The same with all log-potentials divided by `heat`.
    pub(super) fn warmed(&self, heat: f64, instructions: pulp::Arch) -> Self {
        let mut log_forward = self.log_forward.clone();
        log_forward.iter_mut().for_each(|value| *value /= heat);
        let highest = self.highest / heat;
        let mut exp_forward = log_forward.clone();
        exponentiate(instructions, &mut exp_forward, highest);
        let mut exp_backward = Aligned::default();
        if let Some(backward) = &self.backward {
            let (from, to) = self.shape();
            let mut rows = vec![Vec::new(); from];
            self.forward.for_each_entry(|i, j, slot| rows[i].push((j, log_forward[slot])));
            let mut transitions = Transitions::new(to);
            for mut row in rows {
                row.sort_unstable_by_key(|&(column, _)| column);
                transitions.push_row(row);
            }
            exp_backward = backward.pack(f64::NEG_INFINITY, |j, i| transitions.at(i, j));
            exponentiate(instructions, &mut exp_backward, highest);
        }
        Self {
            forward: self.forward.clone(),
            backward: self.backward.clone(),
            log_forward,
            exp_forward,
            exp_backward,
            highest,
            spread: self.spread / heat,
            forbids: self.forbids,
        }
    }

    pub(super) fn is_sparse(&self) -> bool {
        !self.forward.is_dense()
    }

    /// Numbers of states before and after.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.forward.rows, self.forward.columns)
    }
}

/// The range of some log-potentials.
pub(super) struct Extent {
    /// The greatest; 0 if all are `-∞`.
    pub(super) highest: f64,
    /// Greatest minus least of those that are not `-∞`.
    pub(super) spread: f64,
    /// Whether any is `-∞`.
    pub(super) forbids: bool,
}

impl Extent {
    pub(super) fn of(log_potentials: &[f64]) -> Result<Self, ModelError> {
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut forbids = false;
        for (cell, &value) in log_potentials.iter().enumerate() {
            if value.is_finite() {
                highest = highest.max(value);
                lowest = lowest.min(value);
            } else if value == f64::NEG_INFINITY {
                forbids = true;
            } else {
                return Err(ModelError::NotALogPotential { cell, found: value });
            }
        }
        if lowest == f64::INFINITY {
            return Ok(Self { highest: 0.0, spread: 0.0, forbids });
        }
        Ok(Self { highest, spread: highest - lowest, forbids })
    }
}

/// Doubles in a vector of these instructions.
pub(super) fn lanes(instructions: pulp::Arch) -> usize {
    struct Lanes;
    impl pulp::WithSimd for Lanes {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> usize {
            S::F64_LANES
        }
    }
    instructions.dispatch(Lanes)
}
