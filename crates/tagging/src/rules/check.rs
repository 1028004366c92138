use super::{Form, Relation, Rule, RuleMistake, Weight};
use crate::labels::States;

/// The largest bound of a rule; no sequence has this many segments of one kind.
pub const MOST_SEGMENTS: u32 = 10_000;

/// The largest coefficient of a rule.
pub const MOST_COEFFICIENT: u32 = 100;

/// The largest weight of a soft rule; compared with scores it is practically infinite.
pub const MOST_WEIGHT: f64 = 1e6;

impl Rule {
    /// Checks that the rule is valid for these states. Everything else here assumes it.
    pub fn check(&self, states: &States) -> Result<(), RuleMistake> {
        match self.weight {
            Weight::Given(found) if !(0.0..=MOST_WEIGHT).contains(&found) => {
                return Err(RuleMistake::Weight { found });
            }
            _ => {}
        }
        let kinds = states.kinds().len();
        let known = |found| {
            let unknown = RuleMistake::UnknownKind { found, kinds };
            if found < kinds { Ok(()) } else { Err(unknown) }
        };
        match &self.form {
            Form::Linear { terms, relation, bound } => {
                terms.iter().try_for_each(|&(kind, _)| known(kind))?;
                linear(terms, *relation, *bound)
            }
            &Form::Implies { premise: a, conclusion: b }
            | &Form::Before { first: a, second: b } => {
                known(a)?;
                known(b)?;
                if a == b { Err(RuleMistake::SameKind { kind: a }) } else { Ok(()) }
            }
        }
    }
}

fn linear(terms: &[(usize, i32)], relation: Relation, bound: u32) -> Result<(), RuleMistake> {
    if terms.is_empty() {
        return Err(RuleMistake::NoTerms);
    }
    if let Some(pair) = terms.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(RuleMistake::KindOrder { found: pair[1].0, before: pair[0].0 });
    }
    let is_small = |c: i32| c != 0 && c.unsigned_abs() <= MOST_COEFFICIENT;
    if let Some(&(_, found)) = terms.iter().find(|&&(_, c)| !is_small(c)) {
        return Err(RuleMistake::Coefficient { found });
    }
    if bound > MOST_SEGMENTS {
        return Err(RuleMistake::Bound { found: bound });
    }
    let (rises, falls) = (terms.iter().any(|term| term.1 > 0), terms.iter().any(|term| term.1 < 0));
    match relation {
        Relation::AtMost if !rises => Err(RuleMistake::AlwaysHolds),
        Relation::AtLeast if bound == 0 && !falls => Err(RuleMistake::AlwaysHolds),
        Relation::AtLeast if bound > 0 && !rises => Err(RuleMistake::NeverHolds),
        _ => Ok(()),
    }
}
