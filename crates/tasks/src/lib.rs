//! What people do with `bethe`: each task is a folder of its own.

pub mod citation;
pub mod tagging;
