//! From template text to lines, with the first mistake.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::TemplateError;
use super::function::Function;
use super::template::{HIGHEST_COLUMN, Line, LineKind, Macro, Piece, WIDEST_ROW};

/// The lines that give attributes, and whether there is a line for transitions.
pub(super) fn lines(text: &str) -> Result<(Vec<Line>, bool), TemplateError> {
    let mut lines = Vec::new();
    let mut beginnings = Beginnings::default();
    let mut transitions = false;
    let written = text.lines().map(str::trim).zip(1..);
    for (content, number) in written.filter(|(content, _)| !content.is_empty()) {
        let kind = match content.as_bytes()[0] {
            b'#' => continue,
            b'U' => Some(LineKind::Text(pieces(content, number)?)),
            b'R' => Some(numeric(content, number)?),
            b'L' => Some(lists(content, number)?),
            b'B' if content.contains('%') => {
                let found = content.to_owned();
                return Err(TemplateError::BigramWithCells { line: number, found });
            }
            b'B' => None,
            _ => {
                let found = content.to_owned();
                return Err(TemplateError::UnknownLine { line: number, found });
            }
        };
        beginnings.add(Beginning::of(kind.as_ref(), content, number))?;
        match kind {
            Some(kind) => lines.push(Line { number, kind }),
            None => transitions = true,
        }
    }
    if beginnings.whole.is_empty() && beginnings.open.is_empty() {
        return Err(TemplateError::Empty);
    }
    Ok((lines, transitions))
}

/// The beginnings of all lines, by their text, so that many lines take no longer than they should.
#[derive(Default)]
struct Beginnings {
    whole: BTreeMap<String, Beginning>,
    /// None of these begins another, nor one of the whole ones.
    open: BTreeMap<String, Beginning>,
}

impl Beginnings {
    fn add(&mut self, new: Beginning) -> Result<(), TemplateError> {
        let at_most = || (Bound::Unbounded, Bound::Included(new.text.as_str()));
        let at_least = || (Bound::Included(new.text.as_str()), Bound::Unbounded);
        // An open beginning of this text sorts right before it: what is between them would begin
        // with it, too.
        let mut near: Vec<&Beginning> = [
            self.open.range::<str, _>(at_most()).next_back(),
            self.open.range::<str, _>(at_least()).next(),
            self.whole.range::<str, _>(at_least()).next(),
        ]
        .into_iter()
        .flatten()
        .map(|(_, earlier)| earlier)
        .collect();
        near.sort_by_key(|earlier| earlier.line);
        near.into_iter().try_for_each(|earlier| earlier.distinguish(&new))?;
        let own = if new.whole { &mut self.whole } else { &mut self.open };
        own.insert(new.text.clone(), new);
        Ok(())
    }
}

/// The prefix of every attribute of a line, and whether it is the whole attribute.
struct Beginning {
    text: String,
    whole: bool,
    line: usize,
}

impl Beginning {
    fn of(kind: Option<&LineKind>, content: &str, line: usize) -> Self {
        let (text, whole) = match kind {
            None => (content, true),
            Some(LineKind::Numeric { name, .. }) => (name.as_str(), true),
            Some(LineKind::Lists { name, .. }) => (name.as_str(), false),
            Some(LineKind::Text(pieces)) => match pieces.first() {
                Some(Piece::Literal(text)) => (text.as_str(), pieces.len() == 1),
                _ => unreachable!("a U line begins with the literal U"),
            },
        };
        Self { text: text.to_owned(), whole, line }
    }

    /// An error if some attribute of this line could be one of the later line.
    fn distinguish(&self, later: &Self) -> Result<(), TemplateError> {
        let covers = |short: &Self, long: &Self| {
            short.text == long.text || (!short.whole && long.text.starts_with(&short.text))
        };
        let shared = match (covers(self, later), covers(later, self)) {
            (true, _) => &self.text,
            (false, true) => &later.text,
            (false, false) => return Ok(()),
        };
        let found = shared.clone();
        Err(TemplateError::SharedName { line: later.line, first: self.line, found })
    }
}

