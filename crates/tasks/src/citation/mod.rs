//! References: what a tagger of bibliographic references looks at.

mod features;

pub use features::{lexicons, template};
