use std::path::{Path, PathBuf};
use std::process::Command;

use crate::flags::folder;

/// The command itself: the one that `--bethe` names, from the root of the repository, or built as it
/// is released.
pub fn bethe() -> PathBuf {
    if let Some(given) = folder("--bethe") {
        return given;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "bethe"]).status();
    assert!(built.is_ok_and(|status| status.success()), "bethe does not build");
    // target/release/deps/NAME-…
    let own = std::env::current_exe().expect("a path of our own");
    let release = own.ancestors().nth(2).unwrap_or(Path::new("."));
    release.join(format!("bethe{}", std::env::consts::EXE_SUFFIX))
}
