//! The kind of a file, by its first bytes: for messages about a file in the wrong place.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use bethe_cite::Field;
use bethe_io::{is_utf16, without_mark};
use bethe_terminal::bad_input;

use crate::beginning::{Table, is_problem};

/// How many bytes of a file are looked at.
pub const LOOKED_AT: u64 = 16 << 10;
/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Longer headers of models are text that was taken for a length.
const LONGEST_HEADER: u64 = 100_000_000;
/// Lines of text have so many words on average, or more.
const FEWEST_WORDS: usize = 3;
/// References fill so many lines on average, or fewer.
const MOST_LINES: usize = 4;
/// More columns than this in a line of words are a sentence.
const MOST_COLUMNS: usize = 12;
/// Fewest tokens that show labels without a prefix, and how often each label stands on average.
const FEWEST_TOKENS: usize = 10;
const LABEL_REPEATS: usize = 3;
/// Characters of the longest name of a table's column.
const LONGEST_NAME: usize = 40;

/// Kinds of files that their first bytes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    /// A JSON object.
    Json,
    Uai,
    /// A table with commas or semicolons.
    Csv,
    /// A table of references: one per row, with columns such as author and title.
    Bibliography,
    /// Tokens with a label, one per line.
    Labelled,
    /// Other tokens, one per line.
    Tokens,
    References,
    /// Other text in lines of several words.
    Sentences,
    Template,
    Rules,
    /// Whole numbers.
    Evidence,
    /// Nothing but blank lines.
    Empty,
    /// Entries of BibTeX.
    Bibtex,
    /// Entries of RIS.
    Ris,
    /// A JSON list of objects, such as CSL-JSON.
    JsonList,
    Pdf,
    /// Text with formatting, from a word processor.
    Rtf,
    Html,
    Xml,
    /// Neither text nor a model.
    Binary,
}

impl Kind {
    /// The kind of a plain file; `None` if it is another one, or not plain: a pipe is read once.
    pub fn of(path: &Path) -> Option<Self> {
        if !path.metadata().is_ok_and(|found| found.is_file()) {
            return None;
        }
        let mut start = Vec::new();
        File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
        Self::of_start(&start)
    }

    /// The kind of a text that is in memory.
    pub fn of_text(text: &[u8]) -> Option<Self> {
        Self::of_start(&text[..text.len().min(LOOKED_AT as usize)])
    }

    fn of_start(start: &[u8]) -> Option<Self> {
        if start.trim_ascii().is_empty() {
            return Some(Self::Empty);
        }
        if is_utf16(start) || start.starts_with(&GZIP) {
            return None;
        }
        if is_model(start) {
            return Some(Self::Model);
        }
        if start.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        if start.starts_with(b"{\\rtf") {
            return Some(Self::Rtf);
        }
        if start.contains(&0) {
            return Some(Self::Binary);
        }
        let is_cut = start.len() as u64 == LOOKED_AT;
        Self::of_words(&String::from_utf8_lossy(without_mark(start)), is_cut)
    }

    /// The kind of a text; its last line may be cut.
    fn of_words(text: &str, is_cut: bool) -> Option<Self> {
        let mut lines: Vec<&str> = text.lines().collect();
        if is_cut && lines.len() > 1 {
            lines.pop();
        }
        lines.retain(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let first = lines.first()?.trim_start();
        if begins_with_any(first, &["<!doctype html", "<html"]) {
            return Some(Self::Html);
        }
        if begins_with_any(first, &["<?xml"]) {
            return Some(Self::Xml);
        }
        if is_json_object(text.trim_start()) {
            return Some(Self::Json);
        }
        if is_json_list(text.trim_start()) {
            return Some(Self::JsonList);
        }
        if is_bibtex(&lines) {
            return Some(Self::Bibtex);
        }
        if first.starts_with("TY  - ") {
            return Some(Self::Ris);
        }
        if first.starts_with("MARKOV") || first.starts_with("BAYES") {
            return Some(Self::Uai);
        }
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| cells(line)).collect();
        if is_labelled(&rows) {
            return Some(Self::Labelled);
        }
        if is_template(&lines) {
            return Some(Self::Template);
        }
        if first.starts_with("[[") && first.trim_end().ends_with(']') {
            return Some(Self::Rules);
        }
        if is_bibliography(&lines) {
            return Some(Self::Bibliography);
        }
        if is_csv(&lines) {
            return Some(Self::Csv);
        }
        Some(Self::of_lines(&lines, &rows))
    }

