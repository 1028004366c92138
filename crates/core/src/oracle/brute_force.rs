//! Enumeration of every configuration: slow, obvious, the yardstick of all other oracles.

use crate::model::BaseModel;
use crate::model::table::{strides_within, walk};
use crate::oracle::{Covariance, Exactness, Oracle, Tables};
use crate::support::{Block, Support};

/// Enumerates the joint states of a base model.
#[derive(Clone, Debug)]
pub struct BruteForce {
    support: Support,
    /// `[tables][joint states]`: the cell of each table that a joint state falls into.
    cells: Vec<Vec<usize>>,
    /// Number of cells of each table. `[tables]`
    sizes: Vec<usize>,
    /// Untilted score of each joint state. `[joint states]`
    scores: Vec<f64>,
    /// Tilted probability of each joint state, after a call. `[joint states]`
    probabilities: Vec<f64>,
    cardinalities: Vec<usize>,
    constant: f64,
    /// Scores are divided by this.
    heat: f64,
}

impl BruteForce {
    /// Lists every joint state of `base`.
    ///
    /// # Panics
    /// If there are more than 2²⁴ of them.
    pub fn new(base: &BaseModel, support: &Support) -> Self {
        let joint: f64 = base.cardinalities.iter().map(|&k| k as f64).product();
        assert!(joint <= (1u32 << 24) as f64, "brute force on {joint} joint states");
        let every: Vec<usize> = (0..base.variables()).collect();
        let mut scores = vec![0.0; joint as usize];
        let mut cells = Vec::with_capacity(base.tables.len());
        for table in &base.tables {
            let strides = strides_within(&table.scope, &every, &base.cardinalities);
            let mut positions = Vec::with_capacity(scores.len());
            walk(&base.cardinalities, &strides, |position| positions.push(position));
            for (score, &cell) in scores.iter_mut().zip(&positions) {
                *score += table.log_potentials[cell];
            }
            cells.push(positions);
        }
        Self {
            support: support.clone(),
            cells,
            sizes: base.tables.iter().map(|t| t.log_potentials.len()).collect(),
            probabilities: vec![0.0; scores.len()],
            scores,
            cardinalities: base.cardinalities.clone(),
            constant: base.constant,
            heat: 1.0,
        }
    }

    /// Probability of every joint state at the latest tilt, last variable fastest.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The support statistics of a joint state, as a block's tables see it.
    pub fn add_statistics(&self, joint_state: usize, weight: f64, statistics: &mut [f64]) {
        for block in self.support.blocks() {
            for &table in &block.tables {
                statistics[block.start + self.cells[table][joint_state]] += weight;
            }
        }
    }

    /// The product of a vector on the support with the statistics of a joint state.
    fn along(&self, direction: &[f64], joint_state: usize) -> f64 {
        let blocks = self.support.blocks().iter();
        let own = |block: &Block| -> f64 {
            let cells = block.tables.iter().map(|&table| self.cells[table][joint_state]);
            cells.map(|cell| direction[block.start + cell]).sum()
        };
        blocks.map(own).sum()
    }

    fn tilted_scores(&mut self, tilt: &[f64]) {
        let scores = self.probabilities.iter_mut().zip(&self.scores);
        scores.for_each(|(out, score)| *out = score / self.heat);
        for block in self.support.blocks() {
            for &table in &block.tables {
                for (score, &cell) in self.probabilities.iter_mut().zip(&self.cells[table]) {
                    *score += tilt[block.start + cell];
                }
            }
        }
    }
}

impl Oracle for BruteForce {
    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn support(&self) -> &Support {
        &self.support
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        self.tilted_scores(tilt);
        let highest = self.probabilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest == f64::NEG_INFINITY {
            return highest;
        }
        let mut total = 0.0;
        for score in &mut self.probabilities {
            *score = (*score - highest).exp();
            total += *score;
        }
        for probability in &mut self.probabilities {
            *probability /= total;
        }
        marginals.fill(0.0);
        for joint_state in 0..self.probabilities.len() {
            self.add_statistics(joint_state, self.probabilities[joint_state], marginals);
        }
        highest + total.ln() + self.constant / self.heat
    }

    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        let count = match tables {
            Tables::All => self.cells.len(),
            Tables::Nodes => self.cardinalities.len(),
            Tables::None => 0,
        };
        for table in 0..count {
            let mut marginal = vec![0.0; self.sizes[table]];
            for (&probability, &cell) in self.probabilities.iter().zip(&self.cells[table]) {
                marginal[cell] += probability;
            }
            visit(table, &mut marginal);
        }
    }

    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        self.tilted_scores(tilt);
        let mut best = 0;
        for (state, score) in self.probabilities.iter().enumerate() {
            if *score > self.probabilities[best] {
                best = state;
            }
        }
        let mut rest = best;
        for (state, &cardinality) in assignment.iter_mut().zip(&self.cardinalities).rev() {
            *state = rest % cardinality;
            rest /= cardinality;
        }
        self.probabilities[best] + self.constant / self.heat
    }

    fn second_order(&mut self) -> Option<&mut dyn Covariance> {
        Some(self)
    }
}

impl Covariance for BruteForce {
    fn covariance(&mut self, direction: &[f64], product: &mut [f64]) {
        let joint_states = 0..self.probabilities.len();
        let along: Vec<f64> =
            joint_states.clone().map(|state| self.along(direction, state)).collect();
        let mean: f64 = along.iter().zip(&self.probabilities).map(|(v, p)| v * p).sum();
        product.fill(0.0);
        for state in joint_states {
            let weight = self.probabilities[state] * (along[state] - mean);
            self.add_statistics(state, weight, product);
        }
    }

    fn warm(&mut self, heat: f64) -> bool {
        self.heat = heat;
        true
    }
}
