use std::collections::HashMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::LabelError;
use super::tag::{OUTSIDE, Role, components, prefixed};

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
    /// As [`Iobes`](Self::Iobes), with `L-x` for `E-x` and `U-x` for `S-x`.
    Bilou,
    /// Every token is a segment of its label.
    Plain,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 5] = [Self::Bio, Self::Io, Self::Iobes, Self::Bilou, Self::Plain];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bio => "bio",
            Self::Io => "io",
            Self::Iobes => "iobes",
            Self::Bilou => "bilou",
            Self::Plain => "plain",
        }
    }

    /// Whether it marks where segments end.
    pub(super) fn marks_ends(self) -> bool {
        matches!(self, Self::Iobes | Self::Bilou)
    }

    /// The letter that it writes before the name of a tag in this role.
    pub(super) fn letter(self, role: Role) -> char {
        match role {
            Role::Outside => 'O',
            Role::Begin => 'B',
            Role::Inside => 'I',
            Role::End if self == Self::Bilou => 'L',
            Role::End => 'E',
            Role::Single if self == Self::Bilou => 'U',
            Role::Single => 'S',
        }
    }

    /// Whether every tag of a label has one of the scheme's prefixes, or one that says the same.
    pub(super) fn reads(self, label: &str) -> bool {
        let is_own = |letter: char| match self {
            Self::Bio => matches!(letter, 'B' | 'I'),
            Self::Iobes | Self::Bilou => true,
            Self::Io | Self::Plain => false,
        };
        components(label).all(|tag| prefixed(tag).is_some_and(|(letter, _)| is_own(letter)))
    }

    /// The scheme of labelled sequences.
    ///
    /// | tags among the labels | scheme |
    /// | --- | --- |
    /// | `B-` with `E-` or `S-`; or `E-` or `S-` and nothing without prefix but `O` | iobes |
    /// | the same with `L-` or `U-` | bilou |
    /// | else `B-` | bio |
    /// | else `I-` or `O` | io |
    /// | none of them; half of the labels on several tokens of a sequence, or more, form one run there | io |
    /// | none of them; fewer do | plain |
    pub fn recognise<'a, L: AsRef<[&'a str]>>(sequences: impl IntoIterator<Item = L>) -> Self {
        let (mut begin, mut inside) = (false, false);
        let (mut outside, mut bare) = (false, false);
        let mut closing: Option<Self> = None;
        let mut runs = Runs::default();
        for labels in sequences {
            for tag in labels.as_ref().iter().copied().flat_map(components) {
                match prefixed(tag) {
                    Some(('B', _)) => begin = true,
                    Some(('I', _)) => inside = true,
                    Some(('E' | 'S', _)) => closing = Some(Self::Iobes),
                    Some(_) => closing = closing.or(Some(Self::Bilou)),
                    None if tag == OUTSIDE => outside = true,
                    None => bare = true,
                }
            }
            runs.add(labels.as_ref());
        }
        if let Some(scheme) = closing.filter(|_| begin || !bare) {
            scheme
        } else if begin {
            Self::Bio
        } else if inside || outside || runs.prevail() {
            Self::Io
        } else {
            Self::Plain
        }
    }

    /// Whether labels say themselves where segments begin, by a prefix or by `O`.
    pub fn is_written<'a>(labels: impl IntoIterator<Item = &'a str>) -> bool {
        let says = |tag| prefixed(tag).is_some() || tag == OUTSIDE;
        labels.into_iter().flat_map(components).any(says)
    }
}

/// How labels that have no prefix lie in their sequences.
#[derive(Default)]
struct Runs {
    /// Pairs of a sequence and a label that two or more of its tokens have.
    pairs: usize,
    /// Those in which these tokens stand together.
    together: usize,
}

impl Runs {
    fn add(&mut self, labels: &[&str]) {
        // Tokens and runs of each label.
        let mut found: HashMap<&str, (usize, usize)> = HashMap::new();
        for (t, &label) in labels.iter().enumerate() {
            let (tokens, runs) = found.entry(label).or_default();
            *tokens += 1;
            *runs += usize::from(t == 0 || labels[t - 1] != label);
        }
        let repeated = found.values().filter(|(tokens, _)| *tokens > 1);
        self.pairs += repeated.clone().count();
        self.together += repeated.filter(|(_, runs)| *runs == 1).count();
    }

    /// Whether a label on several tokens of a sequence is one run at least half of the time. Fields
    /// of a record are; parts of speech are not.
    fn prevail(&self) -> bool {
        self.pairs > 0 && 2 * self.together >= self.pairs
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
