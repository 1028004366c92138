//! Ties, rows that repeat others, tables, evidence, many rows, and what is refused.

use bethe_core::derivative::{Derivative, DerivativeError};
use bethe_core::problem::{EnergyGradients, TableAnswer};
use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{
    Curvature, CustomEnergy, Energy, Method, Model, OracleKind, Penalty, Problem, Request,
    Settings, Tables, Term, count,
};
use rand::Rng;

use crate::common::{random_model, rng, run};
use crate::differences::{Number, check, exact, slope};
use crate::{RECIPE, common};

fn chain(seed: u64, length: usize, states: usize) -> Model {
    let scopes: Vec<Vec<usize>> = (1..length).map(|v| vec![v - 1, v]).collect();
    let recipe = common::Recipe { forbidden: 0.0, ..RECIPE };
    random_model(&mut rng(seed), &vec![states; length], &scopes, &recipe)
}

fn indicator(variable: usize, state: usize, states: usize) -> TableAnswer {
    let mut values = vec![0.0; states];
    values[state] = 1.0;
    TableAnswer { scope: vec![variable], values }
}

#[test]
fn measured_tables_have_gradients_in_targets_weight_and_total() {
    let mut rng = rng(5);
    for (penalty, total) in [
        (Penalty::Squared, 1.0),
        (Penalty::Squared, 7.0),
        (Penalty::Huber { delta: 0.1 }, 1.0),
        (Penalty::SmoothedHinge, 3.0),
        (Penalty::Poisson { rate: 2.0, count: 3.0 }, 5.0),
    ] {
        let mut model = chain(6, 4, 3);
        let target = |rng: &mut rand::rngs::StdRng, cells: usize| -> Vec<f64> {
            let poisson = matches!(penalty, Penalty::Poisson { .. });
            (0..cells).map(|_| if poisson { -0.1 } else { rng.random_range(0.0..0.5) }).collect()
        };
        let energies = [vec![1], vec![3, 2], vec![0, 1]].map(|scope| {
            let target = target(&mut rng, 3usize.pow(scope.len() as u32));
            Energy::TableMeasurement { weight: 4.0, penalty, scope, target, total }
        });
        let problem = Problem::new(model.clone(), energies.to_vec()).unwrap();
        let checked = check(&format!("{penalty:?}"), &problem, &mut rng);
        assert!(checked.unreliable <= 1, "{penalty:?}: {checked:?}");
        model.observe(2, 1).unwrap();
        let problem = Problem::new(model, energies.to_vec()).unwrap();
        let checked = check(&format!("{penalty:?} with evidence"), &problem, &mut rng);
        assert!(checked.unreliable <= 1, "{penalty:?}: {checked:?}");
    }
}

#[test]
fn counts_that_share_coordinates_have_gradients_of_their_own() {
    let model = chain(8, 6, 3);
    let counted = count(&model, (0..6).map(|v| (v, 1))).unwrap();
    let energies =
        vec![Energy::squared(5.0, 1.0, counted.clone()), Energy::prefer_at_most(3.0, 1.0, counted)];
    let problem = Problem::new(model, energies).unwrap();
    let checked = check("counts", &problem, &mut rng(9));
    assert!(checked.unreliable <= 1, "{checked:?}");
}

#[test]
fn a_weight_of_zero_has_a_gradient_too() {
    let model = chain(8, 4, 3);
    let ones = count(&model, [(0, 1), (2, 1)]).unwrap();
    let stated = |weight: f64| Energy::squared(weight, 0.2, ones.clone());
    let problem = Problem::new(model, vec![stated(0.0)]).unwrap();
    let request = Request { marginals: Tables::Nodes, ..Request::default() };
    let mut solved = problem.solve_differentiable(&exact(), &request, &mut Ignore).unwrap();
    let v = [indicator(3, 0, 3)];
    let found = solved.pullback(&v).unwrap();
    let at = |weight: f64| {
        let problem = Problem::new(problem.model().clone(), vec![stated(weight)]).unwrap();
        problem.solve_with(&exact(), &request, &mut Ignore).unwrap().marginal(3)[0]
    };
    // From above: below, the problem is another one.
    let step = 1e-4;
    let expected = (4.0 * at(step) - 3.0 * at(0.0) - at(2.0 * step)) / (2.0 * step);
    let EnergyGradients::Measurement { weight, .. } = found.energies[0] else { panic!() };
    assert!((weight - expected).abs() < 1e-6, "{weight} for {expected}");
}

