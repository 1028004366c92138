//! Problem files, and those that go with them.

use std::sync::OnceLock;

use bethe_core::model::uai::Evidence;
use bethe_core::problem::file::EnergiesFile;
use bethe_core::solve::Ignore;
use bethe_core::{Method, Model, Problem, Request, Settings, Status, StepSchedule};

use crate::{Verdict, refused, verdict};

/// Larger models are read, not solved: inference is exponential by nature.
const MOST_CONFIGURATIONS: usize = 2_000;

/// `problem.json`: is read, written, read back, and solved.
pub fn problem(bytes: &[u8]) -> Verdict {
    let problem = match Problem::from_json(bytes) {
        Ok(problem) => problem,
        Err(error) => return refused(error),
    };
    if let Ok(written) = problem.to_json() {
        let again = Problem::from_json(written.as_bytes()).expect("our own file is read");
        assert_eq!(again.to_json().ok(), Some(written), "the same problem is read back");
    }
    solve(&problem, bytes.len());
    Verdict::Accepted
}

/// `{"energies": […]}`: is read, and put on a model.
pub fn energies(bytes: &[u8]) -> Verdict {
    static MODEL: OnceLock<Model> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        let text = br#"{"variables": [2, {"name": "y", "states": ["a", "b", "c"]}, 2],
            "factors": [{"scope": [0, 1], "log_potentials": [0, 1, 0, 2, 0, null]},
                        {"scope": [1, 2], "log_potentials": [0, 1, 0, 2, 0, 1]}]}"#;
        Problem::from_json(text).expect("a valid problem").model().clone()
    });
    let file = match EnergiesFile::from_json(bytes) {
        Ok(file) => file,
        Err(error) => return refused(error),
    };
    let mut problem = Problem::new(model.clone(), Vec::new()).expect("no energies fit any model");
    match problem.add_energies(&file) {
        Ok(()) => solve(&problem, bytes.len()),
        Err(error) => return refused(error),
    }
    Verdict::Accepted
}

/// `model.uai`: is read and solved.
pub fn uai(bytes: &[u8]) -> Verdict {
    match Model::from_uai(bytes) {
        Ok(model) => {
            let problem = Problem::new(model, Vec::new()).expect("no energies fit any model");
            solve(&problem, bytes.len());
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

/// `model.uai.evid`: each sample is observed.
pub fn evidence(bytes: &[u8]) -> Verdict {
    let evidence = match Evidence::from_uai(bytes) {
        Ok(evidence) => evidence,
        Err(error) => return refused(error),
    };
    let observed = evidence.samples().iter().try_for_each(|sample| {
        let mut model = Model::new(&[2, 3, 2, 5]).expect("a valid model");
        sample.observe(&mut model)
    });
    verdict(observed)
}

/// Solves a small problem and checks what must hold of any answer. `turn` picks the solver.
fn solve(problem: &Problem, turn: usize) {
    let states = problem.model().variables().iter().map(|variable| variable.cardinality);
    let configurations = states.fold(1usize, usize::saturating_mul);
    if configurations > MOST_CONFIGURATIONS {
        return;
    }
    let methods = [
        Method::Auto,
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Inverse },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
        Method::Dual,
        Method::Newton,
        Method::Global,
    ];
    let method = methods[turn % methods.len()];
    let settings = Settings { method, max_iterations: 4, ..Settings::default() };
    let answer = match problem.solve_with(&settings, &Request::default(), &mut Ignore) {
        Ok(answer) => answer,
        Err(error) => {
            refused(error);
            return;
        }
    };
    assert!(answer.gap.is_none_or(|gap| gap >= 0.0), "a gap of {:?}", answer.gap);
    if answer.status == Status::Infeasible {
        return;
    }
    for (variable, table) in
        answer.marginals[..problem.model().variables().len()].iter().enumerate()
    {
        let sum: f64 = table.values.iter().sum();
        assert!(
            (sum - 1.0).abs() < 1e-6,
            "variable {variable} has probabilities {:?}",
            table.values
        );
    }
}
