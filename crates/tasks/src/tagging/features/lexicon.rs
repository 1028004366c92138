use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::derive::Derived;
use super::function::Function;
use super::trie::{PASSED_OVER, Trie};
use super::{Cells, ExtractError, LexiconError, Workspace};

/// Named lists of words and phrases: people, places, journals.
///
/// Where column 0 of a sequence spells an entry of the list `places`, the match's first position
/// has the attribute `lex:places=B` and the others `lex:places=I`. Of several entries that begin
/// at one position the longest counts; the next match of the same list begins behind it. Lists do
/// not disturb each other.
///
/// Entry and cells are compared token by token, in lower case and without punctuation around
/// tokens (`Dr.` is `dr`, `U.K.,` is `u.k`). A cell of nothing but punctuation is passed over inside
/// a match, so that `St . Louis` is `St. Louis`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lexicons {
    lists: Vec<List>,
    trie: Trie,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct List {
    name: String,
    begin: String,
    inside: String,
    /// Normalised, sorted, distinct.
    entries: Vec<String>,
}

/// What a list says of a position.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mark {
    Outside,
    Begin,
    Inside,
}

impl Lexicons {
    /// Lists by name; their order does not matter. Entries without a letter, digit or symbol are
    /// skipped.
    pub fn from_lists<Name, Entries>(
        lists: impl IntoIterator<Item = (Name, Entries)>,
    ) -> Result<Self, LexiconError>
    where
        Name: Into<String>,
        Entries: IntoIterator<Item: AsRef<str>>,
    {
        let mut sorted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, entries) in lists {
            let name = checked_name(name.into())?;
            let entries = entries.into_iter().map(|entry| normalised(entry.as_ref()));
            let entries = entries.filter(|entry| !entry.is_empty()).collect();
            if sorted.insert(name.clone(), entries).is_some() {
                return Err(LexiconError::RepeatedName { name });
            }
        }
        let mut lexicons = Self::default();
        for ((name, entries), list) in sorted.into_iter().zip(0..) {
            for entry in &entries {
                lexicons.trie.insert(entry.split(' '), list);
            }
            let (begin, inside) = (format!("lex:{name}=B"), format!("lex:{name}=I"));
            let entries = entries.into_iter().collect();
            lexicons.lists.push(List { name, begin, inside, entries });
        }
        Ok(lexicons)
    }

    /// Reads files, and all files directly in folders (hidden ones aside): one list each, named by
    /// the file's stem, one entry a line; blank lines and lines that begin with `#` are skipped.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Self, LexiconError> {
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for path in paths {
            for file in files(path.as_ref())? {
                let text = std::fs::read_to_string(&file).map_err(unreadable(&file))?;
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let name = checked_name(name).and_then(|name| match &lists {
                    lists if lists.iter().any(|(other, _)| *other == name) => {
                        Err(LexiconError::RepeatedName { name })
                    }
                    _ => Ok(name),
                });
                let name = name.map_err(|mistake| LexiconError::InFile {
                    path: file.clone(),
                    mistake: Box::new(mistake),
                })?;
                let entries = text.lines().filter(|line| !line.trim_start().starts_with('#'));
                lists.push((name, entries.map(str::to_owned).collect::<Vec<_>>()));
            }
        }
        Self::from_lists(lists)
    }

    /// The lists' names, sorted, each with its entries as they are compared: sorted, in lower case.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.lists.iter().map(|list| (list.name.as_str(), list.entries.as_slice()))
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Finds all matches in column 0 and leaves them in the workspace.
    pub(super) fn mark(
        &self,
        sequence: &(impl Cells + ?Sized),
        workspace: &mut Workspace,
    ) -> Result<(), ExtractError> {
        workspace.tokens.clear();
        workspace.marks.clear();
        if self.is_empty() {
            return Ok(());
        }
        for position in 0..sequence.len() {
            let Some(cell) = sequence.cell(position, 0) else {
                let reader = "the search for lexicon entries".to_owned();
                return Err(ExtractError::MissingColumn { position, column: 0, reader });
            };
            workspace.token.clear();
            append_normalised(cell, &mut workspace.token);
            workspace.tokens.push(match workspace.token.is_empty() {
                true => Some(PASSED_OVER),
                false => self.trie.token(&workspace.token),
            });
        }
        let width = self.lists.len();
        workspace.marks.resize(sequence.len() * width, Mark::Outside);
        for start in 0..sequence.len() {
            let marks = &mut workspace.marks[start * width..];
            self.trie.matches(&workspace.tokens[start..], |length, list| {
                let list = list as usize;
                // Inside an earlier match. A shorter one from here reads Begin and is extended.
                if marks[list] == Mark::Inside {
                    return;
                }
                marks[list] = Mark::Begin;
                for position in 1..length {
                    marks[position * width + list] = Mark::Inside;
                }
            });
        }
        Ok(())
    }

    /// The lists, or the one of that name, that match within rows: each as an attribute that begins with
    /// what is there. Of a single row they tell whether the match begins there.
    pub(super) fn visit_near(
        &self,
        workspace: &Workspace,
        ((rows, single), only): ((Range<usize>, bool), Option<&str>),
        attribute: &mut String,
        mut visit: impl FnMut(&str),
    ) {
        let (width, start) = (self.lists.len(), attribute.len());
        let wanted = |list: &List| only.is_none_or(|name| name == list.name);
        for (place, list) in self.lists.iter().enumerate().filter(|(_, list)| wanted(list)) {
            let mut marks = rows.clone().map(|row| workspace.marks[row * width + place]);
            let Some(mark) = marks.find(|&mark| mark != Mark::Outside) else { continue };
            attribute.push_str(&list.name);
            if single {
                attribute.push_str(if mark == Mark::Begin { "=B" } else { "=I" });
            }
            visit(attribute);
            attribute.truncate(start);
        }
    }

    /// The attributes of a position whose matches are in the workspace.
    pub(super) fn attributes(
        &self,
        workspace: &Workspace,
        position: usize,
    ) -> impl Iterator<Item = &str> {
        let marks = workspace.marks[position * self.lists.len()..].iter();
        marks.zip(&self.lists).filter_map(|(mark, list)| match mark {
            Mark::Outside => None,
            Mark::Begin => Some(list.begin.as_str()),
            Mark::Inside => Some(list.inside.as_str()),
        })
    }
}

