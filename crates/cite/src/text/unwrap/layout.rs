//! How references are laid out in a text.

use super::evidence::{CERTAIN, continuation};
use super::marker::{Style, marker};
use super::page::{is_heading, is_page_number};

/// How references are laid out in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One reference per line.
    Lines,
    /// Each reference begins with its number, label or bullet: `[7]`, `7.`, `(7)`, `[Knu97]`, `•`.
    Numbered,
    /// Blank lines between references.
    Blocks,
    /// The lines of a reference after its first are indented.
    Indented,
    /// Each reference begins with a name, and its other lines do not.
    Names {
        /// Characters of a full line.
        width: usize,
    },
}

/// From this share of lines that certainly go on from the one before, text was wrapped.
const WRAPPED: f64 = 0.2;
/// About this many lines seem to go on by chance.
const CHANCE: f64 = 0.6;
/// A mark of a list must be among the first lines.
const FIRST: usize = 2;
/// No reference has more lines.
const MOST_LINES: usize = 30;
/// A line of less than this share of the width ends a paragraph.
const FULL: f64 = 0.8;

impl Layout {
    /// The layout of a text by its first lines: one reference per line, unless lines clearly go on
    /// from those before them.
    pub fn of(lines: &[&str]) -> Self {
        Self::found(lines).unwrap_or(Self::Lines)
    }

    /// The layout of a text whose references are known to be wrapped.
    pub fn of_wrapped(lines: &[&str]) -> Self {
        let is_parted = |pair: &[&str]| !pair[0].trim().is_empty() && !pair[1].trim().is_empty();
        Self::found(lines).unwrap_or_else(|| {
            match has_gaps(lines) && lines.windows(2).any(is_parted) {
                true => Self::Blocks,
                false => Self::Names { width: width(lines) },
            }
        })
    }

    fn found(lines: &[&str]) -> Option<Self> {
        let text: Vec<&str> = lines.iter().copied().filter(is_text).collect();
        if text.iter().all(|line| marker(line).is_some()) {
            return None;
        }
        if Style::ALL.into_iter().any(|style| is_list(&text, style)) {
            return Some(Self::Numbered);
        }
        if is_indented(&text) {
            return Some(Self::Indented);
        }
        let width = width(lines);
        let pairs = || lines.windows(2).filter(|pair| pair.iter().all(is_text));
        let goes_on = |pair: &&[&str]| {
            continuation(pair[0], pair[1]) >= CERTAIN && is_full(pair[0], pair[1], width)
        };
        let (all, wrapped) = (pairs().count(), pairs().filter(goes_on).count());
        let is_certain = wrapped as f64 >= CHANCE + WRAPPED * all as f64;
        if !is_certain && !goes_on_behind_full_lines(pairs(), width) {
            return None;
        }
        Some(match has_gaps(lines) && is_parted_by_gaps(lines) {
            true => Self::Blocks,
            false => Self::Names { width },
        })
    }
}

/// Whether lines behind full ones go on, and those behind short ones begin references: where each line
/// is a reference, its length says nothing about the next.
fn goes_on_behind_full_lines<'a>(pairs: impl Iterator<Item = &'a [&'a str]>, width: usize) -> bool {
    const FEWEST: f64 = 6.0;
    const APART: f64 = 2.5;
    const LEAST: f64 = -1.0;
    let [mut full, mut short] = [Mean::default(); 2];
    for pair in pairs {
        let kind = if is_full(pair[0], pair[1], width) { &mut full } else { &mut short };
        kind.add(f64::from(continuation(pair[0], pair[1])));
    }
    full.count >= FEWEST
        && short.count >= FEWEST
        && full.value() - short.value() >= APART
        && full.value() >= LEAST
}

/// A mean of what was added.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    count: f64,
    sum: f64,
}

impl Mean {
    fn add(&mut self, number: f64) {
        self.count += 1.0;
        self.sum += number;
    }

    fn value(self) -> f64 {
        self.sum / self.count
    }
}

/// Whether a line is of a reference, and not a page number or a heading.
fn is_text(line: &&str) -> bool {
    !line.trim().is_empty() && !is_heading(line) && !is_page_number(line)
}

