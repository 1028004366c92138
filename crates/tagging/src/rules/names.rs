use crate::labels::States;

/// The name of a kind in files and messages: its own, or `level:name` (levels count from 0) if
/// several levels have it.
pub fn kind_name(states: &States, kind: usize) -> String {
    let name = &states.kinds()[kind].name;
    if find_kind(states, name) == Ok(kind) { name.clone() } else { with_level(states, kind) }
}

/// Why a name is not a kind.
#[derive(Debug, PartialEq)]
pub(super) enum Unclear {
    /// It is unknown; these are similar, the most similar first.
    Unknown(Vec<String>),
    /// It is ambiguous; the kinds are written like this.
    Ambiguous(Vec<String>),
}

/// Known kinds that are named where one is unknown.
const SUGGESTIONS: usize = 5;

/// The kind of a name. `level:name` takes precedence over names that look like it, so that every
/// kind can be written.
pub(super) fn find_kind(states: &States, text: &str) -> Result<usize, Unclear> {
    let kinds = states.kinds();
    let level_and_name = text.split_once(':').and_then(|(level, name)| {
        let level: usize = level.parse().ok()?;
        kinds.iter().position(|kind| kind.level == level && kind.name == name)
    });
    if let Some(kind) = level_and_name {
        return Ok(kind);
    }
    let named: Vec<usize> = (0..kinds.len()).filter(|&kind| kinds[kind].name == text).collect();
    match named[..] {
        [kind] => Ok(kind),
        [] => {
            let mut known: Vec<String> = (0..kinds.len()).map(|k| kind_name(states, k)).collect();
            known.sort_by_cached_key(|name| changes(text, name));
            known.truncate(SUGGESTIONS);
            Err(Unclear::Unknown(known))
        }
        _ => Err(Unclear::Ambiguous(named.iter().map(|&kind| with_level(states, kind)).collect())),
    }
}

fn with_level(states: &States, kind: usize) -> String {
    let kind = &states.kinds()[kind];
    format!("{}:{}", kind.level, kind.name)
}

/// Letters to insert, delete or replace to turn one text into the other.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}
