//! The paper's experiments, and the systems it compares with.
//!
//! [`citation`] labels references under learned constraints, [`ocr`] reads handwritten words under
//! dictionary energies, [`cgm`] infers flows from counts (collective graphical models), [`flows`]
//! measures how much learning the law of movement helps, [`ising`] holds grids that are too wide
//! for exact inference, [`rules`] measures how much learned rules help, and [`references`] makes
//! the model of references that `bethe-cite` ships. The binary `bethe-reproduce` runs them.

pub mod cgm;
pub mod citation;
pub mod flows;
pub mod ising;
pub mod ocr;
pub mod references;
pub mod rules;
