use rustc_hash::FxHashMap;

/// Sequences of tokens, each with the lists that hold it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Trie {
    tokens: FxHashMap<Box<str>, u32>,
    /// (node, token) to node; node 0 is the root.
    children: FxHashMap<(u32, u32), u32>,
    /// The lists that have an entry which ends here.
    ends: Vec<Vec<u32>>, // [nodes][…]
}

impl Default for Trie {
    fn default() -> Self {
        let (tokens, children) = (FxHashMap::default(), FxHashMap::default());
        Self { tokens, children, ends: vec![Vec::new()] }
    }
}

impl Trie {
    /// Adds an entry; entries of one list come together.
    pub(super) fn insert<'a>(&mut self, entry: impl Iterator<Item = &'a str>, list: u32) {
        let mut node = 0;
        for token in entry {
            let next = index(self.tokens.len());
            let token = match self.tokens.get(token) {
                Some(&token) => token,
                None => *self.tokens.entry(token.into()).or_insert(next),
            };
            let fresh = index(self.ends.len());
            let child = *self.children.entry((node, token)).or_insert(fresh);
            if child == fresh {
                self.ends.push(Vec::new());
            }
            node = child;
        }
        let ends = &mut self.ends[node as usize];
        if ends.last() != Some(&list) {
            ends.push(list);
        }
    }

    /// The number of a token that some entry has.
    pub(super) fn token(&self, text: &str) -> Option<u32> {
        self.tokens.get(text).copied()
    }

    /// Calls `found(length, list)` for each entry that `tokens` begins with, shorter ones first;
    /// `length` counts tokens, those passed over included.
    pub(super) fn matches(&self, tokens: &[Option<u32>], mut found: impl FnMut(usize, u32)) {
        let mut node = 0;
        for (&token, length) in tokens.iter().zip(1..) {
            match token {
                Some(PASSED_OVER) if length > 1 => continue,
                Some(token) => match self.children.get(&(node, token)) {
                    Some(&child) => node = child,
                    None => return,
                },
                None => return,
            }
            for &list in &self.ends[node as usize] {
                found(length, list);
            }
        }
    }
}

/// Stands for a token that a match may contain although no entry has it; no match begins or ends
/// with it.
pub(super) const PASSED_OVER: u32 = u32::MAX;

fn index(length: usize) -> u32 {
    u32::try_from(length)
        .ok()
        .filter(|&index| index < PASSED_OVER)
        .expect("lexicons have fewer than 2³² tokens")
}
