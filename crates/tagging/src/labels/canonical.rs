use std::borrow::Cow;

use super::Scheme;
use super::segments::{Levels, canonical_role};
use super::tag::{Role, Tag, inside};

/// A token in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical<'a> {
    /// The label that is written for it.
    pub label: Cow<'a, str>,
    /// Its role at each level that the label has.
    pub roles: Vec<Role>,
}

/// The canonical form of a sequence: the same [segments](super::segments) in the scheme's own tags.
///
/// Labels of [`Scheme::Io`] and [`Scheme::Plain`] do not change. In the others, `I-x` that begins a
/// segment becomes `B-x`, and iobes and bilou mark ends and single tokens, each with its own letters.
pub fn canonical<'a>(scheme: Scheme, labels: &[&'a str]) -> Vec<Canonical<'a>> {
    let levels = Levels::all(scheme, labels);
    let canonical = |(t, &label): (usize, &&'a str)| {
        let tags = levels.tags(t);
        let roles: Vec<Role> = (0..tags.len())
            .map(|level| {
                let goes_on = levels.goes_on(t, level);
                canonical_role(scheme, tags[level], levels.begins(t)[level], goes_on)
            })
            .collect();
        let as_it_is = matches!(scheme, Scheme::Io | Scheme::Plain)
            || tags.iter().zip(&roles).all(|(tag, &role)| tag.is_written(scheme, role));
        let label = match as_it_is {
            true => Cow::Borrowed(label),
            false => Cow::Owned(written(scheme, label, tags, &roles)),
        };
        Canonical { label, roles }
    };
    labels.iter().enumerate().map(canonical).collect()
}

fn written(scheme: Scheme, stated: &str, tags: &[Tag<'_>], roles: &[Role]) -> String {
    let mut label = String::new();
    for (tag, &role) in tags.iter().zip(roles) {
        if !label.is_empty() {
            label.push(':');
        }
        if !tag.is_bare() {
            label.extend([scheme.letter(role), '-']);
        }
        label.push_str(tag.name);
    }
    label + &stated[inside(stated).len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_outside_at_an_inner_level_leave_the_outer_segment_whole() {
        let labels =
            ["B-a:B-p:B-l", "I-a:I-p:I-f", "I-a:O", "I-a:B-p:B-l", "O", "I-a:O", "I-b:O:O"];
        let found: Vec<_> =
            canonical(Scheme::Bio, &labels).into_iter().map(|token| token.label).collect();
        let expected =
            ["B-a:B-p:B-l", "I-a:I-p:B-f", "I-a:O", "I-a:B-p:B-l", "O", "B-a:O", "B-b:O:O"];
        assert_eq!(found, expected);
    }
}
