use std::fmt::Write;

use super::compile::{Column, Plan};
use super::derive::Derived;
use super::function::Function;
use super::lexicon::Mark;
use super::surroundings::Surroundings;
use super::{Cells, ExtractError};

/// Scratch of [`Extractor::visit`](super::Extractor::visit): one per thread, reused for all
/// sequences, also across extractors.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// All derived strings of a sequence, one behind the other.
    arena: String,
    spans: Vec<Span>, // [positions][slots]
    /// NaN where there is none.
    pub(super) numbers: Vec<f64>, // [positions][number columns]
    surroundings: Vec<Surroundings>, // [columns]
    pub(super) attribute: String,
    pub(super) marks: Vec<Mark>,         // [positions][lists]
    pub(super) tokens: Vec<Option<u32>>, // [positions]
    pub(super) token: String,
}

/// Bytes of the arena; `ABSENT` where a function gives nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Span {
    start: usize,
    end: usize,
}

const ABSENT: Span = Span { start: usize::MAX, end: usize::MAX };

impl Workspace {
    /// Computes every slot and number of a sequence.
    pub(super) fn fill(
        &mut self,
        plan: &Plan,
        sequence: &(impl Cells + ?Sized),
    ) -> Result<(), ExtractError> {
        self.arena.clear();
        self.spans.clear();
        self.numbers.clear();
        self.surroundings.clear();
        self.surroundings.extend(plan.columns.iter().map(|column| look_around(column, sequence)));
        for position in 0..sequence.len() {
            for (place, column) in plan.columns.iter().enumerate() {
                let Some(cell) = sequence.cell(position, column.column) else {
                    let reader = format!("line {} of the template", column.line);
                    let column = column.column;
                    return Err(ExtractError::MissingColumn { position, column, reader });
                };
                self.derive(plan, (place, column), (position, cell));
            }
            for &place in &plan.places {
                self.place(place, position, sequence.len());
            }
            self.number(plan, sequence, position)?;
        }
        Ok(())
    }

    /// The text of a slot, `None` if absent.
    pub(super) fn value(&self, index: usize) -> Option<&str> {
        let span = self.spans[index];
        (span != ABSENT).then(|| &self.arena[span.start..span.end])
    }

    fn derive(
        &mut self,
        plan: &Plan,
        (place, column): (usize, &Column),
        (position, cell): (usize, &str),
    ) {
        let cell_start = self.arena.len();
        self.arena.push_str(cell);
        for slot in column.slots.clone() {
            let start = self.arena.len();
            let function = plan.slots[slot];
            if function.reads_surroundings() {
                self.surroundings[place].write(function, position, &mut self.arena);
                let span = Span { start, end: self.arena.len() };
                self.spans.push(if span.start == span.end { ABSENT } else { span });
                continue;
            }
            let span = match function.derive(cell, &mut self.arena) {
                Derived::Absent => ABSENT,
                Derived::Part(part) => {
                    Span { start: cell_start + part.start, end: cell_start + part.end }
                }
                Derived::Appended => Span { start, end: self.arena.len() },
            };
            self.spans.push(span);
        }
    }

    fn place(&mut self, function: Function, position: usize, length: usize) {
        let start = self.arena.len();
        let last = length - 1;
        match function {
            Function::Position(bins) => {
                let bin = position * usize::from(bins) / length;
                write!(self.arena, "{bin}").expect("a string takes any text");
            }
            _ => self.arena.push_str(match position {
                0 if last == 0 => "only",
                0 => "first",
                _ if position == last => "last",
                1 => "second",
                _ => "",
            }),
        }
        let span = Span { start, end: self.arena.len() };
        self.spans.push(if span.start == span.end { ABSENT } else { span });
    }

    fn number(
        &mut self,
        plan: &Plan,
        sequence: &(impl Cells + ?Sized),
        position: usize,
    ) -> Result<(), ExtractError> {
        for number in &plan.numbers {
            let (column, line) = (number.column, number.line);
            let Some(cell) = sequence.cell(position, column) else {
                let reader = format!("line {line} of the template");
                return Err(ExtractError::MissingColumn { position, column, reader });
            };
            let value = match cell.trim() {
                "" | "_" => f64::NAN,
                text => match text.parse() {
                    Ok(value) if f64::is_finite(value) => value,
                    _ => {
                        let found = cell.to_owned();
                        return Err(ExtractError::NotANumber { position, column, found, line });
                    }
                },
            };
            self.numbers.push(value);
        }
        Ok(())
    }
}

/// The surroundings of a column's cells, where the template reads any; a column that is not there is
/// told of by who reads its cells.
fn look_around(column: &Column, sequence: &(impl Cells + ?Sized)) -> Surroundings {
    if !column.surroundings {
        return Surroundings::default();
    }
    let cell = |position| sequence.cell(position, column.column).unwrap_or_default();
    Surroundings::of((0..sequence.len()).map(cell))
}
