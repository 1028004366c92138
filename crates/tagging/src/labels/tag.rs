use serde::{Deserialize, Serialize};

use super::Scheme;

pub(super) const OUTSIDE: &str = "O";

/// The role of a token in a segment of some level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// In no segment.
    Outside,
    /// The first token of a segment.
    Begin,
    /// A later token.
    Inside,
    /// The last token of several, in schemes that mark it.
    End,
    /// The only token, in schemes that mark it.
    Single,
}

impl Role {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Begin => "begin",
            Self::Inside => "inside",
            Self::End => "end",
            Self::Single => "single",
        }
    }

    /// Whether a segment begins here.
    pub fn begins(self) -> bool {
        matches!(self, Self::Begin | Self::Single)
    }

    /// Whether the segment may continue after this token.
    pub(super) fn open(self) -> bool {
        matches!(self, Self::Begin | Self::Inside)
    }

    /// The letter before the name; none for [`Outside`](Self::Outside).
    pub(super) fn letter(self) -> char {
        match self {
            Self::Outside => 'O',
            Self::Begin => 'B',
            Self::Inside => 'I',
            Self::End => 'E',
            Self::Single => 'S',
        }
    }
}

/// The tag of one level of a label, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub role: Role,
    pub name: &'a str,
    /// Without prefix.
    pub bare: bool,
}

/// The letter before a tag's name, and the name.
pub(super) fn prefixed(tag: &str) -> Option<(u8, &str)> {
    match tag.as_bytes() {
        [letter @ (b'B' | b'I' | b'E' | b'S'), b'-', _, ..] => Some((*letter, &tag[2..])),
        _ => None,
    }
}

/// The tags of a label from the top: split at colons between prefixed tags.
pub(super) fn components(label: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(label);
    std::iter::from_fn(move || {
        let here = rest?;
        let split = prefixed(here).and_then(|_| {
            here.match_indices(':').map(|(at, _)| at).find(|at| prefixed(&here[at + 1..]).is_some())
        });
        match split {
            Some(at) => {
                rest = Some(&here[at + 1..]);
                Some(&here[..at])
            }
            None => rest.take(),
        }
    })
}

/// A label up to the levels at which it is outside: `I-authors` of `I-authors:O`.
pub(super) fn inside(label: &str) -> &str {
    let mut inside = label;
    while let Some(above) = inside.strip_suffix(":O").filter(|above| prefixed(above).is_some()) {
        inside = above;
    }
    inside
}

/// The tags of a label; none for `O` and where there is no label.
pub(super) fn read(scheme: Scheme, label: &str) -> impl Iterator<Item = Tag<'_>> {
    let plain =
        (scheme == Scheme::Plain).then_some(Tag { role: Role::Single, name: label, bare: true });
    let outside = label == OUTSIDE || label.is_empty();
    let tags = (scheme != Scheme::Plain && !outside).then(|| components(inside(label)));
    plain.into_iter().chain(tags.into_iter().flatten().map(move |tag| match prefixed(tag) {
        Some((_, name)) if scheme == Scheme::Io => Tag { role: Role::Inside, name, bare: false },
        Some((letter, name)) => Tag { role: written_role(letter), name, bare: false },
        None if scheme == Scheme::Io => Tag { role: Role::Inside, name: tag, bare: true },
        None => Tag { role: Role::Single, name: tag, bare: true },
    }))
}

fn written_role(letter: u8) -> Role {
    match letter {
        b'B' => Role::Begin,
        b'I' => Role::Inside,
        b'E' => Role::End,
        _ => Role::Single,
    }
}
