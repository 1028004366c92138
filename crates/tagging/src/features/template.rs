use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use bethe_core::MemoryLimit;
use bethe_io::read_text_within;

use super::function::Function;
use super::{Lexicons, TemplateError};
use super::{default, parse};

/// Rows are at most this far from the position.
pub(super) const WIDEST_ROW: i32 = 100;
/// The highest column a template may name.
pub(super) const HIGHEST_COLUMN: usize = 999;

/// A short line becomes a name, pieces and a place among the others: this many times its bytes.
const SHARE: f64 = 64.0;

/// Which attributes to make from the cells around a position: the template file of CRF++, extended.
///
/// One line, one attribute per position. Blank lines and lines that begin with `#` are skipped.
///
/// | line | gives |
/// | --- | --- |
/// | `U01:%x[-1,0]` | the text as written, with the cell one row up in column 0 for the macro |
/// | `U05:%x[-1,0]/%x[0,0]` | a conjunction; any literal text may stand around macros, `%%` is `%` |
/// | `U99` | the same attribute everywhere (a bias) |
/// | `R01:%x[0,2]` | the attribute `R01` with the cell's number as its value; none if it is empty or `_` |
/// | `L01:%lists[-1]` | for each lexicon with a match one row up, `L01:name=B` or `L01:name=I` |
/// | `L02:%lists[1,10]` | for each lexicon with a match in rows 1 to 10, `L02:name`; `L02:%lists[1,10]=name` for that one alone |
/// | `B` | transitions between labels ([`transitions`](Self::transitions)) |
///
/// A macro is `%function[row,column]`; rows count from the position (−100 to 100), columns from 0.
/// Rows before the sequence read `_B-1`, `_B-2`, … with the distance, those after it `_B+1`, ….
///
/// | function | of `(MacKay-1998a),` |
/// | --- | --- |
/// | `x`: the cell | `(MacKay-1998a),` |
/// | `lower`: in lower case | `(mackay-1998a),` |
/// | `bare`: in lower case, without punctuation around it; *absent* in punctuation | `mackay-1998a` |
/// | `shape`: `X` `x` `d` for letters and digits, `o` for letters without case, other characters as they are, dashes and quotes alike | `(XxxXxx-ddddx),` |
/// | `outline`: the shape with runs of one character cut to one | `(XxXx-dx),` |
/// | `pattern`: `punctuation`, `email`, `web`, `year`, `old year` (before 1900), `number`, `bracketed number`, `range`, `volume(issue)`, `mixed`, `initial`, `initials`, `roman`, `capitals`, `capitalised`, `lower` or `other` | `mixed` |
/// | `prefix1` … `prefix9`, `suffix1` … `suffix9`: that many characters; *absent* in shorter cells | `prefix3`: `(Ma` |
/// | `digits`: with every digit as `0`; *absent* without digits | `(MacKay-0000a),` |
/// | `number`: `year` (1500–2099 and at most one letter), `all` digits, `some` digits, punctuation around it aside; *absent* without digits | `some` |
/// | `letters`, `numerals`: how many letters or digits; from nine on 9 | `7`, `4` |
/// | `ending`: the last character if it is not a letter or digit and not the whole cell; else *absent* | `,` |
/// | `punctuation`, `dash`, `quote`, `bracket`: where it has such characters: `only`, `around`, `start`, `end`, `inside`; else *absent* | `dash`: `inside` |
/// | `before`, `after`: the mark of punctuation that its stretch of words follows, and that which ends it; `^` and `$` at the ends | |
/// | `since`, `until`: cells since the one and until the other: 0 to 3, 4 for up to seven, 8 for more | |
/// | `inside`: in `quotes`, in `brackets` or in `both`; else *absent* | |
/// | `turn`: of a year, number or range, which of how many: `year 1 of 2`; else *absent* | |
/// | `stretch`: sentences before, and marks of other kinds since: `1.2` | |
/// | `past`: what came before: `y` a year, `t` a run of words in lower case, `i` an "in" behind a mark, `n` a number, `q` a quotation | |
/// | `start`: `start` where something new may begin; else *absent* | |
/// | `style`: how the sequence as a whole is written: its first two words, quotation marks, an early year | |
/// | `clause`, `lastclause`, `nextclause`: the run of words between marks, the one before and the one after: how it looks (`l` lower-case words, `c` only capitalised ones, `i` initials, `n` numbers, …), how long it is and how it ends; stops of initials and short abbreviations end none | `c1,` |
/// | `ahead`, `behind`: the next number from here on and the last one before: whether all words until then are capitalised (`c`, else `l`), how many, and its pattern | `c0mixed` |
/// | `edge[row]`, without a column: `first`, `second`, `last` or `only` position; else *absent* | |
/// | `position12[row]`: which twelfth of the sequence, from 0; 2 to 99 bins | |
///
/// A line with an absent part gives no attribute at that position.
///
/// Differs from CRF++:
/// 1. Only `x` exists there, and no `R` and `L` lines.
/// 2. Lines whose attributes could coincide are refused: each `U` line needs a beginning of its
///    own.
/// 3. Bigram lines with macros are refused.
///
/// Within one line, parts are joined as written: `%x[0,0]/%x[1,0]` does not distinguish `a/b`, `c`
/// from `a`, `b/c`. If this matters, choose a separator that the cells do not contain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Template {
    text: String,
    lines: Vec<Line>,
    transitions: bool,
}

