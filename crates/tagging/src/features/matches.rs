use std::ops::Range;

use super::lexicon::Mark;

/// Where the entries of lexicons are in a sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    lists: usize,
    marks: Vec<Mark>, // [positions][lists]
    /// The first position from one on that a list matches at, or past the last. `[positions +
    /// 1][lists]`
    next: Vec<u32>,
    /// The lists that match at each position.
    marked: Vec<u32>,
    /// Where those of each position end. `[positions]`
    ends: Vec<usize>,
}

impl Matches {
    pub(super) fn clear(&mut self) {
        self.reset(0, 0);
    }

    /// No match yet at any position.
    pub(super) fn reset(&mut self, positions: usize, lists: usize) {
        self.lists = lists;
        self.marks.clear();
        self.marks.resize(positions * lists, Mark::Outside);
        self.next.clear();
        self.marked.clear();
        self.ends.clear();
    }

    /// An entry of a list at these positions; matches come by their first position, shorter ones
    /// first.
    pub(super) fn add(&mut self, mut positions: Range<usize>, list: usize) {
        let Some(first) = positions.next() else { return };
        let mark = |position: usize| position * self.lists + list;
        // Inside an earlier match. A shorter one from here reads Begin and is extended.
        if self.marks[mark(first)] == Mark::Inside {
            return;
        }
        self.marks[mark(first)] = Mark::Begin;
        for position in positions {
            self.marks[mark(position)] = Mark::Inside;
        }
    }

    /// All matches are there.
    pub(super) fn finish(&mut self) {
        let Self { lists, marks, next, marked, ends } = self;
        let positions = marks.len() / *lists;
        next.resize((positions + 1) * *lists, positions as u32);
        for position in (0..positions).rev() {
            let (own, behind) = next[position * *lists..].split_at_mut(*lists);
            let marks = &marks[position * *lists..];
            for ((own, &behind), &mark) in own.iter_mut().zip(&*behind).zip(marks) {
                *own = if mark == Mark::Outside { behind } else { position as u32 };
            }
        }
        for marks in marks.chunks(*lists) {
            let all = (0..).zip(marks).filter(|(_, mark)| **mark != Mark::Outside);
            marked.extend(all.map(|(list, _)| list));
            ends.push(marked.len());
        }
    }

    /// Calls `visit(list, mark)` for each of these lists that matches at a position.
    pub(super) fn at(
        &self,
        position: usize,
        lists: &Range<usize>,
        mut visit: impl FnMut(usize, Mark),
    ) {
        if lists.is_empty() {
            return;
        }
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        let marked = self.marked[start..self.ends[position]].iter().map(|&list| list as usize);
        for list in marked.filter(|list| lists.contains(list)) {
            visit(list, self.marks[position * self.lists + list]);
        }
    }

    /// Calls `visit(list)` for each of these lists that matches at one of the positions.
    pub(super) fn within(
        &self,
        positions: Range<usize>,
        lists: &Range<usize>,
        visit: impl FnMut(usize),
    ) {
        if positions.is_empty() || lists.is_empty() {
            return;
        }
        let next = &self.next[positions.start * self.lists..][..self.lists];
        lists.clone().filter(|&list| (next[list] as usize) < positions.end).for_each(visit);
    }
}