/// Whether blank lines stand between lines of text, other than where a page ends.
fn has_gaps(lines: &[&str]) -> bool {
    let mut is_gap = false;
    let mut is_page = true; // nothing stands before the first line
    for line in lines {
        is_page |= line.starts_with('\u{c}') || is_page_number(line) || is_heading(line);
        if is_text(line) {
            if is_gap && !is_page {
                return true;
            }
            // A running head stands apart, too.
            (is_gap, is_page) = (false, line.starts_with('\u{c}'));
        }
        is_gap |= line.trim().is_empty();
    }
    false
}

/// Whether the lines between two gaps are one reference: most lines that follow another in a block
/// go on from it.
fn is_parted_by_gaps(lines: &[&str]) -> bool {
    let (mut inner, mut going_on) = (0, 0);
    for pair in lines.windows(2).filter(|pair| pair.iter().all(is_text)) {
        inner += 1;
        going_on += usize::from(continuation(pair[0], pair[1]) > -2);
    }
    3 * going_on >= 2 * inner
}

/// Whether references begin with marks of this style, and some have further lines.
fn is_list(text: &[&str], style: Style) -> bool {
    let places = (0..text.len()).filter_map(|at| Some((at, marker(text[at])?)));
    let places: Vec<(usize, Option<u32>)> = places
        .filter(|(_, marker)| marker.style == style)
        .map(|(at, marker)| (at, marker.number))
        .collect();
    // Numbers count; those inside references do not.
    let mut counted: Vec<usize> = Vec::new();
    let (mut last, mut by_one) = (None, 0);
    for &(at, number) in &places {
        let step = last.zip(number).map_or(1, |(last, own): (u32, u32)| own.saturating_sub(last));
        if (1..=3).contains(&step) {
            by_one += usize::from(step == 1);
            counted.push(at);
            last = number;
        }
    }
    let rest = text.len() - counted.len();
    let (Some(&first), true) = (counted.first(), counted.len() > 1 && rest > 0) else {
        return false;
    };
    let ends = counted.iter().skip(1).copied().chain([text.len()]);
    let longest = counted.iter().zip(ends).map(|(start, end)| end - start).max();
    let inner = (first + 1..text.len()).filter(|at| counted.binary_search(at).is_err());
    let inner: Vec<usize> = inner.collect();
    // A name behind the end of a reference begins another, which has no mark.
    let goes_on = |&&at: &&usize| continuation(text[at - 1], text[at]) > -3;
    let going_on = inner.iter().filter(goes_on).count();
    // The numbers 1, 2, 3 from the first line on leave no doubt.
    let is_sure = places[0] == (0, Some(1)) && by_one == places.len() && by_one > 2;
    first < FIRST
        && 3 * by_one > 2 * (counted.len() - 1)
        && longest.is_some_and(|lines| lines <= MOST_LINES)
        && 3 * counted.len() >= 2 * places.len()
        && (is_sure || 2 * going_on >= inner.len())
}

/// Whether lines that are indented go on from those that are not.
fn is_indented(text: &[&str]) -> bool {
    let margin = text.iter().map(|line| indentation(line)).min().unwrap_or(0);
    let is_deeper = |line: &str| indentation(line) >= margin + 2;
    let (mut deeper, mut going_on) = (0, 0);
    for pair in text.windows(2).filter(|pair| is_deeper(pair[1])) {
        deeper += 1;
        going_on += usize::from(continuation(pair[0], pair[1]) > 0);
    }
    let first = text.first().is_some_and(|line| !is_deeper(line));
    first && deeper > 0 && deeper < text.len() && 2 * going_on >= deeper
}

/// Characters of white space before a line; a tab has eight.
pub(crate) fn indentation(line: &str) -> usize {
    let line = line.trim_start_matches('\u{c}');
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 8 } else { 1 }).sum()
}

/// Characters of a full line: nearly all lines have at most as many.
fn width(lines: &[&str]) -> usize {
    let mut lengths: Vec<usize> =
        lines.iter().filter(|line| is_text(line)).map(|line| line.trim().chars().count()).collect();
    lengths.sort_unstable();
    let nearly_all = (lengths.len() * 19).div_ceil(20);
    lengths.get(nearly_all.saturating_sub(1)).copied().unwrap_or(0)
}

/// Whether a line is so long that the first word of the next had no place in it.
pub(crate) fn is_full(line: &str, next: &str, width: usize) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    let length = line.trim().chars().count() + 1 + word.chars().count();
    length as f64 > FULL * width as f64
}