/// A line that gives attributes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Line {
    /// In the text, from 1.
    pub(super) number: usize,
    pub(super) kind: LineKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum LineKind {
    /// Pieces side by side; the first is a literal that begins with `U`.
    Text(Vec<Piece>),
    /// A named number.
    Numeric { name: String, row: i32, column: usize },
    /// Matches of lexicons, of all or of one, in a range of rows.
    Lists { name: String, rows: RangeInclusive<i32>, list: Option<String> },
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Piece {
    Literal(String),
    Macro(Macro),
}

/// `%function[row,column]`; functions of the position alone have column 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Macro {
    pub(super) function: Function,
    pub(super) row: i32,
    pub(super) column: usize,
}

impl Template {
    /// Reads a template file.
    pub fn read(path: &Path) -> Result<Self, TemplateError> {
        Self::read_within(path, MemoryLimit::NONE)
    }

    /// The same, if the template fits into a limit of memory.
    pub fn read_within(path: &Path, limit: MemoryLimit) -> Result<Self, TemplateError> {
        let text = read_text_within(path, limit, SHARE).map_err(|error| {
            TemplateError::Unreadable { path: path.to_owned(), reason: error.fault.to_string() }
        })?;
        text.parse().map_err(|mistake| TemplateError::InFile {
            path: path.to_owned(),
            mistake: Box::new(mistake),
        })
    }

    /// What a template of this text takes.
    pub fn estimated_bytes(text: &str) -> f64 {
        SHARE * text.len() as f64
    }

    /// The most columns that a template can read.
    pub const MOST_COLUMNS: usize = HIGHEST_COLUMN + 1;

    /// A strong template for data whose column 0 is a word and whose columns 1 … `columns` − 1 are
    /// further observations, such as its part of speech.
    ///
    /// It is ordinary template text: print it, edit it, and read it back.
    ///
    /// # Panics
    ///
    /// If there are no columns, or more than 1000.
    pub fn default_for(columns: usize) -> Self {
        assert!(
            (1..=Self::MOST_COLUMNS).contains(&columns),
            "found {columns} columns, expected 1 to {}",
            Self::MOST_COLUMNS
        );
        default::text(columns).parse().expect("the default template is well formed")
    }

    /// Whether labels have transition weights: whether there is a `B` line.
    pub fn transitions(&self) -> bool {
        self.transitions
    }

    /// The highest column that any line reads, `None` if none reads a cell.
    pub fn highest_column(&self) -> Option<usize> {
        self.columns().max()
    }

    /// The columns that lines read, some perhaps more than once.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.lines.iter().flat_map(Line::columns)
    }

    /// The first line that needs a list that these lexicons lack, with that list.
    pub fn unserved(&self, lexicons: &Lexicons) -> Option<(usize, Option<&str>)> {
        self.lines.iter().find_map(|line| match &line.kind {
            LineKind::Lists { list: Some(name), .. } => {
                let known = lexicons.lists().any(|(own, _)| own == name);
                (!known).then_some((line.number, Some(name.as_str())))
            }
            LineKind::Lists { list: None, .. } => {
                lexicons.is_empty().then_some((line.number, None))
            }
            _ => None,
        })
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }
}

impl Line {
    fn columns(&self) -> Vec<usize> {
        match &self.kind {
            LineKind::Numeric { column, .. } => vec![*column],
            LineKind::Lists { .. } => vec![0],
            LineKind::Text(pieces) => {
                let columns = pieces.iter().filter_map(|piece| match piece {
                    Piece::Macro(cell) if cell.function.reads_cell() => Some(cell.column),
                    _ => None,
                });
                columns.collect()
            }
        }
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let (lines, transitions) = parse::lines(text)?;
        Ok(Self { text: text.to_owned(), lines, transitions })
    }
}

/// The text it was read from, comments included.
impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
