use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Form, Occurrences, Relation, Rule};
use crate::labels::States;

/// Which rules to keep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pruning {
    /// The least importance: predictions that break a rule per true sequence that does.
    pub threshold: f64,
    /// The least number of predictions that break it.
    pub least: usize,
}

impl Default for Pruning {
    fn default() -> Self {
        Self { threshold: 1.5, least: 3 }
    }
}

/// A rule and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The rule.
    pub rule: Rule,
    /// True sequences that break it.
    pub truth: usize,
    /// Predicted sequences that break it.
    pub predicted: usize,
    /// Whether it stays.
    pub verdict: Verdict,
}

/// Whether a rule stays, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It stays.
    Kept,
    /// Hardly any prediction breaks it.
    Rare,
    /// The truth breaks it about as often as predictions do.
    Unimportant,
    /// The same predictions break the kept rule of this index, which implies it or follows from it.
    Covered(usize),
}

impl Judged {
    /// Violations by predictions over those by the truth: infinite where the truth keeps the rule,
    /// 0 where predictions do.
    pub fn importance(&self) -> f64 {
        if self.predicted == 0 { 0.0 } else { self.predicted as f64 / self.truth as f64 }
    }

    /// Whether it stays.
    pub fn is_kept(&self) -> bool {
        self.verdict == Verdict::Kept
    }
}

/// Judges rules, in their order, by how often the truth and predictions break them; `outcomes` are
/// the paths of both for each sequence.
///
/// If two rules are broken by exactly the same predictions and one follows from the other, one
/// stays: the one that the truth breaks less often, else the one on fewer kinds, else the tighter.
/// So of `s(i) ≤ 1, 2, 3`, broken only by predictions with `s(i) > 3`, the tightest that the truth
/// keeps stays; and `s(i) ≤ 1` stays rather than `s(i) + s(j) ≤ 1` for every irrelevant `j`.
pub fn prune<T: AsRef<[usize]>, P: AsRef<[usize]>>(
    rules: &[Rule],
    states: &States,
    outcomes: impl IntoIterator<Item = (T, P)>,
    pruning: &Pruning,
) -> Vec<Judged> {
    let of = |path: &[usize]| Occurrences::of(states, path);
    let (truth, predicted): (Vec<Occurrences>, Vec<Occurrences>) =
        outcomes.into_iter().map(|(truth, path)| (of(truth.as_ref()), of(path.as_ref()))).unzip();
    let mut groups: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
    let mut judged: Vec<Judged> = Vec::with_capacity(rules.len());
    for (index, rule) in rules.iter().enumerate() {
        let broken = |sequence: &usize| !rule.holds(&predicted[*sequence]);
        let broken: Vec<usize> = (0..predicted.len()).filter(broken).collect();
        let mut rule = Judged {
            rule: rule.clone(),
            truth: truth.iter().filter(|occurrences| !rule.holds(occurrences)).count(),
            predicted: broken.len(),
            verdict: Verdict::Kept,
        };
        if rule.predicted < pruning.least {
            rule.verdict = Verdict::Rare;
        } else if rule.importance() < pruning.threshold {
            rule.verdict = Verdict::Unimportant;
        } else {
            groups.entry(broken).or_default().push(index);
        }
        judged.push(rule);
    }
    groups.into_values().for_each(|group| cover(&mut judged, group));
    judged
}

/// Drops rules that are redundant among those broken by the same predictions.
fn cover(judged: &mut [Judged], mut group: Vec<usize>) {
    let forms: HashMap<usize, AtMost> =
        group.iter().map(|&rule| (rule, AtMost::of(&judged[rule].rule.form))).collect();
    group.sort_by_key(|rule| {
        let form = &forms[rule];
        (judged[*rule].truth, form.kinds(), -form.tightness(), *rule)
    });
    let mut kept: Vec<usize> = Vec::new();
    for rule in group {
        let form = &forms[&rule];
        let related = |&&other: &&usize| {
            let other = &forms[&other];
            other.implies(form) || form.implies(other)
        };
        match kept.iter().find(related) {
            Some(&other) => judged[rule].verdict = Verdict::Covered(other),
            None => kept.push(rule),
        }
    }
}

/// A linear rule as `Σ c_i s(i) ≤ bound`; any other by itself.
#[derive(PartialEq)]
enum AtMost {
    Linear { terms: HashMap<usize, i64>, bound: i64 },
    Other(Form),
}

impl AtMost {
    fn of(form: &Form) -> Self {
        let Form::Linear { terms, relation, bound } = form else {
            return Self::Other(form.clone());
        };
        let sign = if *relation == Relation::AtMost { 1 } else { -1 };
        Self::Linear {
            terms: terms.iter().map(|&(kind, c)| (kind, sign * i64::from(c))).collect(),
            bound: sign * i64::from(*bound),
        }
    }

    /// How many kinds are counted.
    fn kinds(&self) -> usize {
        match self {
            Self::Linear { terms, .. } => terms.len(),
            Self::Other(_) => 2,
        }
    }

    /// `Σ c − bound`: greater than that of any other rule that follows.
    fn tightness(&self) -> i64 {
        match self {
            Self::Linear { terms, bound } => terms.values().sum::<i64>() - bound,
            Self::Other(_) => 0,
        }
    }

    /// Whether the other rule follows, counts being at least 0: its coefficients are no greater,
    /// its bound no less.
    fn implies(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Linear { terms: a, bound }, Self::Linear { terms: b, bound: wider }) => {
                let coefficient = |kind| a.get(kind).copied().unwrap_or(0);
                bound <= wider
                    && b.iter().all(|(kind, &c)| c <= coefficient(kind))
                    && a.iter().all(|(kind, &c)| c >= 0 || b.contains_key(kind))
            }
            _ => self == other,
        }
    }
}
