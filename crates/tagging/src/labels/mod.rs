//! Labels, the segments they mean, and the states of a chain behind them.
//!
//! A label is read by its [`Scheme`]: `B-name`, `I-name`, `E-name` or `L-name`, `S-name` or `U-name`,
//! a bare name, or `O`.
//! It is *hierarchical* when several prefixed tags are joined by colons, one per level:
//! `I-authors:B-person:B-person-last`. Any other colon is just a character.
//!
//! [`segments`] follow CoNLL's rules at every level, with one more: where a segment begins, deeper
//! segments cannot continue. The *canonical form* of a sequence has the same segments in the
//! scheme's own tags (`I-x` that begins a segment becomes `B-x`, …). [`States`] are the distinct
//! tokens of canonical training sequences.

mod canonical;
mod error;
mod notation;
mod scheme;
mod segments;
mod states;
mod stored;
mod tag;

pub use canonical::{Canonical, canonical};
pub use error::LabelError;
pub use notation::OtherNotation;
pub use scheme::Scheme;
pub use segments::{Segment, leaf_segments, segments};
pub use states::{SegmentKind, States};
pub use tag::Role;
