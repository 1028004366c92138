//! A method from outside the crate, run by the driver.

use bethe_core::solve::{Evaluated, Ignore, OwnMethod, SolveError, Task, solve_by};
use bethe_core::{Energy, Model, Problem, Settings, Status, count};

/// `δ ← ½(δ − ∇L(μ))`
struct Halfway {
    steps: usize,
}

impl OwnMethod for Halfway {
    fn name(&self) -> &'static str {
        "halfway"
    }

    fn step(&mut self, latest: &Evaluated, tilt: &mut [f64]) -> usize {
        self.steps += 1;
        let moved = tilt.iter_mut().zip(latest.gradient);
        moved.for_each(|(tilt, gradient)| *tilt = 0.5 * (*tilt - gradient));
        0
    }
}

fn chain() -> Model {
    let mut model = Model::new(&[2, 2, 2]).unwrap();
    model.add_factor(&[0, 1], &[1.0, 0.0, 0.0, 1.0]).unwrap();
    model.add_factor(&[1, 2], &[0.5, 0.0, 0.0, 1.0]).unwrap();
    model
}

#[test]
fn it_is_stopped_and_certified_by_the_driver() {
    let (model, ups) = (chain(), [(0, 1), (1, 1), (2, 1)]);
    let ups = count(&model, ups).unwrap();
    let problem = Problem::new(model, vec![Energy::squared(1.0, 1.0, ups)]).unwrap();
    let best = problem.solve().unwrap();
    let mut bound = problem.bind().unwrap();
    let mut method = Halfway { steps: 0 };
    let task = Task::new(bound.oracle.as_mut(), &mut bound.energies);
    let found = solve_by(task, &mut method, &Settings::default(), &mut Ignore).unwrap();
    assert_eq!((found.status, found.solver), (Status::Converged, "halfway"));
    assert_eq!(found.iterations, method.steps);
    assert!(found.gap.unwrap() <= 1e-6);
    assert!((found.objective - best.objective.unwrap()).abs() <= 1e-6);

    let mut bound = problem.bind().unwrap();
    let task = Task::new(bound.oracle.as_mut(), &mut bound.energies);
    let settings = Settings { max_iterations: 2, ..Settings::default() };
    let cut = solve_by(task, &mut method, &settings, &mut Ignore).unwrap();
    assert_eq!((cut.status, cut.iterations), (Status::IterationLimit, 2));
    assert!(cut.gap.unwrap() >= cut.objective - best.objective.unwrap());
}

#[test]
fn hard_measurements_are_refused() {
    let model = chain();
    let ups = count(&model, [(0, 1)]).unwrap();
    let problem = Problem::new(model, vec![Energy::equal(0.3, ups)]).unwrap();
    let mut bound = problem.bind().unwrap();
    let task = Task::new(bound.oracle.as_mut(), &mut bound.energies);
    let refused = solve_by(task, &mut Halfway { steps: 0 }, &Settings::default(), &mut Ignore);
    assert!(matches!(refused, Err(SolveError::Unserved { solver: "halfway", .. })));
}
