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

    /// The role that a letter before a name stands for, in whichever scheme.
    pub(super) fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'B' => Some(Self::Begin),
            'I' => Some(Self::Inside),
            'E' | 'L' => Some(Self::End),
            'S' | 'U' => Some(Self::Single),
            _ => None,
        }
    }
}

/// The tag of one level of a label, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub role: Role,
    pub name: &'a str,
    /// The letter before the name, if there is one.
    pub letter: Option<char>,
}

impl Tag<'_> {
    /// Whether it has no prefix.
    pub fn is_bare(&self) -> bool {
        self.letter.is_none()
    }

    /// Whether this is how the scheme writes the role; a tag without prefix stays as it is.
    pub fn is_written(&self, scheme: Scheme, role: Role) -> bool {
        self.letter.is_none_or(|letter| letter == scheme.letter(role))
    }
}

/// The letter before a tag's name, and the name.
pub(super) fn prefixed(tag: &str) -> Option<(char, &str)> {
    match tag.as_bytes() {
        &[letter, b'-', _, ..] => {
            let letter = char::from(letter);
            Role::of_letter(letter).map(|_| (letter, &tag[2..]))
        }
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
        (scheme == Scheme::Plain).then_some(Tag { role: Role::Single, name: label, letter: None });
    let outside = label == OUTSIDE || label.is_empty();
    let tags = (scheme != Scheme::Plain && !outside).then(|| components(inside(label)));
    plain.into_iter().chain(tags.into_iter().flatten().map(move |tag| match scheme {
        Scheme::Io => Tag { role: Role::Inside, ..stated(tag) },
        _ => stated(tag),
    }))
}

/// A tag by its own prefix.
fn stated(tag: &str) -> Tag<'_> {
    let prefixed = prefixed(tag).and_then(|(letter, name)| {
        let role = Role::of_letter(letter)?;
        Some(Tag { role, name, letter: Some(letter) })
    });
    prefixed.unwrap_or(Tag { role: Role::Single, name: tag, letter: None })
}
