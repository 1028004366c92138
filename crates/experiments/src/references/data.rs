//! Labelled references of both open sets.

use std::path::{Path, PathBuf};

use bethe_tagging::data::{DataError, Format, Sequence, Sequences};

/// Where a reference is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// AnyStyle's core set.
    AnyStyle,
    /// GROBID's annotated references.
    Grobid,
    /// A program of ours.
    Generated,
}

impl Source {
    /// The sets of references that people labelled.
    pub const LABELLED: [Self; 2] = [Self::AnyStyle, Self::Grobid];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnyStyle => "AnyStyle",
            Self::Grobid => "GROBID",
            Self::Generated => "generated",
        }
    }

    /// Its file below the folder of data.
    fn file(self) -> &'static str {
        match self {
            Self::AnyStyle => "citation/anystyle/core.conll",
            _ => "citation/grobid/train.conll.gz",
        }
    }
}

/// Tokens side by side that belong to one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The field's name.
    pub field: String,
    /// Its tokens.
    pub tokens: Vec<String>,
}

impl Piece {
    /// A piece of tokens that spaces separate.
    pub fn new(field: &str, tokens: &str) -> Self {
        let tokens = tokens.split(' ').map(str::to_string).collect();
        Self { field: field.to_string(), tokens }
    }

    /// Whether one of its tokens is one of these words, in any case.
    pub fn has(&self, words: &[&str]) -> bool {
        self.tokens.iter().any(|token| words.contains(&token.to_lowercase().as_str()))
    }

    /// Whether its field is this one.
    pub fn is(&self, field: &str) -> bool {
        self.field == field
    }
}

/// A reference whose every token has a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it is from.
    pub source: Source,
    /// Its fields, in order.
    pub pieces: Vec<Piece>,
}

impl Reference {
    /// Its tokens.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().flat_map(|piece| piece.tokens.iter().map(String::as_str))
    }

    /// The label of each token, in BIO.
    pub fn labels(&self) -> Vec<String> {
        let of_piece = |piece: &Piece| {
            let role = |at| if at == 0 { "B" } else { "I" };
            let label = |at| format!("{}-{}", role(at), piece.field);
            (0..piece.tokens.len()).map(label).collect::<Vec<_>>()
        };
        self.pieces.iter().flat_map(of_piece).collect()
    }

    /// The letters and digits of a field, in lower case.
    pub fn bare(&self, field: &str) -> String {
        let pieces = self.pieces.iter().filter(|piece| piece.is(field));
        bare(&pieces.flat_map(|piece| &piece.tokens).cloned().collect::<String>())
    }
}

/// The letters and digits of a text, in lower case.
pub fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Both sets, in the order of their files.
pub fn read(data: &Path) -> Result<Vec<Reference>, DataError> {
    let mut all = Vec::new();
    for source in Source::LABELLED {
        let path: PathBuf = data.join(source.file());
        for sequence in Sequences::open(&path, Format::Columns)? {
            all.push(Reference { source, pieces: pieces(&sequence?) });
        }
    }
    Ok(all)
}

fn pieces(sequence: &Sequence) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for t in 0..sequence.len() {
        let cell = |column| sequence.cell(t, column).unwrap_or_default();
        let label = cell(sequence.columns(t) - 1);
        let (role, field) = label.split_once('-').unwrap_or(("B", "note"));
        match pieces.last_mut().filter(|last| role == "I" && last.is(field)) {
            Some(last) => last.tokens.push(cell(0).to_string()),
            None => pieces.push(Piece::new(field, cell(0))),
        }
    }
    pieces
}
