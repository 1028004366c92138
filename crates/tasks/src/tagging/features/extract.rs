use std::ops::{Range, RangeInclusive};

use super::compile::{Part, Plan, PlannedLine};
use super::{Cells, ExtractError, Lexicons, Template, Workspace};

/// Makes the attributes of sequences: a template and lexicons, prepared for speed.
///
/// It is immutable and shared by all threads; each brings a [`Workspace`].
#[derive(Clone, Debug)]
pub struct Extractor {
    template: Template,
    lexicons: Lexicons,
    plan: Plan,
}

impl Extractor {
    /// Prepares a template and lexicons (`Lexicons::default()` for none).
    pub fn new(template: Template, lexicons: Lexicons) -> Self {
        let plan = Plan::of(template.lines());
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

    /// Calls `visit(position, attribute, value)` for every attribute of a sequence.
    ///
    /// The order depends on the sequence alone: by position, then by the template's lines, then by
    /// the names of the lexicons. At one position no attribute comes twice. An error comes before
    /// the first call.
    pub fn visit<Sequence: Cells + ?Sized>(
        &self,
        sequence: &Sequence,
        workspace: &mut Workspace,
        mut visit: impl FnMut(usize, &str, f64),
    ) -> Result<(), ExtractError> {
        workspace.fill(&self.plan, sequence)?;
        self.lexicons.mark(sequence, workspace)?;
        // Taken out so that slots can be read while it is written.
        let mut attribute = std::mem::take(&mut workspace.attribute);
        let length = sequence.len();
        for position in 0..length {
            for line in &self.plan.lines {
                attribute.clear();
                let value = match line {
                    PlannedLine::Lists { name, rows, list } => {
                        attribute.push_str(&self.plan.literals[name.clone()]);
                        let rows = near(position, rows, length);
                        let own = (rows, list.as_deref());
                        self.lexicons.visit_near(workspace, own, &mut attribute, |attribute| {
                            visit(position, attribute, 1.0);
                        });
                        None
                    }
                    PlannedLine::Text(parts) => {
                        let here = Place { plan: &self.plan, workspace, position, length };
                        here.write(parts.clone(), &mut attribute).map(|()| 1.0)
                    }
                    PlannedLine::Numeric { name, row, slot } => {
                        attribute.push_str(&self.plan.literals[name.clone()]);
                        position.checked_add_signed(*row).filter(|&row| row < length).and_then(
                            |row| {
                                let value = workspace.numbers[row * self.plan.numbers.len() + slot];
                                (!value.is_nan()).then_some(value)
                            },
                        )
                    }
                };
                if let Some(value) = value {
                    visit(position, &attribute, value);
                }
            }
            for name in self.lexicons.attributes(workspace, position) {
                visit(position, name, 1.0);
            }
        }
        workspace.attribute = attribute;
        Ok(())
    }
}

/// The rows of a range around a position that the sequence has, and whether the range is of one row.
fn near(position: usize, rows: &RangeInclusive<isize>, length: usize) -> (Range<usize>, bool) {
    let first = position.saturating_add_signed(*rows.start());
    let end = position.checked_add_signed(*rows.end()).map_or(0, |last| (last + 1).min(length));
    (first..end, rows.start() == rows.end())
}

/// A position of a filled workspace.
struct Place<'a> {
    plan: &'a Plan,
    workspace: &'a Workspace,
    position: usize,
    length: usize,
}

impl Place<'_> {
    /// Joins the parts of a line; `None` as soon as one is absent.
    fn write(&self, parts: Range<usize>, attribute: &mut String) -> Option<()> {
        for part in &self.plan.parts[parts] {
            attribute.push_str(match part {
                Part::Literal(range) => &self.plan.literals[range.clone()],
                Part::Value { row, slot } => self.value(*row, *slot)?,
            });
        }
        Some(())
    }

    fn value(&self, row: isize, slot: usize) -> Option<&str> {
        match self.position.checked_add_signed(row) {
            None => Some(&self.plan.before[row.unsigned_abs() - self.position - 1]),
            Some(row) if row < self.length => self.workspace.value(row * self.plan.width() + slot),
            Some(row) => Some(&self.plan.after[row - self.length]),
        }
    }
}
