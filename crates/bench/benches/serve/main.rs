//! `bethe serve` under load and under abuse, on loopback.
//!
//! `cargo bench -p bethe-bench --bench serve -- [load] [abuse] [--seconds 60] [--mutations 1000000]
//! [--kills 5000] [--bethe FILE] [--results docs/results]` builds the command as it is released, or
//! takes another one, starts it, and asks it from this process. The exit code is 1 if something is wrong that must not be.

mod abuse;
#[path = "../../../cli/tests/common/abused.rs"]
mod abused;
mod client;
mod load;

use std::process::ExitCode;

use bethe_bench::{Report, value_of};

/// What must not be, told.
pub type Faults = Vec<String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let named: Vec<&str> =
        arguments.iter().map(String::as_str).take_while(|word| !word.starts_with("--")).collect();
    let is_wanted = |name: &str| named.is_empty() || named.contains(&name);
    let sections = [("load", load::TABLE), ("abuse", abuse::TABLE)];
    let names: Vec<&str> =
        sections.iter().filter(|(own, _)| is_wanted(own)).map(|(_, table)| *table).collect();
    let report = Report::new("serve", &names);
    let (mut tables, mut faults) = (Vec::new(), Faults::new());
    if is_wanted("load") {
        tables.push(load::measure(number("--seconds", 60), &mut faults));
    }
    if is_wanted("abuse") {
        let (mutations, kills) = (number("--mutations", 1_000_000), number("--kills", 5_000));
        tables.push(abuse::measure((mutations, kills), &mut faults));
    }
    report.finish(&tables);
    faults.iter().for_each(|fault| println!("fault: {fault}"));
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(flag: &str, default: u64) -> u64 {
    value_of(flag)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{flag}: a number")))
}
