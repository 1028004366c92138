//! The same problem by a general interior-point solver over exponential cones, as a baseline.
//!
//! With moves `m_t(i,j)`, cells `n_t(i)` and `(x, y, z)` in the cone where `y exp(x/y) ≤ z`,
//!
//! ```text
//! minimise  −Σ s − Σ θ m − Σ score n + Σ (α n − (y/M) u)
//! (s_t(i,j), m_t(i,j), n_t(i)),  (s_0(i), n_0(i), 1),  (u, 1, α n)  in the cone
//! Σ_j m_t(i,j) = n_t(i),  Σ_i m_t(i,j) = n_{t+1}(j),  Σ n_0 = 1
//! ```
//!
//! which leaves out a constant. With `log M` in every `u`, rows would differ a thousandfold and the
//! solver would stall. On large maps it stalls with tiny shares and with large numbers, so all are
//! multiplied by the square root of the number of cells.
//!
//! [`Formulation::Sums`] writes `Σ_j m_t(i,j)` for `n_t(i)`, which gives fewer unknowns and denser
//! rows.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT, SupportedConeT::*,
};

use super::stopwatch::Stopwatch;
use bethe_flows::data::Observations;
use bethe_flows::infer::FlowProblem;
use bethe_flows::model::Moves;

/// How cells are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulation {
    /// By unknowns of their own.
    Nodes,
    /// By the sums of moves.
    Sums,
}

/// The solver's result.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    /// Seconds to write the program, on one core.
    pub ready_seconds: f64,
    /// Seconds to solve it.
    pub seconds: f64,
    /// Whether it reported success.
    pub solved: bool,
    /// `F` at its point, repaired to be feasible.
    pub objective: f64,
}

/// Poisson counts of a problem with everything that both solvers see.
pub struct Posed<'a> {
    /// The problem.
    pub problem: &'a FlowProblem<'a>,
    /// Node scores: the start, and the rate where nothing was seen. `[times][cells]`
    pub scores: &'a [f64],
    /// `α`
    pub rate: f64,
}

/// A move that can happen.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    log_potential: f64,
}

/// Unknowns, rows and cones, as they come.
#[derive(Default)]
struct Program {
    /// What shares are multiplied by.
    scale: f64,
    costs: Vec<f64>,
    /// `(row, column, value)` of `A x + s = b`.
    entries: Vec<(usize, usize, f64)>,
    right: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    fn unknown(&mut self, cost: f64) -> usize {
        self.costs.push(cost);
        self.costs.len() - 1
    }

    /// A row `s = constant + Σ coefficient · unknown`.
    fn row(&mut self, constant: f64, terms: &[(usize, f64)]) {
        let row = self.right.len();
        self.right.push(constant);
        self.entries.extend(terms.iter().map(|&(unknown, value)| (row, unknown, -value)));
    }

    fn zero(&mut self, constant: f64, terms: &[(usize, f64)]) {
        self.row(constant, terms);
        match self.cones.last_mut() {
            Some(ZeroConeT(rows)) => *rows += 1,
            _ => self.cones.push(ZeroConeT(1)),
        }
    }

    fn exponential(&mut self, rows: [(f64, &[(usize, f64)]); 3]) {
        rows.iter().for_each(|(constant, terms)| self.row(*constant, terms));
        self.cones.push(ExponentialConeT());
    }
}

/// Unknowns with their coefficients.
type Terms = Vec<(usize, f64)>;

/// Sums of moves, cell by cell.
struct Sums<'a> {
    edges: &'a [Vec<Edge>],
    /// The first unknown of each step's moves.
    first_edge: &'a [usize],
    cells: usize,
}

impl Sums<'_> {
    /// Those that leave cells after a time.
    fn leaving(&self, time: usize) -> Vec<Terms> {
        self.of_step(time, |edge| edge.from)
    }

    /// Those that arrived in cells before a time.
    fn arriving(&self, time: usize) -> Vec<Terms> {
        self.of_step(time - 1, |edge| edge.to)
    }

    fn of_step(&self, step: usize, cell: fn(&Edge) -> usize) -> Vec<Terms> {
        let mut sums = vec![Vec::new(); self.cells];
        for (place, edge) in self.edges[step].iter().enumerate() {
            sums[cell(edge)].push((self.first_edge[step] + place, 1.0));
        }
        sums
    }
}

