//! Problems solved over pseudo-marginals: one optimum, honest gaps, no claim that does not hold.

use bethe_core::oracle::OracleKind;
use bethe_core::solve::Ignore;
use bethe_core::{
    Answer, Energy, Method, Model, ModelError, Penalty, Problem, Request, Settings, Status,
    StepSchedule, Term,
};

use crate::common::{graphs, random_measurement, random_model, reference, rng};
use crate::models;

fn settings(oracle: OracleKind, method: Method, tolerance: f64) -> (Settings, Request) {
    let settings = Settings { method, tolerance, max_iterations: 3000, ..Settings::default() };
    (settings, Request { oracle, ..Request::default() })
}

fn solve(problem: &Problem, (settings, request): &(Settings, Request)) -> Answer {
    problem.solve_with(settings, request, &mut Ignore).unwrap()
}

/// Random smooth measurements on the graphs that every solver is run on.
fn problems() -> Vec<(String, Problem)> {
    let mut list = Vec::new();
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
        let mut random = rng(500 + index as u64);
        let recipe =
            crate::common::Recipe { score: 1.5, forbidden: 0.1, weight: 3.0, measurements: 3 };
        let model = random_model(&mut random, &cardinalities, &scopes, &recipe);
        let penalties = [Penalty::Squared, Penalty::SmoothedHinge, Penalty::Huber { delta: 0.3 }];
        let energies = penalties
            .into_iter()
            .map(|p| random_measurement(&mut random, &cardinalities, &scopes, p, recipe.weight))
            .collect();
        list.push((name.to_string(), Problem::new(model, energies).unwrap()));
    }
    list
}

#[test]
fn all_solvers_meet_at_one_tree_reweighted_optimum() {
    let methods = [
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.3) },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
        Method::Dual,
    ];
    for (name, problem) in problems() {
        let best = solve(&problem, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-10));
        let optimum = best.objective.unwrap();
        for method in methods {
            let found = solve(&problem, &settings(OracleKind::TreeReweighted, method, 1e-5));
            let case = format!("{name}, {}", found.solver);
            assert_eq!(found.entropy, "tree-reweighted", "{case}");
            assert_eq!(found.status, Status::Converged, "{case}");
            let (objective, gap) = (found.objective.unwrap(), found.gap.unwrap());
            assert!(
                gap >= objective - optimum - 1e-9,
                "{case}: {gap} hides {}",
                objective - optimum
            );
            assert!(found.lower_bound.unwrap() <= optimum + 1e-9, "{case}");
            assert!(objective >= optimum - best.gap.unwrap() - 1e-9, "{case}");
        }
    }
}

#[test]
fn the_tree_reweighted_optimum_is_below_the_exact_one_and_equal_on_forests() {
    for (name, problem) in problems() {
        let exact = reference(&problem).objective;
        let found = solve(&problem, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-10));
        assert!(found.lower_bound.unwrap() <= exact + 1e-9, "{name}");
        if !["cycle", "grid", "three-way"].contains(&name.as_str()) {
            let apart = (found.objective.unwrap() - exact).abs();
            assert!(apart < 1e-8, "{name}: off by {apart}");
        }
    }
}

#[test]
fn loopy_answers_claim_nothing() {
    for (name, problem) in problems() {
        let found = solve(&problem, &settings(OracleKind::Loopy, Method::Auto, 1e-8));
        assert_eq!(found.entropy, "bethe", "{name}");
        assert_eq!(found.status, Status::Stationary, "{name}");
        assert_eq!((found.gap, found.lower_bound), (None, None), "{name}");
        assert_eq!(found.marginal_error_bound, None, "{name}");
        assert_eq!(found.messages_settled, Some(true), "{name}");
        if !["cycle", "grid", "three-way"].contains(&name.as_str()) {
            let apart = (found.objective.unwrap() - reference(&problem).objective).abs();
            assert!(apart < 1e-7, "{name}: off by {apart}");
        }
    }
}

#[test]
fn auto_is_exact_where_that_fits_and_tree_reweighted_where_not() {
    let small = Problem::new(models::ising(4, 1, 0.5, 0.5), Vec::new()).unwrap();
    assert_eq!(small.solve().unwrap().entropy, "exact");
    let wide = Problem::new(models::ising(40, 1, 0.5, 0.5), Vec::new()).unwrap();
    let found = wide.solve().unwrap();
    assert_eq!(found.entropy, "tree-reweighted");
    assert_eq!(found.log_partition_bound, Some(found.base_log_partition));
    assert!(found.gap.unwrap() < 1e-6);
    let (exact, request) = settings(OracleKind::Exact, Method::Auto, 1e-6);
    let error = wide.solve_with(&exact, &request, &mut Ignore).unwrap_err();
    assert!(matches!(error, bethe_core::solve::SolveError::Model(ModelError::TooWide { .. })));
}

