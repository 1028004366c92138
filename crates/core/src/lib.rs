//! Inference in discrete graphical models under global terms.
//!
//! A model over discrete variables has scores for each variable and for small groups of them. Some
//! knowledge does not fit into such groups: *at most one title in a reference*, *about 300 birds in
//! this cell*, *the word is one of these*. This crate states it as an energy `L(μ)`, any function of
//! all the marginals `μ`, and finds the marginals that make the best of both:
//!
//! `minimise F(μ) = −H(μ) − ⟨θ, μ⟩ + L(μ)`
//!
//! with the log-potentials `θ` and the entropy `H` of the model. Build a [`Model`], state
//! [`Energy`]s on it, solve the [`Problem`]:
//!
//! ```
//! use bethe_core::{Energy, Model, Problem, count};
//!
//! let mut model = Model::new(&[2, 2, 2])?; // three binary variables in a chain
//! model.add_factor(&[0, 1], &[1.0, 0.0, 0.0, 1.0])?;
//! model.add_factor(&[1, 2], &[1.0, 0.0, 0.0, 1.0])?;
//! let ups = count(&model, [(0, 1), (1, 1), (2, 1)])?;
//! let problem = Problem::new(model, vec![Energy::squared(20.0, 1.0, ups)])?; // about one is up
//! let answer = problem.solve()?;
//! assert!(answer.gap.unwrap() <= 1e-6);
//! println!("P(first is up) = {:.3}", answer.marginal(0)[1]);
//! println!("P(first, second) = {:?}", answer.factor(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which penalty?
//!
//! A measurement is `weight · φ(s)` of a linear function `s` of marginals, such as a [`count`].
//!
//! | you know that | state |
//! | --- | --- |
//! | `s` is at most, at least, or exactly some number, in expectation | [`Energy::at_most`], [`Energy::at_least`], [`Energy::equal`] |
//! | more than some number is unlikely, but possible | [`Energy::prefer_at_most`] |
//! | `s` was observed with noise | [`Energy::squared`] (Gaussian), [`Penalty::Poisson`] (a count) |
//! | `s` was observed, and some observations are simply wrong | [`Energy::absolute`], [`Penalty::Huber`] |
//! | every cell of a table was observed | [`Energy::TableMeasurement`] |
//! | the marginals are near one of some points, such as words | [`Energy::nearest`] |
//! | two variables attract each other, and the graph would get too wide | [`Energy::product`] (mean field) |
//! | something else | a closure with its gradient, [`CustomEnergy`] |
//!
//! An energy replaces an expectation: `L(E[S]) ≤ E[L(S)]` for convex `L`. Hard measurements bound
//! what is *expected*; single configurations may still break them.
//!
//! # Which solver?
//!
//! The default, [`Method::Auto`], looks at the energies ([`solve::Plan`]); [`Answer::solver`] names
//! what ran. Measurements alone go to their dual, which is exact at kinks and for hard constraints.
//! `nearest` energies are solved piece by piece, which ends in a local optimum; [`Method::Global`]
//! finds the best. The paper's algorithms are there by name. Tolerance and limits are in
//! [`Settings`]; which oracle, which marginals and how to cancel in [`Request`]:
//!
//! ```
//! # use bethe_core::{Model, Problem};
//! use bethe_core::{Method, OracleKind, Request, Settings, solve::Ignore};
//! # let problem = Problem::new(Model::new(&[2])?, vec![])?;
//! let settings = Settings { method: Method::Adaptive, tolerance: 1e-8, ..Settings::default() };
//! let request = Request { oracle: OracleKind::Exact, ..Request::default() };
//! let answer = problem.solve_with(&settings, &request, &mut Ignore)?;
//! # assert_eq!(answer.solver, "adaptive");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How to read the gap
//!
//! [`Answer::gap`] is proved: the objective is at most that much above the optimum, in nats.
//! `√(gap/2)` bounds the error of every marginal ([`Answer::marginal_error_bound`]). Marginals
//! always belong to a distribution, even if the time ran out, so look at [`Answer::status`] and the
//! gap together. There is no gap where nothing is proved: for energies that are not convex, and for
//! loopy belief propagation. On graphs too wide for exact inference the entropy is an upper bound
//! ([`Answer::entropy`] says `tree-reweighted`), and the gap is that of this relaxed problem.
//!
//! At the optimum the marginals are those of the model with potentials `θ + δ`. The tilt `δ` is made
//! of one multiplier per measurement ([`problem::EnergyAnswer::multipliers`]): how strongly it pulls.
//!
//! # Gradients and error bars
//!
//! [`Problem::solve_differentiable`] gives an answer whose marginals can be differentiated in
//! potentials, weights, offsets and coefficients ([`derivative`]). [`Request::covariance`] adds
//! standard deviations to an answer: of one draw, and of what was inferred.
//!
//! `crates/core/examples` has a count rule, a dictionary, mean field, a closure, an oracle of your own,
//! and gradients.
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
//! | covariance | `C = ∂μ/∂θ`; `J = ∂μ*/∂θ` under measurements | (second order is ours) |

mod cancel;
pub mod derivative;
pub mod energy;
pub mod memory;
pub mod model;
pub mod oracle;
pub mod problem;
pub mod solve;
pub mod support;
mod vector;

pub use cancel::Cancel;
pub use energy::{Curvature, CustomEnergy, Energy, Norm, Penalty, Term, count};
pub use memory::MemoryLimit;
pub use model::{Factor, Model, ModelError, Names, Variable};
pub use oracle::{Oracle, OracleKind, Tables};
pub use problem::{Answer, Differentiable, Problem, Records, Request};
pub use solve::{Method, Settings, Solution, Status, StepSchedule};
pub use support::Support;
pub use vector::solve_positive;

/// The README's example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
