use std::collections::{HashMap, HashSet};

use bethe_learn::crf::Borders;
use serde::{Deserialize, Serialize};

use super::stored::{Stored, StoredState};
use super::tag::{OUTSIDE, Role, read};
use super::{Canonical, LabelError, Scheme, canonical};

/// The states of the chain behind labels: the distinct tokens of canonical training sequences, in
/// order of first appearance.
///
/// A state is a label and its role at each level. Only [`Scheme::Io`] has several states per label,
/// even if training sequences do not have all of them: one that begins a segment and one that
/// continues it (for a hierarchical label, one per level from which segments begin).
///
/// Learned states have a path of every length, except for [`Scheme::Iobes`] and [`Scheme::Bilou`]:
/// without `O` or `S-x`, a single token has none. States from a file may have none at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct States {
    pub(super) scheme: Scheme,
    pub(super) states: Vec<State>,
    pub(super) kinds: Vec<SegmentKind>,
    /// The states of each label.
    pub(super) written: HashMap<String, Vec<usize>>,
    /// The states of each path of names from the top, whatever their roles.
    pub(super) paths: HashMap<Vec<String>, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub label: String,
    /// The role and the kind of segment of each level.
    pub tags: Vec<(Role, usize)>,
    /// The kinds of segments that begin.
    pub begins: Vec<usize>,
}

/// A kind of segment: all those of one name at one level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentKind {
    /// How deep, from 0.
    pub level: usize,
    /// The tag without prefix.
    pub name: String,
}

