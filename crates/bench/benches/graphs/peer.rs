//! Files that both sides read, and the other side's program.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};

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

/// What a script says on standard output, if what it needs is there; what it says of its progress
/// is shown as it comes.
pub fn run(script: &str, arguments: &[&str]) -> Option<Value> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    match answer(&python, script, arguments) {
        Ok(answer) => Some(answer),
        Err(why) => {
            println!("  skipped, and its table with it: {script} by {python}: {why}");
            None
        }
    }
}

/// Passes progress on; the last line of anything else.
fn last_words(said: ChildStderr) -> String {
    let mut last = String::new();
    for line in BufReader::new(said).lines().map_while(Result::ok) {
        if let Some(progress) = line.strip_prefix("progress: ") {
            eprintln!("    … {progress}");
        } else if !line.trim().is_empty() {
            last = line;
        }
    }
    last
}

fn answer(python: &str, script: &str, arguments: &[&str]) -> Result<Value, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(script);
    let mut command = Command::new(python);
    command.arg(&script).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let said = child.stderr.take().expect("it is piped");
    // Beside the answer, which may fill its pipe before this one ends.
    let listener = std::thread::spawn(|| last_words(said));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let last = listener.join().expect("it only reads");
    if !output.status.success() {
        return Err(last);
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
