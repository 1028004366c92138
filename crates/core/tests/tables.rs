//! Table measurements are one measurement per cell, whatever the table: reordered axes, observed
//! variables, forbidden cells, cells that several tables share.

mod common;

use bethe_core::energy::Energies;
use bethe_core::model::BaseModel;
use bethe_core::{
    Energy, Model, OracleKind, Penalty, Problem, Request, Settings, Status, Term, solve::Ignore,
};
use common::{Recipe, random_model, rng, soft_penalties};
use rand::Rng;
use rand::rngs::StdRng;

const CARDINALITIES: [usize; 5] = [3, 2, 4, 2, 1];

fn model(rng: &mut StdRng, forbidden: f64) -> Model {
    let recipe = Recipe { score: 1.0, forbidden, weight: 1.0, measurements: 0 };
    let scopes = [vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0]];
    random_model(rng, &CARDINALITIES, &scopes, &recipe)
}

/// The same energy, spelled out.
fn cells(energy: &Energy) -> Vec<Energy> {
    let Energy::TableMeasurement { weight, penalty, scope, target, total } = energy else {
        return vec![energy.clone()];
    };
    let cell = |(cell, value): (usize, &f64)| {
        let mut coefficients = vec![0.0; target.len()];
        coefficients[cell] = *total;
        let terms = vec![Term { scope: scope.clone(), coefficients }];
        Energy::Measurement { weight: *weight, penalty: *penalty, offset: -value, terms }
    };
    target.iter().enumerate().map(cell).collect()
}

fn table(rng: &mut StdRng, scope: &[usize], penalty: Penalty) -> Energy {
    let size: usize = scope.iter().map(|&v| CARDINALITIES[v]).product();
    let total = if rng.random_bool(0.5) { 1.0 } else { 12.5 };
    let sign = if matches!(penalty, Penalty::Poisson { .. }) { -1.0 } else { 1.0 };
    let target = (0..size).map(|_| sign * total * rng.random_range(0.0..0.5)).collect();
    let weight = rng.random_range(0.5..3.0) / total;
    Energy::TableMeasurement { weight, penalty, scope: scope.to_vec(), target, total }
}

fn tables(rng: &mut StdRng, penalty: Penalty) -> Vec<Energy> {
    let scopes: [&[usize]; 7] = [&[1, 0], &[2], &[3, 2, 1], &[1, 0], &[0, 4], &[4], &[]];
    scopes.iter().map(|scope| table(rng, scope, penalty)).collect()
}

