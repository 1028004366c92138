//! Values of flags, and packed files.

use std::io::Read;

use crate::scratch::with_file;
use crate::{Verdict, refused, verdict};

/// At most this much of a packed file is read.
const MOST_UNPACKED: u64 = 1 << 20;

/// A time with its unit.
pub fn time(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Verdict::Refused };
    verdict(bethe_terminal::time::parse("--time-limit", text))
}

/// A file that may be packed.
pub fn gzip(bytes: &[u8]) -> Verdict {
    let opened = with_file("packed", bytes, |path| bethe_io::open(path));
    let mut unpacked = Vec::new();
    match opened {
        Ok(file) => verdict(file.take(MOST_UNPACKED).read_to_end(&mut unpacked)),
        Err(error) => refused(error),
    }
}