/// All lists in one text, for a model file: `[name]` and its entries, one a line.
impl fmt::Display for Lexicons {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for list in &self.lists {
            writeln!(formatter, "[{}]", list.name)?;
            for entry in &list.entries {
                writeln!(formatter, "{entry}")?;
            }
        }
        Ok(())
    }
}

/// Reads what `Display` writes. Entries never begin with a bracket, so names stand out.
impl FromStr for Lexicons {
    type Err = LexiconError;

    fn from_str(text: &str) -> Result<Self, LexiconError> {
        let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            match (name, lists.last_mut()) {
                (Some(name), _) => lists.push((name, Vec::new())),
                (None, Some((_, entries))) => entries.push(line),
                (None, None) => {
                    let found = line.to_owned();
                    return Err(LexiconError::EntryWithoutList { line: number, found });
                }
            }
        }
        Self::from_lists(lists)
    }
}

/// Punctuation that may stand around a token without being part of it, unlike that of `C++` or `&`.
fn surrounds(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '-' | '…')
        || matches!(c, '\'' | '"' | '`' | '‘'..='‟' | '«' | '»' | '‹' | '›' | '‐'..='―')
}

fn append_normalised(token: &str, output: &mut String) {
    let core = token.trim_matches(surrounds);
    if let Derived::Part(_) = Function::Lower.derive(core, output) {
        output.push_str(core);
    }
}

/// The tokens of an entry with single spaces between them.
fn normalised(entry: &str) -> String {
    let mut output = String::new();
    for token in entry.split_whitespace() {
        let end = output.len();
        if end > 0 {
            output.push(' ');
        }
        let start = output.len();
        append_normalised(token, &mut output);
        if output.len() == start {
            output.truncate(end);
        }
    }
    output
}

/// A name that attributes can have.
fn checked_name(name: String) -> Result<String, LexiconError> {
    match name.is_empty() || name.contains(char::is_control) {
        true => Err(LexiconError::Name { found: name }),
        false => Ok(name),
    }
}

/// A file itself, or the files of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, LexiconError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable(path))? {
        let entry = entry.map_err(unreadable(path))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    if files.is_empty() {
        return Err(LexiconError::EmptyFolder { path: path.to_owned() });
    }
    Ok(files)
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> LexiconError {
    move |error| LexiconError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}
