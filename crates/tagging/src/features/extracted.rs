use super::compile::PlannedLine;
use super::extract::Place;
use super::lexicon::Mark;
use super::{Extractor, Workspace};

/// An attribute of a sequence: the source of its text, and its fingerprint.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    pub(super) hash: u64,
    pub(super) value: f64,
    pub(super) position: u32,
    pub(super) source: Source,
}

/// Where the text of an attribute comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A line of the plan.
    Line(u32),
    /// A list of a line of the plan, and what it says.
    List { line: u32, list: u32, mark: Mark },
    /// A value of the workspace.
    Given(u32),
}

impl Attribute {
    /// The hash of its text, as [`Fingerprint`](bethe_learn::fingerprint::Fingerprint) has it.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Its value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Its position.
    pub fn position(&self) -> usize {
        self.position as usize
    }
}

/// The attributes of a sequence. Text is written only on request.
#[derive(Clone, Copy)]
pub struct Extracted<'a> {
    pub(in super::super) extractor: &'a Extractor,
    pub(in super::super) workspace: &'a Workspace,
}

impl<'a> Extracted<'a> {
    /// All of them, by position.
    pub fn attributes(&self) -> &'a [Attribute] {
        &self.workspace.attributes
    }

    /// Appends the text of an attribute.
    pub fn write(&self, attribute: &Attribute, output: &mut String) {
        self.all_parts(attribute, |part| {
            output.push_str(part);
            true
        });
    }

    /// Whether a text is that of an attribute.
    #[inline]
    pub fn is(&self, attribute: &Attribute, text: &[u8]) -> bool {
        let mut rest = text;
        let parts = self.all_parts(attribute, |part| match rest.split_at_checked(part.len()) {
            Some((own, behind)) => {
                rest = behind;
                own == part.as_bytes()
            }
            None => false,
        });
        parts && rest.is_empty()
    }

    /// Whether something holds for each part of an attribute's text, up to the first for which it
    /// does not.
    #[inline]
    fn all_parts(&self, attribute: &Attribute, mut holds: impl FnMut(&str) -> bool) -> bool {
        let Self { extractor: Extractor { plan, lexicons, .. }, workspace } = self;
        let line = match attribute.source {
            Source::Given(value) => return holds(workspace.given(value as usize)),
            Source::Line(line) | Source::List { line, .. } => &plan.lines[line as usize],
        };
        match (line, attribute.source) {
            (PlannedLine::Text(parts), _) => {
                let place = Place::new(plan, workspace, attribute.position());
                plan.parts[parts.clone()].iter().all(|part| holds(place.text(part)))
            }
            (PlannedLine::Lists { name, .. }, Source::List { list, mark, .. }) => {
                [&name.text, lexicons.name(list as usize), mark.ending()].into_iter().all(holds)
            }
            (PlannedLine::Numeric { name, .. } | PlannedLine::Lists { name, .. }, _) => {
                holds(&name.text)
            }
        }
    }
}
