//! Solvers of `min_μ F(μ) = −H(μ) − ⟨θ, μ⟩ + L(μ)` through a marginal oracle.
//!
//! At the optimum `μ* = oracle(θ + δ*)` with the tilt `δ* = −∇L(μ*)`. Every primal solver is one
//! relaxed fixed-point iteration on the tilt, `δ ← (1 − τ)δ − τ∇L(μ)`; they differ in the step `τ`:
//!
//! | [`Method`] | needs | step, or what it does |
//! | --- | --- | --- |
//! | `Rda` | gradients | `τ = 1/(t + β)` |
//! | `MirrorDescent` | gradients | `τ = η/(1 + η)` |
//! | `AcceleratedRda` | smooth, convex | two sequences, `O(1/t²)` |
//! | `Adaptive` | smooth | `τ = 1/(1 + M)`, `M` by backtracking; linear rate |
//! | `Dual` | measurements only | bounded quasi-Newton on the multipliers; exact on kinks; tables that overlap are made to agree |
//! | `Newton` | measurements only, an oracle with second order | truncated Newton steps on the multipliers, from high temperature to low |
//! | `Global` | measurements, `nearest` | branch and bound over the pieces; the global optimum |
//! | `Auto` | anything | picks one of the above, or combines them ([`Plan`]) |
//!
//! One driver ([`solve`]) owns time, stopping, certificates and the non-finite guard. It runs a
//! method of your own too ([`OwnMethod`], [`solve_by`]).

mod accelerated_rda;
mod adaptive;
mod alternating;
mod auto;
mod average;
mod candidate;
mod certificate;
mod clock;
mod driver;
mod dual;
mod engine;
mod error;
mod escalation;
mod global;
mod memory;
mod named_method;
mod own_method;
mod point;
mod quasi_newton;
mod rda_and_mirror_descent;
mod relay;
mod settings;
mod solution;
mod summary;
mod task;
mod tempered;

pub use auto::Plan;
pub(crate) use clock::Clock;
pub use clock::LATE;
pub(crate) use driver::check_finite;
pub use driver::{solve, solve_by, solve_from};
pub use error::SolveError;
pub use own_method::{Evaluated, OwnMethod};
pub use settings::{Method, Settings, StepSchedule};
pub use solution::{Ignore, Observer, Record, Returned, Solution, Status};
pub use task::{Base, Task};
