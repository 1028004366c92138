//! Two chains of spins, coupled site by site: chains by exact inference, the coupling by mean field.
//!
//! `cargo run -p bethe-core --example mean_field`

use bethe_core::{Energy, Model, Problem};

const LENGTH: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut model = Model::new(&[2; 2 * LENGTH])?;
    for site in 0..2 * LENGTH {
        model.add_factor(&[site], &[-0.1, 0.1])?;
        if site % LENGTH > 0 {
            model.add_factor(&[site - 1, site], &[0.4, -0.4, -0.4, 0.4])?;
        }
    }
    // A factor between the chains would close cycles; seen through products of marginals it does not.
    let coupling = [0.3, -0.3, -0.3, 0.3];
    let rungs = (0..LENGTH).map(|site| Energy::product(&[site, LENGTH + site], &coupling));
    let answer = Problem::new(model.clone(), rungs.collect())?.solve()?;
    println!("mean field: {:.4} up at the end, {}", answer.marginal(0)[1], answer.status.name());

    for site in 0..LENGTH {
        model.add_factor(&[site, LENGTH + site], &coupling)?;
    }
    let exact = Problem::new(model.clone(), vec![])?.solve()?;
    println!("exact:      {:.4}", exact.marginal(0)[1]);
    // The marginals are those of a real distribution, so −F is a lower bound on log Z.
    let bound = -answer.objective.unwrap();
    println!("log Z = {:.4}, at least {bound:.4}", exact.log_partition);
    assert!(bound < exact.log_partition && exact.log_partition - bound < 0.5);
    assert!(answer.gap.is_none(), "mean field is not convex: nothing is proved");

    // Plain inference in one chain, in the field that the other one makes, gives the answer again.
    let mut chain = Model::new(&[2; LENGTH])?;
    for site in 0..LENGTH {
        let other = answer.marginal(LENGTH + site);
        let field = 0.3 * (other[1] - other[0]);
        chain.add_factor(&[site], &[-0.1 - field, 0.1 + field])?;
        if site > 0 {
            chain.add_factor(&[site - 1, site], &[0.4, -0.4, -0.4, 0.4])?;
        }
    }
    let again = Problem::new(chain, vec![])?.solve()?;
    for site in 0..LENGTH {
        assert!((again.marginal(site)[1] - answer.marginal(site)[1]).abs() < 1e-4);
    }
    Ok(())
}
