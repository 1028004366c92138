use thiserror::Error;

use crate::model::ModelError;

/// What is wrong with an energy, and where in it.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{place}: {fault}")]
pub struct EnergyError {
    /// The field, as a path inside the energy; empty for the energy itself.
    pub place: String,
    /// What is wrong there.
    pub fault: EnergyFault,
}

/// One variant per way an energy can be wrong.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EnergyFault {
    /// A scope or table that does not fit the model.
    #[error(transparent)]
    Table(#[from] ModelError),
    /// NaN or ±∞.
    #[error("found {found}, expected a finite number")]
    NotFinite {
        /// The value.
        found: f64,
    },
    /// Zero, negative or not finite.
    #[error("found {found}, expected a positive number")]
    NotPositive {
        /// The value.
        found: f64,
    },
    /// Negative or not finite.
    #[error("found {found}, expected a number that is not negative")]
    Negative {
        /// The value.
        found: f64,
    },
    /// A nearest energy without points.
    #[error("found no point, expected at least one")]
    NoPoints,
    /// A point does not have one coordinate per measurement.
    #[error("found {found} coordinates, expected {expected}, one per measurement")]
    PointSize {
        /// The number of measurements.
        expected: usize,
        /// The number of coordinates.
        found: usize,
    },
}

impl EnergyFault {
    /// Names the field in which the fault lies.
    pub fn at(self, place: &str) -> EnergyError {
        EnergyError { place: place.to_string(), fault: self }
    }
}

impl From<EnergyFault> for EnergyError {
    fn from(fault: EnergyFault) -> Self {
        fault.at("")
    }
}

impl EnergyError {
    /// Puts an outer field in front of the place.
    pub fn at(mut self, outer: &str) -> Self {
        let separator = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place = format!("{outer}{separator}{}", self.place);
        self
    }
}
