//! Mean field as an energy, and what other inference makes of the same grids.

use bethe_core::oracle::OracleKind;
use bethe_core::solve::Ignore;
use bethe_core::{Problem, Request, Settings, Status, Tables};
use bethe_experiments::ising::{Base, Couplings, Grid, compare};

fn ups(problem: &Problem, oracle: OracleKind) -> (Vec<f64>, f64) {
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    let request = Request { oracle, marginals: Tables::Nodes, ..Request::default() };
    let answer = problem.solve_with(&settings, &request, &mut Ignore).unwrap();
    assert!(matches!(answer.status, Status::Converged | Status::Stationary), "{answer:?}");
    (answer.marginals.iter().map(|m| m.values[1]).collect(), -answer.objective.unwrap())
}

/// `m_i = tanh(h_i + Σ_j J_ij m_j)`, by the textbook's coordinate updates on the stated tables.
fn textbook_mean_field(problem: &Problem) -> Vec<f64> {
    let sites = problem.model().variables().len();
    let mut fields = vec![0.0; sites];
    let mut around = vec![Vec::new(); sites];
    for factor in problem.model().factors() {
        match factor.scope[..] {
            [site] => fields[site] += factor.log_potentials[1],
            [a, b] => {
                around[a].push((b, factor.log_potentials[0]));
                around[b].push((a, factor.log_potentials[0]));
            }
            _ => unreachable!("a grid has sites and pairs"),
        }
    }
    let mut means: Vec<f64> = fields.iter().map(|h: &f64| h.tanh()).collect();
    for _ in 0..2000 {
        for site in 0..sites {
            let pull: f64 = around[site].iter().map(|&(other, j)| j * means[other]).sum();
            means[site] = (fields[site] + pull).tanh();
        }
    }
    means.iter().map(|m| 0.5 * (1.0 + m)).collect()
}

#[test]
fn naive_mean_field_is_the_textbook_fixed_point() {
    for seed in 0..5 {
        let grid = Grid::random(6, Couplings::Mixed, 0.4, 0.5, seed);
        let (found, _) = ups(&grid.problem(Base::Sites), OracleKind::Exact);
        let wanted = textbook_mean_field(&grid.problem(Base::Whole));
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-5, "seed {seed}: {found}, expected {wanted}");
        }
    }
}

#[test]
fn mean_field_is_a_lower_bound_and_tree_reweighted_an_upper_one() {
    for (signs, strength) in
        [(Couplings::Attractive, 0.3), (Couplings::Mixed, 0.6), (Couplings::Mixed, 1.5)]
    {
        for seed in 0..4 {
            let grid = Grid::random(7, signs, strength, 0.3, seed);
            let found = compare(&grid).unwrap();
            assert_eq!(grid.side(), 7);
            let case = format!("{} {strength}, seed {seed}", signs.name());
            for entry in &found.entries {
                let off = entry.log_partition_error;
                match entry.name {
                    "tree-reweighted" => assert!(off >= -1e-8, "{case}: {off}"),
                    "loopy" => {}
                    mean_field => assert!(off <= 1e-6, "{case}, {mean_field}: {off}"),
                }
                assert!(entry.worst >= entry.error && entry.worst <= 1.0, "{case}");
            }
        }
    }
}

#[test]
fn structure_makes_mean_field_better_on_weak_couplings() {
    let (mut naive, mut rows, mut comb) = (0.0, 0.0, 0.0);
    for seed in 0..6 {
        let found = compare(&Grid::random(8, Couplings::Mixed, 0.4, 0.5, seed)).unwrap();
        let error = |name: &str| {
            let entry = found.entries.iter().find(|entry| entry.name == name).unwrap();
            assert!(entry.is_settled, "seed {seed}, {name}");
            entry.error
        };
        naive += error("mean field, sites");
        rows += error("mean field, rows");
        comb += error("mean field, comb");
    }
    assert!(comb < rows && rows < naive, "{comb} {rows} {naive}");
}