#[test]
fn what_is_constant_pulls_nothing() {
    for seed in 0..20 {
        let model = chain(seed, 4, 3);
        let rows = [Energy::equal(1.0, count(&model, [(1, 0), (1, 1), (1, 2)]).unwrap())];
        let problem = Problem::new(model, rows.into()).unwrap();
        let mut solved =
            problem.solve_differentiable(&exact(), &Request::default(), &mut Ignore).unwrap();
        let found = solved.pullback(&[indicator(2, 0, 3)]).unwrap();
        let EnergyGradients::Measurement { offset, .. } = found.energies[0] else { panic!() };
        assert_eq!(offset, 0.0, "seed {seed}");
    }
}

#[test]
fn a_limit_that_just_holds_is_a_tie() {
    let model = Model::new(&[2, 2]).unwrap();
    let ones = count(&model, [(0, 1), (1, 1)]).unwrap();
    for (limit, is_tie) in [(1.0, true), (0.9, false), (1.1, false)] {
        let energies = vec![Energy::at_most(limit, ones.clone())];
        let problem = Problem::new(model.clone(), energies).unwrap();
        let settings = Settings { tolerance: 1e-12, ..Settings::default() };
        let solved = problem.solve_differentiable(&settings, &Request::default(), &mut Ignore);
        let found = solved.unwrap().pullback(&[indicator(0, 1, 2)]).unwrap();
        assert_eq!(!found.ties.is_empty(), is_tie, "{limit}");
    }
    // A weight that is just enough to hold the kink.
    let ties = |weight: f64| {
        let energies = vec![Energy::absolute(weight, 0.25, count(&model, [(0, 1)]).unwrap())];
        let problem = Problem::new(model.clone(), energies).unwrap();
        let solved = problem.solve_differentiable(&exact(), &Request::default(), &mut Ignore);
        solved.unwrap().pullback(&[indicator(0, 1, 2)]).unwrap().ties
    };
    assert_eq!(ties(3f64.ln()), [0]);
    assert_eq!([ties(1.2), ties(1.0)], [[0; 0], [0; 0]]);
}

#[test]
fn rows_that_hold_the_same_are_found_and_move_together() {
    let model = chain(12, 4, 3);
    let ones = count(&model, [(0, 1), (2, 1)]).unwrap();
    let other = count(&model, [(1, 0)]).unwrap();
    let energies = |target: f64| {
        vec![
            Energy::equal(target, ones.clone()),
            Energy::equal(0.3, other.clone()),
            Energy::equal(target, ones.clone()),
        ]
    };
    let problem = |target: f64| Problem::new(model.clone(), energies(target)).unwrap();
    let request = Request::default();
    let solved = problem(0.7).solve_differentiable(&exact(), &request, &mut Ignore);
    let found = solved.unwrap().pullback(&[indicator(3, 1, 3)]).unwrap();
    assert_eq!(found.repeated, [0, 2]);
    assert!(found.ties.is_empty());
    let offsets = found.energies.iter().map(|energy| match energy {
        EnergyGradients::Measurement { offset, .. } => *offset,
        _ => panic!(),
    });
    let offsets: Vec<f64> = offsets.collect();
    let at = |target: f64| {
        let answer = problem(target).solve_with(&exact(), &request, &mut Ignore).unwrap();
        answer.marginal(3)[1]
    };
    let expected = -(at(0.7 + 1e-3) - at(0.7 - 1e-3)) / 2e-3;
    assert!((offsets[0] + offsets[2] - expected).abs() < 1e-5, "{offsets:?} for {expected}");
    assert!((offsets[0] - offsets[2]).abs() < 1e-9, "the least of all responses is even");
    let number = Number::Potential { factor: 1, cell: 0 };
    let (expected, _) = slope(&problem(0.7), number, &all(&problem(0.7), 3, 1));
    assert!((number.of(&problem(0.7), &found) - expected).abs() < 1e-6);
}

