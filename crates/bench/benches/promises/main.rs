//! Whether answers keep their word.
//!
//! `cargo bench -p bethe-bench --bench promises -- problems [--count 20000] [--seed 1] [--results
//! DIR]` solves random problems and holds what is claimed against enumeration in double-double
//! numbers. A problem whose answer breaks a promise is printed, with its seed, as a file that `bethe
//! solve` takes, and the exit code is 1.

mod problems;

use std::process::ExitCode;

use bethe_bench::Report;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let sections: Vec<&str> =
        arguments.iter().map(String::as_str).take_while(|word| !word.starts_with("--")).collect();
    let is_wanted = |section: &str| sections.is_empty() || sections.contains(&section);
    let mut names = Vec::new();
    if is_wanted("problems") {
        names.push(problems::TABLE);
    }
    let report = Report::new("promises", &names);
    let (mut tables, mut broken) = (Vec::new(), 0);
    if is_wanted("problems") {
        let outcome = problems::check();
        broken += outcome.broken;
        tables.push(outcome.table);
    }
    report.finish(&tables);
    if broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
