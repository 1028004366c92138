//! The entries of one position, and which totals they have.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// Stands for every total of a counter that earlier positions can no longer break.
pub(super) const SETTLED: i64 = i64::MAX;

/// The states from one position to the end: the cheapest with these totals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) loss: f64,
    /// The loss plus a guess at the cost of obeying.
    pub(super) rank: f64,
    /// The totals, by their place in [`Layer::totals`].
    pub(super) group: u32,
    /// State of the position.
    pub(super) state: u32,
    /// The stored entry of the next position; once this one is stored, itself.
    pub(super) parent: u32,
}

impl Entry {
    /// Most promising first; no two entries of a layer are equal.
    fn order(&self, other: &Self) -> Ordering {
        let place = |entry: &Self| (entry.group, entry.state);
        self.rank.total_cmp(&other.rank).then_with(|| place(self).cmp(&place(other)))
    }
}

#[derive(Debug)]
pub(super) struct Layer {
    /// `[groups][counters]`
    totals: Vec<i64>,
    counters: usize,
    group_of: FxHashMap<Box<[i64]>, u32>,
    pub(super) entries: Vec<Entry>,
    /// Place in `entries` of a group and a state.
    places: FxHashMap<(u32, u32), u32>,
    /// Only entries of lower rank still fit.
    pub(super) threshold: f64,
}

impl Layer {
    pub(super) fn new(counters: usize) -> Self {
        Self {
            totals: Vec::new(),
            counters,
            group_of: FxHashMap::default(),
            entries: Vec::new(),
            places: FxHashMap::default(),
            threshold: f64::INFINITY,
        }
    }

    pub(super) fn groups(&self) -> usize {
        self.group_of.len()
    }

    pub(super) fn totals(&self, group: u32) -> &[i64] {
        &self.totals[group as usize * self.counters..][..self.counters]
    }

    /// The group of these totals.
    pub(super) fn group(&mut self, totals: &[i64]) -> u32 {
        if let Some(&group) = self.group_of.get(totals) {
            return group;
        }
        let group = self.group_of.len() as u32;
        self.group_of.insert(totals.into(), group);
        self.totals.extend_from_slice(totals);
        group
    }

    /// Adds an entry, unless its group and state has one that is as cheap.
    pub(super) fn offer(&mut self, entry: Entry) {
        let place = *self.places.entry((entry.group, entry.state)).or_insert_with(|| {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        });
        let known = &mut self.entries[place as usize];
        if entry.loss < known.loss {
            *known = entry;
        }
    }

    /// Keeps the `room` most promising entries; returns the least loss of the others.
    pub(super) fn trim(&mut self, room: usize) -> f64 {
        if self.entries.len() <= room {
            return f64::INFINITY;
        }
        self.threshold = self.entries.select_nth_unstable_by(room, Entry::order).1.rank;
        let left_out = self.entries[room..].iter().map(|entry| entry.loss);
        let left_out = left_out.fold(f64::INFINITY, f64::min);
        self.entries.truncate(room);
        self.places.clear();
        let places = self.entries.iter().enumerate();
        self.places.extend(places.map(|(place, entry)| ((entry.group, entry.state), place as u32)));
        left_out
    }

    /// Keeps the entries below `bound`, most promising first.
    pub(super) fn finish(&mut self, bound: f64) {
        self.places.clear();
        self.entries.retain(|entry| entry.loss < bound);
        self.entries.sort_unstable_by(Entry::order);
    }
}