    /// The kind of a text whose form is free.
    fn of_lines(lines: &[&str], rows: &[Vec<&str>]) -> Self {
        if lines.iter().all(|line| is_numbers(line)) {
            Self::Evidence
        } else if !is_prose(lines, rows) {
            Self::Tokens
        } else if lines.iter().filter(|line| has_year(line)).count() * MOST_LINES >= lines.len() {
            Self::References
        } else {
            Self::Sentences
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Model => "a model",
            Self::Json => "JSON",
            Self::Uai => "a UAI model",
            Self::Csv => "a CSV table",
            Self::Bibliography => "a table of references",
            Self::Labelled => "labelled tokens",
            Self::Tokens => "tokens",
            Self::References => "references",
            Self::Sentences => "sentences",
            Self::Template => "a template",
            Self::Rules => "rules",
            Self::Evidence => "numbers",
            Self::Empty => "nothing",
            Self::Bibtex => "BibTeX",
            Self::Ris => "RIS",
            Self::JsonList => "a JSON list",
            Self::Pdf => "a PDF",
            Self::Rtf => "RTF",
            Self::Html => "HTML",
            Self::Xml => "XML",
            Self::Binary => "binary data",
        }
    }

    /// What to do with such a file, if that is known: the end of a message.
    fn advice(self, path: &Path) -> String {
        let name = path.display();
        let command = match self {
            Self::Model => format!("bethe inspect {name}"),
            Self::Json if !is_problem(path) => return String::new(),
            Self::Json | Self::Uai => format!("bethe solve {name}"),
            Self::Csv => match Table::of(path) {
                Some(Table::Counts) => {
                    format!("bethe flows {name} --cells CELLS.csv --population M")
                }
                Some(Table::Cells) => {
                    format!("bethe flows COUNTS.csv --cells {name} --population M")
                }
                _ => return "; columns of tokens are separated by tabs or spaces".to_string(),
            },
            Self::Labelled | Self::Tokens => format!("bethe tag MODEL {name}"),
            Self::References => format!("bethe cite {name}"),
            Self::Sentences => format!("bethe tag MODEL --text \"$(cat {name})\""),
            Self::Template => format!("bethe train TRAIN --model MODEL --template {name}"),
            Self::Rules => format!("bethe train TRAIN --model MODEL --constraints {name}"),
            Self::Pdf => format!("pdftotext -layout {name} - | bethe cite --unwrap"),
            Self::Rtf | Self::Html => format!("pandoc -t plain --wrap=none {name} | bethe cite"),
            Self::Bibtex | Self::Ris | Self::JsonList | Self::Bibliography => return String::new(),
            Self::Xml | Self::Binary | Self::Evidence | Self::Empty => return String::new(),
        };
        did_you_mean(&command)
    }
}

fn did_you_mean(command: &str) -> String {
    format!(". Did you mean `{command}`?")
}

/// Kinds that no command reads.
const STRANGE: [Kind; 7] =
    [Kind::Bibtex, Kind::Ris, Kind::Pdf, Kind::Rtf, Kind::Html, Kind::Xml, Kind::Bibliography];

/// Refuses a file of one of these kinds, or of one that no command reads. Names the command that was
/// probably meant.
pub fn refuse(path: &Path, kinds: &[Kind], expected: &str) -> Result<()> {
    match Kind::of(path).filter(|kind| kinds.contains(kind) || STRANGE.contains(kind)) {
        Some(kind) => Err(mistaken(path, kind, expected, None)),
        None => Ok(()),
    }
}

/// Refuses a file of any other kind than a model.
pub fn refuse_all_but_models(path: &Path) -> Result<()> {
    match Kind::of(path).filter(|kind| *kind != Kind::Model) {
        Some(kind) => Err(mistaken(path, kind, "a model from bethe train", None)),
        None => Ok(()),
    }
}

