use super::super::super::labels::States;
use super::super::super::rules::{Candidates, LEAST_SHARE, Pruning, generate};
use super::super::held_out::{Prediction, worthwhile};

/// Where rules come from.
#[derive(Clone, Debug)]
pub(in super::super) enum Proposal {
    /// From labels that keep them and predictions that break them.
    Generated(Pruning),
    /// From elsewhere: the same whatever the sequences are.
    Fixed(Candidates),
}

impl Proposal {
    /// The rules that some sequences suggest.
    pub(in super::super) fn rules(&self, states: &States, of: &[&Prediction]) -> Candidates {
        match self {
            Self::Fixed(candidates) => candidates.clone(),
            Self::Generated(pruning) => {
                let truth = of.iter().map(|one| &one.truth);
                let Candidates { rules, considered } = generate(states, truth, LEAST_SHARE);
                let rules = worthwhile(of.iter().copied(), &rules, states, pruning);
                Candidates { rules, considered }
            }
        }
    }

    /// Standard errors that the gain of learned rules must have. Whoever declares rules wants them,
    /// unless they make the truth less likely.
    pub(super) fn gate(&self) -> f64 {
        match self {
            Self::Generated(_) => 2.0,
            Self::Fixed(_) => 0.0,
        }
    }
}
