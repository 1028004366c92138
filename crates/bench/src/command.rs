use std::path::{Path, PathBuf};
use std::process::Command;

/// The command itself, built as it is released.
pub fn bethe() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "bethe"]).status();
    assert!(built.is_ok_and(|status| status.success()), "bethe does not build");
    // target/release/deps/NAME-…
    let own = std::env::current_exe().expect("a path of our own");
    let release = own.ancestors().nth(2).unwrap_or(Path::new("."));
    release.join(format!("bethe{}", std::env::consts::EXE_SUFFIX))
}
