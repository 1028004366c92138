//! Learning: weights of the base model, and `ψ` on top of it.
//!
//! | loss of a word | `∂/∂θ` | `∂/∂ψ` |
//! | --- | --- | --- |
//! | likelihood `A(θ) − ⟨θ, S⟩` | `μ − S` | |
//! | surrogate `A(θ+δ) − ⟨θ+δ, S⟩`, `δ` held except for its factor `ψ` | `μ* − S` | `⟨δ/ψ, μ* − S⟩` |
//! | Fenchel–Young `L_ψ(S) − ⟨θ, S⟩ − F*` | `μ* − S` | `ℓ(S) − ℓ(μ*)` |
//!
//! `S` is the truth, `μ*` the answer under the energy `L_ψ = ψ·ℓ` and `δ` its tilt. `ψ(x) =
//! v·f(x)`; if that is not positive, there is no energy.

mod fit;
mod objective;

pub use fit::{Descent, Minimisation, fit_base, learn_stochastic, minimise, refit_base};
pub use objective::{Examples, Loss, Objective, WordFeatures};
