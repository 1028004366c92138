//! One pass of the programme from the last position to the first, with limited room.

use super::layer::{Entry, Layer};
use super::programme::{Completion, Programme};
use crate::oracle::chain::viterbi::Viterbi;

/// The parent of entries at the last position.
pub(super) const NOTHING: u32 = u32::MAX;

/// An assignment.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its score, without prices.
    pub(super) score: f64,
    /// `[positions]`
    pub(super) states: Vec<usize>,
}

impl Found {
    /// The best assignment, counters aside.
    pub(super) fn decoded(viterbi: &Viterbi) -> Self {
        let mut states = vec![0; viterbi.sequence.positions.len()];
        let score = viterbi.trace_back(|t, state| states[t] = state);
        Self { score, states }
    }
}

/// How many entries a pass may keep.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// A fixed number at each position.
    Each(usize),
    /// A fair share of the remaining budget for this position and those before it.
    Share,
}

/// The group after a state of some class is put in front.
#[derive(Clone, Copy)]
enum Move {
    Unknown,
    Broken,
    To(u32),
}

pub(super) struct Pass<'a> {
    programme: &'a Programme<'a>,
    budget: usize,
    /// The assumed cost of each unit by which a completion breaks a counter; it orders entries.
    unit_cost: f64,
    /// Parent and state of every entry stored.
    stored: Vec<(u32, u32)>,
    /// Cost of the best assignment known.
    bound: f64,
    /// Least loss of the entries that did not fit.
    left_out: f64,
    /// Where this pass found that assignment: a position, and its state and those after it.
    end: Option<(usize, Entry)>,
    regrets: Regrets,
    /// `[counters]`
    totals: Vec<i64>,
}

/// Regrets of the states before each state, at one position.
#[derive(Default)]
struct Regrets {
    /// Least first. `[states][states that may come before]`
    lists: Vec<Vec<(usize, f64)>>,
    /// Whether a list is of this position. `[states]`
    known: Vec<bool>,
}

impl<'a> Pass<'a> {
    /// A pass that looks for a cost below `bound`.
    pub(super) fn new(
        programme: &'a Programme<'a>,
        budget: usize,
        bound: f64,
        unit_cost: f64,
    ) -> Self {
        let states = programme.class_of.len();
        Self {
            programme,
            budget,
            unit_cost,
            stored: Vec::new(),
            bound,
            left_out: f64::INFINITY,
            end: None,
            regrets: Regrets { lists: vec![Vec::new(); states], known: vec![false; states] },
            totals: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, room: Room) {
        let programme = self.programme;
        let length = programme.viterbi.sequence.positions.len();
        let mut layer = Layer::new(programme.counters.len());
        self.totals = vec![0; programme.counters.len()];
        if programme.advance(length, None, &mut self.totals).is_none() {
            return;
        }
        let group = layer.group(&self.totals);
        let end = Entry { loss: 0.0, rank: 0.0, group, state: 0, parent: NOTHING };
        self.take(length, end, &mut layer);
        for t in (0..length).rev() {
            if layer.entries.is_empty() {
                return;
            }
            if programme.cancel.is_cancelled() {
                self.left_out = f64::NEG_INFINITY;
                return;
            }
            let left = self.budget - self.stored.len();
            let room = match room {
                Room::Each(width) => width.min(left),
                Room::Share => left / (t + 1),
            };
            layer = self.step(t, &layer, room);
            for entry in &mut layer.entries {
                self.stored.push((entry.parent, entry.state));
                entry.parent = self.stored.len() as u32 - 1;
            }
        }
    }

    /// Whether there is no assignment better than the best known.
    pub(super) fn proves(&self) -> bool {
        self.left_out >= self.bound
    }

    /// The best assignment, if this pass found it.
    pub(super) fn found(&self) -> Option<Found> {
        let (end, entry) = self.end?;
        let viterbi = self.programme.viterbi;
        let mut states = vec![0; viterbi.sequence.positions.len()];
        let (mut state, mut parent) = (entry.state, entry.parent);
        for slot in &mut states[end..] {
            *slot = state as usize;
            if parent != NOTHING {
                (parent, state) = self.stored[parent as usize];
            }
        }
        viterbi.complete(end, &mut states);
        Some(Found { score: viterbi.score(&states), states })
    }

    /// Records the best completion of an entry if it obeys and is the best so far, and keeps the
    /// entry if another completion may be better.
    fn take(&mut self, position: usize, mut entry: Entry, layer: &mut Layer) {
        let totals = layer.totals(entry.group);
        match self.programme.completion(position, entry.state as usize, totals) {
            Completion::Obeys(cost) => {
                if entry.loss + cost < self.bound {
                    self.bound = entry.loss + cost;
                    self.end = Some((position, entry));
                }
                if cost <= 0.0 {
                    return;
                }
            }
            Completion::Breaks(units) => entry.rank += units * self.unit_cost,
        }
        layer.offer(entry);
    }

    /// The entries of position `t`, given those of the next.
    fn step(&mut self, t: usize, after: &Layer, room: usize) -> Layer {
        let programme = self.programme;
        let classes = programme.classes.len();
        let mut moves = vec![Move::Unknown; after.groups() * classes];
        let mut layer = Layer::new(programme.counters.len());
        self.regrets.known.fill(false);
        for next in &after.entries {
            self.regrets.find(programme, t, next.state as usize);
            for place in 0..self.regrets.lists[next.state as usize].len() {
                let (state, regret) = self.regrets.lists[next.state as usize][place];
                let loss = next.loss + regret;
                if loss >= self.bound {
                    break;
                }
                if loss >= layer.threshold {
                    self.left_out = self.left_out.min(loss);
                    break;
                }
                let class = programme.class_of[state];
                let to = &mut moves[next.group as usize * classes + class];
                if let Move::Unknown = to {
                    self.totals.copy_from_slice(after.totals(next.group));
                    *to = match programme.advance(t, Some(class), &mut self.totals) {
                        None => Move::Broken,
                        Some(()) => Move::To(layer.group(&self.totals)),
                    };
                }
                if let Move::To(group) = *to {
                    let (state, parent) = (state as u32, next.parent);
                    self.take(t, Entry { loss, rank: loss, group, state, parent }, &mut layer);
                }
            }
            if layer.entries.len() > room.saturating_mul(2) {
                self.left_out = self.left_out.min(layer.trim(room));
            }
        }
        self.left_out = self.left_out.min(layer.trim(room));
        layer.finish(self.bound);
        layer
    }
}

impl Regrets {
    fn find(&mut self, programme: &Programme, t: usize, next: usize) {
        if !std::mem::replace(&mut self.known[next], true) {
            let list = &mut self.lists[next];
            programme.viterbi.regrets(t, next, list);
            list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        }
    }
}
