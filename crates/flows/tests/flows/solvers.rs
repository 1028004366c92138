//! Every solver on the same flows.

use std::ops::ControlFlow;

use bethe_core::solve::{Ignore, Record, SolveError};
use bethe_core::{Cancel, Method, Settings, Status, StepSchedule};
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowError, FlowProblem};

use super::{Migration, fitting, noises, precise};

fn methods() -> [Method; 6] {
    [
        Method::Rda { beta: 0.0 },
        Method::Rda { beta: 5.0 },
        Method::MirrorDescent { schedule: StepSchedule::Inverse },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
    ]
}

#[test]
fn solvers_meet_at_one_optimum_with_honest_gaps() {
    for noise in noises() {
        let mut migration = Migration::new(3, 5, None);
        fitting(&mut migration, &noise);
        let best = migration.solve(&noise).solution.objective;
        let settings = Settings { tolerance: 1e-6, max_iterations: 3000, ..Settings::default() };
        let problem = migration.problem(&noise);
        for method in methods() {
            let settings = Settings { method, ..settings.clone() };
            let solution = problem.solve(&settings, &mut Ignore).unwrap().solution;
            let (gap, error) = (solution.gap.unwrap(), solution.objective - best);
            assert!(error >= -1e-8 && error <= gap + 1e-8, "{noise:?} {} {error}", solution.solver);
            assert!(gap < 0.05, "{noise:?} {} {:?} {gap}", solution.solver, solution.status);
            if solution.status == Status::Converged {
                assert!(gap <= 1e-6 * solution.objective.abs().max(1.0));
            }
        }
    }
}

/// Where the model expects next to nobody and some were counted, the gradient has no bound.
#[test]
fn steep_counts_do_not_drive_plain_rda_to_infinity() {
    let mut migration = Migration::new(4, 6, None);
    for table in &mut migration.moves.tables {
        (0..16).for_each(|from| table.row_mut(from).iter_mut().for_each(|value| *value *= 6.0));
    }
    let noise = Noise::Poisson { rate: vec![10.0] };
    let best = migration.problem(&noise).solve(&precise(), &mut Ignore).unwrap();
    for method in methods() {
        let mut observer = |record: &Record, marginals: &[f64]| {
            assert!(record.objective.is_finite(), "{method:?}");
            assert!(marginals.iter().all(|marginal| (0.0..=1.0 + 1e-9).contains(marginal)));
            ControlFlow::Continue(())
        };
        let settings = Settings { method, max_iterations: 200, ..Settings::default() };
        let flows = migration.problem(&noise).solve(&settings, &mut observer).unwrap();
        let solution = flows.solution;
        assert!(solution.objective >= best.solution.objective - 1e-6, "{method:?}");
        let (gap, error) = (solution.gap.unwrap(), solution.objective - best.solution.objective);
        assert!(error <= gap + 1e-6, "{method:?} {error} {gap}");
    }
}

#[test]
fn a_solve_near_an_earlier_one_takes_fewer_calls() {
    for noise in noises() {
        let mut migration = Migration::new(3, 8, None);
        fitting(&mut migration, &noise);
        let earlier = migration.solve(&noise).solution;
        for table in &mut migration.moves.tables {
            (0..9).for_each(|from| table.row_mut(from).iter_mut().for_each(|value| *value *= 1.1));
        }
        let problem = migration.problem(&noise);
        let near = problem.solve_from(Some(&earlier.multipliers), &precise(), &mut Ignore).unwrap();
        let [near, afresh] =
            [near.solution, problem.solve(&precise(), &mut Ignore).unwrap().solution];
        assert_eq!(near.status, Status::Converged);
        assert!((near.objective - afresh.objective).abs() < 1e-8, "{noise:?}");
        assert!(near.oracle_calls < afresh.oracle_calls, "{noise:?} {}", near.oracle_calls);
        // From where it ended it is there.
        let problem = migration.problem(&noise);
        let again = problem.solve_from(Some(&near.multipliers), &precise(), &mut Ignore).unwrap();
        assert!(again.solution.oracle_calls <= 4, "{noise:?} {}", again.solution.oracle_calls);
    }
}

#[test]
fn the_default_solver_needs_few_calls_on_hard_counts() {
    let mut migration = Migration::new(6, 10, None);
    let noise = Noise::Poisson { rate: vec![10.0] };
    for table in &mut migration.moves.tables {
        (0..36).for_each(|from| table.row_mut(from).iter_mut().for_each(|value| *value *= 3.0));
    }
    let flows = migration.problem(&noise).solve(&Settings::default(), &mut Ignore).unwrap();
    assert_eq!(flows.solution.status, Status::Converged);
    assert!(flows.solution.oracle_calls <= 60, "{}", flows.solution.oracle_calls);
}

#[test]
fn a_token_stops_flows_and_what_was_found_is_returned() {
    let (noise, migration) = (Noise::Poisson { rate: vec![1.0] }, Migration::new(3, 6, Some(1.0)));
    let cancel = Cancel::new();
    let problem = FlowProblem { cancel: cancel.clone(), ..migration.problem(&noise) };
    let flows = problem.solve(&precise(), &mut |_: &Record, _: &[f64]| {
        cancel.cancel();
        ControlFlow::Continue(())
    });
    assert_eq!(flows.unwrap().solution.status, Status::Stopped);
    let stopped = problem.solve(&precise(), &mut Ignore);
    assert_eq!(stopped.err(), Some(FlowError::Solve(SolveError::Cancelled)));
}
