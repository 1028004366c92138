//! Whether we keep our word.
//!
//! `cargo bench -p bethe-bench --bench promises -- problems|kills [--count N] [--seed 1] [--results
//! DIR]`
//!
//! `problems` solves random problems and holds what is claimed against enumeration in double-double
//! numbers. A problem whose answer breaks a promise is printed, with its seed, as a file that `bethe
//! solve` takes. `kills` ends commands that write results at random moments and looks at what they
//! leave. The exit code is 1 if a promise is broken.

mod kills;
mod problems;

use std::process::ExitCode;

use bethe_bench::Report;
use bethe_io::results::Table;

/// What came of a section.
pub struct Outcome {
    /// What was found.
    pub table: Table,
    /// How many promises were broken.
    pub broken: usize,
}

/// A section, its table and what fills it.
type Section = (&'static str, &'static str, fn() -> Outcome);

const SECTIONS: [Section; 2] =
    [("problems", problems::TABLE, problems::check), ("kills", kills::TABLE, kills::check)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let named: Vec<&str> =
        arguments.iter().map(String::as_str).take_while(|word| !word.starts_with("--")).collect();
    let is_wanted = |name: &str| named.is_empty() || named.contains(&name);
    let wanted: Vec<_> = SECTIONS.into_iter().filter(|(name, ..)| is_wanted(name)).collect();
    let tables: Vec<&str> = wanted.iter().map(|(_, table, _)| *table).collect();
    let report = Report::new("promises", &tables);
    let outcomes: Vec<Outcome> = wanted.iter().map(|(_, _, check)| check()).collect();
    let broken: usize = outcomes.iter().map(|outcome| outcome.broken).sum();
    let tables: Vec<Table> = outcomes.into_iter().map(|outcome| outcome.table).collect();
    report.finish(&tables);
    if broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