impl Posed<'_> {
    /// Solves by interior point to a tolerance on gaps and feasibility.
    pub fn interior_point(&self, formulation: Formulation, tolerance: f64) -> InteriorPoint {
        let edges = self.edges();
        let stopwatch = Stopwatch::start();
        let (program, first_edge) = self.program(&edges, formulation);
        let (rows, columns) = (program.right.len(), program.costs.len());
        let mut triplets: (Vec<usize>, Vec<usize>, Vec<f64>) = Default::default();
        for (row, column, value) in program.entries {
            triplets.0.push(row);
            triplets.1.push(column);
            triplets.2.push(value);
        }
        let matrix =
            CscMatrix::new_from_triplets(rows, columns, triplets.0, triplets.1, triplets.2);
        let ready_seconds = stopwatch.seconds();
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .tol_feas(tolerance)
            .max_threads(1)
            .build()
            .expect("settings within their ranges");
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver = DefaultSolver::new(
            &quadratic,
            &program.costs,
            &matrix,
            &program.right,
            &program.cones,
            settings,
        )
        .expect("a program of matching sizes");
        solver.solve();
        let seconds = stopwatch.seconds() - ready_seconds;
        let moves: Vec<Vec<f64>> = edges
            .iter()
            .zip(&first_edge)
            .map(|(edges, &first)| solver.solution.x[first..first + edges.len()].to_vec())
            .collect();
        InteriorPoint {
            ready_seconds,
            seconds,
            solved: matches!(
                solver.solution.status,
                clarabel::solver::SolverStatus::Solved
                    | clarabel::solver::SolverStatus::AlmostSolved
            ),
            objective: self.repaired(&edges, &moves),
        }
    }

    /// The moves of each step from cells where somebody can be. `[steps]`
    fn edges(&self) -> Vec<Vec<Edge>> {
        let FlowProblem { moves: Moves { tables, of_step, .. }, observations, .. } = self.problem;
        let cells = observations.cells();
        let mut possible: Vec<bool> =
            self.scores[..cells].iter().map(|score| score.is_finite()).collect();
        let mut steps = Vec::new();
        for &table in &of_step[..observations.times().len() - 1] {
            let (mut edges, mut next) = (Vec::new(), vec![false; cells]);
            for from in (0..cells).filter(|&from| possible[from]) {
                let (to, log_potentials) = tables[table].row(from);
                for (&to, &log_potential) in to.iter().zip(log_potentials) {
                    edges.push(Edge { from, to: to as usize, log_potential });
                    next[to as usize] = true;
                }
            }
            steps.push(edges);
            possible = next;
        }
        steps
    }

    /// The program, and the first unknown of each step's moves.
    fn program(&self, edges: &[Vec<Edge>], formulation: Formulation) -> (Program, Vec<usize>) {
        let observations = self.problem.observations;
        let (times, cells) = (observations.times().len(), observations.cells());
        let mut program = Program { scale: (cells as f64).sqrt(), ..Program::default() };
        let first_edge: Vec<usize> = edges
            .iter()
            .map(|edges| {
                let first = program.costs.len();
                for edge in edges {
                    program.unknown(-edge.log_potential);
                }
                first
            })
            .collect();
        let sums = Sums { edges, first_edge: &first_edge, cells };
        // What stands for the number in each cell; nothing where nobody can be. `[times][cells]`
        let mut nodes: Vec<Vec<Terms>> = Vec::new();
        for time in 0..times {
            let out = if time + 1 < times { sums.leaving(time) } else { sums.arriving(time) };
            let own = match formulation {
                Formulation::Sums => out,
                Formulation::Nodes => {
                    let node = |sum: &Terms| match sum.is_empty() {
                        true => Vec::new(),
                        false => vec![(program.unknown(0.0), 1.0)],
                    };
                    out.iter().map(node).collect()
                }
            };
            nodes.push(own);
        }
        let difference = |a: &[(usize, f64)], b: &[(usize, f64)]| -> Vec<(usize, f64)> {
            a.iter().copied().chain(b.iter().map(|&(unknown, value)| (unknown, -value))).collect()
        };
        for (time, own) in nodes.iter().enumerate() {
            let sides = [
                (time + 1 < times && formulation == Formulation::Nodes).then(|| sums.leaving(time)),
                (time > 0 && (time + 1 < times || formulation == Formulation::Nodes))
                    .then(|| sums.arriving(time)),
            ];
            for side in sides.into_iter().flatten() {
                for (sum, node) in side.iter().zip(own).filter(|(_, n)| !n.is_empty()) {
                    program.zero(0.0, &difference(sum, node));
                }
            }
        }
        let all: Vec<(usize, f64)> =
            nodes[0].iter().flatten().map(|&(unknown, value)| (unknown, -value)).collect();
        program.zero(program.scale, &all);
        self.add_entropy(&mut program, edges, &first_edge, &nodes);
        self.add_counts(&mut program, &nodes);
        (program, first_edge)
    }

    fn add_entropy(
        &self,
        program: &mut Program,
        edges: &[Vec<Edge>],
        first_edge: &[usize],
        nodes: &[Vec<Vec<(usize, f64)>>],
    ) {
        for node in nodes[0].iter().filter(|node| !node.is_empty()) {
            let entropy = program.unknown(-1.0);
            program.exponential([(0.0, &[(entropy, 1.0)]), (0.0, node), (1.0, &[])]);
        }
        for (time, edges) in edges.iter().enumerate() {
            for (place, edge) in edges.iter().enumerate() {
                let entropy = program.unknown(-1.0);
                let own = [(first_edge[time] + place, 1.0)];
                let node = &nodes[time][edge.from];
                program.exponential([(0.0, &[(entropy, 1.0)]), (0.0, &own), (0.0, node)]);
            }
        }
    }

    fn add_counts(&self, program: &mut Program, nodes: &[Vec<Vec<(usize, f64)>>]) {
        let FlowProblem { observations, population, .. } = *self.problem;
        let cells = observations.cells();
        for (time, nodes) in nodes.iter().enumerate() {
            for (cell, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_empty()) {
                let count = counted(observations, time, cell);
                let linear = if count > 0.0 { self.rate } else { 0.0 };
                let cost = linear - self.scores[time * cells + cell];
                node.iter().for_each(|&(unknown, value)| program.costs[unknown] += cost * value);
                if count > 0.0 {
                    let log = program.unknown(-program.scale * count / population);
                    let scaled: Vec<(usize, f64)> =
                        node.iter().map(|&(unknown, value)| (unknown, self.rate * value)).collect();
                    program.exponential([(0.0, &[(log, 1.0)]), (1.0, &[]), (0.0, &scaled)]);
                }
            }
        }
    }

    /// `F` at the routes whose moves have the given proportions; always feasible.
    fn repaired(&self, edges: &[Vec<Edge>], moves: &[Vec<f64>]) -> f64 {
        let FlowProblem { observations, population, .. } = *self.problem;
        let cells = observations.cells();
        let mut sums = vec![0.0; cells];
        for (edge, share) in edges[0].iter().zip(&moves[0]) {
            sums[edge.from] += share.max(0.0);
        }
        let total: f64 = sums.iter().sum();
        let mut nodes: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let entropy = |share: f64| if share > 0.0 { share * share.ln() } else { 0.0 };
        let mut objective: f64 = nodes.iter().map(|&share| entropy(share)).sum();
        for (time, (edges, moves)) in edges.iter().zip(moves).enumerate() {
            objective += self.cost(time, &nodes, (observations, population));
            let mut leaving = vec![(0.0, 0usize); cells];
            for (edge, share) in edges.iter().zip(moves) {
                leaving[edge.from].0 += share.max(0.0);
                leaving[edge.from].1 += 1;
            }
            let mut next = vec![0.0; cells];
            for (edge, share) in edges.iter().zip(moves) {
                let (sum, number) = leaving[edge.from];
                let part = if sum > 0.0 { share.max(0.0) / sum } else { 1.0 / number as f64 };
                let moved = nodes[edge.from] * part;
                next[edge.to] += moved;
                if moved > 0.0 {
                    objective += moved * (part.ln() - edge.log_potential);
                }
            }
            nodes = next;
        }
        objective + self.cost(edges.len(), &nodes, (observations, population))
    }

    /// The terms of node scores and counts at a time.
    fn cost(&self, time: usize, nodes: &[f64], data: (&Observations, f64)) -> f64 {
        let (observations, population) = data;
        let cells = nodes.len();
        let own = nodes.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let seen = own.map(|(cell, &share)| {
            let count = counted(observations, time, cell);
            let rate = self.rate * population * share;
            let counts = if count > 0.0 { (rate - count * rate.ln()) / population } else { 0.0 };
            counts - self.scores[time * cells + cell] * share
        });
        let lost = nodes
            .iter()
            .enumerate()
            .any(|(cell, share)| *share <= 0.0 && counted(observations, time, cell) > 0.0);
        if lost { f64::INFINITY } else { seen.sum() }
    }
}

fn counted(observations: &Observations, time: usize, cell: usize) -> f64 {
    observations.at(time)[cell].unwrap_or(0.0)
}
