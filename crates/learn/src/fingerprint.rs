//! Hashes of texts, composed from hashes of their parts.

/// The base `B`; any odd number of full order would do. It must not change: files hold slots that
/// depend on it.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15; // 2⁶⁴ over the golden ratio
/// `B⁰ … B⁴`
const POWERS: [u64; 5] = {
    let mut powers = [1; 5];
    let mut at = 1;
    while at < 5 {
        powers[at] = BASE.wrapping_mul(powers[at - 1]);
        at += 1;
    }
    powers
};

/// The hash of a text: `h(t) = Σ tᵢ Bⁿ⁻¹⁻ⁱ` modulo 2⁶⁴ over its `n` bytes, with `Bⁿ`. Since
/// `h(st) = h(s) Bⁿ + h(t)`, a text made of parts can be looked up without being written. It is the
/// same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    sum: u64,
    /// `Bⁿ`: the factor for a text in front of this one.
    shift: u64,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Fingerprint {
    /// The hash of the empty text.
    pub const EMPTY: Self = Self { sum: 0, shift: 1 };

    /// The hash of a text.
    #[inline]
    pub fn of(text: &str) -> Self {
        let mut own = Self::EMPTY;
        // Four bytes per step, so that only one product waits for the previous step.
        let (fours, rest) = text.as_bytes().as_chunks::<4>();
        for bytes in fours {
            let terms = bytes.iter().zip(POWERS[..4].iter().rev());
            let sum = terms.fold(0, |sum: u64, (&byte, power)| {
                sum.wrapping_add(power.wrapping_mul(u64::from(byte)))
            });
            own = own.then(Self { sum, shift: POWERS[4] });
        }
        rest.iter().fold(own, |own, &byte| own.then(Self { sum: u64::from(byte), shift: BASE }))
    }

    /// The hash of this text followed by another.
    #[inline]
    pub fn then(self, next: Self) -> Self {
        let sum = self.sum.wrapping_mul(next.shift).wrapping_add(next.sum);
        Self { sum, shift: self.shift.wrapping_mul(next.shift) }
    }

    /// A hash whose every bit depends on the whole text.
    #[inline]
    pub fn hash(self) -> u64 {
        let product = u128::from(self.sum ^ BASE) * u128::from(POWERS[3]);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_fingerprint_of_the_whole() {
        let text = "Uouter-1,0:größe/Überblick 12";
        let whole = Fingerprint::of(text);
        for (at, _) in text.char_indices() {
            let (first, rest) = text.split_at(at);
            assert_eq!(Fingerprint::of(first).then(Fingerprint::of(rest)), whole, "{first}");
        }
        assert_eq!(Fingerprint::of(""), Fingerprint::EMPTY);
        // Files hold slots that follow from it.
        assert_eq!(Fingerprint::of("Uword:the").hash(), 0x7976_7e3b_1532_a4ed);
    }

    #[test]
    fn texts_that_differ_little_have_hashes_that_differ() {
        let mut hashes: Vec<u64> = (0..100_000)
            .flat_map(|i| [format!("Ulower0:{i}"), format!("Ulower0:{i}/{}", i % 7)])
            .map(|text| Fingerprint::of(&text).hash())
            .collect();
        // The lower bits say where a text goes, the upper ones tell it from others there.
        for half in [|hash: &u64| hash & 0xffff_ffff, |hash: &u64| hash >> 32] {
            let mut halves: Vec<u64> = hashes.iter().map(half).collect();
            halves.sort_unstable();
            halves.dedup();
            // Of random ones about 5 pairs would be the same.
            assert!(halves.len() + 20 > hashes.len(), "{}", halves.len());
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 200_000);
    }
}