#[test]
fn values_and_gradients_are_those_of_single_cells() {
    for (round, penalty) in (0..3).flat_map(|_| soft_penalties()).enumerate() {
        let mut rng = rng(round as u64);
        let mut model = model(&mut rng, if round % 2 == 0 { 0.0 } else { 0.15 });
        if round % 3 == 1 {
            model.observe(1, 1).unwrap();
        }
        let (whole, single) = {
            let whole = tables(&mut rng, penalty);
            let single: Vec<Energy> = whole.iter().flat_map(cells).collect();
            (whole, single)
        };
        let base = BaseModel::new(&model, Energies::scopes(&whole)).unwrap();
        let [mut found, mut expected] = [&whole, &single].map(|list| Energies::bind(&base, list));
        // The supports list the tables in orders of their own, and sums of them apart.
        let marginals: Vec<Vec<f64>> = base
            .tables
            .iter()
            .map(|t| {
                t.log_potentials
                    .iter()
                    .map(|v| if v.is_finite() { rng.random_range(0.01..0.3) } else { 0.0 })
                    .collect()
            })
            .collect();
        let over = |energies: &Energies| {
            let mut vector = Vec::new();
            for block in energies.support().blocks() {
                let sum =
                    |cell: usize| block.tables.iter().map(|&t| marginals[t][cell]).sum::<f64>();
                vector.extend((0..block.len).map(sum));
            }
            vector
        };
        let at = [over(&found), over(&expected)];
        let mut gradients = [vec![0.0; at[0].len()], vec![0.0; at[1].len()]];
        let values = [
            found.evaluate(&at[0], &mut gradients[0]),
            expected.evaluate(&at[1], &mut gradients[1]),
        ];
        assert!(
            (values[0] - values[1]).abs() <= 1e-12 * values[1].abs(),
            "{penalty:?}: {values:?}"
        );
        let mut spread = [&found, &expected].map(|_| {
            base.tables.iter().map(|t| vec![0.0; t.log_potentials.len()]).collect::<Vec<_>>()
        });
        for (n, energies) in [&found, &expected].into_iter().enumerate() {
            for block in energies.support().blocks() {
                for &table in &block.tables {
                    spread[n][table].copy_from_slice(&gradients[n][block.range()]);
                }
            }
        }
        let flat = spread.map(|tables| tables.concat());
        let possible: Vec<f64> =
            base.tables.iter().flat_map(|t| t.log_potentials.to_vec()).collect();
        for ((found, expected), possible) in flat[0].iter().zip(&flat[1]).zip(&possible) {
            assert!(
                !possible.is_finite() || (found - expected).abs() < 1e-12,
                "{penalty:?}: {found} for {expected}"
            );
        }
        let sums: Vec<f64> = found.values(&at[0]);
        let mut rest = expected.values(&at[1]).into_iter();
        for (energy, sum) in whole.iter().zip(sums) {
            let parts: f64 = cells(energy).iter().map(|_| rest.next().unwrap()).sum();
            assert!((sum - parts).abs() <= 1e-12 * parts.abs().max(1.0), "{penalty:?}");
        }
    }
}

#[test]
fn answers_are_certified_and_those_of_single_cells() {
    for (round, penalty) in (0..2).flat_map(|_| soft_penalties()).enumerate() {
        let mut rng = rng(100 + round as u64);
        let mut model = model(&mut rng, if round % 2 == 0 { 0.0 } else { 0.1 });
        if round % 3 == 1 {
            model.observe(1, 0).unwrap();
        }
        let whole = tables(&mut rng, penalty);
        let single: Vec<Energy> = whole.iter().flat_map(cells).collect();
        let settings = Settings { tolerance: 1e-9, ..Settings::default() };
        let [found, expected] = [whole, single].map(|energies| {
            let problem = Problem::new(model.clone(), energies).unwrap();
            problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap()
        });
        assert_eq!(found.status, Status::Converged, "{penalty:?}");
        assert_eq!(found.solver, "dual");
        let objective = expected.objective.unwrap();
        let apart = (found.objective.unwrap() - objective).abs();
        assert!(apart <= 3e-9 * objective.abs().max(1.0), "{penalty:?}: {apart}");
        for (a, b) in found.marginals.iter().zip(&expected.marginals) {
            assert!(
                a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-4),
                "{penalty:?}"
            );
        }
    }
}

#[test]
fn hard_tables_hold_or_are_proved_not_to() {
    let model = Model::new(&[2, 3]).unwrap();
    let equal = |target: Vec<f64>, total| Energy::TableMeasurement {
        weight: 1.0,
        penalty: Penalty::Equal,
        scope: vec![1, 0],
        target,
        total,
    };
    let target = [0.1, 0.2, 0.05, 0.25, 0.3, 0.1];
    let problem = Problem::new(model.clone(), vec![equal(target.map(|t| 40.0 * t).to_vec(), 40.0)]);
    let answer = problem.unwrap().solve().unwrap();
    assert_eq!(answer.status, Status::Converged);
    for (state, expected) in [(0, 0.45), (1, 0.55)] {
        assert!((answer.marginals[0].values[state] - expected).abs() < 1e-5);
    }
    let problem = Problem::new(model, vec![equal(vec![0.5, 0.5, 0.5, 0.1, 0.1, 0.1], 1.0)]);
    let answer = problem.unwrap().solve().unwrap();
    assert_eq!(answer.status, Status::Infeasible);
}

