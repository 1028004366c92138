//! Gradients of an answer, and what they cost: a chain of 50 positions under five rules.

use std::time::{Duration, Instant};

use bethe_core::derivative::{Activity, Derivative};
use bethe_core::problem::TableAnswer;
use bethe_core::solve::{Ignore, solve};
use bethe_core::{Energy, Model, Problem, Request, Settings, Tables, count};

const LENGTH: usize = 50;
const STATES: usize = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = problem()?;
    let settings = Settings::default();
    let request = Request { marginals: Tables::Nodes, ..Request::default() };

    // How the first position's second state changes with every number of the problem.
    let mut solved = problem.solve_differentiable(&settings, &request, &mut Ignore)?;
    let v =
        TableAnswer { scope: vec![0], values: (0..STATES).map(|k| f64::from(k == 1)).collect() };
    let gradients = solved.pullback(&[v])?;
    println!("d P(y0 = 1) / d potential of y1 = 1: {:+.4}", gradients.potentials[1].values[1]);
    println!("d P(y0 = 1) / d the first rule: {:?}", gradients.energies[0]);

    // On the support alone, as a layer that solves again and again would do it.
    let mut bound = problem.bind()?;
    let width = bound.energies.support().len();
    let v: Vec<f64> = (0..width).map(|at| f64::from(at % STATES == 1)).collect();
    let [mut solving, mut differentiating] = [Duration::MAX; 2];
    let mut active = 0;
    for _ in 0..50 {
        let start = Instant::now();
        let solution = solve(bound.task(), &settings, &mut Ignore)?;
        solving = solving.min(start.elapsed());
        let start = Instant::now();
        let oracle = bound.oracle.as_mut();
        let derivative = Derivative::new(oracle, &bound.energies, &solution)?;
        derivative.pullback(oracle, &v)?;
        differentiating = differentiating.min(start.elapsed());
        active = derivative.activities().filter(|activity| *activity != Activity::Flat).count();
    }
    let ratio = differentiating.as_secs_f64() / solving.as_secs_f64();
    println!(
        "{active} active rules: solve {solving:?}, pullback {differentiating:?}, {ratio:.2} solves"
    );
    Ok(())
}

/// Five rules about how often states occur: a limit, a target, a kink and two prices.
fn problem() -> Result<Problem, Box<dyn std::error::Error>> {
    let mut model = Model::new(&[STATES; LENGTH])?;
    // Numbers without a pattern.
    let mut state = 1u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) * 2.0 - 1.0
    };
    for position in 0..LENGTH {
        let scores: Vec<f64> = (0..STATES).map(|_| noise()).collect();
        model.add_factor(&[position], &scores)?;
    }
    let table: Vec<f64> = (0..STATES * STATES).map(|_| noise()).collect();
    for position in 1..LENGTH {
        model.add_factor(&[position - 1, position], &table)?;
    }
    let times = |state: usize| count(&model, (0..LENGTH).map(move |position| (position, state)));
    let energies = vec![
        Energy::at_most(2.0, times(1)?),
        Energy::equal(3.0, times(2)?),
        Energy::absolute(5.0, 4.0, times(3)?),
        Energy::squared(2.0, 6.0, times(4)?),
        Energy::prefer_at_most(4.0, 2.0, times(5)?),
    ];
    Ok(Problem::new(model, energies)?)
}