/// Zero but for the probability of one state.
fn all(problem: &Problem, variable: usize, state: usize) -> Vec<TableAnswer> {
    let mut v = problem.solve().unwrap().marginals;
    v.iter_mut().for_each(|table| table.values.fill(0.0));
    v[variable].values[state] = 1.0;
    v
}

#[test]
fn hundreds_of_active_rows_are_solved_by_conjugate_gradients() {
    let mut rng = rng(21);
    let model = chain(20, 40, 9);
    let energies = (0..40).map(|v| Energy::TableMeasurement {
        weight: 20.0,
        penalty: Penalty::Squared,
        scope: vec![v],
        target: (0..9).map(|_| rng.random_range(0.0..0.3)).collect(),
        total: 1.0,
    });
    let problem = Problem::new(model, energies.collect()).unwrap();
    let request = Request::default();
    let mut solved = problem.solve_differentiable(&exact(), &request, &mut Ignore).unwrap();
    let v = all(&problem, 20, 3);
    let found = solved.pullback(&v).unwrap();
    for number in [
        Number::Potential { factor: 45, cell: 7 },
        Number::Target { energy: 19, cell: 2 },
        Number::Weight { energy: 20 },
    ] {
        let (expected, apart) = slope(&problem, number, &v);
        let found = number.of(&problem, &found);
        assert!(apart < 1e-6 && (found - expected).abs() < 1e-6, "{number:?}: {found} {expected}");
    }
}

/// How rows of squared errors of weights `w` and coefficients `f` of what is counted respond to `v`:
/// `W F (1 + C FᵀWF)⁻¹ C v` with the covariance `C` of the counts, a system of one equation a count.
fn response(covariance: &[Vec<f64>], rows: &[(f64, Vec<f64>)], v: &[f64]) -> Vec<f64> {
    let n = v.len();
    let stiffness = |i: usize, j: usize| rows.iter().map(|(w, f)| w * f[i] * f[j]).sum::<f64>();
    let mut system: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let entry = |j: usize| (0..n).map(|k| covariance[i][k] * stiffness(k, j)).sum::<f64>();
            let right: f64 = covariance[i].iter().zip(v).map(|(c, v)| c * v).sum();
            (0..n).map(|j| entry(j) + f64::from(u8::from(i == j))).chain([right]).collect()
        })
        .collect();
    for column in 0..n {
        let size = |&row: &usize| system[row][column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap();
        system.swap(column, pivot);
        let own = system[column].clone();
        for row in (0..n).filter(|&row| row != column) {
            let factor = system[row][column] / own[column];
            system[row].iter_mut().zip(&own).for_each(|(x, o)| *x -= factor * o);
        }
    }
    let solution: Vec<f64> = (0..n).map(|i| system[i][n] / system[i][i]).collect();
    let along = |f: &[f64]| f.iter().zip(&solution).map(|(f, x)| f * x).sum::<f64>();
    rows.iter().map(|(weight, f)| weight * along(f)).collect()
}

