//! What people do with `bethe`: each task is a folder of its own.

pub mod citation;
pub mod flows;
pub mod ising;
pub mod ocr;
pub mod tagging;
