use super::{Form, Occurrences, Relation, Rule};
use crate::labels::States;

/// Default share of training sequences that must keep a rule.
pub const LEAST_SHARE: f64 = 0.9;

/// Bounds of sums and differences go up to here.
const MOST: u32 = 3;

/// Rules that training sequences suggest.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// Those that enough sequences keep, in a fixed order.
    pub rules: Vec<Rule>,
    /// How many were considered.
    pub considered: usize,
}

/// Proposes rules on the kinds that training sequences have: of one kind `s(i) ≤ 1` and
/// `s(i) ≥ 1`, of two kinds `s(i) + s(j)` and `s(i) − s(j)`, `≤` and `≥` each of 0 to 3.
///
/// Each inequality occurs once. Those that cannot be broken are left out, and so are those that
/// fewer than `least_share` of the sequences keep. Equality of two counts is the pair `s(i) − s(j)
/// ≤ 0` and `≥ 0`, for kinds of any level. For `n` kinds, `2n + 21n(n − 1)/2` are considered.
///
/// Reference: Anzaroot et al. 2014, *Learning Soft Linear Constraints with Application to Citation
/// Field Extraction*, the families of singletons, pairs and hierarchical equalities. Differs: the
/// early cut by share, so that [`prune`](super::prune()) has thousands of rules to judge and not
/// tens of thousands.
pub fn generate<P: AsRef<[usize]>>(
    states: &States,
    truth: impl IntoIterator<Item = P>,
    least_share: f64,
) -> Candidates {
    let mut counts: Vec<Vec<u32>> = vec![Vec::new(); states.kinds().len()]; // [kinds][sequences]
    for path in truth {
        let occurrences = Occurrences::of(states, path.as_ref());
        for (kind, counts) in counts.iter_mut().enumerate() {
            counts.push(occurrences.count(kind));
        }
    }
    let seen = |&kind: &usize| counts[kind].iter().any(|&count| count > 0);
    let seen: Vec<usize> = (0..counts.len()).filter(seen).collect();
    let mut family = Family {
        counts: &counts,
        // The share of n sequences, without rounding errors.
        least: least_share * counts.first().map_or(0, Vec::len) as f64 - 1e-9,
        generated: Candidates { rules: Vec::new(), considered: 0 },
    };
    for &i in &seen {
        family.add(&[(i, 1)], 1..=1, 1..=1);
    }
    for (place, &i) in seen.iter().enumerate() {
        for &j in &seen[place + 1..] {
            family.add(&[(i, 1), (j, 1)], 0..=MOST, 1..=MOST);
            family.add(&[(i, 1), (j, -1)], 0..=MOST, 0..=MOST);
            // With bound 0 the other way round is the same.
            family.add(&[(i, -1), (j, 1)], 1..=MOST, 1..=MOST);
        }
    }
    family.generated
}

/// What is generated, and what from.
struct Family<'a> {
    counts: &'a [Vec<u32>],
    /// Sequences that must keep to a rule.
    least: f64,
    generated: Candidates,
}

impl Family<'_> {
    fn add(
        &mut self,
        terms: &[(usize, i32)],
        at_most: std::ops::RangeInclusive<u32>,
        at_least: std::ops::RangeInclusive<u32>,
    ) {
        let tally = self.tally(terms);
        let at_most = at_most.map(|bound| (Relation::AtMost, bound));
        let at_least = at_least.map(|bound| (Relation::AtLeast, bound));
        for (relation, bound) in at_most.chain(at_least) {
            let kept: usize = tally
                .iter()
                .zip(-OUTER..=OUTER)
                .filter(|&(_, value)| relation.holds(value, bound))
                .map(|(sequences, _)| sequences)
                .sum();
            self.generated.considered += 1;
            if kept as f64 >= self.least {
                let form = Form::linear(terms.iter().copied(), relation, bound);
                self.generated.rules.push(Rule::learned(form));
            }
        }
    }

    /// How many sequences have each value of the left side, from −4 or less to 4 or more: one pass
    /// serves all bounds.
    fn tally(&self, terms: &[(usize, i32)]) -> [usize; 2 * OUTER as usize + 1] {
        let mut tally = [0; 2 * OUTER as usize + 1];
        for sequence in 0..self.counts.first().map_or(0, Vec::len) {
            let counted =
                |&(kind, c): &(usize, i32)| i64::from(c) * i64::from(self.counts[kind][sequence]);
            let value: i64 = terms.iter().map(counted).sum();
            tally[(value.clamp(-OUTER, OUTER) + OUTER) as usize] += 1;
        }
        tally
    }
}

/// Values beyond all bounds need not be told apart.
const OUTER: i64 = MOST as i64 + 1;
