//! What is fuzzed: one function per parser.
//!
//! A [`Target`] gets any bytes. It reads them as a file of its kind and uses the result: a problem
//! is solved, a model tags a sentence. It panics if there is a fault in our code: a parser panics,
//! probabilities do not sum to 1, or something is not read back as it was written. Bad bytes are
//! not a fault; they are [refused](Verdict::Refused).
//!
//! `fuzz/run` gives them to libFuzzer. `tests/replay.rs` runs the stored inputs of `fuzz/corpus`
//! through them as ordinary tests.

mod archives;
mod command_line;
mod flows;
mod problems;
mod references;
mod scratch;
pub mod seeds;
mod sequences;
mod stored;
mod tagging_files;

use std::fmt::Display;

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder of stored inputs.
    pub name: &'static str,
    /// Gives it an input.
    pub run: fn(&[u8]) -> Verdict,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a file of this kind.
    Accepted,
    /// It is not, and the message says why.
    Refused,
}

/// All parsers, in the order of their names.
pub const TARGETS: &[Target] = &[
    Target { name: "archive", run: archives::archive },
    Target { name: "attributes", run: sequences::attributes },
    Target { name: "checkpoint", run: archives::checkpoint },
    Target { name: "cite_line", run: references::line },
    Target { name: "cite_model", run: references::model },
    Target { name: "columns", run: sequences::columns },
    Target { name: "energies", run: problems::energies },
    Target { name: "evidence", run: problems::evidence },
    Target { name: "flows_cell_values", run: flows::cell_values },
    Target { name: "flows_cells", run: flows::cells },
    Target { name: "flows_covariates", run: flows::covariates },
    Target { name: "flows_features", run: flows::features },
    Target { name: "flows_observations", run: flows::observations },
    Target { name: "gzip", run: command_line::gzip },
    Target { name: "lexicons", run: tagging_files::lexicons },
    Target { name: "model", run: archives::model },
    Target { name: "problem", run: problems::problem },
    Target { name: "rules", run: tagging_files::rules },
    Target { name: "template", run: tagging_files::template },
    Target { name: "time", run: command_line::time },
    Target { name: "uai", run: problems::uai },
];

/// The target of a name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    *found.unwrap_or_else(|| panic!("there is no target {name:?}"))
}

/// An input that was refused. Its message must say something.
fn refused(error: impl Display) -> Verdict {
    let message = error.to_string();
    assert!(!message.trim().is_empty(), "a message without words");
    Verdict::Refused
}

/// `Accepted`, or the refusal that the error's message is for.
fn verdict<T, E: Display>(result: Result<T, E>) -> Verdict {
    match result {
        Ok(_) => Verdict::Accepted,
        Err(error) => refused(error),
    }
}
