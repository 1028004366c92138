//! Strings that are known by their hashes alone.

use crate::dictionary::Dictionary;
use crate::fingerprint::Fingerprint;

/// A set of strings without the strings: a sorted list of hashes, of which only the part is kept
/// that tells them apart. A string's number is its place in the list.
///
/// The upper bits of a hash give its bucket, the next 32 its tag. With about as many buckets as
/// strings, a string that is not in the set is taken for one of them with a chance of about 2⁻³².
#[derive(Clone, Debug, PartialEq)]
pub struct HashedDictionary {
    /// Where each bucket ends in the list; a power of two of buckets. `[buckets]`
    ends: Vec<u32>,
    /// `[strings]`
    tags: Vec<u32>,
}

/// Why two arrays are not a hashed dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashedFault {
    /// The number of buckets is not a power of two, or too large.
    #[error(
        "the dictionary has {found} buckets, expected a power of two of at most {MOST_BUCKETS}"
    )]
    Buckets {
        /// Number of buckets.
        found: usize,
    },
    /// Ends do not ascend up to the number of strings.
    #[error("bucket {bucket} of the dictionary ends before it starts, or past the end")]
    End {
        /// The bucket.
        bucket: usize,
    },
    /// Tags of a bucket do not ascend.
    #[error("bucket {bucket} of the dictionary is not in order")]
    Order {
        /// The bucket.
        bucket: usize,
    },
}

/// Most buckets, so that bucket and tag fit into a hash.
const MOST_BUCKETS: usize = 1 << 31;

impl HashedDictionary {
    /// The hashes of a dictionary's strings, and the old number of each new one. Of strings with
    /// the same hash the first stays.
    pub fn of(dictionary: &Dictionary) -> (Self, Vec<usize>) {
        let buckets = dictionary.len().next_power_of_two().clamp(2, MOST_BUCKETS);
        let bits = buckets.trailing_zeros();
        let place = |number: usize| {
            let hash = Fingerprint::of(dictionary.string(number)).hash();
            (bucket(hash, bits), tag(hash, bits), number)
        };
        let mut places: Vec<(usize, u32, usize)> = (0..dictionary.len()).map(place).collect();
        places.sort_unstable();
        places.dedup_by_key(|&mut (bucket, tag, _)| (bucket, tag));
        let mut ends = vec![0; buckets];
        places.iter().for_each(|&(bucket, ..)| ends[bucket] += 1);
        let mut end = 0;
        for own in &mut ends {
            end += *own;
            *own = end;
        }
        let tags = places.iter().map(|&(_, tag, _)| tag).collect();
        (Self { ends, tags }, places.into_iter().map(|(.., number)| number).collect())
    }

    /// A dictionary from its arrays.
    pub fn from_arrays(ends: Vec<u32>, tags: Vec<u32>) -> Result<Self, HashedFault> {
        if !ends.len().is_power_of_two() || !(2..=MOST_BUCKETS).contains(&ends.len()) {
            return Err(HashedFault::Buckets { found: ends.len() });
        }
        let mut start = 0;
        for (bucket, &end) in ends.iter().enumerate() {
            let own = tags.get(start..end as usize).ok_or(HashedFault::End { bucket })?;
            if !own.is_sorted_by(|a, b| a < b) {
                return Err(HashedFault::Order { bucket });
            }
            start = end as usize;
        }
        match start == tags.len() {
            true => Ok(Self { ends, tags }),
            false => Err(HashedFault::End { bucket: ends.len() - 1 }),
        }
    }

    /// The arrays: ends of buckets, tags.
    pub fn arrays(&self) -> (&[u32], &[u32]) {
        (&self.ends, &self.tags)
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// The number of the string whose [`Fingerprint`] has this hash, if there is one.
    #[inline]
    pub fn find(&self, hash: u64) -> Option<u32> {
        let bits = self.ends.len().trailing_zeros();
        let (bucket, tag) = (bucket(hash, bits), tag(hash, bits));
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let own = &self.tags[start..self.ends[bucket] as usize];
        own.iter().position(|&own| own == tag).map(|at| (start + at) as u32)
    }
}

#[inline]
fn bucket(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

#[inline]
fn tag(hash: u64, bits: u32) -> u32 {
    (hash >> (32 - bits)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        Fingerprint::of(text).hash()
    }

    #[test]
    fn known_strings_are_found_by_their_hashes_and_others_are_not() {
        let mut dictionary = Dictionary::default();
        let text = |i: usize| format!("Ulower{}:{i}", i % 3);
        (0..5000).for_each(|i| _ = dictionary.insert(&text(i)));
        let (hashed, order) = HashedDictionary::of(&dictionary);
        assert_eq!((hashed.len(), order.len()), (5000, 5000));
        for (new, &old) in order.iter().enumerate() {
            assert_eq!(hashed.find(hash(&text(old))), Some(new as u32));
        }
        assert!((5000..200_000).all(|i| hashed.find(hash(&text(i))).is_none()));
        let (empty, _) = HashedDictionary::of(&Dictionary::default());
        assert!(empty.is_empty() && empty.find(hash("a")).is_none());
    }

    #[test]
    fn arrays_make_the_same_dictionary_and_broken_ones_none() {
        let mut dictionary = Dictionary::default();
        (0..100).for_each(|i| _ = dictionary.insert(&format!("w{i}")));
        let (hashed, _) = HashedDictionary::of(&dictionary);
        let (ends, tags) = hashed.arrays();
        let make = |e: &[u32], t: &[u32]| HashedDictionary::from_arrays(e.into(), t.into());
        assert_eq!(make(ends, tags), Ok(hashed.clone()));
        assert_eq!(make(&ends[1..], tags), Err(HashedFault::Buckets { found: 127 }));
        assert_eq!(make(&[], &[]), Err(HashedFault::Buckets { found: 0 }));
        assert!(matches!(
            make(ends, &tags[1..]),
            Err(HashedFault::End { .. } | HashedFault::Order { .. })
        ));
        assert_eq!(make(&[2, 1], &[1, 2]), Err(HashedFault::End { bucket: 1 }));
        assert_eq!(make(&[2, 2], &[2, 2]), Err(HashedFault::Order { bucket: 0 }));
    }
}
