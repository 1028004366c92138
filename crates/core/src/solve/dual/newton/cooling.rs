//! How fast the heat falls.
//!
//! A level is one heat. It counts as solved at a gap that is small per table: the point of a level is
//! a good start for the next, not an answer. Multipliers times the heat tend to a limit, about
//! linearly in the heat, so the next solution is expected on the line through the last two.

use super::super::program::DualProgram;
use crate::solve::quasi_newton::Iterate;
use crate::vector::Aligned;

/// At the first heat the gap of multipliers that are 0 is this many nats a table.
const FIRST_GAP: f64 = 7.0;
/// A level is solved at this gap, in nats a table.
const SOLVED: f64 = 1.0 / 16.0;
/// Where the first gap is not finite.
const MOST_HEAT: f64 = 1e6;
/// By how much the heat falls from one level to the next, at first and at most.
const FIRST_FALL: f64 = 3.0;
const MOST_FALL: f64 = 8.0;
/// A smaller fall than this is of no use.
const LEAST_FALL: f64 = 1.05;
/// After a level with at most `FEW` calls the heat falls faster, after more than `MANY` slower.
const FEW: usize = 5;
const MANY: usize = 10;
/// A level with this many calls is given up.
const TOO_MANY: usize = 25;

pub(super) struct Cooling {
    /// What the energies read.
    tables: f64,
    heat: f64,
    /// The factor to the next level.
    fall: f64,
    /// The solutions of the latest two levels, latest last.
    solved: [Option<Solved>; 2],
    /// Oracle calls when the level began.
    began: usize,
    /// Whether the level may be given up.
    is_patient: bool,
}

/// A solution, in the scale of the true weights.
struct Solved {
    heat: f64,
    unknowns: Aligned,
}

impl Cooling {
    pub fn new(tables: f64) -> Self {
        let solved = [None, None];
        Self { tables, heat: 1.0, fall: FIRST_FALL, solved, began: 0, is_patient: false }
    }

    /// Chooses the first heat by the gap where multipliers are 0.
    pub fn start(&mut self, gap: f64, calls: usize) {
        let heat = gap / (FIRST_GAP * self.tables);
        self.heat = if heat.is_finite() { heat.clamp(1.0, MOST_HEAT) } else { MOST_HEAT };
        self.began = calls;
    }

    pub fn heat(&self) -> f64 {
        self.heat
    }

    /// Whether the heat is that of the problem.
    pub fn is_cold(&self) -> bool {
        self.heat == 1.0
    }

    /// Whether the problem at this heat is solved well enough.
    pub fn is_solved(&self, current: &Iterate) -> bool {
        current.gap <= SOLVED * self.tables
    }

    /// Whether a start is as near as the first level's, so that none need be looked for.
    pub fn is_near(&self, start: &Iterate) -> bool {
        start.gap <= FIRST_GAP * self.tables
    }

    /// Whether the level takes too long.
    pub fn is_slow(&self, current: &Iterate, calls: usize) -> bool {
        !self.is_patient && calls - self.began > TOO_MANY && !self.is_solved(current)
    }

    /// The multipliers that were last a solution.
    pub fn solved(&self) -> Option<&[f64]> {
        self.solved[1].as_ref().map(|solved| &*solved.unknowns)
    }

    /// Moves to the next level; where its solution is expected, if that is not where the last is.
    pub fn next(
        &mut self,
        program: &DualProgram,
        unknowns: Aligned,
        calls: usize,
    ) -> Option<Aligned> {
        let taken = calls - self.began;
        if taken <= FEW {
            self.fall = (1.5 * self.fall).min(MOST_FALL);
        } else if taken > MANY {
            self.fall = self.fall.sqrt().max(LEAST_FALL);
        }
        let heat = self.heat;
        self.heat = (heat / self.fall).max(1.0);
        self.solved.swap(0, 1);
        self.solved[1] = Some(Solved { heat, unknowns });
        self.began = calls;
        let [Some(before), Some(now)] = &self.solved else { return None };
        let part = (self.heat - now.heat) / (now.heat - before.heat);
        let mut expected = now.unknowns.clone();
        program.extrapolate(&before.unknowns, &mut expected, part);
        Some(expected)
    }

    /// Goes back towards the last solved level; whether it did.
    pub fn retreat(&mut self, calls: usize) -> bool {
        self.began = calls;
        self.fall = self.fall.sqrt();
        match &self.solved[1] {
            _ if self.fall < LEAST_FALL => self.is_patient = true,
            Some(solved) => self.heat = (solved.heat / self.fall).max(1.0),
            None => self.heat *= 4.0,
        }
        !self.is_patient
    }
}
