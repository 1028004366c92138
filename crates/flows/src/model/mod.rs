//! Movement without counts: log-potentials of moves between cells.

mod features;
mod movement;
mod specification;

pub use features::{Feature, FeatureKind, Winds};
pub(crate) use movement::{BYTES_PER_MOVE, normalise};
pub use movement::{Movement, Moves};
pub use specification::{DEFAULT_FEATURES, SpecificationError, Stated};
