//! The solvers that `--solver` names.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverChoice {
    /// Whatever serves the energies best
    Auto,
    /// Bethe-RDA, Algorithm 1
    Rda,
    /// Bethe-MD, Algorithm 4
    MirrorDescent,
    /// Accelerated Bethe-RDA, Algorithm 5
    AcceleratedRda,
    /// Steps found by backtracking
    Adaptive,
    /// The dual in measurement space
    Dual,
}
