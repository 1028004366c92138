//! Limits of time and memory: what does not fit is refused before it is made, or solved otherwise.

use std::time::Duration;

use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{
    Answer, Energy, MemoryLimit, Method, Model, ModelError, OracleKind, Penalty, Problem, Records,
    Request, Settings, Status, count, oracle::Limits,
};

/// Binary variables, each coupled to all others: one clique.
fn clique(variables: usize) -> Model {
    let mut model = Model::new(&vec![2; variables]).unwrap();
    for a in 0..variables {
        for b in a + 1..variables {
            model.add_factor(&[a, b], &[0.0, 0.0, 0.0, 0.1]).unwrap();
        }
    }
    model
}

fn solve(
    model: &Model,
    oracle: OracleKind,
    memory: u64,
    time_limit: Option<Duration>,
) -> Result<Answer, SolveError> {
    let problem = Problem::new(model.clone(), vec![]).unwrap();
    let settings = Settings { time_limit, ..Settings::default() };
    let memory_limit = MemoryLimit::of(memory);
    let request = Request { oracle, memory_limit, ..Request::default() };
    problem.solve_with(&settings, &request, &mut Ignore)
}

#[test]
fn the_answer_names_the_oracle_and_its_memory() {
    let mut chain = Model::new(&[2, 3]).unwrap();
    chain.add_factor(&[0, 1], &[0.5; 6]).unwrap();
    let cases = [
        (&chain, OracleKind::Auto, "chain"),
        (&clique(5), OracleKind::Auto, "junction-tree"),
        (&clique(5), OracleKind::TreeReweighted, "trw"),
        (&clique(5), OracleKind::Loopy, "loopy"),
    ];
    for (model, kind, name) in cases {
        let answer = solve(model, kind, 1 << 20, None).unwrap();
        assert_eq!(answer.oracle, name);
        assert!((100..1_000_000).contains(&answer.memory_estimate), "{name}");
    }
}

#[test]
fn a_model_that_does_not_fit_is_refused_or_relaxed() {
    let model = clique(16);
    let memory = 1 << 20; // two tables of 2¹⁶ cells need as much, and a few bytes
    let refused = solve(&model, OracleKind::Exact, memory, None).unwrap_err();
    let SolveError::Model(ModelError::TooWide { bytes, limit, .. }) = refused else {
        panic!("{refused}")
    };
    assert!(bytes > 1048576.0 && bytes < 1.1e6, "{bytes}");
    assert_eq!(limit, MemoryLimit::of(memory));
    let answer = solve(&model, OracleKind::Auto, memory, None).unwrap();
    assert_eq!((answer.oracle, answer.entropy), ("trw", "tree-reweighted"));
    let exact = solve(&model, OracleKind::Auto, memory + (1 << 10), None).unwrap();
    assert_eq!((exact.oracle, exact.memory_estimate), ("junction-tree", bytes as u64));
    // Not even its tables fit.
    let refused = solve(&model, OracleKind::Auto, 10_000, None).unwrap_err();
    assert!(refused.to_string().contains("a higher --memory-limit allows more"), "{refused}");
    let limits = Limits { memory: MemoryLimit::of(memory), ..Limits::default() };
    let refused = Records::within(&model, &limits).unwrap_err();
    assert!(matches!(refused, ModelError::TooWide { .. }), "{refused}");
}

#[test]
fn many_states_are_refused_before_their_tables_are_made() {
    for cardinalities in [vec![30_000_000], vec![3; 1_000_000]] {
        let model = Model::new(&cardinalities).unwrap();
        for oracle in [OracleKind::Auto, OracleKind::Exact, OracleKind::Loopy] {
            let refused = solve(&model, oracle, 10 << 20, None).unwrap_err();
            assert!(refused.to_string().starts_with("the model needs"), "{refused}");
        }
    }
}

#[test]
fn auto_turns_to_message_passing_where_exact_inference_has_no_time() {
    // To fill a gigabyte takes longer than the time that is allowed to be late.
    let model = clique(26);
    let exact = solve(&model, OracleKind::Exact, 4 << 30, Some(Duration::ZERO)).unwrap_err();
    assert_eq!(exact, SolveError::OutOfTime);
    let answer = solve(&model, OracleKind::Auto, 4 << 30, Some(Duration::ZERO)).unwrap();
    assert_eq!((answer.oracle, answer.entropy), ("trw", "tree-reweighted"));
    assert!((answer.marginal(3).iter().sum::<f64>() - 1.0).abs() < 1e-6);
    let problem = Problem::new(model, vec![]).unwrap();
    let settings = Settings { time_limit: Some(Duration::ZERO), ..Settings::default() };
    let memory_limit = MemoryLimit::of(4 << 30);
    let request = Request { memory_limit, ..Request::default() };
    let fitted = problem.fit(&settings, &request, &mut Ignore).unwrap_err();
    assert_eq!(fitted, SolveError::OutOfTime);
}

