use std::ops::Range;

use bethe_learn::fingerprint::Fingerprint;

use super::compile::{Column, Plan};
use super::derive::{Derived, digit};
use super::extracted::Source;
use super::function::Function;
use super::matches::Matches;
use super::surroundings::Surroundings;
use super::{Attribute, Cells, ExtractError};

/// Scratch of [`Extractor`](super::Extractor): one per thread, reused for all sequences and
/// extractors.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Positions of the sequence.
    length: usize,
    /// All derived strings of a sequence, one behind the other.
    arena: String,
    values: Vec<Value>, // [positions][slots]
    /// NaN where there is none.
    pub(super) numbers: Vec<f64>, // [positions][number columns]
    surroundings: Vec<Surroundings>, // [columns]
    pub(super) attributes: Vec<Attribute>,
    pub(super) matches: Matches,
    pub(super) tokens: Vec<Option<u32>>, // [positions]
    pub(super) token: String,
}

/// A text in the arena; it ends before it starts if a function gives nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    start: usize,
    end: usize,
    pub(super) fingerprint: Fingerprint,
}

const ABSENT: Value = Value { start: 1, end: 0, fingerprint: Fingerprint::EMPTY };

impl Workspace {
    /// Computes every slot and number of a sequence.
    pub(super) fn fill(
        &mut self,
        plan: &Plan,
        sequence: &(impl Cells + ?Sized),
    ) -> Result<(), ExtractError> {
        self.clear();
        self.length = sequence.len();
        self.surroundings.extend(plan.columns.iter().map(|column| look_around(column, sequence)));
        for position in 0..sequence.len() {
            for (place, column) in plan.columns.iter().enumerate() {
                let Some(cell) = sequence.cell(position, column.column) else {
                    let reader = format!("line {} of the template", column.line);
                    let column = column.column;
                    return Err(ExtractError::MissingColumn { position, column, reader });
                };
                self.derive(plan, place, column, position, cell);
            }
            for &place in &plan.places {
                self.place(place, position, sequence.len());
            }
            self.number(plan, sequence, position)?;
        }
        Ok(())
    }

    /// Forgets a sequence.
    pub(in super::super) fn clear(&mut self) {
        self.length = 0;
        self.arena.clear();
        self.values.clear();
        self.numbers.clear();
        self.surroundings.clear();
        self.attributes.clear();
    }

    /// An attribute whose text is known.
    pub(in super::super) fn give(&mut self, position: usize, text: &str, value: f64) {
        let (start, source) = (self.arena.len(), Source::Given(self.values.len() as u32));
        self.arena.push_str(text);
        self.push(start..self.arena.len());
        let (hash, position) = (Fingerprint::of(text).hash(), position as u32);
        self.attributes.push(Attribute { hash, value, position, source });
    }

    /// A text that was given.
    pub(super) fn given(&self, value: usize) -> &str {
        self.text(&self.values[value])
    }

    /// Positions of the sequence.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The value of a slot, `None` if absent.
    #[inline]
    pub(super) fn value(&self, index: usize) -> Option<&Value> {
        Some(&self.values[index]).filter(|value| value.start <= value.end)
    }

    /// The text of a value.
    #[inline]
    pub(super) fn text(&self, value: &Value) -> &str {
        &self.arena[value.start..value.end]
    }

    /// The next value is a text of the arena.
    fn push(&mut self, text: Range<usize>) {
        let fingerprint = Fingerprint::of(&self.arena[text.clone()]);
        self.values.push(Value { start: text.start, end: text.end, fingerprint });
    }

    /// The next value is what the arena has from here on, or absent if that is nothing.
    fn push_rest(&mut self, start: usize) {
        match self.arena.len() == start {
            true => self.values.push(ABSENT),
            false => self.push(start..self.arena.len()),
        }
    }

    fn derive(&mut self, plan: &Plan, place: usize, column: &Column, position: usize, cell: &str) {
        let cell_start = self.arena.len();
        self.arena.push_str(cell);
        for slot in column.slots.clone() {
            let start = self.arena.len();
            let function = plan.slots[slot];
            if function.is_known_from_surroundings(column.surroundings) {
                self.surroundings[place].write(function, position, &mut self.arena);
                self.push_rest(start);
                continue;
            }
            match function.derive(cell, &mut self.arena) {
                Derived::Absent => self.values.push(ABSENT),
                Derived::Part(part) => self.push(cell_start + part.start..cell_start + part.end),
                Derived::Appended => self.push(start..self.arena.len()),
            }
        }
    }

    fn place(&mut self, function: Function, position: usize, length: usize) {
        let start = self.arena.len();
        let last = length - 1;
        match function {
            Function::Position(bins) => {
                let bin = position * usize::from(bins) / length;
                if bin >= 10 {
                    self.arena.push(digit(bin / 10));
                }
                self.arena.push(digit(bin % 10));
            }
            _ => self.arena.push_str(match position {
                0 if last == 0 => "only",
                0 => "first",
                _ if position == last => "last",
                1 => "second",
                _ => "",
            }),
        }
        self.push_rest(start);
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

/// The surroundings of a column's cells, if the template reads any. A missing column is reported
/// when its cells are read.
fn look_around(column: &Column, sequence: &(impl Cells + ?Sized)) -> Surroundings {
    if !column.surroundings {
        return Surroundings::default();
    }
    let cell = |position| sequence.cell(position, column.column).unwrap_or_default();
    Surroundings::of((0..sequence.len()).map(cell))
}
