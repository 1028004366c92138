//! Work that is cancelled stops, and what there is by then is still an answer.

mod common;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bethe_core::solve::{Ignore, Record, SolveError};
use bethe_core::{
    Answer, Cancel, Energy, Method, Model, ModelError, Norm, OracleKind, Problem, Request,
    Settings, Status, StepSchedule, count,
};
use common::rng;
use rand::Rng;

/// Binary variables, each with a factor to all others: one clique, large enough to look before it.
fn dense(variables: usize) -> Model {
    let mut rng = rng(17);
    let mut model = Model::new(&vec![2; variables]).unwrap();
    for a in 0..variables {
        for b in a + 1..variables {
            let table: Vec<f64> = (0..4).map(|_| rng.random_range(-0.2..0.2)).collect();
            model.add_factor(&[a, b], &table).unwrap();
        }
    }
    model
}

/// A square grid, far too wide for a junction tree.
fn grid(side: usize) -> Model {
    let mut model = Model::new(&vec![2; side * side]).unwrap();
    for site in 0..side * side {
        let right = (site % side + 1 < side).then_some(site + 1);
        let below = (site + side < side * side).then_some(site + side);
        for other in right.into_iter().chain(below) {
            model.add_factor(&[site, other], &[0.9, -0.9, -0.9, 0.9]).unwrap();
        }
    }
    model
}

fn ones(model: &Model) -> Vec<bethe_core::Term> {
    count(model, (0..model.variables().len()).map(|v| (v, 1))).unwrap()
}

fn cancelled() -> Cancel {
    let cancel = Cancel::new();
    cancel.cancel();
    cancel
}

#[test]
fn nothing_is_set_up_for_a_token_that_is_cancelled() {
    for oracle in
        [OracleKind::Auto, OracleKind::Exact, OracleKind::TreeReweighted, OracleKind::Loopy]
    {
        let problem = Problem::new(dense(4), vec![]).unwrap();
        assert_eq!(problem.bind_to(oracle, &cancelled()).err(), Some(ModelError::Cancelled));
        let request = Request { oracle, cancel: cancelled(), ..Request::default() };
        let settings = Settings::default();
        let found = problem.solve_with(&settings, &request, &mut Ignore);
        assert_eq!(found.unwrap_err(), SolveError::Cancelled);
        let found = problem.fit(&settings, &request, &mut Ignore).unwrap_err();
        let exact = matches!(oracle, OracleKind::Auto | OracleKind::Exact);
        assert_eq!(found, if exact { SolveError::Cancelled } else { SolveError::Unfitted });
    }
}

#[test]
fn a_deadline_ends_the_set_up_of_a_wide_model() {
    // Elimination orders of this grid take seconds, and so do its messages.
    let problem = Problem::new(grid(200), vec![]).unwrap();
    for oracle in [OracleKind::Exact, OracleKind::TreeReweighted] {
        let start = Instant::now();
        let cancel = Cancel::at(start + Duration::from_millis(30));
        let request = Request { oracle, cancel, ..Request::default() };
        let found = problem.solve_with(&Settings::default(), &request, &mut Ignore);
        assert_eq!(found.unwrap_err(), SolveError::Cancelled, "{oracle:?}");
    }
}

/// Every method with energies that it serves.
fn cases(model: &Model) -> Vec<(Method, Vec<Energy>)> {
    let soft = || vec![Energy::squared(30.0, 2.0, ones(model))];
    let words = Energy::Nearest {
        weight: 9.0,
        norm: Norm::Huber(0.2),
        cap: None,
        measurements: ones(model).into_iter().map(|one| vec![one]).collect(),
        points: vec![vec![0.7; 14], vec![0.1; 14]],
    };
    let coupling = Energy::product(&[0, 1], &[0.5, 0.0, 0.0, 0.5]);
    vec![
        (Method::Rda { beta: 0.0 }, soft()),
        (Method::MirrorDescent { schedule: StepSchedule::Constant(1e-3) }, soft()),
        (Method::AcceleratedRda { smoothness: None }, soft()),
        (Method::Adaptive, soft()),
        (Method::Dual, soft()),
        (Method::Dual, vec![Energy::at_most(2.0, ones(model))]),
        (Method::Global, vec![words.clone()]),
        (Method::Auto, vec![words]),
        (Method::Auto, vec![coupling, Energy::squared(30.0, 2.0, ones(model))]),
    ]
}

