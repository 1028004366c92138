//! Rules on how often states occur, as energies on top of a chain, with weights that are learned.
//!
//! ```text
//! L_ψ(μ) = Σ_j ψ_j φ(b_j + a_j·n)        n_k = Σ_t μ_t(k)        ψ ≥ 0
//! ```
//!
//! [`Rules`] are the rows `a, b`; a [`Space`] gives the chain the memory that some of them need;
//! [`Inference`] minimises `−H − ⟨θ, μ⟩ + L_ψ(μ)` for one sequence after the other. What a learner
//! needs of a sequence is its expected counts `n*` and those of the truth `n`, see [`Learner`].

mod examples;
mod inference;
mod joint;
mod learner;
mod loss;
mod rules;
mod space;

pub use examples::{Example, Examples};
pub use inference::{Inference, Inferred, Limits};
pub use joint::Joint;
pub use learner::{Learned, Learner, LearnerSettings, Start, learn};
pub use loss::{Loss, Surrogate};
pub use rules::{Rule, Rules};
pub use space::Space;
