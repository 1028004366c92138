use std::io;

/// What the system says about a file, in words: `there is no such file`, without the number that the
/// system gives its errors. Every message about a file that cannot be read or written uses it.
pub fn in_words(error: &io::Error) -> String {
    // An error with an inner one has words of its own.
    match (error.get_ref(), error.kind()) {
        (None, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            "there is no such file".to_string()
        }
        (None, io::ErrorKind::IsADirectory) => "found a folder, expected a file".to_string(),
        (None, io::ErrorKind::PermissionDenied) => "permission denied".to_string(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_error_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let words = |path| in_words(&std::fs::read(path).unwrap_err());
        assert_eq!(words(folder.path().join("none")), "there is no such file");
        #[cfg(unix)]
        {
            assert_eq!(words(folder.path().to_path_buf()), "found a folder, expected a file");
            let in_use = io::Error::from_raw_os_error(rustix::io::Errno::BUSY.raw_os_error());
            assert!(!in_words(&in_use).contains("os error"), "{in_use}");
        }
        let own = io::Error::new(io::ErrorKind::NotFound, "there is no folder far");
        assert_eq!(in_words(&own), "there is no folder far");
    }
}
