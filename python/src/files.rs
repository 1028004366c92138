//! Files that a caller names.

use std::io::Error;
use std::path::Path;

use pyo3::PyErr;
use pyo3::exceptions::PyOSError;

/// Python's own exception about a file, with its path: `FileNotFoundError` where there is none.
pub fn refused(path: &Path) -> impl Fn(Error) -> PyErr {
    move |error| {
        let text = error.to_string();
        let path = path.display().to_string();
        match error.raw_os_error() {
            None => PyOSError::new_err(format!("{path}: {text}")),
            // Rust puts the number behind the text, Python before it.
            Some(number) => {
                let text = text.split(" (os error").next().unwrap_or_default().to_string();
                PyOSError::new_err((number, text, path))
            }
        }
    }
}