#[test]
fn noisy_marginals_are_estimated_with_a_certificate() {
    // Records of four variables, of which some one-, two- and three-way tables were counted.
    let mut rng = rng(7);
    let total = 1000.0;
    let scopes: [&[usize]; 6] = [&[0], &[3], &[1, 0], &[2, 1], &[3, 2], &[0, 2, 3]];
    let energies: Vec<Energy> = scopes
        .iter()
        .map(|scope| {
            let size: usize = scope.iter().map(|&v| CARDINALITIES[v]).product();
            let noise = |_| {
                total / size as f64 * rng.random_range(0.5..1.5) + rng.random_range(-20.0..20.0)
            };
            let target = (0..size).map(noise).collect();
            Energy::TableMeasurement {
                weight: 0.02,
                penalty: Penalty::Squared,
                scope: scope.to_vec(),
                target,
                total,
            }
        })
        .collect();
    let problem = Problem::new(Model::new(&CARDINALITIES).unwrap(), energies).unwrap();
    let answer = problem.solve().unwrap();
    assert_eq!(answer.status, Status::Converged);
    assert!(answer.gap.unwrap() <= 1e-6 * answer.objective.unwrap().abs().max(1.0));
}

const SIZE: usize = 12;

/// Noisy counts of an uneven distribution over attributes of twelve values, in tables that overlap.
fn noisy_tables(seed: u64, penalty: Penalty, total: f64, noise: f64) -> Problem {
    let mut rng = rng(seed);
    let scopes = [vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0], vec![4, 2], vec![1], vec![4, 2]];
    let table = |scope: &Vec<usize>| {
        let cells = SIZE.pow(u32::try_from(scope.len()).unwrap());
        let share = |cell: usize| (1 + cell % SIZE) as f64 / (cells * (SIZE + 1) / 2) as f64;
        let target = (0..cells).map(|cell| total * share(cell) + rng.random_range(-noise..noise));
        let target = target.collect();
        let weight = 0.01 * rng.random_range(0.5..2.0);
        Energy::TableMeasurement { weight, penalty, scope: scope.clone(), target, total }
    };
    let energies: Vec<Energy> = scopes.iter().map(table).collect();
    Problem::new(Model::new(&[SIZE; 5]).unwrap(), energies).unwrap()
}

/// Two certificates about one optimum.
fn assert_compatible(a: &bethe_core::Answer, b: &bethe_core::Answer) {
    for (one, other) in [(a, b), (b, a)] {
        let (objective, bound) = (one.objective.unwrap(), other.lower_bound.unwrap());
        assert!(objective >= bound - 1e-9 * bound.abs(), "{objective} below {bound}");
    }
}

#[test]
fn tables_that_contradict_one_another_are_solved_in_few_calls() {
    for (seed, (total, noise)) in
        [(5000.0, 15.0), (300.0, 40.0), (1e6, 15.0)].into_iter().enumerate()
    {
        let mut problem = noisy_tables(seed as u64, Penalty::Squared, total, noise);
        if seed == 1 {
            // What does not count changes nothing.
            let nothing = squared(&[0, 2], &[1.0; SIZE * SIZE], 1.0, 0.0);
            let energies = [problem.energies(), &[nothing]].concat();
            problem = Problem::new(Model::new(&[SIZE; 5]).unwrap(), energies).unwrap();
        }
        let found = problem.solve().unwrap();
        assert_eq!((found.solver, found.status), ("dual", Status::Converged), "total {total}");
        assert!(found.gap.unwrap() <= 1e-6 * found.objective.unwrap().abs().max(1.0));
        assert!(found.oracle_calls < 500, "total {total}: {} calls", found.oracle_calls);
        let method = bethe_core::Method::AcceleratedRda { smoothness: None };
        let settings = Settings { method, max_iterations: 300, ..Settings::default() };
        let other = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        assert_compatible(&found, &other);
        // Energies are those that were stated, not those from targets that agree.
        let sum: f64 = found.energies.iter().filter_map(|energy| energy.value).sum();
        let entropy = found.objective.unwrap() - sum;
        assert!(entropy <= 0.0 && entropy >= -5.0 * (SIZE as f64).ln() - 1e-9, "{entropy}");
    }
}