fn numeric(content: &str, line: usize) -> Result<LineKind, TemplateError> {
    let mistake = || TemplateError::Numeric { line, found: content.to_owned() };
    let (name, rest) = content.split_once(':').ok_or_else(mistake)?;
    match pieces(rest, line)?.as_slice() {
        [Piece::Macro(Macro { function: Function::Cell, row, column })] if !name.contains('%') => {
            Ok(LineKind::Numeric { name: name.to_owned(), row: *row, column: *column })
        }
        _ => Err(mistake()),
    }
}

/// `Lname:%lists[row]`, `Lname:%lists[first,last]`, with `=list` behind it for one list alone.
fn lists(content: &str, line: usize) -> Result<LineKind, TemplateError> {
    let mistake = || TemplateError::Lists { line, found: content.to_owned() };
    let (name, rest) = content.split_once(':').ok_or_else(mistake)?;
    let inside = rest.strip_prefix("%lists[").ok_or_else(mistake)?;
    let (arguments, after) = inside.split_once(']').ok_or_else(mistake)?;
    let list = match after {
        "" => None,
        _ => Some(after.strip_prefix('=').filter(|name| !name.is_empty()).ok_or_else(mistake)?),
    };
    let (first, last) = arguments.split_once(',').unwrap_or((arguments, arguments));
    let rows = row(first, line)?..=row(last, line)?;
    if rows.is_empty() || name.contains('%') {
        return Err(mistake());
    }
    Ok(LineKind::Lists { name: format!("{name}:"), rows, list: list.map(str::to_owned) })
}

fn row(text: &str, line: usize) -> Result<i32, TemplateError> {
    let row = text.trim().parse().ok();
    row.filter(|row: &i32| (-WIDEST_ROW..=WIDEST_ROW).contains(row))
        .ok_or_else(|| TemplateError::Row { line, found: text.to_owned() })
}

/// Literals and macros in turn; neighbouring literals are one piece.
fn pieces(content: &str, line: usize) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = content;
    while let Some(percent) = rest.find('%') {
        literal.push_str(&rest[..percent]);
        rest = &rest[percent..];
        if let Some(after) = rest.strip_prefix("%%") {
            literal.push('%');
            rest = after;
            continue;
        }
        let (cell, after) = one_macro(rest, line)?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Macro(cell));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// The macro at the beginning of `text`, a percent sign, and the text behind it.
fn one_macro(text: &str, line: usize) -> Result<(Macro, &str), TemplateError> {
    let body = &text[1..];
    let name_end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
    let (name, rest) = body.split_at(name_end);
    if name.is_empty() {
        return Err(TemplateError::LonePercent { line, found: text.to_owned() });
    }
    let function = Function::named(name, line)?;
    let expected = match function.reads_cell() {
        true => "a row and a column in brackets, as in %x[0,0]",
        false => "a row in brackets, as in %edge[0]",
    };
    let mistake = || TemplateError::Arguments { line, found: text.to_owned(), expected };
    let inside = rest.strip_prefix('[').ok_or_else(mistake)?;
    let (arguments, after) = inside.split_once(']').ok_or_else(mistake)?;
    let (row_text, column_text) = match (arguments.split_once(','), function.reads_cell()) {
        (Some((row, column)), true) => (row, column),
        (None, false) => (arguments, "0"),
        _ => return Err(mistake()),
    };
    let row = row(row_text, line)?;
    let column = column_text
        .trim()
        .parse()
        .ok()
        .filter(|&column: &usize| column <= HIGHEST_COLUMN)
        .ok_or_else(|| TemplateError::Column { line, found: column_text.to_owned() })?;
    Ok((Macro { function, row, column }, after))
}
