//! A limit on memory that is checked before anything is allocated.
//!
//! Readers, models and oracles estimate what they are about to take and ask the limit first: what
//! does not fit is an error with the estimate, not a failed allocation.

use std::fmt;

use thiserror::Error;

/// Text and what is made of it take about this many times the text, unless more is known of it.
pub const TEXT_SHARE: f64 = 4.0;

/// How many bytes one input may take: its text, its tables and what inference makes of them.
///
/// The default is 2 GiB on every machine, so that a library call does the same everywhere. Callers
/// that know the machine set it with [`MemoryLimit::of`].
///
/// ```
/// use bethe_core::MemoryLimit;
/// let limit = MemoryLimit::of(1 << 20);
/// assert!(limit.check("a table", 1e6).is_ok());
/// assert_eq!(
///     limit.check("a table", 3e6).unwrap_err().to_string(),
///     "a table needs 2.9 MiB of memory, expected at most the limit of 1.0 MiB"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryLimit(u64);

impl MemoryLimit {
    /// No limit.
    pub const NONE: Self = Self(u64::MAX);

    /// A limit of this many bytes.
    pub const fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// An equal share for each of several inputs that are worked on at once.
    pub fn shared_by(self, inputs: usize) -> Self {
        if self == Self::NONE { self } else { Self(self.0 / inputs.max(1) as u64) }
    }

    /// What is left of it beside something that is held.
    #[must_use]
    pub fn less(self, held: f64) -> Self {
        if self == Self::NONE { self } else { Self((self.0 as f64 - held).max(0.0) as u64) }
    }

    /// The most bytes that a text may have if each of them takes this many bytes of memory, with
    /// all that is made of it.
    pub fn most_text(self, share: f64) -> u64 {
        (self.0 as f64 / share) as u64
    }

    /// An error if an input has more bytes of text than a quarter of the limit. What is made of the
    /// text takes the rest.
    ///
    /// # Errors
    /// [`TooLarge`]
    pub fn check_text(self, bytes: f64) -> Result<(), TooLarge> {
        self.check("the text of the input", TEXT_SHARE * bytes)
    }

    /// An error if something needs more. Estimates are doubles, as they may exceed every integer
    /// type.
    ///
    /// # Errors
    /// [`TooLarge`]
    pub fn check(self, what: &'static str, bytes: f64) -> Result<(), TooLarge> {
        if bytes <= self.0 as f64 { Ok(()) } else { Err(TooLarge { what, bytes, limit: self }) }
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self(2 << 30)
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Size(self.0 as f64).fmt(f)
    }
}

/// More memory than the limit allows.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{what} needs {} of memory, expected at most the limit of {}", self.sizes().0, self.sizes().1)]
pub struct TooLarge {
    /// What it is for.
    pub what: &'static str,
    /// How much it needs, by estimate.
    pub bytes: f64,
    /// What is allowed.
    pub limit: MemoryLimit,
}

impl TooLarge {
    fn sizes(&self) -> (String, String) {
        told_apart(self.bytes, self.limit)
    }
}

/// A size and the limit that it is beyond, in bytes if they look the same in larger units.
pub fn told_apart(bytes: f64, limit: MemoryLimit) -> (String, String) {
    let (found, most) = (Size(bytes).to_string(), limit.to_string());
    if found == most && bytes != limit.0 as f64 {
        return (format!("{:.0} bytes", bytes.ceil()), format!("{} bytes", limit.0));
    }
    (found, most)
}

/// A number of bytes as people write it: `1.5 GiB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub f64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEP: f64 = 1024.0;
        let mut size = self.0;
        for unit in ["bytes", "KiB", "MiB"] {
            if size < STEP {
                let decimals = usize::from(unit != "bytes");
                return write!(f, "{size:.decimals$} {unit}");
            }
            size /= STEP;
        }
        // The tables of a wide model may need any power of ten of it.
        if size < 1e6 { write!(f, "{size:.1} GiB") } else { write!(f, "{size:.3e} GiB") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        let cases = [
            (512.0, "512 bytes"),
            (1536.0, "1.5 KiB"),
            (1e9, "953.7 MiB"),
            (3e12, "2794.0 GiB"),
            (1e60, "9.313e50 GiB"),
        ];
        for (bytes, shown) in cases {
            assert_eq!(Size(bytes).to_string(), shown);
        }
    }

    #[test]
    fn sizes_that_look_the_same_are_told_apart_in_bytes() {
        let error = MemoryLimit::of(200_000_000).check("it", 200_000_004.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it needs 200000004 bytes of memory, expected at most the limit of 200000000 bytes"
        );
        let (found, most) = told_apart(3e6, MemoryLimit::of(1 << 20));
        assert_eq!((&found[..], &most[..]), ("2.9 MiB", "1.0 MiB"));
    }

    #[test]
    fn what_is_held_is_taken_from_a_limit() {
        assert_eq!(MemoryLimit::of(100).less(30.0), MemoryLimit::of(70));
        assert_eq!(MemoryLimit::of(100).less(1e9), MemoryLimit::of(0));
        assert_eq!(MemoryLimit::NONE.less(1e30), MemoryLimit::NONE);
        assert_eq!(MemoryLimit::of(100).most_text(8.0), 12);
    }

    #[test]
    fn a_limit_is_shared_and_no_limit_stays_none() {
        assert_eq!(MemoryLimit::of(100).shared_by(8), MemoryLimit::of(12));
        assert_eq!(MemoryLimit::of(100).shared_by(0), MemoryLimit::of(100));
        assert_eq!(MemoryLimit::NONE.shared_by(8), MemoryLimit::NONE);
        assert!(MemoryLimit::NONE.check("all", 1e18).is_ok());
        assert!(MemoryLimit::of(100).check("nothing known", f64::NAN).is_err());
    }
}
