use std::ops::{Range, RangeInclusive};

use bethe_learn::fingerprint::Fingerprint;

use super::Lexicons;
use super::function::Function;
use super::template::{Line, LineKind, Macro, Piece, WIDEST_ROW};

/// A template prepared for speed: each function of each column is computed once per position, into
/// a slot, however many lines and rows refer to it.
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
    /// Marks of the rows before the sequence, by distance − 1.
    pub(super) before: Vec<Literal>,
    /// Marks of the rows after the sequence, by distance − 1.
    pub(super) after: Vec<Literal>,
}

/// A text of the template.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) fingerprint: Fingerprint,
}

impl Literal {
    fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { fingerprint: Fingerprint::of(&text), text }
    }
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
    /// The name, with the value of that number slot.
    Numeric { name: Literal, row: isize, slot: usize },
    /// The name, with those of these lexicons that match in those rows.
    Lists { name: Literal, rows: RangeInclusive<isize>, lists: Range<usize> },
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Literal(Literal),
    /// A slot of another position.
    Value {
        row: isize,
        slot: usize,
    },
}

impl Plan {
    pub(super) fn of(lines: &[Line], lexicons: &Lexicons) -> Self {
        let (slots, columns) = cell_slots(lines);
        let mut places = Vec::new();
        for (_, cell) in macros(lines).filter(|(_, cell)| !cell.function.reads_cell()) {
            if !places.contains(&cell.function) {
                places.push(cell.function);
            }
        }
        let mark = |sign: char, row| Literal::new(format!("_B{sign}{row}"));
        let marks = |sign: char| (1..=WIDEST_ROW).map(|row| mark(sign, row)).collect();
        let mut plan = Self {
            slots,
            columns,
            places,
            numbers: Vec::new(),
            lines: Vec::new(),
            parts: Vec::new(),
            before: marks('-'),
            after: marks('+'),
        };
        for line in lines {
            let planned = plan.line(line, lexicons);
            plan.lines.push(planned);
        }
        // Every lexicon that matches is an attribute, with any template.
        let (name, lists) = (Literal::new("lex:"), lexicons.named(None));
        plan.lines.push(PlannedLine::Lists { name, rows: 0..=0, lists });
        plan
    }

    /// Slots per position.
    pub(super) fn width(&self) -> usize {
        self.slots.len() + self.places.len()
    }

    fn line(&mut self, line: &Line, lexicons: &Lexicons) -> PlannedLine {
        match &line.kind {
            LineKind::Numeric { name, row, column } => {
                let known = self.numbers.iter().position(|number| number.column == *column);
                let slot = known.unwrap_or_else(|| {
                    self.numbers.push(NumberColumn { column: *column, line: line.number });
                    self.numbers.len() - 1
                });
                PlannedLine::Numeric { name: Literal::new(name), row: *row as isize, slot }
            }
            LineKind::Lists { name, rows, list } => PlannedLine::Lists {
                name: Literal::new(name),
                rows: *rows.start() as isize..=*rows.end() as isize,
                lists: lexicons.named(list.as_deref()),
            },
            LineKind::Text(pieces) => {
                let start = self.parts.len();
                for piece in pieces {
                    let part = match piece {
                        Piece::Literal(text) => Part::Literal(Literal::new(text)),
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
