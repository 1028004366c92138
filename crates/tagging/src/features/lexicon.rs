use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bethe_core::MemoryLimit;
use bethe_core::memory::TEXT_SHARE;
use bethe_io::read_text_within;
use bethe_learn::fingerprint::Fingerprint;

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
/// Entry and cells are compared token by token, in lower case and without punctuation around tokens
/// (`Dr.` is `dr`, `U.K.,` is `u.k`). A cell of nothing but punctuation is passed over inside a
/// match, so that `St . Louis` is `St. Louis`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lexicons {
    lists: Vec<List>,
    trie: Trie,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct List {
    name: String,
    /// Of the name with the ending of each mark. `[marks]`
    fingerprints: [Fingerprint; 3],
    /// Normalised, sorted, distinct.
    entries: Vec<String>,
}

/// A token in its entry, in the dictionary of tokens and as a node, while these grow.
const BYTES_PER_TOKEN: f64 = 600.0;

/// What a list says of a position.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mark {
    Outside,
    Begin,
    Inside,
}

impl Mark {
    /// What an attribute says of it, behind the list's name.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Outside => "",
            Self::Begin => "=B",
            Self::Inside => "=I",
        }
    }
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
            let fingerprints = [Mark::Outside, Mark::Begin, Mark::Inside]
                .map(|mark| Fingerprint::of(&name).then(Fingerprint::of(mark.ending())));
            let entries = entries.into_iter().collect();
            lexicons.lists.push(List { name, fingerprints, entries });
        }
        Ok(lexicons)
    }

    /// Reads files, and all files directly in folders (hidden ones aside): one list each, named by
    /// the file's stem, one entry per line; blank lines and lines that begin with `#` are skipped.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Self, LexiconError> {
        Self::read_within(paths, MemoryLimit::NONE)
    }

    /// The same, if all lists together fit into a limit of memory.
    pub fn read_within(
        paths: &[impl AsRef<Path>],
        limit: MemoryLimit,
    ) -> Result<Self, LexiconError> {
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        let mut held = 0.0;
        for path in paths {
            for file in files(path.as_ref())? {
                let text = read_text_within(&file, limit.less(held), TEXT_SHARE)
                    .map_err(|error| unreadable(&file)(error.fault))?;
                held += Self::estimated_bytes(&text);
                limit.check("the list, with those before it,", held).map_err(unreadable(&file))?;
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
                let entries: Vec<String> = entries.map(str::to_owned).collect();
                if entries.iter().all(|entry| normalised(entry).is_empty()) {
                    return Err(LexiconError::EmptyList { path: file });
                }
                lists.push((name, entries));
            }
        }
        Self::from_lists(lists)
    }

    /// What lists of this text take.
    pub(crate) fn estimated_bytes(text: &str) -> f64 {
        let tokens = text.split_ascii_whitespace().count();
        TEXT_SHARE * text.len() as f64 + BYTES_PER_TOKEN * tokens as f64
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
        workspace.matches.clear();
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
        workspace.matches.reset(sequence.len(), self.lists.len());
        for start in 0..sequence.len() {
            self.trie.matches(&workspace.tokens[start..], |length, list| {
                workspace.matches.add(start..start + length, list as usize);
            });
        }
        workspace.matches.finish();
        Ok(())
    }

    /// The places of all lists, or of the one of a name; of none where there is no such list.
    pub(super) fn named(&self, name: Option<&str>) -> Range<usize> {
        let Some(name) = name else { return 0..self.lists.len() };
        let place = self.lists.iter().position(|list| list.name == name);
        place.map_or(0..0, |place| place..place + 1)
    }

    /// The name of a list.
    pub(super) fn name(&self, list: usize) -> &str {
        &self.lists[list].name
    }

    /// The fingerprint of a list's name with what it says of a position.
    pub(super) fn fingerprint(&self, list: usize, mark: Mark) -> Fingerprint {
        self.lists[list].fingerprints[mark as usize]
    }
}

/// All lists in one text, for a model file: `[name]` and its entries, one per line.
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

fn unreadable<E: fmt::Display>(path: &Path) -> impl Fn(E) -> LexiconError {
    move |error| LexiconError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}
