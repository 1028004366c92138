//! Strings, numbered in the order they were added.

use crate::fingerprint::Fingerprint;

/// A map from strings to `0..len`, in three flat arrays that are stored as they are. Loading only
/// checks them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// All strings, one after the other.
    bytes: Vec<u8>,
    /// Where each string ends. `[strings]`
    ends: Vec<u32>,
    /// Open addressing with a power of two of slots. A slot is packed by [`Packing`]: the number of
    /// a string and bits of its hash, which rule out most other strings without reading them.
    slots: Vec<u32>,
}

/// Why three arrays are not a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DictionaryFault {
    /// The ends are not ascending up to the number of bytes.
    #[error("string {string} of the dictionary ends before it starts, or past the end")]
    End {
        /// The string's number.
        string: usize,
    },
    /// Some string is not UTF-8 on its own.
    #[error("string {string} of the dictionary is not UTF-8")]
    NotUtf8 {
        /// The string's number.
        string: usize,
    },
    /// The hash table is full, or names a missing string.
    #[error(
        "the dictionary's hash table has {found} slots for {strings} strings, expected a larger \
         power of two, and each string once"
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
        let mut own = Self { bytes, ends, slots };
        // Files of an earlier version used another hash. Some of their strings would be found by
        // chance, but not many in a row.
        let mut some = (0..own.len()).step_by((own.len() / PROBES).max(1));
        if some.any(|number| own.find(own.string(number)) != Some(number as u32)) {
            own.place_all(own.slots.len());
        }
        Ok(own)
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
    pub fn find(&self, string: &str) -> Option<u32> {
        self.number_in(self.slot_of(string, Fingerprint::of(string).hash()))
    }

    /// The number of each key's string, if it has one, in the order of the keys. `hash` gives the
    /// hash of a key's [`Fingerprint`]; `is` says whether bytes are its string, and is rarely asked
    /// about others.
    ///
    /// A string's slot, end and bytes lie far apart in memory. Each is touched for several strings
    /// in turn before the next is needed, so that waits for memory overlap.
    pub fn find_all<Key>(
        &self,
        keys: &[Key],
        hash: impl Fn(&Key) -> u64,
        is: impl Fn(&Key, &[u8]) -> bool,
        mut found: impl FnMut(&Key, Option<u32>),
    ) {
        const TOGETHER: usize = 32;
        let mut slots = [0; TOGETHER];
        let mut strings: [&[u8]; TOGETHER] = [&[]; TOGETHER];
        for keys in keys.chunks(TOGETHER) {
            for (slot, key) in slots.iter_mut().zip(keys) {
                *slot = self.likely_slot(hash(key), hash(key) as usize);
            }
            for (string, &slot) in strings.iter_mut().zip(&slots[..keys.len()]) {
                *string = self.number_in(slot).map_or(&[], |number| self.text(number as usize));
            }
            let touched = |string: &&[u8]| string.first().map_or(0, |&byte| u32::from(byte));
            std::hint::black_box(strings[..keys.len()].iter().map(touched).sum::<u32>());
            for (key, &slot) in keys.iter().zip(&slots) {
                let slot = self.slot_from(slot, hash(key), |own| is(key, own));
                found(key, self.number_in(slot));
            }
        }
    }

    /// The number of a string; a new string gets the next one.
    ///
    /// # Panics
    /// Beyond 2³² bytes of strings.
    pub fn insert(&mut self, string: &str) -> u32 {
        let hash = Fingerprint::of(string).hash();
        let slot = self.slot_of(string, hash);
        if let Some(number) = self.number_in(slot) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(string.as_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).expect("at most 4 GiB of strings"));
        self.slots[slot] = self.packing().slot(number, hash);
        if self.ends.len() * 4 > self.slots.len() * 3 {
            self.place_all(2 * self.slots.len());
        }
        number
    }

    /// Some of the strings, renumbered in the given order; and the new number of each old one.
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

    /// The number in a slot, if it is not free.
    #[inline]
    fn number_in(&self, slot: usize) -> Option<u32> {
        self.packing().number(self.slots[slot])
    }

    #[inline]
    fn text(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The first slot, starting at a given one, whose string may have this hash, or the free slot
    /// where it would go.
    #[inline]
    fn likely_slot(&self, hash: u64, from: usize) -> usize {
        let (mask, packing) = (self.slots.len() - 1, self.packing());
        let mut slot = from & mask;
        while !packing.may_be_or_is_free(self.slots[slot], hash) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The slot of the string with this hash for which `is` holds, or the free slot where it would
    /// go. No slot before `likely` holds it.
    #[inline]
    fn slot_from(&self, mut likely: usize, hash: u64, is: impl Fn(&[u8]) -> bool) -> usize {
        while self.number_in(likely).is_some_and(|number| !is(self.text(number as usize))) {
            likely = self.likely_slot(hash, likely + 1);
        }
        likely
    }

    /// The slot that holds a string, or the free one where it would go.
    fn slot_of(&self, string: &str, hash: u64) -> usize {
        let likely = self.likely_slot(hash, hash as usize);
        self.slot_from(likely, hash, |own| own == string.as_bytes())
    }

    /// Puts every string into a table of this many slots.
    fn place_all(&mut self, size: usize) {
        assert!(size <= MOST_SLOTS, "at most 2³¹ slots");
        // Free the old slots first.
        self.slots = Vec::new();
        self.slots = vec![0; size];
        let (mask, packing) = (self.slots.len() - 1, self.packing());
        for number in 0..self.len() {
            let hash = Fingerprint::of(self.string(number)).hash();
            let mut slot = hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = packing.slot(number as u32, hash);
        }
    }
}

/// How many strings of a file to look up, to check that its slots use our hash.
const PROBES: usize = 64;
/// Most slots for which numbers and 32 bits of hash fit.
const MOST_SLOTS: usize = 1 << 31;

/// The layout of a slot. The lower bits hold the number of a string plus 1, or 0 if it is free; the
/// rest holds bits of the string's hash. There are always fewer strings than slots.
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

    /// Whether a slot is free, or its string may have this hash.
    #[inline]
    fn may_be_or_is_free(self, slot: u32, hash: u64) -> bool {
        self.number(slot).is_none() || slot >> self.bits == self.mark(hash)
    }

    /// The upper bits of a hash; the lower ones give the slot.
    #[inline]
    fn mark(self, hash: u64) -> u32 {
        (hash >> 32) as u32 >> self.bits
    }
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
        let strings: Vec<String> = (0..10_000)
            .map(|i| match i % 7 {
                0 => String::new(),
                1 => format!("w[{i}]="),
                _ => format!("w[{i}]=ä"),
            })
            .collect();
        let all = |dictionary: &Dictionary, strings: &[String]| {
            let mut found = Vec::new();
            let hash = |string: &String| Fingerprint::of(string).hash();
            let is = |string: &String, own: &[u8]| string.as_bytes() == own;
            dictionary.find_all(strings, hash, is, |string, number| {
                assert_eq!(*string, strings[found.len()]);
                found.push(number);
            });
            found
        };
        for count in [0, 1, 31, 32, 33, 10_000] {
            let alone: Vec<_> = strings[..count].iter().map(|s| dictionary.find(s)).collect();
            assert_eq!(all(&dictionary, &strings[..count]), alone);
        }
        let mut empty = Dictionary::default();
        empty.insert("");
        assert_eq!(all(&empty, &strings[..2]), [Some(0), None]);
    }

    #[test]
    fn strings_whose_hashes_are_the_same_are_told_apart() {
        let mut dictionary = of(10);
        // A byte of zero in front adds nothing to the sum.
        assert_eq!((dictionary.find("w[3]=ä"), dictionary.find("\0w[3]=ä")), (Some(3), None));
        assert_eq!((dictionary.insert("\0w[3]=ä"), dictionary.insert("\0\0w[3]=ä")), (10, 11));
        let strings = ["\0\0w[3]=ä", "w[3]=ä", "\0\0\0w[3]=ä", "\0w[3]=ä"];
        let mut found = Vec::new();
        let hash = |string: &&str| Fingerprint::of(string).hash();
        let is = |string: &&str, own: &[u8]| string.as_bytes() == own;
        dictionary.find_all(&strings, hash, is, |_, number| found.push(number));
        assert_eq!(found, [Some(11), Some(3), None, Some(10)]);
    }

    #[test]
    fn strings_that_another_hash_placed_are_placed_anew() {
        let dictionary = of(100);
        let (bytes, ends, slots) = dictionary.arrays();
        let elsewhere: Vec<u32> = slots.iter().rev().copied().collect();
        let read = Dictionary::from_arrays(bytes.into(), ends.into(), elsewhere);
        assert_eq!(read, Ok(dictionary));
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
