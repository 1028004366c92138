//! A few kills of every command that writes results; the benchmark `promises` has many.

mod common;
#[path = "common/killed.rs"]
mod killed;

use assert_cmd::cargo::cargo_bin;
use common::{Folder, records};

#[test]
fn kills_leave_the_old_result_or_the_new_one() {
    let folder = Folder::new();
    let (bethe, place) = (cargo_bin("bethe"), folder.path(""));
    killed::prepare(&place, &records(60, 1));
    for (name, subject) in killed::subjects(&bethe, &place) {
        let fared = subject.kill(4, 1);
        assert!(fared.faults.is_empty(), "{name}: {fared:?}");
        assert_eq!(fared.old + fared.new, 4, "{name}: {fared:?}");
    }
}
