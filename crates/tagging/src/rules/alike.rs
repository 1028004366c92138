use super::{Occurrences, Rule};
use crate::labels::States;

/// Share of the sequences that break either of two rules which break both, if they say the same.
const NEARLY_ALL: f64 = 0.8;

/// Which rules say the same of some sequences: the place of the first of its group for each rule.
///
/// Where every reference has one author, `s(author) + s(title) ≤ 2` says of nearly all labels what
/// `s(title) ≤ 1` says. Earlier rules lead; a rule that no sequence breaks says nothing and is a
/// group of its own.
pub fn alike<P: AsRef<[usize]>>(
    rules: &[Rule],
    states: &States,
    paths: impl IntoIterator<Item = P>,
) -> Vec<usize> {
    let all: Vec<Occurrences> =
        paths.into_iter().map(|path| Occurrences::of(states, path.as_ref())).collect();
    let broken: Vec<Vec<bool>> =
        rules.iter().map(|rule| all.iter().map(|one| !rule.holds(one)).collect()).collect();
    let mut leaders: Vec<usize> = Vec::new();
    let mut groups = Vec::with_capacity(rules.len());
    for (at, own) in broken.iter().enumerate() {
        let leader = leaders.iter().copied().find(|&leader| are_alike(own, &broken[leader]));
        if leader.is_none() {
            leaders.push(at);
        }
        groups.push(leader.unwrap_or(at));
    }
    groups
}

fn are_alike(a: &[bool], b: &[bool]) -> bool {
    let count = |of: fn(bool, bool) -> bool| a.iter().zip(b).filter(|&(&a, &b)| of(a, b)).count();
    let (both, either) = (count(|a, b| a && b), count(|a, b| a || b));
    either > 0 && both as f64 >= NEARLY_ALL * either as f64
}

#[cfg(test)]
mod tests {
    use super::super::{Form, Relation};
    use super::*;
    use crate::labels::Scheme;

    #[test]
    fn rules_that_the_same_sequences_break_are_alike() {
        let labels = [
            &["B-author", "B-title"][..],
            &["B-author", "B-title", "B-title"],
            &["B-author", "B-title", "O", "B-title"],
            &["B-author", "B-author", "B-author", "B-title"],
        ];
        let states = States::learn(Scheme::Bio, labels).unwrap();
        let paths = labels.map(|labels| states.encode(labels).unwrap());
        let kind = |name: &str| states.kinds().iter().position(|kind| kind.name == name).unwrap();
        let (author, title) = (kind("author"), kind("title"));
        let at_most = |terms: &[(usize, i32)], bound| {
            Rule::learned(Form::linear(terms.to_vec(), Relation::AtMost, bound))
        };
        let rules = [
            at_most(&[(title, 1)], 1),
            at_most(&[(author, 1)], 1),
            at_most(&[(title, 1), (author, -1)], 0),
            at_most(&[(title, 1)], 3),
            at_most(&[(title, 1)], 4),
        ];
        assert_eq!(alike(&rules, &states, &paths), [0, 1, 0, 3, 4]);
    }
}