#[test]
fn a_small_problem_has_an_exact_answer_however_short_the_time() {
    let model = clique(4);
    let ones = count(&model, (0..4).map(|v| (v, 1))).unwrap();
    let problem = Problem::new(model, vec![Energy::squared(5.0, 1.0, ones)]).unwrap();
    let time_limit = Some(Duration::ZERO);
    let settings = Settings { time_limit, tolerance: 1e-300, ..Settings::default() };
    let answer = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
    assert_eq!((answer.status, answer.oracle), (Status::TimeLimit, "junction-tree"));
    assert!(answer.objective.unwrap().is_finite());
}

#[test]
fn a_scope_of_many_one_state_variables_takes_no_time() {
    let variables = 100_000;
    let mut model = Model::new(&vec![1; variables]).unwrap();
    let scope: Vec<usize> = (0..variables).collect();
    model.add_factor(&scope, &[0.5]).unwrap();
    let answer = solve(&model, OracleKind::Auto, 1 << 30, None).unwrap();
    assert!((answer.log_partition - 0.5).abs() < 1e-12);
}

/// A chain on which some states are next to impossible, and a count of each of them.
fn counts_of_rare_states(length: usize, states: usize) -> Problem {
    let mut model = Model::new(&vec![states; length]).unwrap();
    let table: Vec<f64> = (0..states * states).map(|cell| (cell as f64).sin()).collect();
    let rare = |state: usize| if state % 2 == 1 { -2000.0 } else { 0.0 };
    let scores: Vec<f64> = (0..states).map(rare).collect();
    for variable in 0..length {
        model.add_factor(&[variable], &scores).unwrap();
        if variable > 0 {
            model.add_factor(&[variable - 1, variable], &table).unwrap();
        }
    }
    let cells = (0..length).flat_map(|variable| (1..states).step_by(2).map(move |s| (variable, s)));
    let energies = cells.map(|cell| Energy::Measurement {
        weight: 1.0,
        penalty: Penalty::Poisson { rate: 1.0, count: 5.0 },
        offset: 0.0,
        terms: count(&model, [cell]).unwrap(),
    });
    let energies = energies.collect();
    Problem::new(model, energies).unwrap()
}

#[test]
fn a_point_of_no_finite_energy_is_an_answer_when_time_runs_out() {
    let problem = counts_of_rare_states(1, 2);
    let out_of_time = Settings { time_limit: Some(Duration::from_nanos(1)), ..Settings::default() };
    let out_of_iterations = Settings { max_iterations: 1, ..Settings::default() };
    for (settings, status) in
        [(out_of_time, Status::TimeLimit), (out_of_iterations, Status::IterationLimit)]
    {
        let answer = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        assert_eq!((answer.status, answer.gap), (status, None));
        assert_eq!(answer.objective, Some(f64::INFINITY));
        assert!((answer.marginal(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn chains_and_newton_steps_are_not_left_to_message_passing_for_lack_of_time() {
    // To bind this many positions takes longer than the time that is allowed to be late.
    let mut chain = Model::new(&vec![2; 300_000]).unwrap();
    for variable in 1..300_000 {
        chain.add_factor(&[variable - 1, variable], &[0.5, 0.0, 0.0, 0.5]).unwrap();
    }
    let found = |model: &Model, method: Method| {
        let problem = Problem::new(model.clone(), vec![]).unwrap();
        let settings = Settings { method, time_limit: Some(Duration::ZERO), ..Settings::default() };
        let memory_limit = MemoryLimit::of(4 << 30);
        problem.solve_with(&settings, &Request { memory_limit, ..Request::default() }, &mut Ignore)
    };
    match found(&chain, Method::Auto) {
        Ok(answer) => assert_eq!(answer.oracle, "chain"),
        Err(error) => assert_eq!(error, SolveError::OutOfTime),
    }
    assert_eq!(found(&clique(26), Method::Newton).unwrap_err(), SolveError::OutOfTime);
}

#[test]
fn no_counts_are_looked_at_once_time_is_up() {
    let problem = counts_of_rare_states(40, 20);
    let settings = Settings { time_limit: Some(Duration::ZERO), ..Settings::default() };
    let request = Request { oracle: OracleKind::TreeReweighted, ..Request::default() };
    let answer = problem.solve_with(&settings, &request, &mut Ignore).unwrap();
    // Each of the 400 counts would take a call or more.
    assert_eq!(answer.status, Status::TimeLimit);
    assert!(answer.oracle_calls < 400, "{}", answer.oracle_calls);
}
