//! Which rules pulled at the labels.

use bethe_learn::energy::{CountRule, Inferred};

use super::tagged::Active;
use crate::model::Tagger;

/// The soft rules that pull at the answer, the strongest first, and hard rules that are tight.
pub(super) fn active(tagger: &Tagger, found: &Inferred) -> Vec<Active> {
    let compiled = &tagger.compiled;
    let rules = &compiled.rules;
    let excess = |rule: &CountRule, counts: &[f64]| 1.0 - rule.measure(counts);
    let of = |at: usize, rule, pull: f64| {
        let excess_before = excess(rule, &found.base.marginals);
        let excess_after = excess(rule, &found.counts);
        (pull, Active { rule: at, excess_before, excess_after })
    };
    let soft = compiled.soft.iter().zip(&rules.soft).zip(&found.multipliers);
    let soft = soft.map(|((&at, rule), &multiplier)| of(at, rule, -multiplier));
    let hard = tagger.hard_rules().zip(&rules.hard).map(|(at, rule)| {
        let tight = excess(rule, &found.base.marginals) > 0.0;
        of(at, rule, if tight { f64::INFINITY } else { 0.0 })
    });
    let mut active: Vec<(f64, Active)> =
        soft.chain(hard).filter(|(pull, _)| *pull > 1e-6).collect();
    active.sort_by(|a, b| b.0.total_cmp(&a.0));
    active.into_iter().map(|(_, active)| active).collect()
}
