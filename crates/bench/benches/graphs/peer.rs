//! Files that both sides read, and the other side's program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A folder that goes away.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("bethe-graphs-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Numbers of eight bytes, little-endian.
    pub fn write(&self, name: &str, values: &[f64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        std::fs::write(self.0.join(name), bytes).expect("room in the temporary folder");
    }

    pub fn write_json(&self, name: &str, value: &Value) {
        std::fs::write(self.0.join(name), value.to_string()).expect("room");
    }

    pub fn read(&self, name: &str) -> Vec<f64> {
        let bytes = std::fs::read(self.0.join(name)).expect("what the other side wrote");
        bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a script says, if what it needs is there.
pub fn run(script: &str, arguments: &[&str]) -> Option<Value> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(script);
    let output = Command::new(python).arg(&script).args(arguments).output().ok()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        println!("  {} is skipped: {}", script.display(), message.lines().last().unwrap_or(""));
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}