/// A message about a file of another kind; `meant` is the command in place of the kind's own.
pub fn mistaken(path: &Path, kind: Kind, expected: &str, meant: Option<String>) -> anyhow::Error {
    let advice = meant.map_or_else(|| kind.advice(path), |meant| did_you_mean(&meant));
    let name = path.display().to_string();
    let name = if name == "-" { "standard input" } else { &name };
    let found = match kind {
        Kind::Empty => "the file is empty".to_string(),
        kind => format!("found {}", kind.name()),
    };
    bad_input(format!("{name}: {found}, expected {expected}{advice}"))
}

/// Whether a file is a safetensors file by its start: the length of the JSON header, and the header.
pub fn is_model(start: &[u8]) -> bool {
    match start.split_first_chunk() {
        Some((length, [b'{', ..])) => u64::from_le_bytes(*length) <= LONGEST_HEADER,
        _ => false,
    }
}

/// Whether it begins with a brace, a key in quotes and a colon. References and tokens do not.
fn is_json_object(text: &str) -> bool {
    let key = text.strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('"'));
    let after = key.and_then(|rest| rest.split_once('"'));
    after.is_some_and(|(key, rest)| !key.contains('\n') && rest.trim_start().starts_with(':'))
}

/// The same for a list of objects. References begin with a number or a key in such brackets.
fn is_json_list(text: &str) -> bool {
    text.strip_prefix('[').is_some_and(|rest| is_json_object(rest.trim_start()))
}

/// Whether the first line that is not a comment begins an entry, such as `@article{`.
fn is_bibtex(lines: &[&str]) -> bool {
    let first = lines.iter().map(|line| line.trim_start()).find(|line| !line.starts_with('%'));
    let entry = first.and_then(|line| line.strip_prefix('@')?.split_once(['{', '(']));
    entry.is_some_and(|(kind, _)| {
        let kind = kind.trim_end();
        !kind.is_empty() && kind.chars().all(char::is_alphabetic)
    })
}

/// Whether a text begins with one of these, in any case.
fn begins_with_any(text: &str, starts: &[&str]) -> bool {
    let is_own =
        |start: &&str| text.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    starts.iter().any(is_own)
}

/// Whether the first line names columns of references, a person's or the title among them, or all
/// lines are of cells in quotation marks.
fn is_bibliography(lines: &[&str]) -> bool {
    let bare = |cell: &str| cell.trim().trim_matches('"').trim().to_string();
    let is_header = |separator: char| {
        let cells: Vec<String> = lines[0].split(separator).map(bare).collect();
        let known: Vec<Field> = cells.iter().filter_map(|cell| Field::of(cell)).collect();
        let names_work = |field: &Field| field.is_people() || *field == Field::Title;
        known.len() > 1
            && known.iter().any(names_work)
            && cells.iter().all(|cell| cell.chars().count() <= LONGEST_NAME)
    };
    let is_quoted = |line: &&str| {
        line.starts_with('"')
            && ["\",\"", "\";\"", "\"\t\""].iter().any(|between| line.contains(between))
    };
    [',', ';', '\t'].into_iter().any(is_header) || lines.len() > 1 && lines.iter().all(is_quoted)
}

/// Whether several lines have the same number of commas or semicolons, and neither tabs nor the
/// spaces of a text.
fn is_csv(lines: &[&str]) -> bool {
    let is_one_word = |line: &&str| !line.contains(['\t', ' ']);
    let same = |separator: char| {
        let count = |line: &str| line.matches(separator).count();
        let first = count(lines[0]);
        first > 0 && lines.iter().all(|line| count(line) == first)
    };
    lines.len() > 1
        && lines[0].len() > 1
        && lines.iter().all(is_one_word)
        && (same(',') || same(';'))
}

/// The cells of a line of tokens.
fn cells(line: &str) -> Vec<&str> {
    match line.contains('\t') {
        true => line.split('\t').collect(),
        false => line.split_whitespace().collect(),
    }
}

