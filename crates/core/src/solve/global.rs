//! The best of all pieces of `nearest` energies, by branch and bound.
//!
//! A node fixes the pieces of the first few `nearest` energies and drops the others, which are not
//! negative: its dual is a lower bound on everything below it. Every point met on the way is
//! feasible, so its true objective is an upper bound. Nodes whose bound reaches the best objective
//! are closed unsolved.
//!
//! * Needs: measurements and `nearest` energies only, weights not negative.
//! * Guarantees: the global optimum with a valid lower bound, after finitely many nodes.

use super::alternating::with_pieces;
use super::candidate::FEASIBLE;
use super::certificate::rounding;
use super::dual::Dual;
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;

/// A node's dual is solved until its gap is this fraction of the tolerance.
const INNER_TOLERANCE: f64 = 0.1;

/// Pieces chosen so far, and a lower bound on all that extends them.
struct Node {
    pieces: Vec<usize>,
    bound: f64,
}

/// A node being solved.
struct Open {
    dual: Dual,
    node: Node,
    /// The constant cost of the chosen pieces, from capped ones.
    constant: f64,
}

pub(super) struct Global {
    waiting: Vec<Node>,
    open: Option<Open>,
    /// Least bound of the closed nodes.
    closed: f64,
    /// Lowest point so far.
    best: Point,
    best_objective: f64,
    /// What that may be off by.
    best_rounding: f64,
    /// Its node's multipliers.
    best_multipliers: Vec<f64>,
    scratch: Point,
    tolerance: f64,
    /// Whether every failed node was proved infeasible.
    all_proved: bool,
}

impl Global {
    pub fn start(engine: &mut Engine, tolerance: f64) -> Self {
        let coordinates = engine.coordinates();
        let mut global = Self {
            waiting: vec![Node { pieces: Vec::new(), bound: f64::NEG_INFINITY }],
            open: None,
            closed: f64::INFINITY,
            best: Point::new(coordinates),
            best_objective: f64::INFINITY,
            best_rounding: 0.0,
            best_multipliers: Vec::new(),
            scratch: Point::new(coordinates),
            tolerance,
            all_proved: true,
        };
        global.open_next(engine);
        if let Some(open) = global.open.take() {
            global.best.copy_from(open.dual.point());
            global.compare(engine, &open);
            global.open = Some(open);
        }
        global
    }

    /// Nodes with a bound above this are closed.
    fn cut(&self) -> f64 {
        if self.best_objective == f64::INFINITY {
            return f64::INFINITY;
        }
        self.best_objective - 0.5 * self.tolerance * self.best_objective.abs().max(1.0)
    }

    fn close(&mut self, bound: f64) {
        self.closed = self.closed.min(bound);
    }

    fn open_next(&mut self, engine: &mut Engine) {
        while let Some(node) = self.waiting.pop() {
            if node.bound >= self.cut() {
                self.close(node.bound);
                continue;
            }
            let chosen = engine.energies.nearest.iter().zip(&node.pieces);
            let constant = chosen.map(|(nearest, &piece)| nearest.piece_constant(piece)).sum();
            let measurements = with_pieces(engine, &node.pieces);
            let dual = Dual::start(engine, measurements, None, 1.0);
            self.open = Some(Open { dual, node, constant });
            return;
        }
    }

    /// Keeps a node's point if it is the lowest so far.
    fn compare(&mut self, engine: &mut Engine, open: &Open) {
        let violated = open.dual.violation() > self.tolerance.min(FEASIBLE);
        if violated || open.dual.breaks_a_constant() {
            return;
        }
        self.scratch.copy_from(open.dual.point());
        self.scratch.read_energy(engine.energies);
        self.scratch.summarise();
        let objective = self.scratch.objective();
        if objective.is_finite() && objective < self.best_objective {
            self.best_objective = objective;
            self.best_rounding =
                rounding(self.scratch.objective_size()) + open.dual.unscaled_residue();
            std::mem::swap(&mut self.best, &mut self.scratch);
            self.best_multipliers.clear();
            self.best_multipliers.extend(open.dual.unscaled_multipliers());
        }
    }

    /// One step of the open node's dual and its consequences; returns the residual.
    fn advance(&mut self, engine: &mut Engine, mut open: Open) -> f64 {
        let step = open.dual.step(engine);
        if step.verdict == Verdict::Infeasible {
            return step.residual;
        }
        self.compare(engine, &open);
        let bound = open.node.bound.max(open.dual.lower_bound() + open.constant);
        open.node.bound = bound;
        let feasible = open.dual.violation() <= self.tolerance.min(FEASIBLE);
        let solved = feasible && open.dual.gap() <= INNER_TOLERANCE * self.tolerance;
        if bound >= self.cut() {
            self.close(bound);
        } else if !solved && !open.dual.is_exhausted() {
            self.open = Some(open);
        } else if open.node.pieces.len() == engine.energies.nearest.len() {
            self.all_proved &= feasible;
            self.close(bound);
        } else {
            self.branch(engine, open, bound);
        }
        step.residual
    }

    /// Queues a node's children, with the lowest at its point on top.
    fn branch(&mut self, engine: &mut Engine, open: Open, bound: f64) {
        let (pieces, marginals) = (open.node.pieces, &open.dual.point().marginals);
        let nearest = &mut engine.energies.nearest[pieces.len()];
        let mut children: Vec<(f64, usize)> = (0..nearest.pieces())
            .map(|piece| (nearest.piece_value(piece, marginals), piece))
            .collect();
        children.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, piece) in children {
            let mut extended = pieces.clone();
            extended.push(piece);
            self.waiting.push(Node { pieces: extended, bound });
        }
    }
}

impl Solver for Global {
    fn name(&self) -> &'static str {
        "global"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        let residual = self.open.take().map_or(0.0, |open| self.advance(engine, open));
        if self.open.is_none() {
            self.open_next(engine);
        }
        let waiting = self.waiting.iter().map(|n| n.bound);
        let bound =
            waiting.chain(self.open.iter().map(|o| o.node.bound)).fold(self.closed, f64::min);
        let verdict = match &self.open {
            Some(_) => Verdict::Continue,
            None if self.best_objective == f64::INFINITY && self.all_proved => Verdict::Infeasible,
            None => Verdict::Settled,
        };
        let found = self.best_objective.is_finite();
        Step {
            violation: if found { 0.0 } else { f64::INFINITY },
            rounding: self.best_rounding,
            ..Step::new(self.best_objective, bound, residual, verdict)
        }
    }

    fn point(&self) -> &Point {
        &self.best
    }

    fn multipliers(&self, _: Held, into: &mut Vec<f64>) -> bool {
        into.extend_from_slice(&self.best_multipliers);
        true
    }
}
