//! What answers promise, on random problems, against enumeration in higher precision. `cargo bench -p
//! bethe-bench --bench promises -- problems` checks many more of them.

#[path = "promises/cases.rs"]
mod cases;
#[path = "promises/checks.rs"]
mod checks;
#[path = "promises/double_double.rs"]
mod double_double;
#[path = "promises/truth.rs"]
mod truth;

use bethe_core::{Energy, Model, Penalty, Problem, Term};
use cases::Case;
use double_double::Precise;

const PROBLEMS: u64 = 300;
const SEED: u64 = 7;

/// In these the best point is the last one before Newton's steps take over.
#[test]
fn the_best_point_survives_the_change_to_newton_steps() {
    for seed in [2629, 3524, 6565, 7036, 13_511, 18_462] {
        let found = checks::check(&Case::new(seed), seed);
        let words: Vec<&str> = found.broken.iter().map(|one| one.words.as_str()).collect();
        assert!(words.is_empty(), "seed {seed}: {}", words.join("; "));
    }
}

#[test]
fn no_answer_breaks_its_word_on_random_problems() {
    let (mut gaps, mut bounds, mut pairs, mut proved) = (0, 0, 0, 0);
    let mut broken = Vec::new();
    for seed in SEED..SEED + PROBLEMS {
        let case = Case::new(seed);
        let found = checks::check(&case, seed);
        if !found.broken.is_empty() {
            let json = case.problem.to_json().unwrap();
            let words = found.broken.iter().map(|one| format!("{:?}: {}", one.promise, one.words));
            broken.push(format!("seed {seed}: {}\n{json}", words.collect::<Vec<_>>().join("; ")));
        }
        gaps += found.gaps;
        bounds += found.bounds;
        pairs += found.pairs;
        proved += found.proved;
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let checked = [gaps, bounds, pairs];
    assert!(checked.iter().all(|&checked| checked > 2000) && proved > 10, "{checked:?} {proved}");
}

#[test]
fn double_double_numbers_have_thirty_digits() {
    let third = Precise::from(1.0) / 3.0.into();
    let close = |a: Precise, b: Precise| (a - b).abs() <= Precise::from(1e-30) * b.abs();
    assert!(close(third + third + third, 1.0.into()));
    for x in [1e-9, 0.3, 1.0, 2.5, 40.0, 300.0] {
        let x = Precise::from(x);
        assert!((x.exp().ln() - x).abs() <= Precise::from(1e-29) * (x + 1.0.into()));
        assert!((x.ln().exp() - x).abs() <= Precise::from(1e-28) * x);
        let halves = (x * 0.5.into()).exp();
        assert!((halves * halves - x.exp()).abs() <= Precise::from(1e-28) * x.exp());
    }
    // e, to the double next to it and the rest.
    let e = Precise::from(1.0).exp();
    assert_eq!(e.rounded(), std::f64::consts::E);
    assert!(((e - std::f64::consts::E.into()).rounded() - 1.445_646_891_729_25e-16).abs() < 1e-30);
    assert_eq!(Precise::from(-800.0).exp(), Precise::ZERO);
}

/// A node and a table cancel in a hinge of a large weight: it is far from its kink everywhere, and
/// tilts of 1e11 leave nothing but their rounding.
#[test]
fn an_energy_that_is_constant_by_cancelling_is_what_it_is_everywhere() {
    let mut model = Model::new(&[2, 2]).unwrap();
    model.add_factor(&[0], &[-0.5, 0.25]).unwrap();
    model.add_factor(&[1, 0], &[-0.15, -2.1, -1.3, -3.0]).unwrap();
    let plain = Problem::new(model.clone(), Vec::new()).unwrap().solve().unwrap();
    for weight in [1e5, 1e8, 135_582_739_270.538_21] {
        let terms = vec![
            Term { scope: vec![0], coefficients: vec![2.0, 3.0] },
            Term { scope: vec![1, 0], coefficients: vec![3.0, 2.0, 3.0, 2.0] },
        ];
        let penalty = Penalty::Hinge;
        let energy = Energy::Measurement { weight, penalty, offset: -7.0, terms };
        let answer = Problem::new(model.clone(), vec![energy]).unwrap().solve().unwrap();
        // `1 − z` is 3 for every distribution.
        let optimum = 3.0 * weight + plain.objective.unwrap();
        let (gap, bound) = (answer.gap.unwrap(), answer.lower_bound.unwrap());
        let objective = answer.objective.unwrap();
        assert!((objective - optimum).abs() <= gap, "{weight:e}: {answer:?}");
        assert!(bound <= optimum + 1e-15 * optimum && objective - bound <= gap);
        for (found, expected) in answer.marginals.iter().zip(&plain.marginals) {
            let bound = answer.marginal_error_bound.unwrap();
            let pairs = found.values.iter().zip(&expected.values);
            assert!(pairs.clone().all(|(f, e)| (f - e).abs() <= bound), "{weight:e}: {answer:?}");
        }
    }
}

/// Sums that cancel to a kink, up to rounding: a computed 0 is no proof that it is one.
#[test]
fn rounding_at_a_kink_is_in_the_gap_of_every_method() {
    let mut model = Model::new(&[2, 1]).unwrap();
    model.add_factor(&[0], &[0.157_995_749_372_190_9, 1.582_234_298_150_615_4]).unwrap();
    let terms = vec![
        Term { scope: vec![0], coefficients: vec![-2.566_715_605_273_587, 0.0] },
        Term { scope: vec![0, 1], coefficients: vec![7.566_715_605_273_587, 5.0] },
    ];
    for (penalty, offset) in [(Penalty::Absolute, -5.0), (Penalty::Hinge, -4.0)] {
        for weight in [348_305.234_345_424_7, 1e9, 1e12] {
            let terms = terms.clone();
            let energy = Energy::Measurement { weight, penalty, offset, terms };
            let problem = Problem::new(model.clone(), vec![energy]).unwrap();
            let case = Case { problem, rules: cases::Rules::None };
            for seed in 0..7 {
                let broken = checks::check(&case, seed).broken;
                assert!(broken.is_empty(), "{penalty:?} {weight:e}: {broken:?}");
            }
        }
    }
}
