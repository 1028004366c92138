//! Strings numbered in the order in which they came.

/// A map from strings to `0..len`, in three flat arrays that go into a file as they are: loading one
/// builds nothing, it only checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// All strings, one after the other.
    bytes: Vec<u8>,
    /// Where each string ends. `[strings]`
    ends: Vec<u32>,
    /// Open addressing: number of the string plus 1, or 0 for a free slot; a power of two of them.
    slots: Vec<u32>,
}

/// Why three arrays are no dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DictionaryFault {
    /// The ends are not ascending up to the number of bytes.
    #[error("string {string} of the dictionary ends before it starts, or past the end")]
    End {
        /// The string's number.
        string: usize,
    },
    /// The strings are not UTF-8, each by itself.
    #[error("string {string} of the dictionary is not UTF-8")]
    NotUtf8 {
        /// The string's number.
        string: usize,
    },
    /// The hash table has no room, or names a string that is not there.
    #[error(
        "the dictionary's hash table has {found} slots for {strings} strings, expected a power of two with room to spare, each string once"
    )]
    Slots {
        /// Number of slots.
        found: usize,
        /// Number of strings.
        strings: usize,
    },
}

impl Default for Dictionary {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), slots: vec![0; 16] }
    }
}

impl Dictionary {
    /// A dictionary from its arrays.
    pub fn from_arrays(
        bytes: Vec<u8>,
        ends: Vec<u32>,
        slots: Vec<u32>,
    ) -> Result<Self, DictionaryFault> {
        let mut start = 0;
        for (string, &end) in ends.iter().enumerate() {
            let Some(text) = bytes.get(start..end as usize) else {
                return Err(DictionaryFault::End { string });
            };
            std::str::from_utf8(text).map_err(|_| DictionaryFault::NotUtf8 { string })?;
            start = end as usize;
        }
        if start != bytes.len() {
            return Err(DictionaryFault::End { string: ends.len() });
        }
        let wrong = DictionaryFault::Slots { found: slots.len(), strings: ends.len() };
        let filled = slots.iter().filter(|&&slot| slot != 0);
        let in_range = slots.iter().all(|&slot| slot as usize <= ends.len());
        // A free slot ends every search, so there must be one.
        if !slots.len().is_power_of_two()
            || filled.count() != ends.len()
            || ends.len() >= slots.len()
            || !in_range
        {
            return Err(wrong);
        }
        Ok(Self { bytes, ends, slots })
    }

    /// The arrays: bytes, ends, slots.
    pub fn arrays(&self) -> (&[u8], &[u32], &[u32]) {
        (&self.bytes, &self.ends, &self.slots)
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string of a number.
    pub fn string(&self, number: usize) -> &str {
        std::str::from_utf8(self.text(number)).expect("strings are checked when they come in")
    }

    /// The number of a string, if it has one.
    #[inline]
    pub fn find(&self, string: &str) -> Option<u32> {
        let slot = self.slot_of(string.as_bytes());
        self.slots[slot].checked_sub(1)
    }

    /// The number of a string, a new one if it has none.
    ///
    /// # Panics
    /// Beyond 2³² bytes of strings.
    pub fn insert(&mut self, string: &str) -> u32 {
        let slot = self.slot_of(string.as_bytes());
        if let Some(number) = self.slots[slot].checked_sub(1) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(string.as_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).expect("at most 4 GiB of strings"));
        self.slots[slot] = number + 1;
        if self.ends.len() * 4 > self.slots.len() * 3 {
            self.grow();
        }
        number
    }

    /// Some of the strings, numbered anew in the given order; the new number of each old one.
    pub fn select(&self, order: &[usize]) -> (Self, Vec<Option<u32>>) {
        let mut kept = Self::default();
        let mut numbers = vec![None; self.len()];
        for &number in order {
            numbers[number] = Some(kept.insert(self.string(number)));
        }
        (kept, numbers)
    }

    fn text(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The slot that holds a string, or the free one where it would go.
    #[inline]
    fn slot_of(&self, text: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(text) as usize & mask;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            if self.text(number as usize) == text {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        let mask = self.slots.len() - 1;
        for number in 0..self.len() {
            let mut slot = hash(self.text(number)) as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number as u32 + 1;
        }
    }
}

/// A hash that is the same on every machine and in every version: files hold its slots.
#[inline]
fn hash(text: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2⁶⁴ over the golden ratio
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(ODD);
        (product as u64) ^ (product >> 64) as u64
    };
    let (words, rest) = text.as_chunks::<8>();
    let mut state = ODD ^ text.len() as u64;
    for word in words {
        state = mix(state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state, u64::from_le_bytes(last) ^ ODD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize) -> Dictionary {
        let mut dictionary = Dictionary::default();
        for i in 0..count {
            assert_eq!(dictionary.insert(&format!("w[{i}]=ä")), i as u32);
        }
        dictionary
    }

    #[test]
    fn strings_are_found_again_and_others_are_not() {
        let mut dictionary = of(5000);
        assert_eq!(dictionary.insert("w[17]=ä"), 17);
        assert_eq!(
            (dictionary.find("w[4999]=ä"), dictionary.find("w[5000]=ä")),
            (Some(4999), None)
        );
        assert_eq!((dictionary.len(), dictionary.string(3)), (5000, "w[3]=ä"));
    }

    #[test]
    fn arrays_make_the_same_dictionary_and_broken_ones_none() {
        let dictionary = of(100);
        let (bytes, ends, slots) = dictionary.arrays();
        let make =
            |b: &[u8], e: &[u32], s: &[u32]| Dictionary::from_arrays(b.into(), e.into(), s.into());
        assert_eq!(make(bytes, ends, slots), Ok(dictionary.clone()));
        assert!(make(&bytes[1..], ends, slots).is_err());
        assert!(make(bytes, &ends[1..], slots).is_err());
        assert!(make(bytes, ends, &slots[1..]).is_err());
        assert!(make(bytes, ends, &vec![1; 128]).is_err());
        let mut ends = ends.to_vec();
        ends[3] -= 1;
        assert!(make(bytes, &ends, slots).is_err(), "cuts a letter of two bytes");
    }

    #[test]
    fn selected_strings_are_numbered_anew() {
        let (kept, numbers) = of(10).select(&[6, 3, 9]);
        assert_eq!((kept.len(), kept.find("w[9]=ä"), kept.find("w[1]=ä")), (3, Some(2), None));
        assert_eq!(numbers[3..7], [Some(1), None, None, Some(0)]);
    }
}