#[test]
fn gradients_in_offsets_are_right_however_many_rows_and_however_heavy() {
    let (states, length) = (3, 4);
    // Below and above the number of rows that are factored at once.
    for (seed, rows, heaviest) in
        [(1, 299, 5.0), (1, 305, 5.0), (2, 305, 3.0), (3, 305, 8.0), (4, 700, 5.0)]
    {
        let mut rng = rng(seed);
        let model = chain(seed, length, states);
        let rows: Vec<(f64, Vec<f64>)> = (0..rows)
            .map(|_| {
                let weight = 10f64.powf(rng.random_range(-3.0..heaviest));
                (weight, (0..states).map(|_| rng.random_range(-2.0..2.0)).collect())
            })
            .collect();
        let energies = rows.iter().map(|(weight, f)| {
            let terms = (0..length).map(|v| Term { scope: vec![v], coefficients: f.clone() });
            let mean = f.iter().sum::<f64>() * length as f64 / states as f64;
            let offset = rng.random_range(-1.0..1.0) - mean;
            let (penalty, terms) = (Penalty::Squared, terms.collect());
            Energy::Measurement { weight: *weight, penalty, offset, terms }
        });
        let problem = Problem::new(model, energies.collect()).unwrap();
        let mut bound = problem.bind().unwrap();
        let solution = run(&mut bound, &exact()).unwrap();
        let oracle = bound.oracle.as_mut();
        let derivative = Derivative::new(oracle, &bound.energies, &solution).unwrap();
        let v = [1.0, -0.5, 0.25];
        let found = derivative.pullback(oracle, &v).unwrap();
        let columns = (0..states).map(|state| {
            let (mut unit, mut column) = (vec![0.0; states], vec![0.0; states]);
            unit[state] = 1.0;
            oracle.second_order().unwrap().covariance(&unit, &mut column);
            column
        });
        let expected = response(&columns.collect::<Vec<_>>(), &rows, &v);
        let size = expected.iter().map(|e| e.abs()).fold(0.0, f64::max);
        let pairs = expected.iter().zip(&found.offsets);
        let worst = pairs.map(|(e, f)| (e + f).abs()).fold(0.0, f64::max);
        // What rounding leaves of the covariance grows with the weights.
        let allowed = if heaviest > 5.0 { 1e-4 } else { 1e-6 };
        assert!(worst < allowed * size, "{} rows to 1e{heaviest}: {:e}", rows.len(), worst / size);
    }
}

#[test]
fn many_rows_that_hold_the_same_are_found_as_few_are() {
    let model = chain(12, 4, 3);
    let ones = count(&model, [(0, 1), (2, 1)]).unwrap();
    let energies = vec![Energy::equal(0.7, ones); 310];
    let problem = Problem::new(model, energies).unwrap();
    let request = Request::default();
    let mut solved = problem.solve_differentiable(&exact(), &request, &mut Ignore).unwrap();
    let found = solved.pullback(&[indicator(3, 1, 3)]).unwrap();
    assert_eq!(found.repeated, (0..310).collect::<Vec<_>>());
}

#[test]
fn loose_solutions_have_the_gradients_of_exact_ones_nearly() {
    let model = chain(30, 5, 3);
    let ones = count(&model, (0..5).map(|v| (v, 1))).unwrap();
    let twos = count(&model, [(1, 2), (3, 2)]).unwrap();
    let energies = vec![
        Energy::at_most(1.2, ones.clone()),
        Energy::at_most(4.0, ones),
        Energy::absolute(9.0, 0.6, twos.clone()),
        Energy::absolute(0.1, 1.9, twos),
    ];
    let problem = Problem::new(model, energies).unwrap();
    let request = Request::default();
    let gradients = [1e-3, 1e-6, 1e-18].map(|tolerance| {
        let settings = Settings { tolerance, max_iterations: 400, ..Settings::default() };
        let solved = problem.solve_differentiable(&settings, &request, &mut Ignore);
        let found = solved.unwrap().pullback(&[indicator(2, 0, 3)]).unwrap();
        found.potentials.into_iter().flat_map(|table| table.values).collect::<Vec<_>>()
    });
    for (loose, allowed) in gradients.iter().zip([0.05, 2e-3]) {
        let pairs = loose.iter().zip(&gradients[2]);
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < allowed, "{worst}");
    }
}

