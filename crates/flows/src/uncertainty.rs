//! How sure counts and flows are.

/// Standard errors, in individuals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandardErrors {
    /// `[times][cells]`
    pub counts: Vec<f64>,
    /// One per flow that is written out, in that order, or empty.
    pub flows: Vec<f64>,
}
