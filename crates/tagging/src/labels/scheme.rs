use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::LabelError;
use super::tag::{OUTSIDE, components, prefixed};

/// How labels mark where segments begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// `B-x` begins a segment, `I-x` continues it, `O` is outside; a bare label is a segment by
    /// itself.
    Bio,
    /// A segment is a longest run of one tag, `I-x` or bare `x`; `O` is outside.
    Io,
    /// As [`Bio`](Self::Bio); `E-x` ends a segment, `S-x` is a segment of one token.
    Iobes,
    /// Every token is a segment of its label.
    Plain,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 4] = [Self::Bio, Self::Io, Self::Iobes, Self::Plain];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bio => "bio",
            Self::Io => "io",
            Self::Iobes => "iobes",
            Self::Plain => "plain",
        }
    }

    /// Whether every tag of a label has one of the scheme's prefixes.
    pub(super) fn writes(self, label: &str) -> bool {
        let letters: &[u8] = match self {
            Self::Bio => b"BI",
            Self::Iobes => b"BIES",
            Self::Io | Self::Plain => b"",
        };
        let has_one = |tag| prefixed(tag).is_some_and(|(letter, _)| letters.contains(&letter));
        components(label).all(has_one)
    }

    /// The scheme of a set of labels.
    ///
    /// | tags among the labels | scheme |
    /// | --- | --- |
    /// | `B-` with `E-` or `S-`; or `E-` or `S-` and nothing without prefix but `O` | iobes |
    /// | else `B-` | bio |
    /// | else `I-` or `O` | io |
    /// | none of them | plain |
    pub fn recognise<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut begin, mut inside, mut closing) = (false, false, false);
        let (mut outside, mut bare) = (false, false);
        for tag in labels.into_iter().flat_map(components) {
            match prefixed(tag) {
                Some((b'B', _)) => begin = true,
                Some((b'I', _)) => inside = true,
                Some(_) => closing = true,
                None if tag == OUTSIDE => outside = true,
                None => bare = true,
            }
        }
        if closing && (begin || !bare) {
            Self::Iobes
        } else if begin {
            Self::Bio
        } else if inside || outside {
            Self::Io
        } else {
            Self::Plain
        }
    }
}

impl FromStr for Scheme {
    type Err = LabelError;

    fn from_str(name: &str) -> Result<Self, LabelError> {
        Self::ALL
            .into_iter()
            .find(|scheme| scheme.name() == name)
            .ok_or_else(|| LabelError::UnknownScheme { found: name.to_string() })
    }
}
