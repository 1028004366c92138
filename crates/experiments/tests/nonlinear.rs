//! Non-linear belief propagation against the dual.

use std::ops::ControlFlow;

use bethe_core::solve::{Ignore, Record, SolveError};
use bethe_core::{Cancel, Settings, Status};
use bethe_experiments::cgm::solve_by_nonlinear_bp;
use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowError, FlowProblem};
use bethe_flows::model::{Feature, FeatureKind, Movement, Moves};
use bethe_flows::simulate::simulate;
use rand::SeedableRng;
use rand::rngs::StdRng;

const POPULATION: u64 = 60;
const TIMES: usize = 8;

/// A simulated migration on 4 × 4 cells.
struct Migration {
    moves: Moves,
    observations: Observations,
}

impl Migration {
    fn new() -> Self {
        let cells = Cells::grid(4, 4);
        let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
        let features = vec![
            feature("distance", FeatureKind::Distance, -1.0),
            feature("goal", FeatureKind::Goal(cells.len() - 1), 1.0),
        ];
        let movement = Movement { features, reach: Some(2.0), normalised: true };
        let moves = movement.moves(&cells, TIMES);
        let mut born = vec![0; cells.len()];
        born[0] = POPULATION;
        let mut rng = StdRng::seed_from_u64(7);
        let observations = simulate(&moves, &born, TIMES - 1, &mut rng).observe(16, 1.0, &mut rng);
        Self { moves, observations }
    }

    fn problem<'a>(&'a self, noise: &'a Noise) -> FlowProblem<'a> {
        let (moves, observations) = (&self.moves, &self.observations);
        FlowProblem {
            moves,
            start: None,
            observations,
            noise,
            population: POPULATION as f64,
            cancel: Cancel::never(),
        }
    }
}

#[test]
fn it_converges_on_poisson_counts_and_is_certified_at_every_iteration() {
    let (migration, noise) = (Migration::new(), Noise::Poisson { rate: vec![1.0] });
    let problem = migration.problem(&noise);
    let best = problem.solve(&Settings::default(), &mut Ignore).unwrap().solution.objective;
    let mut gaps = Vec::new();
    let mut observer = |record: &Record, _: &[f64]| {
        if let Some(gap) = record.gap {
            assert!(record.objective - best <= gap + 1e-8);
            gaps.push(gap);
        }
        ControlFlow::Continue(())
    };
    let mut flows = solve_by_nonlinear_bp(&problem, &Settings::default(), &mut observer).unwrap();
    assert_eq!(flows.solution.status, Status::Converged);
    assert_eq!(flows.solution.solver, "nonlinear-bp");
    assert!(gaps[gaps.len() - 1] < 1e-4 && flows.solution.gap.unwrap() < 1e-4);
    let total: f64 = flows.counts().iter().sum();
    assert!((total - (POPULATION as usize * TIMES) as f64).abs() < 1e-6);
}

#[test]
fn its_gap_holds_under_every_noise_and_limit() {
    let migration = Migration::new();
    let noises =
        [Noise::Poisson { rate: vec![1.0] }, Noise::Gaussian { rate: vec![1.0], variance: 2.0 }];
    for noise in noises {
        let problem = migration.problem(&noise);
        let best = problem.solve(&Settings::default(), &mut Ignore).unwrap().solution;
        for max_iterations in [1, 5, 500] {
            let settings = Settings { max_iterations, ..Settings::default() };
            let solution =
                solve_by_nonlinear_bp(&problem, &settings, &mut Ignore).unwrap().solution;
            let (gap, error) = (solution.gap.unwrap(), solution.objective - best.objective);
            assert!(error >= -1e-5 && error <= gap + 1e-5, "{noise:?}: {error}, {gap}");
        }
    }
}

#[test]
fn a_setting_out_of_range_is_an_error() {
    let (migration, noise) = (Migration::new(), Noise::Poisson { rate: vec![1.0] });
    let wrong = Settings { tolerance: -1.0, ..Settings::default() };
    let error = solve_by_nonlinear_bp(&migration.problem(&noise), &wrong, &mut Ignore).err();
    assert!(matches!(error, Some(FlowError::Solve(SolveError::Setting { .. }))));
}
