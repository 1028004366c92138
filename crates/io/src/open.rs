use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use thiserror::Error;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file that does not open.
#[derive(Debug, Error)]
#[error("{}: cannot open: {source}", path.display())]
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
        unpacked(io::stdin())
    } else {
        File::open(path).and_then(unpacked)
    };
    attempt.map_err(|source| OpenError { path: path.to_path_buf(), source })
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
