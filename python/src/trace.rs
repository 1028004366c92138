//! What is known after each iteration, and its picture.

use bethe_core::solve;
use pyo3::prelude::*;

/// What is known after an iteration.
#[pyclass(frozen, get_all, module = "pybethe")]
pub struct Record {
    /// Counted from 1.
    pub iteration: usize,
    /// `F` at the current iterate.
    pub objective: f64,
    /// A bound on `F` at the average of the iterates, for solvers that keep one.
    pub average_objective: Option<f64>,
    /// The best lower bound on the optimum so far.
    pub lower_bound: Option<f64>,
    /// A proven bound on `objective − optimum`.
    pub gap: Option<f64>,
    /// How far the tilt is from `−∇L(μ)`.
    pub residual: f64,
    /// Oracle calls so far.
    pub oracle_calls: usize,
    /// Products with the covariance so far.
    pub products: usize,
    /// Time so far.
    pub seconds: f64,
}

impl From<&solve::Record> for Record {
    fn from(record: &solve::Record) -> Self {
        Self {
            iteration: record.iteration,
            objective: record.objective,
            average_objective: record.average_objective,
            lower_bound: record.lower_bound,
            gap: record.gap,
            residual: record.residual,
            oracle_calls: record.oracle_calls,
            products: record.products,
            seconds: record.seconds,
        }
    }
}

#[pymethods]
impl Record {
    fn __repr__(&self) -> String {
        let gap = self.gap.map_or("None".into(), |gap| format!("{gap:.3e}"));
        let Self { iteration, objective, .. } = self;
        format!("Record(iteration={iteration}, objective={objective:.6}, gap={gap})")
    }
}

/// A drawing that notebooks show.
#[pyclass(frozen, module = "pybethe")]
pub struct Picture {
    /// The whole SVG document.
    #[pyo3(get)]
    pub svg: String,
}

#[pymethods]
impl Picture {
    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    /// Writes the drawing to a file.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        let file = bethe_io::PendingFile::create(&path)?;
        Ok(file.finish(self.svg.as_bytes())?)
    }

    fn __repr__(&self) -> String {
        format!("Picture({} bytes of SVG; .save(path) writes it)", self.svg.len())
    }
}
