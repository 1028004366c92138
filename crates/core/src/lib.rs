//! Inference in discrete graphical models under non-local energies.
//!
//! One problem: `minimise F(μ) = −H(μ) − ⟨θ, μ⟩ + L(μ)` over the marginals `μ` of a tractable base
//! model, where `L` is any function of all the marginals. Build a [`Model`], state [`Energy`]s on
//! it, solve the [`Problem`]:
//!
//! ```
//! use bethe_core::{Energy, Model, Penalty, Problem, Settings, Term, solve::Ignore};
//!
//! let mut model = Model::new(&[2, 2, 2])?; // three binary variables in a chain
//! model.add_factor(&[0, 1], &[1.0, 0.0, 0.0, 1.0])?;
//! model.add_factor(&[1, 2], &[1.0, 0.0, 0.0, 1.0])?;
//! let ones = |v| Term { scope: vec![v], coefficients: vec![0.0, 1.0] };
//! let about_one = Energy::Measurement {
//!     weight: 20.0,
//!     penalty: Penalty::Squared, // ½·20·(expected number of ones − 1)²
//!     offset: -1.0,
//!     terms: (0..3).map(ones).collect(),
//! };
//! let answer = Problem::new(model, vec![about_one])?.solve(&Settings::default(), &mut Ignore)?;
//! assert!(answer.gap.unwrap() <= 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Notation
//!
//! | word | letter | in the paper |
//! | --- | --- | --- |
//! | log-potentials | `θ` | `θ`, parameters of the base model |
//! | marginals | `μ` | `μ`, expected sufficient statistics |
//! | log-partition | `A(θ)` | `log Z` |
//! | oracle | `θ ↦ (μ(θ), A(θ))` | MARGINAL-ORACLE |
//! | energy | `L(μ)` | `L_ψ(μ)`, the non-local energy |
//! | tilt | `δ`, with `μ* = oracle(θ + δ)` | `θ_t − θ`; at the optimum `−∇L(μ*)` (Proposition 1) |
//! | measurement | `z_j = a_j·μ + b_j` | `a_j^⊤ μ` |
//! | multiplier | `λ_j` | (the dual is ours) |
//! | gap | `F(μ) − lower bound` | (certificates are ours) |

pub mod answer;
pub mod energy;
mod fitted;
pub mod model;
pub mod oracle;
pub mod solve;
pub mod support;
mod vector;

pub use answer::Answer;
pub use energy::{Curvature, CustomEnergy, Energy, Norm, Penalty, Term};
pub use fitted::Records;
pub use model::{Factor, Model, ModelError, Names, Problem, Variable};
pub use oracle::{Oracle, OracleKind, Tables};
pub use solve::{Method, Settings, Solution, Status, StepSchedule};
pub use support::Support;

/// The README's example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
