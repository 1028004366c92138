//! A base model as the mean of several.
//!
//! A strong attribute keeps a model from learning weaker ones that say the same, which matter when
//! the strong one is absent or misleading. So attributes are cut into parts, and next to the model
//! with all of them there is one without each part, which learns to rely on the others. Scores are
//! linear in the weights, so the mean of the members' weights is one model, as fast as any; its
//! distribution is the normalised geometric mean of theirs.
//!
//! Reference: Smith, Cohn and Osborne 2005, *Logarithmic Opinion Pools for Conditional Random
//! Fields*; Sutton, Sindelar and McCallum 2006, *Reducing Weight Undertraining in Structured
//! Discriminative Learning*. Differs: one member has all attributes, the parts do not overlap, all
//! members count the same.

use std::collections::{BTreeSet, HashMap};

use bethe_learn::corpus::Corpus;
use bethe_learn::dictionary::Dictionary;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Which attributes each member lacks; the first has all.
pub(super) struct Pool {
    members: usize,
    /// The member that leaves an attribute out. `[attributes]`
    without: Vec<usize>,
}

impl Pool {
    /// Cuts attributes into this many parts, or as many as there are families.
    pub(super) fn new(parts: usize, dictionary: &Dictionary, seed: u64) -> Self {
        let strings = || (0..dictionary.len()).map(|number| dictionary.string(number));
        let distinct: BTreeSet<&str> = match parts {
            0 | 1 => BTreeSet::new(),
            _ => strings().map(family).collect(),
        };
        let mut families: Vec<&str> = distinct.into_iter().collect();
        let parts = parts.min(families.len());
        if parts < 2 {
            return Self { members: 1, without: Vec::new() };
        }
        families.shuffle(&mut StdRng::seed_from_u64(seed));
        let member_of = |(place, family)| (family, 1 + place % parts);
        let member_of: HashMap<&str, usize> =
            families.into_iter().enumerate().map(member_of).collect();
        let without = strings().map(|string| member_of[family(string)]).collect();
        Self { members: 1 + parts, without }
    }

    /// How many members.
    pub(super) fn members(&self) -> usize {
        self.members
    }

    /// The corpus as a member sees it, if it lacks attributes.
    pub(super) fn view(&self, member: usize, corpus: &Corpus) -> Option<Corpus> {
        if member == 0 {
            return None;
        }
        let own =
            |(number, &without): (usize, &usize)| (without != member).then_some(number as u32);
        let numbers: Vec<Option<u32>> = self.without.iter().enumerate().map(own).collect();
        let mut view = corpus.clone();
        view.renumber(&numbers);
        Some(view)
    }
}

/// What an attribute is about: its name up to the value, as in `Ulower-1:press` or `w[-1]=press`.
/// Attributes of one line of a template are a family; one that has no value is its own.
fn family(attribute: &str) -> &str {
    attribute.split([':', '=']).next().unwrap_or(attribute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(strings: &[&str]) -> Dictionary {
        let mut dictionary = Dictionary::default();
        strings.iter().for_each(|string| {
            dictionary.insert(string);
        });
        dictionary
    }

    #[test]
    fn every_family_is_left_out_by_one_member() {
        let strings = ["w:a", "w:b", "p=a", "p=b:c", "bias", "s:x", "s:y"];
        let pool = Pool::new(2, &dictionary(&strings), 3);
        assert_eq!(pool.members(), 3);
        let mut corpus = Corpus::new();
        (0..strings.len() as u32).for_each(|attribute| corpus.push(attribute, 1.0));
        corpus.end_position();
        corpus.end_sequence();
        assert!(pool.view(0, &corpus).is_none(), "the first has all");
        let seen = [1, 2].map(|member| {
            let view = pool.view(member, &corpus).expect("a part");
            view.sequence(0).attributes(0).to_vec()
        });
        for (attribute, string) in strings.iter().enumerate() {
            let has = |member: usize| seen[member].contains(&(attribute as u32));
            assert!(has(0) != has(1), "{string}");
            let first = strings.iter().position(|other| family(other) == family(string));
            let first = first.expect("itself at the latest") as u32;
            assert_eq!(has(0), seen[0].contains(&first), "{string} and its family");
        }
        assert!(seen.iter().all(|seen| seen.len() > 1), "{seen:?}");
    }

    #[test]
    fn there_are_no_more_parts_than_families() {
        assert_eq!(Pool::new(5, &dictionary(&["w:a", "w:b", "p:a"]), 0).members(), 3);
        for (parts, strings) in [(3, &["w:a", "w:b"][..]), (3, &[]), (1, &["a", "b", "c"])] {
            let pool = Pool::new(parts, &dictionary(strings), 0);
            assert!(pool.members() == 1 && pool.view(0, &Corpus::new()).is_none());
        }
    }
}
