use thiserror::Error;

use super::{MOST_COEFFICIENT, MOST_SEGMENTS};

/// One variant per way a rule can be wrong. Kinds count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RuleMistake {
    /// A kind that the states do not have.
    #[error("found kind {found}, expected a number below {kinds}")]
    UnknownKind {
        /// The kind.
        found: usize,
        /// How many there are.
        kinds: usize,
    },
    /// Nothing to count.
    #[error("found nothing to count, expected at least one name")]
    NoTerms,
    /// A kind that comes twice, or out of order.
    #[error("found kind {found} after kind {before}, expected every kind once, in ascending order")]
    KindOrder {
        /// The kind.
        found: usize,
        /// The one before it.
        before: usize,
    },
    /// A coefficient that is 0, or large.
    #[error(
        "found the coefficient {found}, \
         expected a whole number from -{MOST_COEFFICIENT} to {MOST_COEFFICIENT} other than 0"
    )]
    Coefficient {
        /// The coefficient.
        found: i32,
    },
    /// A bound beyond what sequences have.
    #[error("found the bound {found}, expected a whole number from 0 to {MOST_SEGMENTS}")]
    Bound {
        /// The bound.
        found: u32,
    },
    /// A rule that no sequence can break.
    #[error("the rule always holds, expected one that can be broken")]
    AlwaysHolds,
    /// A rule that no sequence can keep.
    #[error("the rule never holds, expected one that can be kept")]
    NeverHolds,
    /// A kind that is related to itself.
    #[error("found kind {kind} twice, expected two different kinds")]
    SameKind {
        /// The kind.
        kind: usize,
    },
    /// A weight that is negative or not finite.
    #[error("found the weight {found}, expected a number from 0 to {}", super::MOST_WEIGHT)]
    Weight {
        /// The weight.
        found: f64,
    },
}

/// Why rules do not compile. Rules count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RuleError {
    /// A rule that is wrong on its own.
    #[error("rule {rule}: {mistake}")]
    Rule {
        /// The rule.
        rule: usize,
        /// What is wrong with it.
        mistake: RuleMistake,
    },
    /// More memory than a chain can have.
    #[error(
        "found {found} names that others must come before, expected at most {most}, \
         since each may double the states of the chain"
    )]
    TooManyOrders {
        /// Different kinds that come second in a rule.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// Not one greatest count per kind.
    #[error("found the greatest counts of {found} kinds, expected those of {expected}")]
    GreatestCounts {
        /// How many were given.
        found: usize,
        /// How many kinds there are.
        expected: usize,
    },
}
