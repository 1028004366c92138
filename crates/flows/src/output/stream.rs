use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use crate::infer::Flows;

/// A number of individuals that went from one cell to another, or stayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The cell before.
    pub from: usize,
    /// The cell after.
    pub to: usize,
    /// How many.
    pub count: f64,
}

/// Which moves are written, and what is kept of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Moves of more individuals are written.
    pub threshold: f64,
    /// How many of the largest moves between different cells are kept for each step.
    pub strongest: usize,
    /// How many of the largest from each cell, and of the largest to it, are kept as well.
    pub per_cell: usize,
    /// Where cells are on a map, for their drift; empty to keep none. `[cells]`
    pub places: Vec<(f64, f64)>,
}

/// What is kept of moves once they were streamed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    /// Individuals that came from other cells. `[steps][cells]`
    pub arrivals: Vec<f64>,
    /// Individuals that went to other cells. `[steps][cells]`
    pub departures: Vec<f64>,
    /// The sum of the ways of all individuals in a cell, on the map. `[steps][cells]`, or empty
    pub drift: Vec<(f64, f64)>,
    /// Moves between different cells, largest first. `[steps][some]`
    pub strongest: Vec<Vec<Move>>,
    /// Which of the moves that were written, over all steps, each of these is. `[steps][some]`
    pub rows: Vec<Vec<Option<usize>>>,
    /// Which of the moves that were written, over all steps, those who stay are. `[steps][cells]`
    pub stays: Vec<Option<usize>>,
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
    kept: &Kept,
    write: &mut dyn FnMut(usize, &[Move]) -> io::Result<()>,
) -> io::Result<Movements> {
    let steps = flows.times().saturating_sub(1);
    let mut movements = Movements {
        arrivals: vec![0.0; steps * cells],
        departures: vec![0.0; steps * cells],
        drift: vec![(0.0, 0.0); steps * kept.places.len()],
        stays: vec![None; steps * cells],
        ..Movements::default()
    };
    let mut step = Step::new(cells, kept);
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
            if let Some(drift) = movements.drift.get_mut(at * cells + from) {
                let ((x, y), (u, v)) = (kept.places[from], kept.places[to]);
                *drift = (drift.0 + count * (u - x), drift.1 + count * (v - y));
            }
            step.consider(Move { from, to, count });
        }
        if count > kept.threshold {
            step.written.push(Move { from, to, count });
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
struct Step<'a> {
    kept: &'a Kept,
    cells: usize,
    written: Vec<Move>,
    strongest: Largest,
    /// From each cell, then to each. `[2][cells]`
    of_cells: Vec<Largest>,
}

impl<'a> Step<'a> {
    fn new(cells: usize, kept: &'a Kept) -> Self {
        let of_cells = if kept.per_cell > 0 { 2 * cells } else { 0 };
        Self {
            kept,
            cells,
            written: Vec::new(),
            strongest: Largest::default(),
            of_cells: (0..of_cells).map(|_| Largest::default()).collect(),
        }
    }

    fn consider(&mut self, own: Move) {
        self.strongest.consider(own, self.kept.strongest);
        let cells = self.of_cells.len() / 2;
        if cells > 0 {
            self.of_cells[own.from].consider(own, self.kept.per_cell);
            self.of_cells[cells + own.to].consider(own, self.kept.per_cell);
        }
    }

    fn finish(
        &mut self,
        step: usize,
        movements: &mut Movements,
        write: &mut dyn FnMut(usize, &[Move]) -> io::Result<()>,
    ) -> io::Result<()> {
        let place = |own: &Move| (own.from, own.to);
        self.written.sort_unstable_by_key(place);
        write(step, &self.written)?;
        let mut strongest: Vec<Ranked> = self.strongest.take().collect();
        strongest.extend(self.of_cells.iter_mut().flat_map(Largest::take));
        strongest.sort_unstable_by(|a, b| b.cmp(a));
        strongest.dedup();
        let strongest: Vec<Move> = strongest.into_iter().map(|Ranked(own)| own).collect();
        let row = |own: &Move| self.written.binary_search_by_key(&place(own), place).ok();
        let rows = strongest.iter().map(|own| row(own).map(|row| movements.written + row));
        movements.rows.push(rows.collect());
        let stays = self.written.iter().enumerate().filter(|(_, own)| own.from == own.to);
        for (row, own) in stays {
            movements.stays[step * self.cells + own.from] = Some(movements.written + row);
        }
        movements.strongest.push(strongest);
        movements.written += self.written.len();
        self.written.clear();
        Ok(())
    }
}

/// The largest of some moves.
#[derive(Default)]
struct Largest(BinaryHeap<Reverse<Ranked>>);

impl Largest {
    fn consider(&mut self, own: Move, most: usize) {
        let least = self.0.peek().map_or(0.0, |Reverse(Ranked(least))| least.count);
        if most == 0 || self.0.len() == most && own.count <= least || own.count <= 0.0 {
            return;
        }
        self.0.push(Reverse(Ranked(own)));
        if self.0.len() > most {
            self.0.pop();
        }
    }

    fn take(&mut self) -> impl Iterator<Item = Ranked> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|Reverse(own)| own)
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
