//! Files that are held as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bethe_core::MemoryLimit;
use bethe_core::memory::TooLarge;
use thiserror::Error;

use crate::in_words;

/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Byte-order marks of UTF-16.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Why a file could not be read as a whole.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub fault: ReadFault,
}

/// What keeps a file from being read.
#[derive(Debug, Error)]
pub enum ReadFault {
    /// The file system failed.
    #[error("{}", in_words(.0))]
    File(#[from] io::Error),
    /// It does not fit into the limit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A text that some spreadsheets and editors save.
    #[error("found UTF-16, expected UTF-8; save the file as UTF-8")]
    Utf16,
    /// A text that is not UTF-8.
    #[error("line {line}: found the byte {found:#04x}, expected text in UTF-8")]
    NotUtf8 {
        /// Counted from 1.
        line: usize,
        /// The first byte that does not fit.
        found: u8,
    },
}

/// The content of a file whose bytes take `share` bytes of memory each, with all that is made of
/// them. No more of it is read than fits into the limit, whatever the file is: a pipe or a device
/// may have no end.
pub fn read_within(path: &Path, limit: MemoryLimit, share: f64) -> Result<Vec<u8>, ReadError> {
    content(path, limit, share).map_err(|fault| ReadError { path: path.to_path_buf(), fault })
}

/// The same for a text in UTF-8, without a byte-order mark before it.
pub fn read_text_within(path: &Path, limit: MemoryLimit, share: f64) -> Result<String, ReadError> {
    let mut bytes = read_within(path, limit, share)?;
    if is_utf16(&bytes) {
        return Err(ReadError { path: path.to_path_buf(), fault: ReadFault::Utf16 });
    }
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    String::from_utf8(bytes).map_err(|error| {
        let (bytes, end) = (error.as_bytes(), error.utf8_error().valid_up_to());
        let line = 1 + bytes[..end].iter().filter(|&&byte| byte == b'\n').count();
        let fault = ReadFault::NotUtf8 { line, found: bytes[end] };
        ReadError { path: path.to_path_buf(), fault }
    })
}

fn content(path: &Path, limit: MemoryLimit, share: f64) -> Result<Vec<u8>, ReadFault> {
    let fits = |bytes: usize| limit.check("the file", share * bytes as f64);
    let file = File::open(path)?;
    let known = file.metadata().ok().filter(|found| found.is_file());
    let known = known.map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX));
    fits(known)?;
    // One byte more than there seem to be: the end is seen without another buffer.
    let mut bytes = Vec::with_capacity(known.saturating_add(1));
    file.take(limit.most_text(share).saturating_add(1)).read_to_end(&mut bytes)?;
    fits(bytes.len())?;
    Ok(bytes)
}

/// A text without the byte-order mark that it may begin with. Every reader of text skips it.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Whether a text begins as UTF-16 does. Then it is not UTF-8.
pub fn is_utf16(start: &[u8]) -> bool {
    UTF_16_MARKS.iter().any(|mark| start.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_fits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "a".repeat(1000)).unwrap();
        assert_eq!(read_within(&path, MemoryLimit::of(4000), 4.0).unwrap().len(), 1000);
        let error = read_within(&path, MemoryLimit::of(3999), 4.0).unwrap_err().to_string();
        let expected =
            "the file needs 4000 bytes of memory, expected at most the limit of 3999 bytes";
        assert!(error.ends_with(expected), "{error}");
        assert!(read_within(folder.path(), MemoryLimit::NONE, 4.0).is_err());
        #[cfg(unix)]
        {
            let endless = read_within(Path::new("/dev/zero"), MemoryLimit::of(1 << 20), 2.0);
            assert!(matches!(endless.unwrap_err().fault, ReadFault::TooLarge(_)));
        }
    }

    #[test]
    fn text_has_no_mark_and_a_mistake_in_it_has_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let text = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            read_text_within(&path, MemoryLimit::NONE, 1.0)
        };
        assert_eq!(text(b"\xef\xbb\xbfa\n\xef\xbb\xbf").unwrap(), "a\n\u{feff}");
        assert_eq!(text(b"").unwrap(), "");
        let error = text(b"\xff\xfea\0").unwrap_err().to_string();
        assert!(
            error.ends_with("text: found UTF-16, expected UTF-8; save the file as UTF-8"),
            "{error}"
        );
        let error = text(b"a\nb\xff").unwrap_err().to_string();
        assert!(
            error.ends_with("text: line 2: found the byte 0xff, expected text in UTF-8"),
            "{error}"
        );
    }
}
