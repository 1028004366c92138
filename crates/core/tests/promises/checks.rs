//! What an answer promises, held against the truth.

use bethe_core::problem::BoundProblem;
use bethe_core::solve::{Ignore, Returned, Solution, SolveError, Status, solve};
use bethe_core::{Method, Settings, Tables};

use super::cases::{Case, Rules};
use super::double_double::Precise;
use super::truth::{Optimum, Truth};

/// Every answer at a cap is compared with that at the cap before.
const CAPS: [usize; 8] = [1, 2, 3, 5, 8, 13, 21, 34];
/// Most iterations of a solve to the end.
const MOST: usize = 3000;
const TOLERANCE: f64 = 1e-6;
/// Digits that the truth itself may be off by, relative to the sizes of what it sums up.
const TRUTH: f64 = 1e-26;
/// Marginals of tables that share variables agree to this.
const AGREEMENT: f64 = 1e-14;

/// A promise that was broken, in words.
#[derive(Clone, Debug)]
pub struct Broken {
    pub promise: Promise,
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    Gap,
    LowerBound,
    Converged,
    Infeasible,
    NestedCaps,
    MarginalError,
    Agreement,
}

/// What was checked, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub broken: Vec<Broken>,
    pub answers: usize,
    /// Answers with a gap that the truth could be held against.
    pub gaps: usize,
    /// Answers with a lower bound that the truth could be held against.
    pub bounds: usize,
    /// Answers whose marginals the truth could be held against.
    pub errors: usize,
    /// Pairs of answers at one cap and the next.
    pub pairs: usize,
    /// Contradictions, and those that were proved.
    pub contradictions: usize,
    pub proved: usize,
    /// How solves to the end came out: converged, at the limit of rounding, of iterations.
    pub ends: [usize; 3],
}

/// Checks one problem: `auto` to the end, then that and one more method at nested caps.
pub fn check(case: &Case, seed: u64) -> Findings {
    let mut findings = Findings::default();
    let Ok(bound) = case.problem.bind() else { return findings };
    let truth = Truth::new(&bound);
    let to_the_end =
        |tolerance| Settings { tolerance, max_iterations: MOST, ..Settings::default() };
    let Ok(sharp) = run(case, &to_the_end(1e-13), &mut findings) else { return findings };
    let judge = Judge {
        optimum: (case.rules != Rules::Contradict).then(|| truth.optimum(&sharp.multipliers)),
        rules: case.rules,
        truth: &truth,
        bound: &bound,
    };
    judge.judge(&sharp, 1e-13, "auto to 1e-13", &mut findings);
    if let Ok(found) = run(case, &to_the_end(TOLERANCE), &mut findings) {
        judge.judge(&found, TOLERANCE, "auto", &mut findings);
        judge.note_end(&found, &mut findings);
    }
    for method in [Method::Auto, Method::NAMED[seed as usize % Method::NAMED.len()]] {
        let mut before: Option<Solution> = None;
        for cap in CAPS {
            let settings = Settings { method, max_iterations: cap, ..Settings::default() };
            let Ok(found) = run(case, &settings, &mut findings) else { break };
            let label = format!("{} at {cap}", method.name());
            judge.judge(&found, TOLERANCE, &label, &mut findings);
            if let Some(before) = &before {
                compare(&bound, before, &found, &label, &mut findings);
            }
            before = Some(found);
        }
    }
    findings
}

/// With an oracle of its own: those remember what ranges they met, and round accordingly.
fn run(case: &Case, settings: &Settings, findings: &mut Findings) -> Result<Solution, SolveError> {
    let mut bound = case.problem.bind()?;
    let found = solve(bound.task(), settings, &mut Ignore)?;
    let disagreement = disagreement(&mut bound);
    if disagreement > AGREEMENT {
        let words = format!("tables disagree by {disagreement:e}");
        findings.broken.push(Broken { promise: Promise::Agreement, words });
    }
    Ok(found)
}

/// By how much a table's marginals miss those of its variables.
fn disagreement(bound: &mut BoundProblem) -> f64 {
    let BoundProblem { base, oracle, .. } = bound;
    let (variables, mut nodes, mut most) = (base.variables(), Vec::new(), 0.0f64);
    oracle.visit_marginals(Tables::All, &mut |table, marginals| {
        if table < variables {
            nodes.push(marginals.to_vec());
            return;
        }
        let scope = &base.tables[table].scope;
        let mut stride = marginals.len();
        for &variable in scope {
            let states = base.cardinalities[variable];
            stride /= states;
            let mut sums = vec![0.0; states];
            for (cell, marginal) in marginals.iter().enumerate() {
                sums[cell / stride % states] += marginal;
            }
            let apart = sums.iter().zip(&nodes[variable]).map(|(a, b)| (a - b).abs());
            most = apart.fold(most, f64::max);
        }
    });
    most
}

/// The truth about one problem.
struct Judge<'a> {
    truth: &'a Truth,
    bound: &'a BoundProblem,
    optimum: Option<Optimum>,
    rules: Rules,
}