#[test]
fn answers_without_a_derivative_are_refused() {
    let model = chain(3, 4, 3);
    let ones = count(&model, [(0, 1), (2, 1)]).unwrap();
    let refused = |energy: Energy, settings: &Settings| {
        let problem = Problem::new(model.clone(), vec![energy]).unwrap();
        let request = Request::default();
        let mut solved = problem.solve_differentiable(settings, &request, &mut Ignore).unwrap();
        solved.pullback(&[indicator(0, 1, 3)]).unwrap_err()
    };
    let plain = Settings::default();
    let nearest = Energy::nearest(1.0, vec![ones.clone()], vec![vec![0.0], vec![1.0]]);
    let found = refused(nearest, &plain);
    assert_eq!(found.to_string(), "derivatives need convex measurements, found a nearest energy");
    let negative = Energy::squared(-1.0, 0.5, ones.clone());
    assert!(matches!(refused(negative, &plain), DerivativeError::Unserved { .. }));
    let convex = Curvature::Convex { infimum: 0.0 };
    let own = CustomEnergy::new(vec![vec![0]], convex, |m, g| {
        g[0] = m[0];
        0.5 * m[0] * m[0]
    });
    assert!(matches!(refused(own.into(), &plain), DerivativeError::Unserved { .. }));
    let short = Settings { max_iterations: 1, tolerance: 1e-12, ..plain.clone() };
    let found = refused(Energy::squared(50.0, 0.1, ones.clone()), &short);
    assert_eq!(found, DerivativeError::Uncertified { status: "iteration_limit" });
    // Slopes on one side of a kink say nothing of the multiplier there.
    let rda = Settings { method: Method::Rda { beta: 0.0 }, tolerance: 1e-3, ..plain.clone() };
    let found = refused(Energy::absolute(3.0, 0.6, ones.clone()), &rda);
    assert!(matches!(found, DerivativeError::NoMultipliers | DerivativeError::Average), "{found}");
    for oracle in [OracleKind::Loopy, OracleKind::TreeReweighted] {
        let problem = Problem::new(model.clone(), vec![]).unwrap();
        let request = Request { oracle, ..Request::default() };
        let found = problem.solve_differentiable(&plain, &request, &mut Ignore).err();
        assert_eq!(found, Some(SolveError::NoCovariance));
        let mut bound = problem.bind_to(oracle, &bethe_core::Cancel::never()).unwrap();
        let solution = run(&mut bound, &plain).unwrap();
        let found = Derivative::new(bound.oracle.as_mut(), &bound.energies, &solution);
        assert!(matches!(found, Err(DerivativeError::NotExact { .. })));
    }
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let problem = Problem::new(chain(3, 3, 2), vec![]).unwrap();
    let request = Request { marginals: Tables::Nodes, ..Request::default() };
    let settings = Settings::default();
    let mut solved = problem.solve_differentiable(&settings, &request, &mut Ignore).unwrap();
    for scope in [vec![0, 1], vec![7], vec![0, 2]] {
        let v = TableAnswer { scope: scope.clone(), values: vec![0.0; 4] };
        assert_eq!(solved.pullback(&[v]), Err(DerivativeError::UnknownTable { scope }));
    }
    let v = TableAnswer { scope: vec![1], values: vec![0.0; 3] };
    let found = solved.pullback(&[v]).unwrap_err().to_string();
    assert_eq!(found, "variables [1]: found 3 numbers, expected 2");
}

#[test]
fn fewer_marginals_give_the_same_gradients_of_fewer_tables() {
    let model = chain(14, 5, 3);
    let ones = count(&model, [(0, 1), (3, 1)]).unwrap();
    let problem = Problem::new(model, vec![Energy::squared(4.0, 0.5, ones)]).unwrap();
    let v = [indicator(3, 1, 3)];
    let [all, nodes, none] = [Tables::All, Tables::Nodes, Tables::None].map(|marginals| {
        let request = Request { marginals, ..Request::default() };
        let solved = problem.solve_differentiable(&exact(), &request, &mut Ignore);
        solved.unwrap().pullback(&v).unwrap()
    });
    let scopes: Vec<&[usize]> = none.potentials.iter().map(|table| &table.scope[..]).collect();
    assert_eq!(scopes, [&[0][..], &[3]]);
    assert_eq!((nodes.potentials.len(), all.potentials.len()), (5, 5 + 9));
    for table in nodes.potentials.iter().chain(&none.potentials) {
        let same = all.potentials.iter().find(|other| other.scope == table.scope).unwrap();
        let pairs = table.values.iter().zip(&same.values);
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{table:?} {same:?}");
    }
}
