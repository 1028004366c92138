//! From lines to references, which may be wrapped over several of them.

use std::collections::VecDeque;
use std::io::BufRead;

use bethe_cite::{Layout, Unwrapped, Unwrapper};
use bethe_tagging::data::DataError;

use super::flags::Unwrap;
use super::lines::{Line, Lines};

/// The layout is judged by at most this many lines, and this many bytes.
const LINES: usize = 1000;
const BYTES: usize = 1 << 20;

/// References, one at a time.
pub struct References<R> {
    lines: Lines<R>,
    unwrap: Unwrap,
    /// Lines that were read to see the layout.
    ahead: VecDeque<Result<Line, DataError>>,
    joining: Option<Joining>,
    /// References that are whole.
    whole: VecDeque<Line>,
    ended: bool,
}

struct Joining {
    layout: Layout,
    unwrapper: Unwrapper,
    /// Whether a line of the reference was not UTF-8.
    replaced: bool,
}

impl<R: BufRead> References<R> {
    /// References in these lines.
    pub fn new(lines: Lines<R>, unwrap: Unwrap) -> Self {
        let (ahead, whole) = (VecDeque::new(), VecDeque::new());
        Self { lines, unwrap, ahead, joining: None, whole, ended: false }
    }

    /// Reads ahead as many lines as the layout is judged by.
    fn layout(&mut self) -> Layout {
        if self.unwrap == Unwrap::Never {
            return Layout::Lines;
        }
        let mut bytes = 0;
        while self.ahead.len() < LINES && bytes < BYTES {
            let Some(line) = self.lines.next() else { break };
            bytes += line.as_ref().map_or(BYTES, |line| line.text.len());
            self.ahead.push_back(line);
        }
        let texts: Vec<&str> = self.ahead.iter().flatten().map(|line| &line.text[..]).collect();
        match self.unwrap {
            Unwrap::Always => Layout::of_wrapped(&texts),
            _ => Layout::of(&texts),
        }
    }

    fn take(&mut self, line: Line) {
        let Some(Joining { layout, unwrapper, replaced }) = &mut self.joining else { return };
        let is_alone = *layout == Layout::Lines;
        // Blank lines are told apart and counted.
        if is_alone && line.text.trim().is_empty() {
            return self.whole.push_back(line);
        }
        let was_replaced = if is_alone { line.replaced } else { *replaced };
        let ended = unwrapper.push(line.number, &line.text);
        *replaced = line.replaced || (*replaced && ended.is_empty());
        self.whole.extend(ended.into_iter().map(|own| whole(own, was_replaced)));
    }
}

fn whole(Unwrapped { line, text }: Unwrapped, replaced: bool) -> Line {
    Line { number: line, text, replaced }
}

impl<R: BufRead> Iterator for References<R> {
    type Item = Result<Line, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.joining.is_none() {
            let layout = self.layout();
            let unwrapper = Unwrapper::new(layout);
            self.joining = Some(Joining { layout, unwrapper, replaced: false });
        }
        loop {
            if let Some(line) = self.whole.pop_front() {
                return Some(Ok(line));
            }
            if self.ended {
                return None;
            }
            match self.ahead.pop_front().or_else(|| self.lines.next()) {
                Some(Ok(line)) => self.take(line),
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    self.ended = true;
                    if let Some(Joining { unwrapper, replaced, .. }) = &mut self.joining {
                        let last = unwrapper.finish().into_iter().map(|own| whole(own, *replaced));
                        self.whole.extend(last);
                    }
                }
            }
        }
    }
}
