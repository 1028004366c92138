use std::sync::Arc;

use bethe_core::oracle::chain::Counter;
use bethe_learn::energy::{CountRule, CountRules, Space};

use super::{Form, MOST_SEGMENTS, Relation, Rule, RuleError, RulePenalty, Weight};
use crate::labels::States;

/// Rules as inference and decoding want them: sums over the states of a chain.
///
/// | form | `Σ` over positions | bound |
/// | --- | --- | --- |
/// | linear | the coefficients of the kinds that begin | `≤` or `≥` the rule's |
/// | implies | 1 where `premise` begins, `−M` where `conclusion` does | `≤ 0` |
/// | before | 1 where `first` begins and `second` has begun | `≤ 0` |
///
/// That `second` has begun is a bit of the chain's memory. The sum of *implies* says what the rule
/// says as long as `s(premise) ≤ M`: in energies `M` is the greatest `s(premise)` of the training
/// sequences, which makes the convex relaxation as tight as they allow; in counters it is
/// [`MOST_SEGMENTS`], which no sequence exceeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The states of the chain.
    pub space: Space,
    /// Soft rules and hard rules, each in their order; hard ones bound the expectation.
    pub rules: Arc<CountRules>,
    /// The place of each soft rule among all.
    pub soft: Vec<usize>,
    /// The weight of each soft rule; `None` where it is learned.
    pub given: Vec<Option<f64>>,
    /// Counters that decoding must obey to keep all hard rules. Rules on the same sum share one.
    pub counters: Vec<Counter>,
    /// The counter of each soft rule.
    pub soft_counters: Vec<Counter>,
}

/// Bits of memory that a [`Space`] may have.
const MOST_BITS: usize = 8;

impl Compiled {
    /// The same with another penalty on soft rules.
    pub fn with_penalty(mut self, penalty: RulePenalty) -> Self {
        Arc::make_mut(&mut self.rules).penalty = penalty.energy();
        self
    }

    /// The same without the hard rules.
    pub fn without_hard(mut self) -> Self {
        Arc::make_mut(&mut self.rules).hard.clear();
        self.counters.clear();
        self
    }

    /// Compiles rules, with the smoothed hinge as their penalty. `most` is the greatest number of
    /// segments of each kind in one training sequence, see [`most_segments`](super::most_segments).
    pub fn new(rules: &[Rule], states: &States, most: &[u32]) -> Result<Self, RuleError> {
        if most.len() != states.kinds().len() {
            let expected = states.kinds().len();
            return Err(RuleError::GreatestCounts { found: most.len(), expected });
        }
        for (at, rule) in rules.iter().enumerate() {
            let numbered = |mistake| RuleError::Rule { rule: at, mistake };
            rule.check(states).map_err(numbered)?;
        }
        let counting = Counting::new(rules, states)?;
        let (mut soft, mut given, mut counters, mut soft_counters) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut counted = CountRules {
            states: counting.space.len(),
            penalty: RulePenalty::default().energy(),
            soft: Vec::new(),
            hard: Vec::new(),
        };
        for (at, Rule { form, weight }) in rules.iter().enumerate() {
            let usual = match form {
                Form::Implies { premise, .. } => most[*premise].clamp(1, MOST_SEGMENTS),
                _ => 1,
            };
            let rule = as_count_rule(&counting.counter(form, usual));
            let weight = match weight {
                Weight::Hard => {
                    counted.hard.push(rule);
                    add_counter(&mut counters, counting.counter(form, MOST_SEGMENTS));
                    continue;
                }
                Weight::Given(weight) => Some(*weight),
                Weight::Learned => None,
            };
            counted.soft.push(rule);
            soft_counters.push(counting.counter(form, MOST_SEGMENTS));
            soft.push(at);
            given.push(weight);
        }
        let (space, rules) = (counting.space, Arc::new(counted));
        Ok(Self { space, rules, soft, given, counters, soft_counters })
    }
}

/// Writes rules as counters over the states of a chain.
struct Counting<'a> {
    states: &'a States,
    space: Space,
    /// The kind of each bit.
    remembered: Vec<usize>,
}

