//! An energy of your own: a closure with its value and gradient.
//!
//! `cargo run -p bethe-core --example closure`

use bethe_core::{Curvature, CustomEnergy, Energy, Model, Problem, count};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut model = Model::new(&[2, 2, 2])?;
    model.add_factor(&[0], &[0.0, 1.5])?;
    model.add_factor(&[1], &[0.0, -1.0])?;
    model.add_factor(&[1, 2], &[0.5, 0.0, 0.0, 0.5])?;

    // The first and the last variable should be up about equally often: 4·(P(y₀ = 1) − P(y₂ = 1))².
    // The marginals of the scopes come one after another: [P(y₀=0), P(y₀=1), P(y₂=0), P(y₂=1)].
    let curvature = Curvature::Convex { infimum: 0.0 }; // believed: certificates follow from it
    let alike = CustomEnergy::new(vec![vec![0], vec![2]], curvature, |marginals, gradient| {
        let apart = marginals[1] - marginals[3];
        gradient[1] = 8.0 * apart;
        gradient[3] = -8.0 * apart;
        4.0 * apart * apart
    });
    let own = Problem::new(model.clone(), vec![alike.into()])?.solve()?;
    let apart = own.marginal(0)[1] - own.marginal(2)[1];
    println!("{apart:.4} apart, gap {:.0e}, solver {}", own.gap.unwrap(), own.solver);

    // The same as a measurement: ½·8·(s − 0)², with the sign of the last variable turned.
    let mut terms = count(&model, [(0, 1), (2, 1)])?;
    terms[1].coefficients[1] = -1.0;
    let same = Problem::new(model, vec![Energy::squared(8.0, 0.0, terms)])?.solve()?;
    assert!((own.objective.unwrap() - same.objective.unwrap()).abs() < 2e-6);
    assert_eq!((own.solver, same.solver), ("adaptive", "dual"));
    assert!(apart.abs() < 0.2);
    Ok(())
}
