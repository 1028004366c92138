use std::path::{Path, PathBuf};

/// The word after a flag.
pub fn value_of(flag: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != flag).nth(1)
}

/// The folder that `--data` names.
pub fn data_folder() -> Option<PathBuf> {
    folder("--data")
}

/// The folder that a flag names, from the root of the repository: cargo runs benchmarks elsewhere.
pub(crate) fn folder(flag: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/bench");
    Some(root.join(value_of(flag)?))
}
