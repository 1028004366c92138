//! Strings numbered in the order in which they came.

/// A map from strings to `0..len`, in three flat arrays that go into a file as they are: loading one
/// builds nothing, it only checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// All strings, one after the other.
    bytes: Vec<u8>,
    /// Where each string ends. `[strings]`
    ends: Vec<u32>,
    /// Open addressing, a power of two of slots, as [`Packing`] has them: the number of a string, and
    /// bits of its hash, so that nearly all others are told apart without being read.
    slots: Vec<u32>,
}

/// Strings to look up together: see [`Dictionary::find_all`].
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// All of them, one after the other.
    bytes: Vec<u8>,
    /// Where each ends, and its hash.
    strings: Vec<(u32, u64)>,
}

impl Texts {
    /// Forgets all strings, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.strings.clear();
    }

    /// Adds a string.
    #[inline]
    pub fn push(&mut self, string: &str) {
        self.bytes.extend_from_slice(string.as_bytes());
        self.strings.push((self.bytes.len() as u32, hash(string.as_bytes())));
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }
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
        if !slots.len().is_power_of_two() || slots.len() > MOST_SLOTS {
            return Err(wrong);
        }
        let packing = Packing::of(slots.len());
        let numbers = || slots.iter().filter_map(|&slot| packing.number(slot));
        // A free slot ends every search, so there must be one.
        if numbers().count() != ends.len()
            || ends.len() >= slots.len()
            || numbers().any(|number| number as usize >= ends.len())
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
        let slot = self.slot_of(string.as_bytes(), hash(string.as_bytes()));
        self.packing().number(self.slots[slot])
    }

    /// The number of each string, if it has one.
    ///
    /// What a string leads to lies anywhere in memory: its slot, its end, its bytes. Each is touched for
    /// some strings in turn before the next is needed, so that the waits for memory overlap.
    pub fn find_all(&self, texts: &Texts, mut found: impl FnMut(usize, Option<u32>)) {
        const TOGETHER: usize = 32;
        let (mask, packing) = (self.slots.len() - 1, self.packing());
        let mut starts = [0; TOGETHER];
        for (chunk, strings) in texts.strings.chunks(TOGETHER).enumerate() {
            let first = chunk * TOGETHER;
            let mut candidates = [None; TOGETHER];
            for (candidate, &(_, hash)) in candidates.iter_mut().zip(strings) {
                let slot = self.slots[hash as usize & mask];
                *candidate = packing.number(slot).filter(|_| packing.may_be(slot, hash));
            }
            for (start, candidate) in starts.iter_mut().zip(&candidates[..strings.len()]) {
                *start = candidate.map_or(0, |number| self.start(number as usize));
            }
            let touched = |&start: &usize| self.bytes.get(start).map_or(0, |&byte| u32::from(byte));
            std::hint::black_box(starts[..strings.len()].iter().map(touched).sum::<u32>());
            let mut start = match first.checked_sub(1) {
                None => 0,
                Some(before) => texts.strings[before].0 as usize,
            };
            for (at, &(end, hash)) in strings.iter().enumerate() {
                let text = &texts.bytes[start..end as usize];
                start = end as usize;
                // At the first slot there may be another string, or nothing.
                let first_slot =
                    candidates[at].filter(|&number| self.is_at(starts[at], number, text));
                let elsewhere = || packing.number(self.slots[self.slot_of(text, hash)]);
                found(first + at, first_slot.or_else(elsewhere));
            }
        }
    }

    /// The number of a string, a new one if it has none.
    ///
    /// # Panics
    /// Beyond 2³² bytes of strings.
    pub fn insert(&mut self, string: &str) -> u32 {
        let hash = hash(string.as_bytes());
        let slot = self.slot_of(string.as_bytes(), hash);
        if let Some(number) = self.packing().number(self.slots[slot]) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(string.as_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).expect("at most 4 GiB of strings"));
        self.slots[slot] = self.packing().slot(number, hash);
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

    #[inline]
    fn packing(&self) -> Packing {
        Packing::of(self.slots.len())
    }

    fn text(&self, number: usize) -> &[u8] {
        &self.bytes[self.start(number)..self.ends[number] as usize]
    }

    /// Where a string starts.
    #[inline]
    fn start(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Whether the string of a number, which starts here, is this one.
    #[inline]
    fn is_at(&self, start: usize, number: u32, text: &[u8]) -> bool {
        self.bytes[start..self.ends[number as usize] as usize] == *text
    }

    /// The slot that holds a string, or the free one where it would go.
    #[inline]
    fn slot_of(&self, text: &[u8], hash: u64) -> usize {
        let (mask, packing) = (self.slots.len() - 1, self.packing());
        let mut slot = hash as usize & mask;
        while let Some(number) = packing.number(self.slots[slot]) {
            if packing.may_be(self.slots[slot], hash) && self.text(number as usize) == text {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        assert!(size <= MOST_SLOTS, "at most 2³¹ slots");
        // Before the new ones are there.
        self.slots = Vec::new();
        self.slots = vec![0; size];
        let (mask, packing) = (self.slots.len() - 1, self.packing());
        for number in 0..self.len() {
            let hash = hash(self.text(number));
            let mut slot = hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = packing.slot(number as u32, hash);
        }
    }
}

/// Slots beyond which numbers and 32 bits do not fit.
const MOST_SLOTS: usize = 1 << 31;

/// What a slot holds: in its lower bits the number of a string plus 1, or 0 if it is free; above them as
/// many bits of the string's hash as there is room for. There are always fewer strings than slots.
#[derive(Clone, Copy)]
struct Packing {
    /// Bits of the number.
    bits: u32,
}

impl Packing {
    #[inline]
    fn of(slots: usize) -> Self {
        Self { bits: slots.trailing_zeros() }
    }

    #[inline]
    fn slot(self, number: u32, hash: u64) -> u32 {
        self.mark(hash) << self.bits | (number + 1)
    }

    /// The number of the string in a slot, if there is one.
    #[inline]
    fn number(self, slot: u32) -> Option<u32> {
        (slot & ((1 << self.bits) - 1)).checked_sub(1)
    }

    /// Whether the string in a slot may have this hash.
    #[inline]
    fn may_be(self, slot: u32, hash: u64) -> bool {
        slot >> self.bits == self.mark(hash)
    }

    /// Upper bits of a hash: the lower ones say where it goes.
    #[inline]
    fn mark(self, hash: u64) -> u32 {
        (hash >> 32) as u32 >> self.bits
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
    // The last eight bytes, of which some may have been read: one load where a copy would be a call.
    let last = match text.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    mix(state, last ^ ODD)
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
    fn strings_looked_up_together_are_found_as_one_by_one() {
        let dictionary = of(5000);
        let mut texts = Texts::default();
        let strings: Vec<String> = (0..10_000)
            .map(|i| match i % 7 {
                0 => String::new(),
                1 => format!("w[{i}]="),
                _ => format!("w[{i}]=ä"),
            })
            .collect();
        for count in [0, 1, 31, 32, 33, 10_000] {
            texts.clear();
            strings[..count].iter().for_each(|string| texts.push(string));
            assert_eq!((texts.len(), texts.is_empty()), (count, count == 0));
            let mut found = Vec::new();
            dictionary.find_all(&texts, |at, number| {
                assert_eq!(at, found.len());
                found.push(number);
            });
            let alone: Vec<_> = strings[..count].iter().map(|s| dictionary.find(s)).collect();
            assert_eq!(found, alone);
        }
        let mut empty = Dictionary::default();
        empty.insert("");
        texts.clear();
        texts.push("");
        empty.find_all(&texts, |_, number| assert_eq!(number, Some(0)));
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
