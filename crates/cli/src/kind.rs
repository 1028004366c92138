//! What kind of file somebody gave, by its beginning: for messages about a file in the wrong place.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use bethe_cite::Field;
use bethe_io::{is_utf16, without_mark};
use bethe_terminal::bad_input;

/// So much of a file is looked at.
const LOOKED_AT: u64 = 16 << 10;
/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Longer headers of models are text that was taken for a length.
const LONGEST_HEADER: u64 = 100_000_000;
/// More columns than this in a line of words are a sentence.
const MOST_COLUMNS: usize = 12;
/// Fewest tokens that show labels without a prefix, and how often each label stands on average.
const FEWEST_TOKENS: usize = 10;
const LABEL_REPEATS: usize = 3;
/// Characters of the longest name of a table's column.
const LONGEST_NAME: usize = 40;

/// Kinds of files that their beginning tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    /// A JSON object.
    Json,
    Uai,
    /// A table with commas or semicolons.
    Csv,
    /// A table of references: one a row, with columns such as author and title.
    Bibliography,
    /// Tokens with a label, one a line.
    Labelled,
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

    fn of_start(start: &[u8]) -> Option<Self> {
        if is_model(start) {
            return Some(Self::Model);
        }
        if start.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        if start.starts_with(b"{\\rtf") {
            return Some(Self::Rtf);
        }
        if start.contains(&0) && !is_utf16(start) && !start.starts_with(&GZIP) {
            return Some(Self::Binary);
        }
        let is_cut = start.len() as u64 == LOOKED_AT;
        let text = String::from_utf8_lossy(without_mark(start));
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
        if is_bibliography(&lines) {
            return Some(Self::Bibliography);
        }
        if is_csv(&lines) {
            return Some(Self::Csv);
        }
        is_labelled(&lines).then_some(Self::Labelled)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Model => "a model",
            Self::Json => "JSON",
            Self::Uai => "a UAI model",
            Self::Csv => "a CSV table",
            Self::Bibliography => "a table of references",
            Self::Labelled => "labelled tokens",
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

    /// The command that reads such a file, if there is one.
    fn reader(self, path: &str) -> Option<String> {
        Some(match self {
            Self::Model => format!("bethe inspect {path}"),
            Self::Json | Self::Uai => format!("bethe solve {path}"),
            Self::Csv => format!("bethe flows {path} --cells CELLS.csv --population M"),
            Self::Labelled => format!("bethe tag MODEL {path}"),
            Self::Pdf => format!("pdftotext -layout {path} - | bethe cite --unwrap"),
            Self::Rtf | Self::Html => {
                format!("pandoc -t plain --wrap=none {path} | bethe cite")
            }
            Self::Bibtex
            | Self::Ris
            | Self::JsonList
            | Self::Bibliography
            | Self::Xml
            | Self::Binary => {
                return None;
            }
        })
    }
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

/// A message about a file of another kind; `meant` is the command in place of the kind's own.
pub fn mistaken(path: &Path, kind: Kind, expected: &str, meant: Option<String>) -> anyhow::Error {
    let name = path.display().to_string();
    let meant = meant.or_else(|| kind.reader(&name));
    let meant = meant.map_or(String::new(), |meant| format!(". Did you mean `{meant}`?"));
    bad_input(format!("{name}: found {}, expected {expected}{meant}", kind.name()))
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

/// Whether the first line that is no comment begins an entry, such as `@article{`.
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

/// Whether all lines have the same columns, and the last is one of labels: those of segments, or words
/// of which there are few.
fn is_labelled(lines: &[&str]) -> bool {
    let cells = |line: &str| -> Vec<String> {
        let cells: Vec<&str> = match line.contains('\t') {
            true => line.split('\t').collect(),
            false => line.split_whitespace().collect(),
        };
        cells.into_iter().map(str::to_string).collect()
    };
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let columns = rows[0].len();
    let is_row = |row: &Vec<String>| {
        row.len() == columns && !row.iter().any(|cell| cell.contains(' ') || cell.is_empty())
    };
    if !(2..=MOST_COLUMNS).contains(&columns) || !rows.iter().all(is_row) {
        return false;
    }
    let labels: Vec<&str> = rows.iter().map(|row| row[columns - 1].as_str()).collect();
    let is_segment = |label: &&str| {
        *label == "O" || ["B-", "I-", "E-", "S-"].iter().any(|prefix| label.starts_with(prefix))
    };
    labels.iter().all(is_segment) || are_few_words(&labels)
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

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_known_by_their_beginning() {
        let model = [&20u64.to_le_bytes()[..], b"{\"a\": 1}"].concat();
        for (start, expected) in [
            (&model[..], Some(Kind::Model)),
            (b"{\"variables\": [2]}", Some(Kind::Json)),
            (b"\xef\xbb\xbf{\n  \"variables\": [2]\n}\n", Some(Kind::Json)),
            (b"MARKOV\n2\n2 2\n", Some(Kind::Uai)),
            (b"time,A,B\n1,2,\n2,3,4\n", Some(Kind::Csv)),
            (b"cell;x;y\nA;0;0,5\n", Some(Kind::Csv)),
            (b"Kaya\tB-author\n.\tO\n\n1984\tB-year\n", Some(Kind::Labelled)),
            (b"Kaya NNP B-author\n. . O\n", Some(Kind::Labelled)),
            (b"Kaya\tNNP\tauthor\n.\tSYM\tauthor\n".repeat(9).leak(), Some(Kind::Labelled)),
            (b"{\\rtf1\\ansi Li, A.}\n", Some(Kind::Rtf)),
            (b"<!DOCTYPE html>\n<p>Li, A.</p>\n", Some(Kind::Html)),
            (b"\n<HTML>\n", Some(Kind::Html)),
            (b"<?xml version=\"1.0\"?>\n", Some(Kind::Xml)),
            (b"author,title,year\nA. Li,On ice,2004\n", Some(Kind::Bibliography)),
            (b"author,title\nLi,Ice\n", Some(Kind::Bibliography)),
            (b"Title\tAuthors\tSource\nOn ice\tA. Li\tWater\n", Some(Kind::Bibliography)),
            (b"\"Key\";\"Item Type\";\"Author\";\"Title\"\n", Some(Kind::Bibliography)),
            (b"\"Li, A.\",\"On ice\"\n\"Xu, B.\",\"Sea, ice\"\n", Some(Kind::Bibliography)),
            (b"@article{key,\n  title = {On graphs}\n}\n", Some(Kind::Bibtex)),
            (b"% Encoding: UTF-8\n\n@Book {key,\n", Some(Kind::Bibtex)),
            (b"TY  - JOUR\nTI  - On graphs\nER  - \n", Some(Kind::Ris)),
            (b"[{\"id\": \"a\"}]", Some(Kind::JsonList)),
            (b"%PDF-1.7\n\0\0", Some(Kind::Pdf)),
            (b"\x7fELF\x02\x01\x01\0\0", Some(Kind::Binary)),
            (b"\xff\xfea\0", None),
            (b"\x1f\x8b\x08\0\0", None),
            (b"year,place,count\n1999,A,2\n", Some(Kind::Csv)),
            (b"\"On ice,\" Li, A., 1999.\n\"On sea,\" Xu, B., 2001.\n", None),
            (b"Authors, titles and years: a study of title pages, Li 2004\n", None),
            (b"<http://a.org> Li, A. On ice.\n<s>\n", None),
            // Tokens alone, also those that look like something else.
            (b"[\n37\n]\nO'Neil\n,\n", None),
            (b"{\nset\n}\n", None),
            (b",\n,\n", None),
            (b"a b\nc d\n", None),
            (b"@ 2004, A. Chen\n", None),
            (b"[1] A. Chen. On graphs. 2004.\n[2] B. Li. Trees. 2005.\n", None),
            (b"[{a}] A. Chen. On graphs. 2004.\n", None),
            (b"A. Chen, J. van Dyk. On graphs. 2004.\nB. Li, and C. Do. Trees. 2005.\n", None),
            (b"1\tA. Chen. On graphs. 2004.\n2\tB. Li. Trees. 2005.\n", None),
            (b"", None),
            (b"\n\n", None),
        ] {
            assert_eq!(Kind::of_start(start), expected, "{}", String::from_utf8_lossy(start));
        }
    }
}
