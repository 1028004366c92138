use std::collections::HashMap;

use bethe_learn::crf::MOST_STATES;
use serde::{Deserialize, Serialize};

use super::states::{SegmentKind, State, States};
use super::tag::{Role, Tag, read};
use super::{LabelError, Scheme};

/// What a model file stores of [`States`]; the rest follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub scheme: Scheme,
    pub states: Vec<StoredState>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredState {
    pub label: String,
    pub roles: Vec<Role>,
}

impl From<States> for Stored {
    fn from(states: States) -> Self {
        let stored = |state: State| StoredState {
            label: state.label,
            roles: state.tags.into_iter().map(|(role, _)| role).collect(),
        };
        Self { scheme: states.scheme, states: states.states.into_iter().map(stored).collect() }
    }
}

impl TryFrom<Stored> for States {
    type Error = LabelError;

    fn try_from(stored: Stored) -> Result<Self, LabelError> {
        let scheme = stored.scheme;
        if stored.states.is_empty() {
            return Err(LabelError::NoLabels);
        }
        if stored.states.len() > MOST_STATES {
            return Err(LabelError::TooManyStates { found: stored.states.len() });
        }
        let mut kinds: Vec<SegmentKind> = Vec::new();
        let mut kind_numbers: HashMap<(usize, String), usize> = HashMap::new();
        let mut distinct = HashMap::new();
        let mut written: HashMap<String, Vec<usize>> = HashMap::new();
        let mut paths: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        let mut states = Vec::with_capacity(stored.states.len());
        for (number, StoredState { label, roles }) in stored.states.into_iter().enumerate() {
            let names = check(scheme, number, &label, &roles)?;
            if let Some(earlier) = distinct.insert((label.clone(), roles.clone()), number) {
                return Err(LabelError::RepeatedState { state: number, earlier });
            }
            let mut kind = |(level, name): (usize, &String)| {
                *kind_numbers.entry((level, name.clone())).or_insert_with(|| {
                    kinds.push(SegmentKind { level, name: name.clone() });
                    kinds.len() - 1
                })
            };
            let of_levels = names.iter().enumerate().map(&mut kind);
            let tags: Vec<(Role, usize)> = roles.into_iter().zip(of_levels).collect();
            let begins = tags.iter().filter(|(role, _)| role.begins()).map(|&(_, kind)| kind);
            let begins = begins.collect();
            written.entry(label.clone()).or_default().push(number);
            paths.entry(names).or_default().push(number);
            states.push(State { label, tags, begins });
        }
        Ok(Self { scheme, states, kinds, written, paths })
    }
}

/// The names of a state's levels, if its roles are some that canonical sequences have.
fn check(
    scheme: Scheme,
    state: usize,
    label: &str,
    roles: &[Role],
) -> Result<Vec<String>, LabelError> {
    if label.is_empty() {
        return Err(LabelError::StateWithoutLabel { state });
    }
    let tags: Vec<Tag<'_>> = read(scheme, label).collect();
    if tags.len() != roles.len() {
        let (found, expected) = (roles.len(), tags.len());
        return Err(LabelError::RoleCount { state, label: label.to_string(), found, expected });
    }
    let mut above = None;
    for (level, (tag, &role)) in tags.iter().zip(roles).enumerate() {
        if !fits_tag(scheme, tag, role)
            || !above.is_none_or(|above| fits_above(scheme, above, role))
        {
            let label = label.to_string();
            return Err(LabelError::WrongRole { state, label, level, found: role, scheme });
        }
        above = Some(role);
    }
    Ok(tags.iter().map(|tag| tag.name.to_string()).collect())
}

fn fits_tag(scheme: Scheme, tag: &Tag<'_>, role: Role) -> bool {
    match scheme {
        Scheme::Plain => role == Role::Single,
        Scheme::Io => role.open(),
        Scheme::Bio => role == tag.role && (tag.is_bare() || role.open()),
        Scheme::Iobes | Scheme::Bilou => role == tag.role && tag.is_written(scheme, role),
    }
}

/// A segment lies within the one above it.
fn fits_above(scheme: Scheme, above: Role, role: Role) -> bool {
    let begins = role.begins() || !above.begins();
    let ends = !scheme.marks_ends() || !role.open() || above.open();
    begins && ends
}
