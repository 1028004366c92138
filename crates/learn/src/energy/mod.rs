//! Rules on counts of states, as energies on top of a chain with learned weights.
//!
//! ```text
//! L_ψ(μ) = Σ_j ψ_j φ(b_j + a_j·n)        n_k = Σ_t μ_t(k)        ψ ≥ 0
//! ```
//!
//! A [`CountRule`] is one pair `a_j, b_j`; a [`Space`] gives the chain the memory that some of them
//! need; [`Inference`] minimises `−H − ⟨θ, μ⟩ + L_ψ(μ)` for one sequence after the other. What a learner
//! needs of a sequence is its expected counts `n*` and those of the truth `n`, see [`Learner`].

mod examples;
mod free;
mod inference;
mod information;
mod joint;
mod learner;
mod loss;
mod memory;
mod perceptron;
mod rules;
mod soft_dual;
mod space;

pub use examples::{Example, Examples, Sample};
pub use inference::{Inference, Inferred};
pub use information::{Information, InformationError};
pub use joint::Joint;
pub use learner::{Learned, Learner, LearnerSettings, Start, learn};
pub use loss::{Loss, RuledInference, Surrogate, log_gains};
pub use memory::Memory;
pub use rules::{CountRule, CountRules};
pub use soft_dual::{Decoded, SoftDual};
pub use space::Space;
