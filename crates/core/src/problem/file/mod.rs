//! The problem file: from JSON to a checked [`Problem`], and back.
//!
//! Reading has two stages. The raw types hold the text and refuse unknown fields and wrong types.
//! The second stage checks the meaning against the variables (names, sizes, repeated variables,
//! ranges). Both report one mistake, with its place as a path into the JSON text.
//!
//! ```
//! use bethe_core::Problem;
//! let problem = Problem::from_json(br#"{"variables": [2], "factors": []}"#)?;
//! assert_eq!(problem.model().variables().len(), 1);
//!
//! let mistake = Problem::from_json(br#"{"variables": [2], "factors": [{"scope": [0], "log_potentials": [1]}]}"#);
//! assert_eq!(
//!     mistake.unwrap_err().to_string(),
//!     "factors[0].log_potentials: found 1 number, expected 2"
//! );
//! # Ok::<(), bethe_core::problem::file::ProblemFileError>(())
//! ```

mod answer;
mod energies;
mod error;
mod parse;
mod place;
mod raw;
mod resolve;
mod write;

pub use error::{ProblemFileError, WriteError};
pub use place::JsonPath;

use super::Problem;
use crate::energy::Energy;
use crate::model::Model;

impl Problem {
    /// Reads a problem file.
    pub fn from_json(json: &[u8]) -> Result<Self, ProblemFileError> {
        resolve::problem(parse::parse(json, "a problem")?)
    }

    /// Writes a problem file; reading it gives the same problem, bit for bit.
    pub fn to_json(&self) -> Result<String, WriteError> {
        write::write(self)
    }

    /// Adds energies from a file, after those the problem has.
    pub fn add_energies(&mut self, file: &EnergiesFile) -> Result<(), ProblemFileError> {
        let further = file.resolve(self.model())?;
        self.extend_checked(further);
        Ok(())
    }
}

/// An energies file, `{"energies": [...]}`: read once, for any number of models.
pub struct EnergiesFile(raw::RawEnergies);

impl EnergiesFile {
    /// Reads an energies file. Its scopes are checked against a model later.
    pub fn from_json(json: &[u8]) -> Result<Self, ProblemFileError> {
        let raw: raw::RawEnergies = parse::parse(json, "energies")?;
        energies::check_alone(&raw.energies)?;
        Ok(Self(raw))
    }

    /// The kind of each energy, as the file writes it.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.0.energies.iter().map(|raw::Object(energy)| energy.kind.as_str())
    }

    /// Number of energies.
    pub fn len(&self) -> usize {
        self.0.energies.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.energies.is_empty()
    }

    /// The energies over the variables of a model.
    pub fn resolve(&self, model: &Model) -> Result<Vec<Energy>, ProblemFileError> {
        energies::resolve(model, &self.0.energies)
    }
}
