//! Plain text: its characters, how a line is split into tokens as a model expects them, and how text
//! is made whole and tidy again.

pub(crate) mod characters;
pub(crate) mod dialect;
pub(crate) mod mend;
pub(crate) mod printed;
pub(crate) mod several;
pub(crate) mod tidy;
pub(crate) mod tokeniser;
pub(crate) mod unwrap;
