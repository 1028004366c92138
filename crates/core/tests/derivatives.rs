//! Derivatives of answers: equal to finite differences of solves, for every penalty, at kinks and
//! under hard constraints; refused where there are none.

mod common;
#[path = "derivatives/differences.rs"]
mod differences;
#[path = "derivatives/special.rs"]
mod special;

use bethe_core::derivative::{Activity, Derivative};
use bethe_core::{Energy, Model, Penalty, Problem};
use common::{
    Recipe, graphs, random_measurement, random_model, rng, run, soft_penalties, value_nearby,
};
use differences::{Checked, check, exact};
use rand::Rng;
use rand::rngs::StdRng;

const RECIPE: Recipe = Recipe { score: 1.0, forbidden: 0.1, weight: 3.0, measurements: 3 };

/// A measurement whose penalty bends, or has its kink, about where the model would be.
fn telling(rng: &mut StdRng, model: &Model, scopes: &[Vec<usize>], penalty: Penalty) -> Energy {
    let cardinalities: Vec<usize> = model.variables().iter().map(|v| v.cardinality).collect();
    let weight = [0.3, 2.0, 20.0][rng.random_range(0..3)];
    let found = random_measurement(rng, &cardinalities, scopes, penalty, weight);
    let Energy::Measurement { terms, offset, .. } = found else { unreachable!("a measurement") };
    let kink = match penalty {
        Penalty::Hinge => 1.0,
        Penalty::SmoothedHinge => rng.random_range(0.2..0.8),
        Penalty::Poisson { .. } => value_nearby(model, &terms) + offset,
        _ => 0.0,
    };
    let near = rng.random_range(-0.03..0.03);
    let near = match penalty {
        // What holds nearby holds.
        Penalty::Poisson { .. } | Penalty::Equal => 0.0,
        Penalty::AtMost => -f64::abs(near),
        _ => near,
    };
    let offset = kink + near - value_nearby(model, &terms);
    let weight = if penalty.is_hard() { 1.0 } else { weight };
    Energy::Measurement { weight, penalty, offset, terms }
}

/// How many rows do what: flat, curved, pinned.
fn activities(problem: &Problem) -> [usize; 3] {
    let mut bound = problem.bind().unwrap();
    let solution = run(&mut bound, &exact()).unwrap();
    let derivative = Derivative::new(bound.oracle.as_mut(), &bound.energies, &solution).unwrap();
    let mut found = [0; 3];
    for activity in derivative.activities() {
        found[match activity {
            Activity::Flat => 0,
            Activity::Curved(_) => 1,
            Activity::Pinned => 2,
        }] += 1;
    }
    found
}

#[test]
fn gradients_are_differences_of_solves_for_every_penalty_on_every_graph() {
    let penalties = soft_penalties().into_iter().chain([Penalty::AtMost, Penalty::Equal]);
    for penalty in penalties {
        let (mut seen, mut all) = ([0; 3], Checked::default());
        for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
            let rng = &mut rng(40 + index as u64);
            let model = random_model(rng, &cardinalities, &scopes, &RECIPE);
            // Two hard rows may be one too many for a single variable.
            let count = if penalty.is_hard() && cardinalities.len() == 1 { 1 } else { 2 };
            let energies: Vec<Energy> =
                (0..count).map(|_| telling(rng, &model, &scopes, penalty)).collect();
            let problem = Problem::new(model, energies).unwrap();
            all.add(check(&format!("{name}, {penalty:?}"), &problem, rng));
            activities(&problem).iter().zip(&mut seen).for_each(|(own, sum)| *sum += own);
        }
        println!("{penalty:?}: {seen:?} flat, curved, pinned; {all:?}");
        assert!(10 * all.unreliable <= all.compared, "{penalty:?}: {all:?}");
        let expected = match penalty {
            Penalty::Linear | Penalty::Poisson { count: 0.0, .. } => [true, false, false],
            Penalty::Squared | Penalty::Poisson { .. } => [false, true, false],
            Penalty::SmoothedHinge | Penalty::Huber { .. } => [true, true, false],
            Penalty::Hinge | Penalty::Absolute | Penalty::AtMost => [true, false, true],
            Penalty::Equal => [false, false, true],
        };
        assert_eq!(seen.map(|count| count > 0), expected, "{penalty:?}: {seen:?}");
    }
}

#[test]
fn gradients_are_differences_of_solves_for_mixtures() {
    let mut all = Checked::default();
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate().skip(3) {
        let rng = &mut rng(90 + index as u64);
        let model = random_model(rng, &cardinalities, &scopes, &RECIPE);
        let mut penalties = soft_penalties();
        penalties.push(Penalty::AtMost);
        let energies: Vec<Energy> =
            penalties.iter().map(|&penalty| telling(rng, &model, &scopes, penalty)).collect();
        let problem = Problem::new(model, energies).unwrap();
        all.add(check(name, &problem, rng));
    }
    println!("mixtures: {all:?}");
    assert!(10 * all.unreliable <= all.compared, "{all:?}");
}
