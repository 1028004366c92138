use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use crate::infer::Flows;

/// So many individuals that went from a cell to another, or stayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The cell before.
    pub from: usize,
    /// The cell after.
    pub to: usize,
    /// How many.
    pub count: f64,
}

/// What is kept of moves once they were streamed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    /// Individuals that came from other cells. `[steps][cells]`
    pub arrivals: Vec<f64>,
    /// Individuals that went to other cells. `[steps][cells]`
    pub departures: Vec<f64>,
    /// Largest moves between different cells, largest first. `[steps][some]`
    pub strongest: Vec<Vec<Move>>,
    /// Moves that were written.
    pub written: usize,
    /// Individuals in moves that were too small to be written, over all steps.
    pub dropped: f64,
}

/// Visits the moves of each step that are above the threshold, sorted by cells; no more than those
/// of one step are held. Keeps the strongest of each.
pub fn stream(
    flows: &mut Flows,
    cells: usize,
    (threshold, strongest): (f64, usize),
    write: &mut dyn FnMut(usize, &[Move]) -> io::Result<()>,
) -> io::Result<Movements> {
    let steps = flows.times().saturating_sub(1);
    let mut movements = Movements {
        arrivals: vec![0.0; steps * cells],
        departures: vec![0.0; steps * cells],
        ..Movements::default()
    };
    let mut step = Step::default();
    let mut current = 0;
    let mut outcome = Ok(());
    flows.visit(&mut |at, from, to, count| {
        if at != current {
            if outcome.is_ok() {
                outcome = step.finish(current, &mut movements, write);
            }
            current = at;
        }
        if from != to {
            movements.departures[at * cells + from] += count;
            movements.arrivals[at * cells + to] += count;
            step.consider(Move { from, to, count }, strongest);
        }
        if count > threshold {
            step.kept.push(Move { from, to, count });
        } else {
            movements.dropped += count;
        }
    });
    outcome?;
    if steps > 0 {
        step.finish(current, &mut movements, write)?;
    }
    Ok(movements)
}

/// The moves of the step that is being visited.
#[derive(Default)]
struct Step {
    kept: Vec<Move>,
    strongest: BinaryHeap<Reverse<Ranked>>,
}

impl Step {
    fn consider(&mut self, own: Move, most: usize) {
        let least = self.strongest.peek().map_or(0.0, |Reverse(Ranked(least))| least.count);
        if self.strongest.len() == most && own.count <= least || own.count <= 0.0 {
            return;
        }
        self.strongest.push(Reverse(Ranked(own)));
        if self.strongest.len() > most {
            self.strongest.pop();
        }
    }

    fn finish(
        &mut self,
        step: usize,
        movements: &mut Movements,
        write: &mut dyn FnMut(usize, &[Move]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.kept.sort_unstable_by_key(|own| (own.from, own.to));
        write(step, &self.kept)?;
        movements.written += self.kept.len();
        self.kept.clear();
        let sorted = std::mem::take(&mut self.strongest).into_sorted_vec();
        let strongest = sorted.into_iter().map(|Reverse(Ranked(own))| own).collect();
        movements.strongest.push(strongest);
        Ok(())
    }
}

/// Moves by size; of equal ones the first cells come first, so that every run keeps the same.
struct Ranked(Move);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (Self(a), Self(b)) = (self, other);
        a.count.total_cmp(&b.count).then_with(|| (b.from, b.to).cmp(&(a.from, a.to)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