impl States {
    /// The states of training sequences.
    pub fn learn<'a, L: AsRef<[&'a str]>>(
        scheme: Scheme,
        sequences: impl IntoIterator<Item = L>,
    ) -> Result<Self, LabelError> {
        let mut seen: HashSet<String> = HashSet::new();
        let mut states: Vec<StoredState> = Vec::new();
        for (sequence, labels) in sequences.into_iter().enumerate() {
            let labels = labels.as_ref();
            if let Some(position) = labels.iter().position(|label| label.is_empty()) {
                return Err(LabelError::EmptyLabel { sequence, position });
            }
            for token in canonical(scheme, labels) {
                if !seen.contains(token.label.as_ref()) {
                    seen.insert(token.label.to_string());
                    states.extend(written_alike(scheme, token));
                }
            }
        }
        Stored { scheme, states }.try_into()
    }

    /// The scheme of the labels.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The number of states, at least 1.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Always false: there is at least one state.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The label that is written for a state.
    pub fn label(&self, state: usize) -> &str {
        &self.states[state].label
    }

    /// The labels of all states, each once.
    pub fn labels(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let labels = self.states.iter().map(|state| &state.label);
        labels.filter(|label| seen.insert(*label)).cloned().collect()
    }

    /// The role of a state at a level.
    pub fn role(&self, state: usize, level: usize) -> Role {
        self.states[state].tags.get(level).map_or(Role::Outside, |&(role, _)| role)
    }

    /// The role and the name of a state's tag at each level, from the top.
    pub fn tags(&self, state: usize) -> impl DoubleEndedIterator<Item = (Role, &str)> {
        self.states[state].tags.iter().map(|&(role, kind)| (role, self.kinds[kind].name.as_str()))
    }

    /// The level of a state's last tag; 0 if it has none.
    pub fn leaf_level(&self, state: usize) -> usize {
        self.states[state].tags.len().saturating_sub(1)
    }

    /// The states of a sequence of labels in canonical form.
    pub fn encode(&self, labels: &[&str]) -> Result<Vec<usize>, LabelError> {
        let state = |(position, token): (usize, Canonical<'_>)| {
            let same_roles = |&&state: &&usize| {
                self.states[state].tags.iter().map(|(role, _)| role).eq(&token.roles)
            };
            let states = self.written.get(token.label.as_ref());
            states.and_then(|states| states.iter().find(same_roles)).copied().ok_or_else(|| {
                LabelError::UnknownLabel { label: token.label.to_string(), position }
            })
        };
        canonical(self.scheme, labels).into_iter().enumerate().map(state).collect()
    }

    /// The states written as this label. If there are none and the scheme has such labels, the
    /// states that differ only in their roles: `B-x` for `I-x`, if training sequences had `x` only
    /// on single tokens. Empty if there are none either.
    pub fn matching(&self, label: &str) -> &[usize] {
        let names = || read(self.scheme, label).map(|tag| tag.name.to_string()).collect::<Vec<_>>();
        let alike = || self.scheme.reads(label).then(|| self.paths.get(&names())).flatten();
        self.written.get(label).or_else(alike).map_or(&[], Vec::as_slice)
    }

    /// The labels of a segment's tokens, as the scheme writes them; an empty name is outside of all
    /// segments. `None` if the model has no such labels.
    pub fn segment_labels(&self, name: &str, length: usize) -> Option<Vec<String>> {
        let role = |t: usize| match (t == 0, t + 1 == length) {
            (true, true) if self.scheme.marks_ends() => Role::Single,
            (false, true) if self.scheme.marks_ends() => Role::End,
            (true, _) if self.scheme != Scheme::Io => Role::Begin,
            _ => Role::Inside,
        };
        let prefixed = |t: usize| format!("{}-{name}", self.scheme.letter(role(t)));
        let is_known = |label: &String| !self.matching(label).is_empty();
        let label = |t: usize| match self.scheme {
            _ if name.is_empty() => Some(OUTSIDE.to_string()).filter(is_known),
            Scheme::Io => [prefixed(t), name.to_string()].into_iter().find(is_known),
            Scheme::Plain => Some(name.to_string()).filter(is_known),
            _ => Some(prefixed(t)).filter(is_known),
        };
        (0..length).map(label).collect()
    }

    /// Whether a sequence may start in this state.
    pub fn may_start(&self, state: usize) -> bool {
        self.states[state].tags.iter().all(|(role, _)| role.begins())
    }

    /// Whether a sequence may end in this state.
    pub fn may_end(&self, state: usize) -> bool {
        !self.scheme.marks_ends() || self.states[state].tags.iter().all(|(role, _)| !role.open())
    }

    /// The states that cannot stand at the ends of a sequence.
    pub(crate) fn borders(&self) -> Borders {
        Borders {
            not_first: (0..self.len()).map(|state| !self.may_start(state)).collect(),
            not_last: (0..self.len()).map(|state| !self.may_end(state)).collect(),
        }
    }

    /// Whether the scheme allows `after` directly after `before`, at every level.
    pub fn may_follow(&self, before: usize, after: usize) -> bool {
        let (before, after) = (&self.states[before].tags, &self.states[after].tags);
        let mut begun_above = false;
        (0..before.len().max(after.len())).all(|level| {
            let open = before.get(level).filter(|(role, _)| role.open()).map(|&(_, kind)| kind);
            let Some(&(role, kind)) = after.get(level) else {
                return !self.scheme.marks_ends() || open.is_none();
            };
            let allowed = match self.scheme {
                _ if !role.begins() => !begun_above && open == Some(kind),
                // Without a beginning above, the two runs would be read as one.
                Scheme::Io => begun_above || open != Some(kind),
                Scheme::Iobes | Scheme::Bilou => open.is_none(),
                Scheme::Bio | Scheme::Plain => true,
            };
            begun_above |= role.begins();
            allowed
        })
    }

    /// The kinds of segments that can be counted.
    pub fn kinds(&self) -> &[SegmentKind] {
        &self.kinds
    }

    /// The kinds of which a segment begins where the chain enters this state.
    pub fn begins(&self, state: usize) -> &[usize] {
        &self.states[state].begins
    }
}

/// The state of a token, and for [`Scheme::Io`] all others written as the same label, since a seen
/// label must have a state at every place.
fn written_alike(scheme: Scheme, token: Canonical<'_>) -> Vec<StoredState> {
    let label = token.label.into_owned();
    if scheme != Scheme::Io {
        return vec![StoredState { label, roles: token.roles }];
    }
    let levels = token.roles.len();
    let beginning_at = |level| StoredState {
        label: label.clone(),
        roles: [vec![Role::Inside; level], vec![Role::Begin; levels - level]].concat(),
    };
    (0..=levels).map(beginning_at).collect()
}
