use super::Scheme;
use super::tag::{Role, Tag, read};

/// Tokens `start..end` that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment<'a> {
    /// The first token.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
    /// How deep it lies, from 0.
    pub level: usize,
    /// Its tag without prefix.
    pub name: &'a str,
}

/// The tags of a sequence of labels, and where each level's segments begin.
pub(super) struct Levels<'a> {
    tags: Vec<Tag<'a>>,
    begins: Vec<bool>,
    /// Where the tags of each token begin; one more at the end.
    offsets: Vec<usize>,
}

impl<'a> Levels<'a> {
    /// The tags of every level.
    pub fn all(scheme: Scheme, labels: &[&'a str]) -> Self {
        let mut levels = Self::none();
        for label in labels {
            levels.push(read(scheme, label));
        }
        levels
    }

    /// The deepest tags alone, as one level.
    fn leaves(scheme: Scheme, labels: &[&'a str]) -> Self {
        let mut levels = Self::none();
        for label in labels {
            levels.push(read(scheme, label).last());
        }
        levels
    }

    fn none() -> Self {
        Self { tags: Vec::new(), begins: Vec::new(), offsets: vec![0] }
    }

    /// Adds a token, and finds where segments begin at it.
    fn push(&mut self, tags: impl IntoIterator<Item = Tag<'a>>) {
        let first = self.tags.len();
        self.tags.extend(tags);
        let before = self.offsets.len().checked_sub(2).map_or(0, |t| self.offsets[t])..first;
        let mut begun_above = false;
        for (level, tag) in self.tags[first..].iter().enumerate() {
            let goes_on = !begun_above
                && !tag.role.begins()
                && self.tags[before.clone()]
                    .get(level)
                    .is_some_and(|before| before.role.open() && before.name == tag.name);
            begun_above |= !goes_on;
            self.begins.push(!goes_on);
        }
        self.offsets.push(self.tags.len());
    }

    pub fn tags(&self, t: usize) -> &[Tag<'a>] {
        &self.tags[self.offsets[t]..self.offsets[t + 1]]
    }

    pub fn begins(&self, t: usize) -> &[bool] {
        &self.begins[self.offsets[t]..self.offsets[t + 1]]
    }

    /// Whether the segment of token `t` at `level` reaches token `t + 1`.
    pub fn goes_on(&self, t: usize, level: usize) -> bool {
        t + 1 < self.len() && self.begins(t + 1).get(level).is_some_and(|begins| !begins)
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn segments(&self) -> Vec<Segment<'a>> {
        let mut found: Vec<Segment<'a>> = Vec::new();
        let mut latest: Vec<usize> = Vec::new(); // [levels] indices into `found`
        for t in 0..self.len() {
            for (level, tag) in self.tags(t).iter().enumerate() {
                if self.begins(t)[level] {
                    latest.truncate(level);
                    latest.push(found.len());
                    found.push(Segment { start: t, end: t + 1, level, name: tag.name });
                } else {
                    found[latest[level]].end = t + 1;
                }
            }
        }
        found
    }
}

/// The segments of every level, sorted by start, then level.
///
/// A segment begins at `B-x` and `S-x`, and at `I-x` and `E-x` where no segment of `x` is open at
/// that level: after another name, after `O`, after `E-x` or `S-x`, under a segment that begins.
pub fn segments<'a>(scheme: Scheme, labels: &[&'a str]) -> Vec<Segment<'a>> {
    Levels::all(scheme, labels).segments()
}

/// The segments of the deepest tag of each label, in order, by CoNLL's rules on these tags alone.
/// All have level 0, however deep the tag is.
///
/// For flat labels these are all [`segments`]. For malformed hierarchical labels they may be longer
/// than the segments of their levels: in `B-a:B-x I-x` the last tags are one segment, although `x`
/// is at two levels.
pub fn leaf_segments<'a>(scheme: Scheme, labels: &[&'a str]) -> Vec<Segment<'a>> {
    Levels::leaves(scheme, labels).segments()
}

/// The role that the scheme's canonical form gives to a tag.
pub(super) fn canonical_role(scheme: Scheme, tag: Tag<'_>, begins: bool, goes_on: bool) -> Role {
    match scheme {
        Scheme::Plain => Role::Single,
        Scheme::Bio | Scheme::Iobes | Scheme::Bilou if tag.is_bare() => Role::Single,
        Scheme::Bio | Scheme::Io if begins => Role::Begin,
        Scheme::Bio | Scheme::Io => Role::Inside,
        Scheme::Iobes | Scheme::Bilou => match (begins, goes_on) {
            (true, true) => Role::Begin,
            (true, false) => Role::Single,
            (false, true) => Role::Inside,
            (false, false) => Role::End,
        },
    }
}
