use thiserror::Error;

use crate::memory::{MemoryLimit, TooLarge, told_apart};

/// One variant per way a model can be wrong, with the values that were found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ModelError {
    /// A variable without states.
    #[error("variable {variable} has 0 states, expected at least 1")]
    NoStates {
        /// The variable.
        variable: usize,
    },
    /// The list of state names does not have one name per state.
    #[error("variable {variable} has {found} state names, expected {expected}")]
    StateNames {
        /// The variable.
        variable: usize,
        /// Its number of states.
        expected: usize,
        /// The number of names.
        found: usize,
    },
    /// Two variables, or two states of one variable, share a name.
    #[error("the name {name:?} is used twice, expected distinct names")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// A variable index past the end.
    #[error("found variable {found}, expected an index below {variables}")]
    UnknownVariable {
        /// The index.
        found: usize,
        /// The number of variables.
        variables: usize,
    },
    /// A state index past the end.
    #[error("found state {found} of variable {variable}, expected an index below {states}")]
    UnknownState {
        /// The variable.
        variable: usize,
        /// The index.
        found: usize,
        /// Its number of states.
        states: usize,
    },
    /// A scope lists one variable twice.
    #[error("variable {variable} is listed twice, expected each variable once")]
    RepeatedVariable {
        /// The variable.
        variable: usize,
    },
    /// A table does not have one entry per configuration.
    #[error("found {found} {}, expected {}", numbers(*found), expected_cells(shape))]
    TableSize {
        /// Numbers of states of the scope's variables.
        shape: Vec<usize>,
        /// Number of entries given.
        found: usize,
    },
    /// NaN or +∞ where a log-potential belongs.
    #[error("found {found} at position {cell}, expected a finite number or -∞")]
    NotALogPotential {
        /// Position in the table.
        cell: usize,
        /// The value.
        found: f64,
    },
    /// NaN or ±∞ where a finite number belongs.
    #[error("found {found}, expected a finite number")]
    NotFinite {
        /// The value.
        found: f64,
    },
    /// The tables of single variables alone would not fit.
    #[error("found {found:.3e} states over all variables, expected at most {limit}")]
    TooManyStates {
        /// Sum of the numbers of states.
        found: f64,
        /// The limit.
        limit: usize,
    },
    /// The junction tree would not fit.
    #[error(
        "the model is too wide for exact inference: its largest clique has {largest_clique} \
         variables and {largest_table:.3e} configurations, and its tables need {} of memory, \
         expected at most {}; a higher --memory-limit allows more, --oracle trw \
         solves it approximately", told_apart(*bytes, *limit).0, told_apart(*bytes, *limit).1
    )]
    TooWide {
        /// Variables in the largest clique.
        largest_clique: usize,
        /// Configurations of the largest clique.
        largest_table: f64,
        /// Estimated memory for all tables, in bytes.
        bytes: f64,
        /// The limit.
        limit: MemoryLimit,
    },
    /// Something else that would not fit.
    #[error("{0}; a higher --memory-limit allows more")]
    TooLarge(#[from] TooLarge),
    /// Log-potentials so large that their sums leave the range of a double.
    #[error("log-potentials add up to more than 1e308, expected smaller numbers")]
    Overflow,
    /// The work was cancelled, see [`Cancel`](crate::Cancel).
    #[error("cancelled")]
    Cancelled,
    /// Every configuration has probability zero.
    #[error("every configuration is forbidden, expected at least one allowed")]
    AllForbidden,
    /// The model allows some configurations, but none with these observed states.
    #[error("the evidence has probability zero, expected states that can occur together")]
    ImpossibleEvidence,
}

fn numbers(count: usize) -> &'static str {
    if count == 1 { "number" } else { "numbers" }
}

fn expected_cells(shape: &[usize]) -> String {
    let Some(cells) = super::table::table_size(shape.iter().copied()) else {
        return format!("a table of {} variables, too large to index", shape.len());
    };
    match shape {
        [] => "1 (a table over no variable)".to_string(),
        [_] => format!("{cells}"),
        _ => {
            let factors: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!("{cells} ({})", factors.join(" × "))
        }
    }
}