#[test]
fn hard_constraints_hold_on_a_wide_graph_and_impossible_ones_are_proved() {
    let model = models::ising(25, 4, 0.5, 0.2);
    let up = |v: usize| Term { scope: vec![v], coefficients: vec![0.0, 1.0] };
    let hard = |penalty, offset| Energy::Measurement {
        weight: 1.0,
        penalty,
        offset,
        terms: (0..625).map(up).collect(),
    };
    let wanted = settings(OracleKind::TreeReweighted, Method::Auto, 1e-8);
    let problem = Problem::new(model.clone(), vec![hard(Penalty::Equal, -200.0)]).unwrap();
    let found = solve(&problem, &wanted);
    assert_eq!(found.status, Status::Converged);
    let count: f64 = found.marginals[..625].iter().map(|m| m.values[1]).sum();
    assert!((count - 200.0).abs() < 1e-5, "{count}");
    let impossible = Problem::new(model, vec![hard(Penalty::AtMost, 1.0)]).unwrap();
    assert_eq!(solve(&impossible, &wanted).status, Status::Infeasible);
    let loopy = settings(OracleKind::Loopy, Method::Auto, 1e-8);
    assert_ne!(solve(&impossible, &loopy).status, Status::Infeasible);
}

#[test]
fn violent_scores_keep_their_gaps_honest() {
    for seed in 0..20 {
        let model = models::ising(4, 100 + seed, 40.0, 40.0);
        let terms =
            (0..16).map(|v| Term { scope: vec![v], coefficients: vec![0.0, 1.0] }).collect();
        let energy = Energy::measurement(30.0, Penalty::Squared, terms);
        let problem = Problem::new(model, vec![energy]).unwrap();
        let exact = solve(&problem, &settings(OracleKind::Exact, Method::Auto, 1e-10));
        let found = solve(&problem, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-8));
        let bound = found.lower_bound.unwrap();
        assert!(bound <= exact.objective.unwrap() + 1e-7, "seed {seed}");
        if let Some(gap) = found.gap {
            assert!(gap >= found.objective.unwrap() - bound - 1e-7, "seed {seed}");
        }
    }
}

#[test]
fn what_does_not_settle_is_not_called_converged() {
    let mut unsettled = 0;
    for seed in 0..10 {
        let model = models::dense(12, seed, 20.0);
        let problem = Problem::new(model, Vec::new()).unwrap();
        let truth = solve(&problem, &settings(OracleKind::Exact, Method::Auto, 1e-9)).log_partition;
        let found = solve(&problem, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-9));
        let (objective, bound) = (found.objective.unwrap(), found.lower_bound.unwrap());
        assert!(found.log_partition_bound.unwrap() >= truth - 1e-9, "seed {seed}");
        assert!(bound <= -truth + 1e-9, "seed {seed}: {bound} is above the optimum {}", -truth);
        let gap = found.gap.unwrap();
        assert!(gap >= objective - bound - 1e-9 * objective.abs(), "seed {seed}");
        let converged = found.status == Status::Converged;
        assert_eq!(converged, gap <= 1e-9 * objective.abs().max(1.0), "seed {seed}: gap {gap}");
        unsettled += usize::from(!converged);
    }
    assert!(unsettled > 0, "every model settled: the test shows nothing");
}

#[test]
fn other_energies_work_on_wide_graphs() {
    let model = models::ising(25, 9, 0.3, 0.3);
    let product = Energy::Product { scope: vec![0, 624], log_potentials: vec![1.0, 0.0, 0.0, 1.0] };
    let problem = Problem::new(model, vec![product]).unwrap();
    let found = solve(&problem, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-8));
    assert_eq!(found.status, Status::Stationary);
    assert_eq!(found.gap, None);
    let alone = Problem::new(Model::new(&[2]).unwrap(), Vec::new()).unwrap();
    let found = solve(&alone, &settings(OracleKind::TreeReweighted, Method::Auto, 1e-8));
    assert!((found.log_partition - 2f64.ln()).abs() < 1e-12);
}
