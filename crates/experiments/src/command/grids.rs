//! Every kind of inference on a grid, and a grid that is too wide for exact inference.

use std::fmt::Write;

use anyhow::Result;
use bethe_core::{Answer, Energy, Penalty, Problem, Term};
use bethe_experiments::ising::{Base, Couplings, Grid, compare};
use bethe_terminal::Folder;

/// Side of the wide grid.
const SIDE: usize = 30;

/// Errors on a grid that exact inference can still solve, then a wide one with a rule on top.
pub fn grids(out: &Folder) -> Result<String> {
    let mut text = String::from(
        "2. A grid that is too wide\n\n\
         Memory of exact inference doubles with every column. Errors of the approximations on a\n\
         10 × 10 Ising grid (mixed couplings up to 0.5):\n\n",
    );
    let small = compare(&Grid::random(10, Couplings::Mixed, 0.5, 0.3, 1))?;
    writeln!(text, "  {:<20}{:>20}{:>12}   log Z", "inference", "mean error of P(+1)", "worst")?;
    for entry in &small.entries {
        let (name, off) = (entry.name, entry.log_partition_error);
        writeln!(text, "  {name:<20}{:>20.4}{:>12.3}   {off:+.3}", entry.error, entry.worst)?;
    }
    let grid = Grid::random(SIDE, Couplings::Mixed, 0.5, 0.3, 1);
    let whole = grid.problem(Base::Whole);
    let upper = solve(&whole)?;
    let lower = solve(&grid.problem(Base::Comb))?;
    let up = |site| Term { scope: vec![site], coefficients: vec![0.0, 1.0] };
    let third = Energy::Measurement {
        weight: 1.0,
        penalty: Penalty::Equal,
        offset: -((SIDE * SIDE / 3) as f64),
        terms: (0..SIDE * SIDE).map(up).collect(),
    };
    let problem = Problem::new(whole.model().clone(), vec![third])?;
    out.text("wide.json", &(problem.to_json()? + "\n"))?;
    let ruled = solve(&problem)?;
    writeln!(
        text,
        "\n  {SIDE} × {SIDE} sites, entropy {}: log Z is between {:.2} (mean field on a comb) and {:.2}\n  \
         with a third of the sites up: {} after {} oracle calls, gap {:.1e}\n",
        upper.entropy,
        -lower.objective.unwrap_or(f64::NAN),
        upper.log_partition_bound.unwrap_or(f64::NAN),
        ruled.status.name(),
        ruled.oracle_calls,
        ruled.gap.unwrap_or(f64::NAN)
    )?;
    Ok(text)
}

fn solve(problem: &Problem) -> Result<Answer> {
    Ok(problem.solve()?)
}
