use serde::{Deserialize, Serialize};

use super::Occurrences;

/// A rule on the segments of a sequence. Kinds are indices into
/// [`States::kinds`](crate::labels::States::kinds).
///
/// Rules from a model file must be [checked](Self::check) against the states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What must hold.
    pub form: Form,
    /// The cost if it does not hold.
    pub weight: Weight,
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Form {
    /// `Σ c_i s(i) ≤ bound` or `≥ bound`.
    Linear {
        /// Kinds, ascending, with their coefficients. None is 0.
        terms: Vec<(usize, i32)>,
        /// Which side of the bound.
        relation: Relation,
        /// The bound. Below 0 it would be the other relation of the negated terms.
        bound: u32,
    },
    /// If a segment of `premise` occurs, one of `conclusion` does.
    Implies {
        /// The kind that requires the other.
        premise: usize,
        /// The required kind.
        conclusion: usize,
    },
    /// Every segment of `first` begins before any of `second`. If both begin at the same token, the
    /// rule is broken.
    Before {
        /// What comes first.
        first: usize,
        /// What comes after all of them.
        second: usize,
    },
}

/// Which side of a bound is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// `≤`
    AtMost,
    /// `≥`
    AtLeast,
}

/// The cost of a broken rule. In files a number, `"learned"` or `"hard"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub enum Weight {
    /// Learned.
    Learned,
    /// Given, at least 0.
    Given(f64),
    /// No output may break it.
    Hard,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a weight is a number, \"learned\" or \"hard\"")]
enum Stored {
    Word(Word),
    Number(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Learned,
    Hard,
}

impl Rule {
    /// A rule whose weight is learned.
    pub fn learned(form: Form) -> Self {
        Self { form, weight: Weight::Learned }
    }

    /// Whether a sequence keeps the rule.
    pub fn holds(&self, occurrences: &Occurrences) -> bool {
        self.form.holds(occurrences)
    }
}

impl Form {
    /// `Σ c_i s(i) ≤ bound` or `≥ bound`, of terms in any order.
    pub fn linear(
        terms: impl IntoIterator<Item = (usize, i32)>,
        relation: Relation,
        bound: u32,
    ) -> Self {
        let mut terms: Vec<(usize, i32)> = terms.into_iter().collect();
        terms.sort_unstable();
        Self::Linear { terms, relation, bound }
    }

    /// Whether a sequence keeps it.
    pub fn holds(&self, occurrences: &Occurrences) -> bool {
        match self {
            Self::Linear { terms, relation, bound } => {
                let counted =
                    |&(kind, c): &(usize, i32)| i64::from(c) * i64::from(occurrences.count(kind));
                relation.holds(terms.iter().map(counted).sum(), *bound)
            }
            &Self::Implies { premise, conclusion } => {
                occurrences.count(premise) == 0 || occurrences.count(conclusion) > 0
            }
            &Self::Before { first, second } => {
                match (occurrences.last(first), occurrences.first(second)) {
                    (Some(last), Some(begun)) => last < begun,
                    _ => true,
                }
            }
        }
    }
}

impl Relation {
    /// Whether a value lies on the right side of a bound.
    pub fn holds(self, value: i64, bound: u32) -> bool {
        match self {
            Self::AtMost => value <= i64::from(bound),
            Self::AtLeast => value >= i64::from(bound),
        }
    }
}

impl From<Stored> for Weight {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Word(Word::Learned) => Self::Learned,
            Stored::Word(Word::Hard) => Self::Hard,
            Stored::Number(weight) => Self::Given(weight),
        }
    }
}

impl From<Weight> for Stored {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Learned => Self::Word(Word::Learned),
            Weight::Hard => Self::Word(Word::Hard),
            Weight::Given(weight) => Self::Number(weight),
        }
    }
}
