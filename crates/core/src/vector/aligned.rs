//! Buffers that start on a cache line, so that no vector load straddles two.

use std::ops::{Deref, DerefMut};

/// Doubles in a cache line, and in the widest vector we know.
pub(crate) const LINE: usize = 8;

/// `length` rounded up to whole cache lines.
pub(crate) fn padded(length: usize) -> usize {
    length.next_multiple_of(LINE)
}

/// A growable slice of doubles that starts on a cache line.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    storage: Vec<f64>,
    start: usize,
    len: usize,
}

impl Aligned {
    pub(crate) fn filled(len: usize, value: f64) -> Self {
        let mut buffer = Self::default();
        buffer.reset(len, value);
        buffer
    }

    /// Makes every one of `len` entries `value`; allocates only to grow.
    pub(crate) fn reset(&mut self, len: usize, value: f64) {
        self.storage.clear();
        self.storage.resize(len + LINE - 1, value);
        self.start = offset(&self.storage);
        self.len = len;
    }
}

impl Aligned {
    /// Empties it, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds one at the end.
    pub(crate) fn push(&mut self, value: f64) {
        if self.start + self.len == self.storage.len() {
            let mut longer = Self::filled((2 * self.len).max(LINE), 0.0);
            longer[..self.len].copy_from_slice(self);
            longer.len = self.len;
            *self = longer;
        }
        self.storage[self.start + self.len] = value;
        self.len += 1;
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut storage = Vec::with_capacity(self.len + LINE - 1);
        let start = offset(&storage);
        storage.resize(start, 0.0);
        storage.extend_from_slice(self);
        Self { storage, start, len: self.len }
    }
}

/// How far the first entry that starts a cache line is from the start of the storage.
fn offset(storage: &[f64]) -> usize {
    storage.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1)
}

impl<'a> IntoIterator for &'a Aligned {
    type Item = &'a f64;
    type IntoIter = std::slice::Iter<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<f64>> for Aligned {
    fn from(values: Vec<f64>) -> Self {
        let mut buffer = Self::filled(values.len(), 0.0);
        buffer.copy_from_slice(&values);
        buffer
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_and_their_clones_start_on_a_cache_line() {
        for len in [0, 1, 7, 8, 100] {
            let mut buffer = Aligned::filled(len, 2.0);
            buffer.reset(len + 3, 1.0);
            for slice in [&buffer[..], &buffer.clone()[..]] {
                assert_eq!(slice.as_ptr() as usize % 64, 0);
                assert_eq!(slice, vec![1.0; len + 3]);
            }
            (0..20).for_each(|_| buffer.push(1.0));
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
            assert_eq!(buffer[..], vec![1.0; len + 23]);
        }
    }
}
