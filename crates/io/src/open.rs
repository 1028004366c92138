use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

pub use bethe_core::memory::TooLarge;

use bethe_core::MemoryLimit;
use flate2::bufread::MultiGzDecoder;
use thiserror::Error;

use crate::in_words;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file that does not open.
#[derive(Debug, Error)]
#[error("{}: {}", path.display(), in_words(source))]
pub struct OpenError {
    /// The file, as the caller gave it.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Why a gzip file does not unpack: the inner error of the [`io::Error`] that reading it gives.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum GzipError {
    /// The file stops inside the packed data.
    #[error("the gzip data is cut off")]
    Truncated,
    /// A header, the packed data or a checksum is wrong.
    #[error("the gzip data is corrupt")]
    Corrupt,
}

/// Opens a file, or standard input for `-`. Gzip is recognised by its first two bytes and unpacked
/// while reading.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn BufRead + Send>, OpenError> {
    let path = path.as_ref();
    let attempt = if path.as_os_str() == "-" {
        unpacked(standard_input())
    } else {
        File::open(path).and_then(unpacked)
    };
    attempt.map_err(|source| OpenError { path: path.to_path_buf(), source })
}

/// Standard input. Its end stays the end: on a terminal, whoever reads on after Ctrl-D would wait for
/// another.
pub fn standard_input() -> impl Read + Send + 'static {
    Ending { input: io::stdin(), has_ended: false }
}

/// A stream that is not read again after its end.
struct Ending<R> {
    input: R,
    has_ended: bool,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended {
            return Ok(0);
        }
        let count = self.input.read(buffer)?;
        self.has_ended = count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// How far a plain file was read, packed or not.
pub struct Position {
    /// Shares its place with the handle that is read.
    file: File,
    size: u64,
}

impl Position {
    /// The share of the file that was read; `None` if the system does not say.
    pub fn share(&mut self) -> Option<f64> {
        let read = self.file.stream_position().ok()?;
        Some(read as f64 / self.size.max(1) as f64)
    }
}

/// As [`open`], with the position in a plain file.
pub fn open_with_position(
    path: impl AsRef<Path>,
) -> Result<(Box<dyn BufRead + Send>, Option<Position>), OpenError> {
    let path = path.as_ref();
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return Ok((open(path)?, None));
    }
    let attempt = || -> io::Result<_> {
        let file = File::open(path)?;
        let (own, size) = (file.try_clone()?, file.metadata()?.len());
        Ok((unpacked(file)?, Some(Position { file: own, size })))
    };
    attempt().map_err(|source| OpenError { path: path.to_path_buf(), source })
}

/// As [`open`], but reading ends with an error ([`TooLarge`]) once more bytes were unpacked than an
/// input's text may have.
pub fn open_within(
    path: impl AsRef<Path>,
    limit: MemoryLimit,
) -> Result<Box<dyn BufRead + Send>, OpenError> {
    Ok(Box::new(Counted { stream: open(path)?, unpacked: 0, limit }))
}

/// A stream that counts what was taken from it.
struct Counted<R> {
    stream: R,
    unpacked: u64,
    limit: MemoryLimit,
}

impl<R> Counted<R> {
    fn check(&self) -> io::Result<()> {
        let checked = self.limit.check_text(self.unpacked as f64);
        checked.map_err(|error| io::Error::new(io::ErrorKind::FileTooLarge, error))
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.unpacked += count as u64;
        self.check()?;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        self.stream.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.unpacked += count as u64;
        self.stream.consume(count);
    }
}

/// The text of a stream that may be packed.
fn unpacked(mut stream: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut start = Vec::with_capacity(GZIP_MAGIC.len());
    stream.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start)?;
    let packed = start == GZIP_MAGIC;
    let whole = BufReader::new(Cursor::new(start).chain(stream));
    if packed {
        Ok(Box::new(BufReader::new(Gzip(MultiGzDecoder::new(whole)))))
    } else {
        Ok(Box::new(whole))
    }
}

/// A decoder whose errors say that the gzip data is wrong.
struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), GzipError::Truncated),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::new(io::ErrorKind::InvalidData, GzipError::Corrupt)
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_stream_is_not_read_after_its_end() {
        // A terminal goes on after its end.
        struct Terminal(Vec<&'static [u8]>);
        impl Read for Terminal {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let typed = self.0.pop().expect("the end was read already");
                buffer[..typed.len()].copy_from_slice(typed);
                Ok(typed.len())
            }
        }
        for (typed, expected) in [(vec![b"".as_slice(), b"c", b"ab"], "abc"), (vec![b""], "")] {
            let input = Ending { input: Terminal(typed), has_ended: false };
            let mut text = String::new();
            unpacked(input).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn the_position_is_where_reading_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, vec![b'a'; 1 << 20]).unwrap();
        let (mut reader, position) = open_with_position(&path).unwrap();
        let mut position = position.unwrap();
        let mut half = vec![0; 1 << 19];
        reader.read_exact(&mut half).unwrap();
        let share = position.share().unwrap();
        // What is buffered counts as read.
        assert!((0.5..0.6).contains(&share), "{share}");
        reader.read_to_end(&mut half).unwrap();
        assert_eq!((position.share(), half.len()), (Some(1.0), 1 << 20));
        assert!(open_with_position("/dev/null").unwrap().1.is_none());
    }

    #[test]
    fn a_small_file_that_unpacks_to_much_is_left_off_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.gz");
        let mut packed = GzEncoder::new(File::create(&path).unwrap(), Compression::best());
        packed.write_all(&vec![b'0'; 1 << 20]).unwrap();
        packed.finish().unwrap();
        let limit = MemoryLimit::of(1 << 16);
        let mut bytes = Vec::new();
        let error = open_within(&path, limit).unwrap().read_to_end(&mut bytes).unwrap_err();
        assert!(bytes.len() < 1 << 16, "{} bytes", bytes.len());
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TooLarge>());
        assert_eq!(inner.map(|inner| inner.limit), Some(limit));
        let line = open_within(&path, limit).unwrap().read_until(b'\n', &mut bytes);
        assert_eq!(line.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // What fits is read as ever.
        let mut whole = Vec::new();
        open_within(&path, MemoryLimit::of(1 << 23)).unwrap().read_to_end(&mut whole).unwrap();
        assert_eq!(whole.len(), 1 << 20);
    }
}
