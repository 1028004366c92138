//! One pass of the programme from the last position to the first, with the room that it is given.

use super::layer::{Entry, Layer};
use super::programme::{Programme, Verdict};

/// The parent of entries at the last position.
pub(super) const NOTHING: u32 = u32::MAX;

/// An assignment that obeys the counters.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// What it scores less than decoding's.
    pub(super) loss: f64,
    /// `[positions]`
    pub(super) states: Vec<usize>,
}

/// How many entries a pass may keep.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// So many at each position.
    Each(usize),
    /// As many as the budget has left.
    All,
    /// A fair share of what the budget has left for this position and those before it.
    Share,
}

/// What becomes of a group when a state of some class is put before it.
#[derive(Clone, Copy)]
enum Move {
    Unknown,
    Broken,
    Complete,
    To(u32),
}

pub(super) struct Pass<'a> {
    programme: &'a Programme<'a>,
    budget: usize,
    /// Parent and state of every entry stored.
    stored: Vec<(u32, u32)>,
    /// Loss of the best assignment known.
    bound: f64,
    /// Least loss of the entries that there was no room for.
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
    /// A pass that looks for a lesser loss than `bound`.
    pub(super) fn new(programme: &'a Programme<'a>, budget: usize, bound: f64) -> Self {
        let states = programme.class_of.len();
        Self {
            programme,
            budget,
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
        let verdict = programme.advance(length, None, &mut self.totals);
        let group = layer.group(&self.totals);
        let end = Entry { loss: 0.0, group, state: 0, parent: NOTHING };
        match verdict {
            Verdict::Broken => return,
            Verdict::Settled => self.complete(length, end),
            Verdict::Open => layer.offer(end),
        }
        for t in (0..length).rev() {
            if layer.entries.is_empty() {
                return;
            }
            let left = self.budget - self.stored.len();
            let room = match room {
                Room::Each(width) => width.min(left),
                Room::All => left,
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

    /// The best assignment, if it is this pass that found it.
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
        Some(Found { loss: entry.loss, states })
    }

    fn complete(&mut self, position: usize, entry: Entry) {
        self.bound = entry.loss;
        self.end = Some((position, entry));
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
                        Verdict::Broken => Move::Broken,
                        Verdict::Settled => Move::Complete,
                        Verdict::Open => Move::To(layer.group(&self.totals)),
                    };
                }
                let mut entry = Entry { loss, group: 0, state: state as u32, parent: next.parent };
                match *to {
                    Move::Unknown | Move::Broken => {}
                    Move::Complete => self.complete(t, entry),
                    Move::To(group) => {
                        entry.group = group;
                        layer.offer(entry);
                    }
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