impl<'a> Counting<'a> {
    fn new(rules: &[Rule], states: &'a States) -> Result<Self, RuleError> {
        let mut remembered: Vec<usize> = Vec::new();
        for rule in rules {
            if let Form::Before { second, .. } = rule.form
                && !remembered.contains(&second)
            {
                remembered.push(second);
            }
        }
        let begins = |kind| (0..states.len()).map(move |s| states.begins(s).contains(kind));
        let setters = remembered.iter().map(|kind| begins(kind).collect()).collect();
        let too_many = RuleError::TooManyOrders { found: remembered.len(), most: MOST_BITS };
        let space = Space::with_memory(states.len(), setters).ok_or(too_many)?;
        Ok(Self { states, space, remembered })
    }

    /// A rule as one bound of a count; `large` is the `M` of *implies*.
    fn counter(&self, form: &Form, large: u32) -> Counter {
        match form {
            Form::Linear { terms, relation, bound } => {
                let increments = self.increments(|chain_state| self.sum(terms, chain_state));
                let bound = i64::from(*bound);
                let (lowest, highest) = match relation {
                    Relation::AtMost => (i64::MIN, bound),
                    Relation::AtLeast => (bound, i64::MAX),
                };
                Counter { increments, lowest, highest }
            }
            &Form::Implies { premise, conclusion } => {
                let terms = [(premise, 1), (conclusion, -(large as i32))];
                let increments = self.increments(|chain_state| self.sum(&terms, chain_state));
                Counter { increments, lowest: i64::MIN, highest: 0 }
            }
            &Form::Before { first, second } => {
                let increments = self.increments(|chain_state| {
                    let late = self.has_begun(second, chain_state);
                    if late { self.sum(&[(first, 1)], chain_state) } else { 0 }
                });
                Counter { increments, lowest: i64::MIN, highest: 0 }
            }
        }
    }

    fn increments(&self, of: impl Fn(usize) -> i32) -> Vec<i32> {
        (0..self.space.len()).map(of).collect()
    }

    /// The coefficients of the kinds that begin.
    fn sum(&self, terms: &[(usize, i32)], chain_state: usize) -> i32 {
        let begun = self.states.begins(self.space.state(chain_state));
        terms.iter().filter(|(kind, _)| begun.contains(kind)).map(|(_, c)| c).sum()
    }

    /// Whether a segment of the kind began at an earlier position or begins here.
    fn has_begun(&self, kind: usize, chain_state: usize) -> bool {
        let bit = self.remembered.iter().position(|&remembered| remembered == kind);
        let bit = bit.expect("a bit for every kind that comes second");
        self.space.is_set_before(bit, chain_state)
            || self.states.begins(self.space.state(chain_state)).contains(&kind)
    }
}

/// The rule of an energy; the counter has one bound.
fn as_count_rule(counter: &Counter) -> CountRule {
    let (sign, bound) = match (counter.lowest, counter.highest) {
        (lowest, i64::MAX) => (-1.0, -lowest),
        (_, highest) => (1.0, highest),
    };
    let counted = counter.increments.iter().enumerate().filter(|&(_, &increment)| increment != 0);
    CountRule::at_most(bound as f64, counted.map(|(state, &a)| (state, sign * f64::from(a))))
}

/// Adds a counter, or its bounds to an existing one with the same or negated increments, since
/// every counter makes decoding slower.
pub(crate) fn add_counter(counters: &mut Vec<Counter>, counter: Counter) {
    for known in counters.iter_mut() {
        let same = known.increments == counter.increments;
        let opposite = known.increments.iter().zip(&counter.increments).all(|(a, b)| *a == -b);
        let bounds = match (same, opposite) {
            (true, _) => (counter.lowest, counter.highest),
            (_, true) => (negated(counter.highest), negated(counter.lowest)),
            _ => continue,
        };
        known.lowest = known.lowest.max(bounds.0);
        known.highest = known.highest.min(bounds.1);
        return;
    }
    counters.push(counter);
}

/// The bound of the negated total; none stays none.
fn negated(bound: i64) -> i64 {
    match bound {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        bound => -bound,
    }
}
