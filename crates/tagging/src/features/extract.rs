use std::ops::{Range, RangeInclusive};

use bethe_learn::fingerprint::Fingerprint;

use super::compile::{Literal, Part, Plan, PlannedLine};
use super::extracted::Source;
use super::lexicon::Mark;
use super::workspace::Value;
use super::{Attribute, Cells, ExtractError, Extracted, Lexicons, Template, Workspace};

/// Makes the attributes of sequences: a template and lexicons, prepared for speed.
///
/// It is immutable and shared by all threads; each brings a [`Workspace`].
#[derive(Clone, Debug)]
pub struct Extractor {
    template: Template,
    pub(super) lexicons: Lexicons,
    pub(super) plan: Plan,
}

impl Extractor {
    /// Prepares a template and lexicons (`Lexicons::default()` for none).
    pub fn new(template: Template, lexicons: Lexicons) -> Self {
        let plan = Plan::of(template.lines(), &lexicons);
        Self { template, lexicons, plan }
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The lexicons.
    pub fn lexicons(&self) -> &Lexicons {
        &self.lexicons
    }

    /// Calls `visit(position, attribute, value)` for every attribute of a sequence, in the order of
    /// [`extract`](Self::extract). An error comes before the first call.
    pub fn visit<Sequence: Cells + ?Sized>(
        &self,
        sequence: &Sequence,
        workspace: &mut Workspace,
        mut visit: impl FnMut(usize, &str, f64),
    ) -> Result<(), ExtractError> {
        let extracted = self.extract(sequence, workspace)?;
        let mut text = String::new();
        for attribute in extracted.attributes() {
            text.clear();
            extracted.write(attribute, &mut text);
            visit(attribute.position(), &text, attribute.value());
        }
        Ok(())
    }

    /// The attributes of a sequence.
    ///
    /// Their order depends only on the sequence: by position, then by the template's lines, then by
    /// the names of the lexicons. No attribute occurs twice at one position.
    pub fn extract<'a, Sequence: Cells + ?Sized>(
        &'a self,
        sequence: &Sequence,
        workspace: &'a mut Workspace,
    ) -> Result<Extracted<'a>, ExtractError> {
        workspace.fill(&self.plan, sequence)?;
        self.lexicons.mark(sequence, workspace)?;
        // Taken out so that values can be read while it is written.
        let mut attributes = std::mem::take(&mut workspace.attributes);
        for position in 0..sequence.len() {
            let place = Place::new(&self.plan, workspace, position);
            for (line, planned) in self.plan.lines.iter().enumerate() {
                let take = |source, fingerprint: Fingerprint, value| {
                    let (hash, position) = (fingerprint.hash(), position as u32);
                    attributes.push(Attribute { hash, value, position, source });
                };
                place.visit(line as u32, planned, &self.lexicons, take);
            }
        }
        workspace.attributes = attributes;
        Ok(Extracted { extractor: self, workspace })
    }
}

/// A position of a filled workspace.
pub(super) struct Place<'a> {
    plan: &'a Plan,
    workspace: &'a Workspace,
    position: usize,
    length: usize,
}

impl<'a> Place<'a> {
    pub(super) fn new(plan: &'a Plan, workspace: &'a Workspace, position: usize) -> Self {
        Self { plan, workspace, position, length: workspace.length() }
    }

    /// Calls `visit(source, fingerprint, value)` for the attributes of a line.
    #[inline]
    fn visit(
        &self,
        line: u32,
        planned: &PlannedLine,
        lexicons: &Lexicons,
        mut visit: impl FnMut(Source, Fingerprint, f64),
    ) {
        match planned {
            PlannedLine::Text(parts) => {
                if let Some(fingerprint) = self.fingerprint(&self.plan.parts[parts.clone()]) {
                    visit(Source::Line(line), fingerprint, 1.0);
                }
            }
            PlannedLine::Numeric { name, row, slot } => {
                if let Some(value) = self.number(*row, *slot) {
                    visit(Source::Line(line), name.fingerprint, value);
                }
            }
            PlannedLine::Lists { name, rows, lists } => {
                let matches = &self.workspace.matches;
                let mut found = |list: usize, mark| {
                    let fingerprint = name.fingerprint.then(lexicons.fingerprint(list, mark));
                    visit(Source::List { line, list: list as u32, mark }, fingerprint, 1.0);
                };
                let (near, single) = self.near(rows);
                match single {
                    // For a single row they say whether the match begins there.
                    true => near.for_each(|row| matches.at(row, lists, &mut found)),
                    false => matches.within(near, lists, |list| found(list, Mark::Outside)),
                }
            }
        }
    }

    /// The fingerprint of a line's parts; `None` as soon as one is absent.
    #[inline]
    fn fingerprint(&self, parts: &[Part]) -> Option<Fingerprint> {
        let mut whole = Fingerprint::EMPTY;
        for part in parts {
            whole = whole.then(match part {
                Part::Literal(literal) => literal.fingerprint,
                Part::Value { row, slot } => match self.value(*row, *slot) {
                    Cell::Inside(value) => value?.fingerprint,
                    Cell::Outside(mark) => mark.fingerprint,
                },
            });
        }
        Some(whole)
    }

    /// The text of a part that is there.
    pub(super) fn text(&self, part: &'a Part) -> &'a str {
        match part {
            Part::Literal(literal) => &literal.text,
            Part::Value { row, slot } => match self.value(*row, *slot) {
                Cell::Inside(value) => value.map_or("", |value| self.workspace.text(value)),
                Cell::Outside(mark) => &mark.text,
            },
        }
    }

    #[inline]
    fn value(&self, row: isize, slot: usize) -> Cell<'a> {
        match self.position.checked_add_signed(row) {
            None => Cell::Outside(&self.plan.before[row.unsigned_abs() - self.position - 1]),
            Some(row) if row < self.length => {
                Cell::Inside(self.workspace.value(row * self.plan.width() + slot))
            }
            Some(row) => Cell::Outside(&self.plan.after[row - self.length]),
        }
    }

    /// A number of another row, if there is one.
    fn number(&self, row: isize, slot: usize) -> Option<f64> {
        let row = self.position.checked_add_signed(row).filter(|&row| row < self.length)?;
        let value = self.workspace.numbers[row * self.plan.numbers.len() + slot];
        (!value.is_nan()).then_some(value)
    }

    /// The existing rows of a range around here, and whether the range is a single row.
    fn near(&self, rows: &RangeInclusive<isize>) -> (Range<usize>, bool) {
        let first = self.position.saturating_add_signed(*rows.start());
        let end = self.position.checked_add_signed(*rows.end());
        let end = end.map_or(0, |last| (last + 1).min(self.length));
        (first..end, rows.start() == rows.end())
    }
}

/// What a row has in a slot, or the mark of a row that the sequence does not have.
enum Cell<'a> {
    Inside(Option<&'a Value>),
    Outside(&'a Literal),
}
