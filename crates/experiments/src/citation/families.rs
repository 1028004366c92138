//! The families of constraints that rows of the table are about.

use bethe_tagging::labels::States;
use bethe_tagging::rules::{Form, Rule};

/// A family of constraints (Anzaroot et al. 2014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// On the number of segments of one kind.
    Singleton,
    /// At least as many segments of one level as of another: every person has a last name.
    Hierarchical,
    /// Any other on two kinds: sums, differences, orders.
    Pairwise,
}

impl Family {
    /// The family of a rule.
    pub fn of(constraint: &Rule, states: &States) -> Self {
        let level = |kind: usize| states.kinds()[kind].level;
        match &constraint.form {
            Form::Linear { terms, bound, .. } => match terms[..] {
                [_] => Self::Singleton,
                [(a, 1), (b, -1)] | [(a, -1), (b, 1)] if *bound == 0 && level(a) != level(b) => {
                    Self::Hierarchical
                }
                _ => Self::Pairwise,
            },
            Form::Implies { .. } | Form::Before { .. } => Self::Pairwise,
        }
    }

    /// Its rules of a list.
    pub fn select(self, constraints: &[Rule], states: &States) -> Vec<Rule> {
        let own = constraints.iter().filter(|rule| Self::of(rule, states) == self);
        own.cloned().collect()
    }

    /// The name of its row in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Singleton => "singleton",
            Self::Hierarchical => "hierarchical",
            Self::Pairwise => "pairwise",
        }
    }
}
