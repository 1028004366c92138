use std::collections::HashMap;

use bethe_core::MemoryLimit;
use bethe_core::memory::TooLarge;
use bethe_core::oracle::chain::Transitions;
use rayon::prelude::*;

use super::Feature;
use crate::data::Cells;

/// A move in the list of those possible, its log-potential, and its exponentials both ways.
pub(crate) const BYTES_PER_MOVE: f64 = 56.0;

/// The movement model before any counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// The terms of the log-potentials.
    pub features: Vec<Feature>,
    /// Longer moves are impossible.
    pub reach: Option<f64>,
    /// Whether moves from a cell are probabilities: `p(to | from)`, a softmax of the weighted
    /// features. Otherwise log-potentials are the weighted features themselves.
    pub normalised: bool,
}

/// Tables of moves, one for all equal steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    /// Log-potentials.
    pub tables: Vec<Transitions>,
    /// The table of each step. `[steps]`
    pub of_step: Vec<usize>,
    /// What is added to the log-potentials of moves to a cell, before the moves from each cell are
    /// normalised; nothing if there are none. `[steps][cells]`
    pub pulls: Vec<f64>,
}

impl Moves {
    /// The probabilities of the moves from a cell, in the order of the table's row.
    pub fn probabilities(&self, step: usize, from: usize) -> (&[u32], Vec<f64>) {
        let (to, log_potentials) = self.tables[self.of_step[step]].row(from);
        let mut scores = log_potentials.to_vec();
        if !self.pulls.is_empty() {
            let pulls = &self.pulls[step * (self.pulls.len() / self.of_step.len())..];
            scores.iter_mut().zip(to).for_each(|(score, &to)| *score += pulls[to as usize]);
        }
        normalise(&mut scores);
        scores.iter_mut().for_each(|score| *score = score.exp());
        (to, scores)
    }

    /// What pulls add to the scores of cells: those of a step at its end, and the normalisers of the
    /// moves at its beginning. `[times][cells]`
    pub(crate) fn scores(&self, times: usize, cells: usize) -> Vec<f64> {
        let mut scores = vec![0.0; times * cells];
        if self.pulls.is_empty() {
            return scores;
        }
        for step in 0..times - 1 {
            let pulls = &self.pulls[step * cells..][..cells];
            let (before, after) = scores[step * cells..].split_at_mut(cells);
            after.iter_mut().zip(pulls).for_each(|(score, pull)| *score += pull);
            let table = &self.tables[self.of_step[step]];
            before.par_iter_mut().enumerate().for_each(|(from, score)| {
                let (to, own) = table.row(from);
                let pulled = || own.iter().zip(to).map(|(own, &to)| own + pulls[to as usize]);
                let highest = pulled().fold(f64::NEG_INFINITY, f64::max);
                if highest > f64::NEG_INFINITY {
                    let sum: f64 = pulled().map(|score| (score - highest).exp()).sum();
                    *score -= highest + sum.ln();
                }
            });
        }
        scores
    }
}

impl Movement {
    /// The moves that are possible from each cell, ascending. `[cells]`
    pub fn possible(&self, cells: &Cells) -> Vec<Vec<usize>> {
        match self.reach {
            Some(reach) => cells.within(reach),
            None => vec![(0..cells.len()).collect(); cells.len()],
        }
    }

    /// The tables of this many steps.
    ///
    /// # Panics
    /// If a feature is known for fewer steps.
    pub fn moves(&self, cells: &Cells, steps: usize) -> Moves {
        self.moves_from(cells, steps, &self.possible(cells))
    }

    /// The same, unless they need more memory than the limit.
    ///
    /// # Panics
    /// If a feature is known for fewer steps.
    pub fn moves_within(
        &self,
        cells: &Cells,
        steps: usize,
        memory: MemoryLimit,
    ) -> Result<Moves, TooLarge> {
        let mut kinds: Vec<Vec<usize>> = (0..steps).map(|step| self.step_kinds(step)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let bytes = BYTES_PER_MOVE * kinds.len().max(1) as f64;
        let most = (memory.bytes() as f64 / bytes) as usize;
        let all = (cells.len() as f64).powi(2);
        let check = |moves: f64| memory.check("a table of all moves", bytes * moves);
        let possible = match self.reach {
            None => check(all).map(|()| self.possible(cells))?,
            Some(reach) => match cells.within_most(reach, most) {
                Some(possible) => possible,
                None => {
                    check(all)?;
                    self.possible(cells)
                }
            },
        };
        Ok(self.moves_from(cells, steps, &possible))
    }

    /// What the tables of equal steps share.
    fn step_kinds(&self, step: usize) -> Vec<usize> {
        self.features.iter().map(|feature| feature.kind.step_kind(step)).collect()
    }

    fn moves_from(&self, cells: &Cells, steps: usize, possible: &[Vec<usize>]) -> Moves {
        let known = self.features.iter().filter_map(|feature| feature.kind.steps()).min();
        assert!(known.is_none_or(|known| known >= steps), "features of {steps} steps");
        let (mut tables, mut of_step) = (Vec::new(), Vec::with_capacity(steps));
        let mut table_of_kind: HashMap<Vec<usize>, usize> = HashMap::new();
        for step in 0..steps {
            let table = *table_of_kind.entry(self.step_kinds(step)).or_insert_with(|| {
                tables.push(self.table(cells, possible, step));
                tables.len() - 1
            });
            of_step.push(table);
        }
        Moves { tables, of_step, pulls: Vec::new() }
    }

    /// The table of one step.
    fn table(&self, cells: &Cells, possible: &[Vec<usize>], step: usize) -> Transitions {
        let mut transitions = Transitions::new(cells.len());
        for (from, to) in possible.iter().enumerate() {
            let score = |to: usize| -> f64 {
                let weighted = |feature: &Feature| {
                    feature.weight * feature.kind.value(cells, step, (from, to))
                };
                self.features.iter().map(weighted).sum()
            };
            transitions.push_row(to.iter().map(|&to| (to, score(to))));
            if self.normalised {
                normalise(transitions.row_mut(from));
            }
        }
        transitions
    }
}

/// Normalises log-potentials to log-probabilities.
pub(crate) fn normalise(log_potentials: &mut [f64]) {
    let highest = log_potentials.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = log_potentials.iter().map(|value| (value - highest).exp()).sum();
    let shift = highest + total.ln();
    log_potentials.iter_mut().for_each(|value| *value -= shift);
}
