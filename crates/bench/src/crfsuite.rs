use std::process::Command;

use serde_json::Value;

/// What CRFsuite says, by `peers/crfsuite.py`. Where it is not installed, says that `table` is left
/// out.
pub fn crfsuite(table: &str, arguments: &[&str]) -> Option<Value> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/crfsuite.py");
    let found = match Command::new(&python).arg(script).args(arguments).output() {
        Ok(output) if output.status.success() => {
            return Some(serde_json::from_slice(&output.stdout).expect("one JSON object"));
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_string(),
        Err(error) => error.to_string(),
    };
    println!("CRFsuite by {python} is skipped, and the table {table} with it: {found}");
    None
}
