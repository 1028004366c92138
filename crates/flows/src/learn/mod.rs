//! Learning how a population moves, from counts: hard EM.
//!
//! Moves are locally normalised, `p_t(j|i) ∝ exp(w·f_t(i,j) + b_{t,j})`. Law and movement are to be
//! the most likely pair. With the most likely movement under each law, found by a solve, this is a
//! function of the law alone, which quasi-Newton steps lower.
//!
//! [`Learner`] learns from one season of counts under any noise: weights `w`, the exponent of
//! distance, where individuals start, and pulls `b` of places, of which held-out counts say how strong
//! they may be. [`learn()`] learns weights and the counting rate from several seasons.

mod choice;
mod correction;
mod descent;
mod design;
mod held_out;
mod law;
mod likelihood;
mod pulls;
mod quasi_newton;
mod rounds;
mod seasons;
mod sweep;

pub use choice::{Choice, PRIORS, Trial, choose, learn_with};
pub use held_out::held_out_places;
pub use law::{Law, Learner, Prior};
pub(crate) use pulls::AXES;
pub use rounds::Progress;
pub use seasons::{LearnSettings, Learned, Round, Season, learn};