impl Judge<'_> {
    fn judge(&self, found: &Solution, tolerance: f64, label: &str, findings: &mut Findings) {
        findings.answers += 1;
        let mut broken = |promise, words: String| {
            findings.broken.push(Broken { promise, words: format!("{label}: {words}") });
        };
        if found.status == Status::Infeasible {
            if self.rules != Rules::Contradict {
                broken(Promise::Infeasible, "called infeasible, and is not".to_string());
            }
            return;
        }
        let (objective, gap, bound) = (found.objective, found.gap, found.lower_bound);
        if found.status == Status::Converged {
            let allowed = tolerance * objective.abs().max(1.0);
            if !gap.is_some_and(|gap| gap <= allowed) || self.rules == Rules::Contradict {
                broken(Promise::Converged, format!("converged with a gap of {gap:?}"));
            }
        }
        if let (Some(gap), Some(bound)) = (gap, bound)
            && objective - bound > gap
        {
            broken(Promise::Gap, format!("gap {gap:e}, objective − bound {:e}", objective - bound));
        }
        let Some((optimum, above)) = self.optimum.as_ref().and_then(|o| Some((o, o.above?))) else {
            return;
        };
        let noise = TRUTH * (above.rounded().abs() + found.log_partition.abs() + 1.0);
        if let Some(bound) = bound {
            findings.bounds += 1;
            let excess = (Precise::from(bound) - above).rounded();
            if excess > noise {
                broken(Promise::LowerBound, format!("lower bound too high by {excess:e}"));
            }
        }
        if let Some(gap) = gap {
            findings.gaps += 1;
            let mut true_gap = (Precise::from(objective) - above).rounded();
            if found.returned != Returned::Average {
                let rows = self.bound.energies.measurements.rows();
                let exact = self.truth.objective(rows, &found.tilt, &found.marginals) - above;
                true_gap = true_gap.max(exact.rounded());
            }
            // An objective below the optimum is off by no more than the gap says, unless it is there
            // because hard rules are slightly broken.
            let below = (optimum.below - objective.into()).rounded();
            let excess = if self.rules == Rules::None { below } else { 0.0 };
            if true_gap.max(excess) > gap + noise {
                let status = found.status;
                let words = format!(
                    "gap {gap:e}, objective − optimum {true_gap:e}, optimum − objective {excess:e}, \
                     {status:?}"
                );
                broken(Promise::Gap, words);
            }
            if self.rules == Rules::None {
                findings.errors += 1;
                let unknown = (above - optimum.below).rounded().max(0.0);
                let allowed = (0.5 * gap).sqrt() + (0.5 * unknown).sqrt() + 1e-14;
                let error = self.error(&found.marginals, &optimum.marginals);
                if error > allowed {
                    let words = format!("marginals off by {error:e}, allowed {allowed:e}");
                    broken(Promise::MarginalError, words);
                }
            }
        }
    }

    /// The largest difference of a marginal, per table of its block.
    fn error(&self, found: &[f64], expected: &[f64]) -> f64 {
        let blocks = self.bound.energies.support().blocks().iter();
        let of_block = |block: &bethe_core::support::Block| {
            let pairs = found[block.range()].iter().zip(&expected[block.range()]);
            let most = pairs.map(|(f, e)| (f - e).abs()).fold(0.0, f64::max);
            most / block.tables.len() as f64
        };
        blocks.map(of_block).fold(0.0, f64::max)
    }

    fn note_end(&self, found: &Solution, findings: &mut Findings) {
        if self.rules == Rules::Contradict {
            findings.contradictions += 1;
            findings.proved += usize::from(found.status == Status::Infeasible);
            return;
        }
        match found.status {
            Status::Converged => findings.ends[0] += 1,
            Status::RoundingLimit => findings.ends[1] += 1,
            _ => findings.ends[2] += 1,
        }
    }
}

/// Whether an answer at a larger cap is worse: farther from keeping hard rules, or higher. A point
/// that breaks rules by no more than the tolerance may lie below the optimum by what that is worth.
fn compare(
    bound: &BoundProblem,
    before: &Solution,
    after: &Solution,
    label: &str,
    findings: &mut Findings,
) {
    if [before, after].iter().any(|found| found.status == Status::Infeasible) {
        return;
    }
    findings.pairs += 1;
    let measurements = &bound.energies.measurements;
    let [old, new] = [before, after].map(|found| measurements.violation(&found.marginals));
    let counted = |violation: f64| if violation <= TOLERANCE { 0.0 } else { violation };
    let hard = (0..measurements.len()).filter(|&row| measurements.penalty(row).is_hard());
    let worth: f64 = hard
        .map(|row| {
            let z = measurements.rows().measure(row, &before.marginals);
            let pull = before.multipliers[row].abs().max(after.multipliers[row].abs());
            2.0 * pull * measurements.penalty(row).violation(z)
        })
        .sum();
    let is_higher = after.objective > before.objective + worth;
    let ([old, new], objectives) = ([old, new].map(counted), [before.objective, after.objective]);
    // Sums in another order come to another last digit.
    let is_farther = new > old * (1.0 + 1e-9);
    if is_farther || new >= old && is_higher || after.objective.is_nan() {
        findings.broken.push(Broken {
            promise: Promise::NestedCaps,
            words: format!("{label}: objectives {objectives:?}, violations {:?}", [old, new]),
        });
    }
}
