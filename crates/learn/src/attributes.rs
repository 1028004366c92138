//! Numbers of attributes, with or without their names.

use crate::dictionary::Dictionary;
use crate::hashed::HashedDictionary;

/// The attributes that a model has weights for.
#[derive(Clone, Debug, PartialEq)]
pub enum Attributes {
    /// With their names.
    Named(Dictionary),
    /// By the hashes of their names: smaller, and the text they were learned from cannot be read
    /// from them.
    Hashed(HashedDictionary),
}

/// Whatever finds attributes by their names.
pub trait FindAttributes {
    /// The number of each key's name, if it has one, in the order of the keys. `hash` gives the
    /// hash of a name's [`Fingerprint`](crate::fingerprint::Fingerprint); `is` says whether bytes
    /// are the name, where there are names to compare with.
    fn find_all<Key>(
        &self,
        keys: &[Key],
        hash: impl Fn(&Key) -> u64,
        is: impl Fn(&Key, &[u8]) -> bool,
        found: impl FnMut(&Key, Option<u32>),
    );
}

impl Attributes {
    /// Number of attributes.
    pub fn len(&self) -> usize {
        match self {
            Self::Named(dictionary) => dictionary.len(),
            Self::Hashed(hashed) => hashed.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of an attribute, if there are names.
    pub fn name(&self, number: usize) -> Option<&str> {
        match self {
            Self::Named(dictionary) => Some(dictionary.string(number)),
            Self::Hashed(_) => None,
        }
    }
}

impl FindAttributes for Dictionary {
    fn find_all<Key>(
        &self,
        keys: &[Key],
        hash: impl Fn(&Key) -> u64,
        is: impl Fn(&Key, &[u8]) -> bool,
        found: impl FnMut(&Key, Option<u32>),
    ) {
        self.find_all(keys, hash, is, found);
    }
}

impl FindAttributes for Attributes {
    fn find_all<Key>(
        &self,
        keys: &[Key],
        hash: impl Fn(&Key) -> u64,
        is: impl Fn(&Key, &[u8]) -> bool,
        mut found: impl FnMut(&Key, Option<u32>),
    ) {
        match self {
            Self::Named(dictionary) => dictionary.find_all(keys, hash, is, found),
            Self::Hashed(hashed) => keys.iter().for_each(|key| found(key, hashed.find(hash(key)))),
        }
    }
}