#[test]
fn many_cells_of_other_smooth_penalties_are_left_to_adaptive_steps() {
    let problem = noisy_tables(8, Penalty::Huber { delta: 5.0 }, 5000.0, 15.0);
    let settings = Settings { tolerance: 1e-5, ..Settings::default() };
    let found = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
    assert_eq!((found.solver, found.status), ("adaptive", Status::Converged));
    let dual = Settings { method: bethe_core::Method::Dual, ..settings };
    assert_compatible(
        &found,
        &problem.solve_with(&dual, &Request::default(), &mut Ignore).unwrap(),
    );
}

#[test]
fn newton_steps_take_over_where_the_dual_gets_nowhere() {
    let problem = |weight: f64| {
        let mut rng = rng(13);
        let scopes = [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]];
        let mut table = |scope: &[usize; 2]| {
            let target = (0..64).map(|cell| 227.0 * f64::from(cell % 3 == 0) + noise(&mut rng));
            let (penalty, total) = (Penalty::Huber { delta: 10.0 }, 5000.0);
            let (scope, target) = (scope.to_vec(), target.collect());
            Energy::TableMeasurement { weight, penalty, scope, target, total }
        };
        let energies: Vec<Energy> = scopes.iter().map(&mut table).collect();
        Problem::new(Model::new(&[8; 4]).unwrap(), energies).unwrap()
    };
    fn noise(rng: &mut StdRng) -> f64 {
        rng.random_range(-20.0..20.0)
    }
    for (weight, solver) in [(1e-5, "dual"), (1.0, "newton")] {
        let settings = Settings { tolerance: 2e-3, ..Settings::default() };
        let found =
            problem(weight).solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        let bounds = (found.objective, found.lower_bound);
        assert_eq!((found.solver, found.status), (solver, Status::Converged), "{bounds:?}");
        let settings = Settings { method: bethe_core::Method::Adaptive, ..settings };
        assert_compatible(
            &found,
            &problem(weight).solve_with(&settings, &Request::default(), &mut Ignore).unwrap(),
        );
        // A limit soon after the hand-over: what is returned is the best so far.
        let settings = Settings { max_iterations: 30, ..Settings::default() };
        let early =
            problem(weight).solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        assert_compatible(&found, &early);
        let sum: f64 = early.energies.iter().filter_map(|energy| energy.value).sum();
        let entropy = early.objective.unwrap() - sum;
        assert!((-4.0 * 8f64.ln() - 1e-6..=1e-6).contains(&entropy), "{entropy}");
    }
}

fn squared(scope: &[usize], target: &[f64], total: f64, weight: f64) -> Energy {
    let (scope, target) = (scope.to_vec(), target.to_vec());
    Energy::TableMeasurement { weight, penalty: Penalty::Squared, scope, target, total }
}

#[test]
fn what_the_dual_left_is_forgotten_once_adaptive_steps_are_better() {
    let counts = [
        squared(&[0], &[1382.5, 92.7, 97606.0, 884.6, 36.6], 1e5, 1.0),
        squared(&[0], &[1393.3, 93.8, 97618.1, 886.2, 43.2], 1e5, 0.01),
    ];
    let single: Vec<Energy> = counts.iter().flat_map(cells).collect();
    // Two counts of one table are tables that overlap; cell by cell they are measurements like
    // others.
    for energies in [counts.to_vec(), single] {
        let problem = Problem::new(Model::new(&[5]).unwrap(), energies).unwrap();
        let found = problem.solve().unwrap();
        assert_eq!(found.status, Status::Converged);
        assert!((found.objective.unwrap() - 2.149184).abs() < 1e-4, "{:?}", found.objective);
    }
}