fn is_label(cell: &str) -> bool {
    let prefixes = ["B-", "I-", "E-", "S-", "L-", "U-"];
    cell == "O" || prefixes.iter().any(|prefix| cell.starts_with(prefix))
}

/// Whether all lines have the same columns, and the last is one of labels: those of segments, or words
/// of which there are few.
fn is_labelled(rows: &[Vec<&str>]) -> bool {
    let columns = rows[0].len();
    let is_row = |row: &Vec<&str>| {
        row.len() == columns && !row.iter().any(|cell| cell.contains(' ') || cell.is_empty())
    };
    if !(2..=MOST_COLUMNS).contains(&columns) || !rows.iter().all(is_row) {
        return false;
    }
    let labels: Vec<&str> = rows.iter().map(|row| row[columns - 1]).collect();
    labels.iter().all(|label| is_label(label)) || are_few_words(&labels)
}

/// Whether labels without a prefix are few words that repeat: `author`, `title`.
fn are_few_words(labels: &[&str]) -> bool {
    let is_word = |label: &&str| label.starts_with(char::is_alphabetic);
    let mut known: Vec<&str> = labels.to_vec();
    known.sort_unstable();
    known.dedup();
    labels.len() >= FEWEST_TOKENS
        && labels.iter().all(is_word)
        && known.len() * LABEL_REPEATS <= labels.len()
}

/// Whether lines are texts of several words, and not the columns of tokens: most of these are as many,
/// or end in a label.
fn is_prose(lines: &[&str], rows: &[Vec<&str>]) -> bool {
    let words = || lines.iter().map(|line| line.split_whitespace().count());
    let mut counts: HashMap<usize, usize> = HashMap::new();
    rows.iter().for_each(|row| *counts.entry(row.len()).or_default() += 1);
    let alike = counts.values().copied().max().unwrap_or(0);
    let labelled =
        rows.iter().filter(|row| row.len() > 1 && row.last().is_some_and(|c| is_label(c)));
    let (labelled, tabs) =
        (labelled.count(), lines.iter().filter(|line| line.contains('\t')).count());
    words().sum::<usize>() >= FEWEST_WORDS * lines.len()
        && 2 * tabs < lines.len()
        && 2 * labelled < lines.len()
        && (lines.len() == 1 || alike * 5 < lines.len() * 4)
}

/// Whether it has a year, as references do.
fn has_year(line: &str) -> bool {
    let numbers = line.split(|c: char| !c.is_ascii_digit());
    let is_year = |number: &str| {
        number.len() == 4 && (number.starts_with("20") || ("15".."20").contains(&&number[..2]))
    };
    numbers.into_iter().any(is_year)
}

fn is_numbers(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
}

/// Whether the first line starts like a template's, or most lines have one of its functions.
fn is_template(lines: &[&str]) -> bool {
    let bigram = |line: &str| line.trim_end() == "B" || line.starts_with("B%");
    let unigram = |line: &str| line.starts_with(['U', 'R', 'L']);
    let tells = |line: &str| bigram(line) || unigram(line) && is_named(line);
    let (first, rest) = (lines[0], &lines[1..]);
    // A name alone, `Ubias`, may be any word: then the other lines tell.
    let named = || unigram(first) && !rest.is_empty() && rest.iter().all(|line| tells(line));
    let likely = || lines.iter().filter(|line| tells(line) || has_function(line)).count();
    let mostly = || lines.iter().any(|line| has_function(line)) && 2 * likely() > lines.len();
    tells(first) || named() || mostly()
}

/// Whether a name comes before a function, or a number before a colon, as in `U00:`.
fn is_named(line: &str) -> bool {
    let name = line.split(['%', ':']).next().unwrap_or_default();
    let is_number = name.len() > 1 && name[1..].bytes().all(|byte| byte.is_ascii_digit());
    let has_end = line.len() > name.len();
    has_end && !name.contains(char::is_whitespace) && (is_number || line.contains('%'))
}

/// Whether it has a part such as `%x[0,0]`.
fn has_function(line: &str) -> bool {
    line.split('%').skip(1).any(|part| {
        let name = part.split_once('[').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests;
