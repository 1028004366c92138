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

use cases::Case;
use double_double::Precise;

const PROBLEMS: u64 = 300;
const SEED: u64 = 7;

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