#[test]
fn a_dual_that_gives_up_is_not_the_end() {
    let target = [49000.0, 44000.0, 17000.0, 750000.0, 140000.0, 26000.0];
    let energies = vec![squared(&[0, 1], &target, 1e6, 0.7)];
    let problem = Problem::new(Model::new(&[2, 3, 2]).unwrap(), energies).unwrap();
    let found = problem.solve().unwrap();
    assert_eq!(found.status, Status::Converged);
    let sum: f64 = target.iter().sum();
    // Every cell is off by the same, and half the squares of that are the energy.
    let energy = 0.7 * 6.0 * ((sum - 1e6) / 6.0).powi(2) / 2.0;
    assert!((found.energies[0].value.unwrap() / energy - 1.0).abs() < 1e-4, "{:?}", found.energies);
}

#[test]
fn nothing_that_is_no_number_is_called_stationary() {
    let product =
        Energy::Product { scope: vec![0, 1], log_potentials: vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0] };
    let energies = vec![squared(&[0], &[9e4; 3], 1e5, 1.0), product];
    let problem = Problem::new(Model::new(&[3, 2]).unwrap(), energies).unwrap();
    let found = problem.solve().unwrap();
    assert!(found.objective.is_some_and(f64::is_finite), "{:?}", found.status);
    for marginal in &found.marginals {
        assert!((marginal.values.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{marginal:?}");
    }
}

#[test]
fn many_cells_of_tables_that_do_not_overlap_are_solved_in_few_calls() {
    let mut rng = rng(12);
    let model = Model::new(&[16; 6]).unwrap();
    let mut table = |scope: &[usize], weight: f64| {
        let target = (0..256).map(|_| rng.random_range(-10.0..50.0)).collect();
        let (scope, total) = (scope.to_vec(), 5000.0);
        Energy::TableMeasurement { weight, penalty: Penalty::Squared, scope, target, total }
    };
    for weight in [1e-4, 0.01, 1.0] {
        let energies: Vec<Energy> =
            [[0, 1], [2, 3], [5, 4]].iter().map(|scope| table(scope, weight)).collect();
        let problem = Problem::new(model.clone(), energies).unwrap();
        let found = problem.solve().unwrap();
        assert_eq!((found.solver, found.status), ("dual", Status::Converged), "weight {weight}");
        assert!(found.oracle_calls < 500, "weight {weight}: {} calls", found.oracle_calls);
        let settings = Settings { method: bethe_core::Method::Adaptive, ..Settings::default() };
        assert_compatible(
            &found,
            &problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap(),
        );
    }
}

#[test]
fn nothing_but_noise_is_left_to_adaptive_steps() {
    let problem = noisy_tables(9, Penalty::Squared, 10.0, 400.0);
    let found = problem.solve().unwrap();
    assert_eq!((found.solver, found.status), ("adaptive", Status::Converged));
}

/// Pseudo-marginals of tables that share two variables need not agree: what would be a constant is
/// not.
#[test]
fn an_oracle_that_is_not_exact_sees_the_tables_as_they_are() {
    let mut rng = rng(11);
    let model = model(&mut rng, 0.0);
    let scopes: [&[usize]; 4] = [&[0, 1, 2], &[3, 2, 1], &[3, 0], &[0, 2]];
    let whole: Vec<Energy> =
        scopes.iter().map(|scope| table(&mut rng, scope, Penalty::Squared)).collect();
    let single: Vec<Energy> = whole.iter().flat_map(cells).collect();
    for oracle in [OracleKind::TreeReweighted, OracleKind::Exact] {
        let settings = Settings { tolerance: 1e-8, ..Settings::default() };
        let request = Request { oracle, ..Request::default() };
        let [found, expected] = [&whole, &single].map(|energies| {
            let problem = Problem::new(model.clone(), energies.clone()).unwrap();
            problem.solve_with(&settings, &request, &mut Ignore).unwrap().objective.unwrap()
        });
        assert!((found - expected).abs() < 1e-6, "{oracle:?}: {found} for {expected}");
    }
}
