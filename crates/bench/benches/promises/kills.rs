//! Kill −9 at random moments in every command that writes results.

#[path = "../../../cli/tests/common/killed.rs"]
mod killed;
#[path = "../../../cli/src/demo/random.rs"]
mod random;
#[path = "../../../cli/src/demo/records.rs"]
mod records;

use bethe_bench::{bethe, value_of};
use bethe_io::results::Table;

use super::Outcome;

/// The table's name in the page.
pub const TABLE: &str = "promises-kills";
/// Kills of each command, unless `--count` says otherwise.
const COUNT: usize = 50;

/// Kills every command; counts what was lost or mixed.
pub fn check() -> Outcome {
    let count =
        value_of("--count").map_or(COUNT, |count| count.parse().expect("--count: a number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bethe = bethe();
    killed::prepare(folder.path(), &records::records(150, 1));
    let heads =
        ["command", "kills", "while it ran", "old result", "new result", "to tidy", "faults"];
    let mut table = Table::new(TABLE, &heads);
    let mut faults = 0;
    for (name, subject) in killed::subjects(&bethe, folder.path()) {
        let fared = subject.kill(count, 7);
        fared.faults.iter().for_each(|fault| println!("{name}: {fault}"));
        faults += fared.faults.len();
        let numbers = [count, fared.killed, fared.old, fared.new, fared.left, fared.faults.len()];
        table.push([format!("`{name}`")].into_iter().chain(numbers.map(|n| n.to_string())));
    }
    Outcome { table, broken: faults }
}
