//! An explanation in words.

use super::decode::HardRules;
use super::{Active, Tagged};
use crate::model::Tagger;
use crate::rules::{Form, Relation};

impl Tagger {
    /// Lines about the rules that were active, and the labels they changed, of what was tagged with
    /// [`TagOptions::explain`](crate::TagOptions::explain).
    pub fn explanation(&self, tagged: &Tagged) -> Vec<String> {
        let pulls = pulls(self, tagged);
        let broken = tagged.broken.iter().map(|&broken| {
            let words = self.parts().rules[broken].in_words(self.states());
            let why = match tagged.hard {
                HardRules::NotFound => "found no labels that keep all hard rules",
                _ => "no sequence of labels keeps all hard rules",
            };
            format!("{words}: broken, {why}")
        });
        let labels = tagged.plain.iter().zip(&tagged.best[0].0).enumerate();
        let changed = labels.filter_map(|(t, (before, after))| {
            let [before, after] = [before, after].map(|&state| self.states().label(state));
            (before != after).then(|| format!("token {}: {before} -> {after}", t + 1))
        });
        pulls.into_iter().chain(broken).chain(changed).collect()
    }
}

/// What rules changed, a line for each group of those that say the same.
fn pulls(tagger: &Tagger, tagged: &Tagged) -> Vec<String> {
    // The group, the line of its strongest rule, and how many others pull.
    let mut lines: Vec<(usize, String, usize)> = Vec::new();
    for active in &tagged.active {
        let Some(line) = pull(tagger, active) else { continue };
        let group = tagger.group_of(active.rule);
        match lines.iter_mut().find(|(own, ..)| *own == group) {
            Some((_, _, others)) => *others += 1,
            None => lines.push((group, line, 0)),
        }
    }
    let shown = |(_, line, others): (usize, String, usize)| match others {
        0 => line,
        1 => format!("{line} (and a rule that says the same)"),
        others => format!("{line} (and {others} rules that say the same)"),
    };
    lines.into_iter().map(shown).collect()
}

/// What a rule changed, if it shows in two decimals.
fn pull(tagger: &Tagger, active: &Active) -> Option<String> {
    let rule = &tagger.parts().rules[active.rule];
    let words = rule.in_words(tagger.states());
    let excesses = [active.excess_before, active.excess_after];
    // Avoid printing −0.00.
    let shown = |value: f64| {
        let sign = if value <= -0.005 { "−" } else { "" };
        format!("{sign}{:.2}", value.abs())
    };
    match rule.form {
        Form::Linear { relation, bound, .. } => {
            let expected = excesses.map(|excess| match relation {
                Relation::AtMost => f64::from(bound) + excess,
                Relation::AtLeast => f64::from(bound) - excess,
            });
            let [before, after] = expected.map(shown);
            (before != after).then(|| match rule.form.sum_in_words(tagger.states()) {
                Some(sum) => {
                    format!("{words}: expected {sum}: {before} without rules, {after} with")
                }
                None => format!("{words}: {before} expected without rules, {after} with"),
            })
        }
        Form::Implies { .. } | Form::Before { .. } => {
            let [before, after] = excesses.map(|excess| shown(excess.max(0.0)));
            (before != after).then(|| {
                format!("{words}: broken by {before} segments without rules, by {after} with")
            })
        }
    }
}