/// Cancels in the middle of the third iteration.
fn stopped(problem: &Problem, method: Method) -> Answer {
    let cancel = Cancel::new();
    let token = cancel.clone();
    let mut observer = |record: &Record, _: &[f64]| {
        if record.iteration == 2 {
            token.cancel();
        }
        ControlFlow::Continue(())
    };
    let settings = Settings { method, tolerance: 1e-300, ..Settings::default() };
    let request = Request { cancel, potentials: true, ..Request::default() };
    problem.solve_with(&settings, &request, &mut observer).unwrap()
}

#[test]
fn a_solve_that_is_cancelled_within_a_call_returns_what_it_has() {
    let model = dense(14);
    for (method, energies) in cases(&model) {
        let problem = Problem::new(model.clone(), energies).unwrap();
        let answer = stopped(&problem, method);
        assert_eq!((answer.status, answer.iterations), (Status::Stopped, 3), "{method:?}");
        let (objective, log_partition) = (answer.objective.unwrap(), answer.log_partition);
        assert!(objective.is_finite() && log_partition.is_finite(), "{method:?}");
        for variable in 0..14 {
            let sum: f64 = answer.marginal(variable).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{method:?}");
        }
        // The answer is that of its own tilt.
        let mut tilted = model.clone();
        for table in answer.potentials.as_ref().unwrap() {
            tilted.add_factor(&table.scope, &table.values).unwrap();
        }
        let again = Problem::new(tilted, vec![]).unwrap().solve().unwrap();
        assert!((again.marginal(3)[1] - answer.marginal(3)[1]).abs() < 1e-9, "{method:?}");
        // Whatever was proved holds.
        let method = if method == Method::Global { method } else { Method::Auto };
        let settings = Settings { method, tolerance: 1e-9, ..Settings::default() };
        let best = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        if let (Some(bound), Some(best)) = (answer.lower_bound, best.objective) {
            assert!(bound <= best + 1e-6, "{method:?}: {bound} {best}");
        }
    }
}

#[test]
fn deadlines_and_time_limits_are_told_from_stops() {
    let model = dense(6);
    let problem = Problem::new(model.clone(), vec![Energy::squared(30.0, 2.0, ones(&model))]);
    let problem = problem.unwrap();
    let slow = Settings {
        method: Method::MirrorDescent { schedule: StepSchedule::Constant(1e-12) },
        tolerance: 1e-300,
        max_iterations: usize::MAX,
        ..Settings::default()
    };
    let cancel = Cancel::at(Instant::now() + Duration::from_millis(200));
    let request = Request { cancel, ..Request::default() };
    let late = problem.solve_with(&slow, &request, &mut Ignore).unwrap();
    assert_eq!(late.status, Status::TimeLimit);

    // However short, a time limit leaves an answer.
    let short = Settings { time_limit: Some(Duration::from_nanos(1)), ..slow.clone() };
    let short = problem.solve_with(&short, &Request::default(), &mut Ignore).unwrap();
    assert_eq!((short.status, short.iterations), (Status::TimeLimit, 1));

    let cancel = Cancel::new();
    let token = cancel.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        token.cancel();
    });
    let request = Request { cancel, ..Request::default() };
    let stopped = problem.solve_with(&slow, &request, &mut Ignore).unwrap();
    other.join().unwrap();
    assert_eq!(stopped.status, Status::Stopped);
    assert!(stopped.iterations > 1);
}
