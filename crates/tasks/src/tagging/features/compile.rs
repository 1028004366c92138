use std::ops::{Range, RangeInclusive};

use super::function::Function;
use super::template::{Line, LineKind, Macro, Piece, WIDEST_ROW};

/// A template laid out for speed: each function of each column is computed once per position,
/// into a slot, however many lines and rows refer to it.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Functions of cells, those of one column side by side.
    pub(super) slots: Vec<Function>,
    pub(super) columns: Vec<Column>,
    /// Functions of the place in the sequence; their slots follow those of cells.
    pub(super) places: Vec<Function>,
    pub(super) numbers: Vec<NumberColumn>,
    pub(super) lines: Vec<PlannedLine>,
    pub(super) parts: Vec<Part>,
    pub(super) literals: String,
    /// Marks of the rows before the sequence, by distance − 1.
    pub(super) before: Vec<String>,
    /// Marks of the rows after the sequence, by distance − 1.
    pub(super) after: Vec<String>,
}

/// A column that is read as text, and by which line first.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) column: usize,
    pub(super) line: usize,
    pub(super) slots: Range<usize>,
    /// Whether a function reads the cells around one.
    pub(super) surroundings: bool,
}

/// A column that is read as numbers, and by which line first.
#[derive(Clone, Debug)]
pub(super) struct NumberColumn {
    pub(super) column: usize,
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) enum PlannedLine {
    /// A range of parts.
    Text(Range<usize>),
    /// The literal of that range, with the value of that number slot.
    Numeric { name: Range<usize>, row: isize, slot: usize },
    /// The literal of that range, with the lexicons that match in those rows, or the one of this name.
    Lists { name: Range<usize>, rows: RangeInclusive<isize>, list: Option<String> },
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A range of the plan's literals.
    Literal(Range<usize>),
    /// A slot of another position.
    Value { row: isize, slot: usize },
}

impl Plan {
    pub(super) fn of(lines: &[Line]) -> Self {
        let (slots, columns) = cell_slots(lines);
        let mut places = Vec::new();
        for (_, cell) in macros(lines).filter(|(_, cell)| !cell.function.reads_cell()) {
            if !places.contains(&cell.function) {
                places.push(cell.function);
            }
        }
        let marks = |sign: char| (1..=WIDEST_ROW).map(|row| format!("_B{sign}{row}")).collect();
        let mut plan = Self {
            slots,
            columns,
            places,
            numbers: Vec::new(),
            lines: Vec::new(),
            parts: Vec::new(),
            literals: String::new(),
            before: marks('-'),
            after: marks('+'),
        };
        for line in lines {
            let planned = plan.line(line);
            plan.lines.push(planned);
        }
        plan
    }

    /// Slots per position.
    pub(super) fn width(&self) -> usize {
        self.slots.len() + self.places.len()
    }

    fn line(&mut self, line: &Line) -> PlannedLine {
        match &line.kind {
            LineKind::Numeric { name, row, column } => {
                let known = self.numbers.iter().position(|number| number.column == *column);
                let slot = known.unwrap_or_else(|| {
                    self.numbers.push(NumberColumn { column: *column, line: line.number });
                    self.numbers.len() - 1
                });
                PlannedLine::Numeric { name: self.literal(name), row: *row as isize, slot }
            }
            LineKind::Lists { name, rows, list } => PlannedLine::Lists {
                name: self.literal(name),
                rows: *rows.start() as isize..=*rows.end() as isize,
                list: list.clone(),
            },
            LineKind::Text(pieces) => {
                let start = self.parts.len();
                for piece in pieces {
                    let part = match piece {
                        Piece::Literal(text) => Part::Literal(self.literal(text)),
                        Piece::Macro(cell) => {
                            Part::Value { row: cell.row as isize, slot: self.slot(cell) }
                        }
                    };
                    self.parts.push(part);
                }
                PlannedLine::Text(start..self.parts.len())
            }
        }
    }

    fn literal(&mut self, text: &str) -> Range<usize> {
        let start = self.literals.len();
        self.literals.push_str(text);
        start..self.literals.len()
    }

    fn slot(&self, cell: &Macro) -> usize {
        let same = |function: &Function| *function == cell.function;
        let slot = if cell.function.reads_cell() {
            let column = self.columns.iter().find(|column| column.column == cell.column);
            column.and_then(|column| column.slots.clone().find(|&slot| same(&self.slots[slot])))
        } else {
            self.places.iter().position(same).map(|place| self.slots.len() + place)
        };
        slot.expect("every macro of the lines has a slot")
    }
}

/// The distinct functions of each column that is read as text.
fn cell_slots(lines: &[Line]) -> (Vec<Function>, Vec<Column>) {
    let mut by_column: Vec<(usize, usize, Vec<Function>)> = Vec::new();
    for (line, cell) in macros(lines).filter(|(_, cell)| cell.function.reads_cell()) {
        let known = by_column.iter().position(|(column, ..)| *column == cell.column);
        let index = known.unwrap_or_else(|| {
            by_column.push((cell.column, line, Vec::new()));
            by_column.len() - 1
        });
        let functions = &mut by_column[index].2;
        if !functions.contains(&cell.function) {
            functions.push(cell.function);
        }
    }
    let mut slots = Vec::new();
    let mut columns = Vec::new();
    for (column, line, functions) in by_column {
        let start = slots.len();
        let surroundings = functions.iter().any(|function| function.reads_surroundings());
        slots.extend(functions);
        columns.push(Column { column, line, slots: start..slots.len(), surroundings });
    }
    (slots, columns)
}

/// The macros of text lines, each with its line's number.
fn macros(lines: &[Line]) -> impl Iterator<Item = (usize, &Macro)> {
    lines.iter().flat_map(|line| {
        let pieces = match &line.kind {
            LineKind::Text(pieces) => pieces.as_slice(),
            LineKind::Numeric { .. } | LineKind::Lists { .. } => &[],
        };
        pieces.iter().filter_map(move |piece| match piece {
            Piece::Macro(cell) => Some((line.number, cell)),
            Piece::Literal(_) => None,
        })
    })
}
