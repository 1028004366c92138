//! Handwriting: words read letter by letter under dictionary energies.
//!
//! [`data`] reads the pictures, [`features`] makes their attributes, a [`model`] is a chain over
//! letters or [`histories`] of them. An [`energy`] pulls a [`reader`]'s answer towards the words of
//! a [`lexicon`]. [`learning`] fits the weights of both, and [`experiment`] compares the results.

pub mod classifier;
pub mod data;
pub mod energy;
pub mod experiment;
pub mod features;
pub mod glyphs;
pub mod histories;
pub mod learning;
pub mod lexicon;
pub mod mean_map;
pub mod model;
pub mod reader;
