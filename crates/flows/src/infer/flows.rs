use bethe_core::oracle::Tables;
use bethe_core::oracle::chain::Chain;
use bethe_core::{Oracle, Solution, Support};

use super::BoundFlows;
use crate::model::Moves;

/// The inferred movement.
pub struct Flows {
    chain: Chain,
    /// Node scores without the tilt. `[times][cells]`
    scores: Vec<f64>,
    /// How it was found, with its certificate.
    pub solution: Solution,
    population: f64,
}

impl Flows {
    /// The movement at a solution's tilt, to which the chain is set.
    pub fn new(bound: BoundFlows, solution: Solution, population: f64) -> Self {
        let BoundFlows { chain, scores, .. } = bound;
        Self { chain, scores, solution, population }
    }

    /// Number of times.
    pub fn times(&self) -> usize {
        self.chain.length()
    }

    /// Expected numbers of individuals. `[times][cells]`
    pub fn counts(&mut self) -> Vec<f64> {
        let mut counts = Vec::with_capacity(self.scores.len());
        let population = self.population;
        self.chain.visit_marginals(Tables::Nodes, &mut |_, marginal| {
            counts.extend(marginal.iter().map(|share| share * population));
        });
        counts
    }

    /// Visits all possible moves with their numbers, `visit(step, from, to, number)`, step by step.
    /// Only the moves of one step are in memory at a time.
    pub fn visit(&mut self, visit: &mut dyn FnMut(usize, usize, usize, f64)) {
        let population = self.population;
        self.chain.visit_transitions(&mut |step, from, to, share| {
            visit(step, from, to, share * population);
        });
    }

    /// As [`Flows::visit`], but with numbers summed over all steps that share a table of moves. They
    /// are visited at the first of these.
    pub fn visit_totals(&mut self, visit: &mut dyn FnMut(usize, usize, usize, f64)) {
        let population = self.population;
        self.chain.visit_transition_totals(&mut |step, from, to, share| {
            visit(step, from, to, share * population);
        });
    }

    /// Draws the route of one individual; `uniform` gives numbers between 0 and 1.
    pub fn sample(&self, uniform: &mut dyn FnMut() -> f64) -> Vec<usize> {
        let mut route = vec![0; self.chain.length()];
        self.chain.sample(uniform, &mut route);
        route
    }

    /// Where individuals in a cell at a time were before and are after: shares, `[times][cells]`.
    /// `None` if nobody can be there.
    pub fn given(&self, time: usize, cell: usize) -> Option<Vec<f64>> {
        let mut clamped = self.chain.clone();
        let (cells, mut scores) = (clamped.model().states(time), self.scores.clone());
        for block in self.chain.support().blocks() {
            let own = &mut scores[block.tables[0] * cells..][..cells];
            own.iter_mut().zip(&self.solution.tilt[block.range()]).for_each(|(s, tilt)| *s += tilt);
        }
        for (other, score) in scores[time * cells..][..cells].iter_mut().enumerate() {
            if other != cell {
                *score = f64::NEG_INFINITY;
            }
        }
        clamped.load(&scores, Support::new()).expect("scores are numbers or -∞");
        if clamped.tilted(&[], &mut []) == f64::NEG_INFINITY {
            return None;
        }
        let mut shares = Vec::with_capacity(scores.len());
        clamped.visit_marginals(Tables::Nodes, &mut |_, marginal| shares.append(marginal));
        Some(shares)
    }

    /// Expected individuals after the last time, with the probabilities of `moves`, step by step.
    /// `[steps][cells]`
    ///
    /// # Panics
    /// If `moves` does not have enough steps after the last time.
    pub fn forecast(&mut self, moves: &Moves, steps: usize) -> Vec<f64> {
        let counts = self.counts();
        let cells = counts.len() / self.times();
        let mut now = counts[counts.len() - cells..].to_vec();
        let mut forecast = Vec::with_capacity(steps * cells);
        for step in self.times() - 1..self.times() - 1 + steps {
            let mut next = vec![0.0; cells];
            for (from, &number) in now.iter().enumerate().filter(|(_, number)| **number > 0.0) {
                let (to, probabilities) = moves.probabilities(step, from);
                for (&to, probability) in to.iter().zip(probabilities) {
                    next[to as usize] += number * probability;
                }
            }
            forecast.extend(&next);
            now = next;
        }
        forecast
    }
}
