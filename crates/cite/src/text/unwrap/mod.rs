//! References that were wrapped over several lines, as a PDF or a copied page has them.
//!
//! A [`Layout`] is how a text shows where references begin; an [`Unwrapper`] joins lines by it.
//! Words, ranges of pages and addresses that a line end broke are whole again. Page numbers, running
//! heads, headings and bullets are left out.

mod evidence;
mod join;
mod layout;
mod marker;
mod page;

pub(crate) use evidence::{begins_with_name, continuation};
pub use layout::Layout;
pub(crate) use marker::{Style, marker};

use join::join;
use layout::{indentation, is_full};
use marker::without_bullet;
use page::{is_heading, is_page_number, is_running_head, without_digits};

use super::several::parts;

/// Bytes of the longest reference; whatever follows begins another.
const LONGEST: usize = 20_000;

/// Joins lines to references, one line at a time.
#[derive(Clone, Debug)]
pub struct Unwrapper {
    layout: Layout,
    /// What was read of the reference so far.
    text: String,
    /// The line it began in.
    first: usize,
    /// The last line that was read, without the white space around it.
    before: String,
    /// The style of the list.
    style: Option<Style>,
    /// The number of the reference, and of the one before.
    numbers: [Option<u32>; 2],
    /// The least indentation so far.
    margin: usize,
    /// Whether a blank line is behind that line.
    gap: bool,
    /// Whether a page ended behind it.
    page: bool,
    /// The first lines of the last two pages, without their digits: left and right may differ.
    heads: [String; 2],
}

/// A reference, whole, and the line it began in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl Unwrapper {
    /// Nothing read yet.
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            text: String::new(),
            first: 0,
            before: String::new(),
            style: None,
            numbers: [None; 2],
            margin: usize::MAX,
            gap: false,
            page: false,
            heads: [String::new(), String::new()],
        }
    }

    /// Takes the next line, numbered from 1. Returns the references that are whole now: none, one,
    /// or several where a line has the marks of several, `[1] … [2] …`.
    pub fn push(&mut self, number: usize, line: &str) -> Vec<Unwrapped> {
        if self.layout == Layout::Lines {
            let text = without_bullet(line.trim()).to_string();
            return split(Unwrapped { line: number, text });
        }
        if line.starts_with('\u{c}') {
            self.page = true;
            if self.is_head(line) {
                return Vec::new();
            }
        }
        if line.trim().is_empty() {
            self.gap = true;
            return Vec::new();
        }
        let apart = self.gap || self.page || self.text.is_empty();
        if apart && (is_page_number(line) || is_heading(line)) {
            self.page = true;
            return Vec::new();
        }
        let ended = if self.begins(line) { self.finish() } else { Vec::new() };
        if self.text.is_empty() {
            self.first = number;
            if let Some(own) = marker(line) {
                self.style = Some(own.style);
                self.numbers = [own.number, self.numbers[0]];
            }
        }
        self.margin = self.margin.min(indentation(line));
        (self.gap, self.page) = (false, false);
        join(&mut self.text, without_bullet(line));
        self.before.clear();
        self.before.push_str(line.trim());
        ended
    }

    /// The references that the last line ended.
    pub fn finish(&mut self) -> Vec<Unwrapped> {
        let text = std::mem::take(&mut self.text);
        split(Unwrapped { line: self.first, text })
    }

    /// Whether the first line of a page is its running head.
    fn is_head(&mut self, line: &str) -> bool {
        let head = without_digits(line);
        let is_same = !head.is_empty() && self.heads.contains(&head);
        self.heads.swap(0, 1);
        self.heads[0] = head;
        is_same || is_running_head(line)
    }

    /// Whether a line begins a reference.
    fn begins(&self, line: &str) -> bool {
        if self.text.len() > LONGEST {
            return true;
        }
        let goes_on = continuation(&self.before, line);
        let is_parted = self.gap && !self.page;
        match self.layout {
            Layout::Lines => true,
            // A page may end inside a reference.
            Layout::Blocks => is_parted || self.gap && goes_on <= 0,
            Layout::Numbered => self.is_next(line),
            Layout::Indented => is_parted || indentation(line) < self.margin.saturating_add(2),
            Layout::Names { width } => {
                is_parted || goes_on + self.filled(line, width) + self.dated() < 0
            }
        }
    }

    /// What the length of the line before says: only the last line of a paragraph is short.
    fn filled(&self, line: &str, width: usize) -> i32 {
        match is_full(&self.before, line, width) {
            // Most references end with a stop.
            true if self.before.ends_with(char::is_alphabetic) => 3,
            true => 1,
            false => -2,
        }
    }

    /// What is said by a year in the reference so far.
    fn dated(&self) -> i32 {
        if has_year(&self.text) { -1 } else { 2 }
    }

    /// Whether a line begins with the next mark of the list.
    fn is_next(&self, line: &str) -> bool {
        let Some(own) = marker(line) else { return false };
        if self.style.is_none_or(|style| style != own.style) {
            return self.style.is_none();
        }
        let (Some(number), [Some(last), before]) = (own.number, self.numbers) else { return true };
        // A list may leave out numbers, another may begin behind it, and the last number may have
        // belonged to the text.
        let is_other = number == 1
            || (last + 2..=last + 3).contains(&number)
            || before.is_some_and(|before| number == before + 1);
        number == last + 1 || is_other && continuation(&self.before, "") < 0
    }
}

fn split(whole: Unwrapped) -> Vec<Unwrapped> {
    if whole.text.is_empty() {
        return Vec::new();
    }
    match parts(&whole.text) {
        Some(parts) => {
            let one = |text: &str| Unwrapped { line: whole.line, text: text.to_string() };
            parts.into_iter().map(one).collect()
        }
        None => vec![whole],
    }
}

/// Whether a text has a year, or says that there is none.
fn has_year(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let is_year = digits.len() == 4
            && word.len() <= 5
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && ("1400".."2100").contains(&digits);
        is_year || matches!(word, "press" | "forthcoming" | "submitted" | "http" | "https")
    })
}

#[cfg(test)]
mod tests;
