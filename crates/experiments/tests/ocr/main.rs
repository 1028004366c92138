//! Handwriting: files, energies against enumeration, gradients against finite differences.

mod data;
mod energies;
mod gradients;
mod small;
