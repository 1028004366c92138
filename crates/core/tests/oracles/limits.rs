//! What is too wide, and what is merely long.

use std::time::{Duration, Instant};

use bethe_core::model::BaseModel;
use bethe_core::oracle::{JunctionTree, Oracle, Tables};
use bethe_core::{MemoryLimit, Model, ModelError, Support};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::graphs::{binary_tree, complete, path};

fn attractive(cardinalities: &[usize], edges: &[(usize, usize)]) -> BaseModel {
    let mut model = Model::new(cardinalities).unwrap();
    for &(a, b) in edges {
        let (rows, columns) = (cardinalities[a], cardinalities[b]);
        let equal = |cell: usize| if cell / columns == cell % columns { 1.0 } else { 0.0 };
        let values: Vec<f64> = (0..rows * columns).map(equal).collect();
        model.add_factor(&[a, b], &values).unwrap();
    }
    BaseModel::new(&model, []).unwrap()
}

#[test]
fn a_complete_graph_of_sixty_variables_is_refused_at_once() {
    let base = attractive(&[10; 60], &complete(60));
    let start = Instant::now();
    let error = JunctionTree::new(&base, &Support::new()).unwrap_err();
    assert!(start.elapsed() < Duration::from_millis(200), "{:?}", start.elapsed());
    let ModelError::TooWide { largest_clique, largest_table, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(largest_clique, 60);
    assert!((largest_table / 1e60 - 1.0).abs() < 1e-9);
    assert_eq!(
        error.to_string(),
        "the model is too wide for exact inference: its largest clique has 60 variables and \
         1.000e60 configurations, and its tables need 1.490e52 GiB of memory, expected at most \
         2.0 GiB; a higher --memory-limit allows more, --oracle trw solves it approximately"
    );
}

#[test]
fn a_table_beyond_all_numbers_is_still_refused() {
    let base = attractive(&[16; 260], &complete(260));
    for limit in [MemoryLimit::default(), MemoryLimit::NONE] {
        let error = JunctionTree::with_limit(&base, &Support::new(), limit).unwrap_err();
        assert!(matches!(error, ModelError::TooWide { largest_clique: 260, .. }), "{error}");
    }
}

#[test]
fn the_limit_is_the_callers() {
    let base = attractive(&[2; 12], &complete(12));
    // 2 × 4096 cells of the clique, and 4 for the root's empty separator.
    let bytes = 8 * (2 * 4096 + 4);
    let build = |bytes| JunctionTree::with_limit(&base, &Support::new(), MemoryLimit::of(bytes));
    let tree = build(bytes + 1).unwrap();
    assert!((tree.estimated_bytes() / bytes as f64 - 1.0).abs() < 1e-9);
    let Err(ModelError::TooWide { bytes: found, limit, .. }) = build(bytes - 1) else {
        panic!("not refused")
    };
    assert!((found / bytes as f64 - 1.0).abs() < 1e-9);
    assert_eq!(limit, MemoryLimit::of(bytes - 1));
}

/// Equal neighbours score 1: the log-partition of any tree is `ln K + (n - 1) ln (e + K - 1)`.
fn check_long(edges: &[(usize, usize)]) {
    let variables = edges.len() + 1;
    let start = Instant::now();
    let base = attractive(&vec![3; variables], edges);
    let mut support = Support::new();
    support.add((0..variables).collect(), 3);
    let mut tree = JunctionTree::new(&base, &support).unwrap();
    let mut marginals = [0.0; 3];
    let log_partition = tree.tilted(&[0.0; 3], &mut marginals);
    let exact = 3f64.ln() + edges.len() as f64 * (1f64.exp() + 2.0).ln();
    assert!((log_partition - exact).abs() < 1e-14 * exact, "{log_partition} against {exact}");
    let third = variables as f64 / 3.0;
    assert!(marginals.iter().all(|m| (m - third).abs() < 1e-12 * third), "{marginals:?}");
    tree.visit_marginals(Tables::Nodes, &mut |_, values| {
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert!(values.iter().all(|value| (value - 1.0 / 3.0).abs() < 1e-13));
    });
    let mut assignment = vec![0; variables];
    let score = tree.decode(&[0.0, 0.0, 1e-3], &mut assignment);
    assert!(assignment.iter().all(|&state| state == 2));
    assert!((score - (edges.len() as f64 + 1e-3 * variables as f64)).abs() < 1e-9);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_tree_of_twenty_thousand_variables_takes_about_a_second() {
    check_long(&binary_tree(20_000));
}

#[test]
fn a_chain_of_twenty_thousand_variables_does_not_exhaust_the_stack() {
    check_long(&path(20_000));
}

#[test]
fn a_star_of_twenty_thousand_leaves_is_no_harder() {
    check_long(&(1..20_000).map(|leaf| (0, leaf)).collect::<Vec<_>>());
}

#[test]
fn rounding_does_not_add_up_along_a_long_chain() {
    let variables = 20_000;
    let mut random = StdRng::seed_from_u64(29);
    let mut model = Model::new(&vec![3; variables]).unwrap();
    for (a, b) in path(variables) {
        let values: Vec<f64> = (0..9).map(|_| random.random_range(-3.0..3.0)).collect();
        model.add_factor(&[a, b], &values).unwrap();
    }
    let base = BaseModel::new(&model, []).unwrap();
    let mut tree = JunctionTree::new(&base, &Support::new()).unwrap();
    tree.tilted(&[], &mut []);
    let mut nodes: Vec<Vec<f64>> = Vec::new();
    tree.visit_marginals(Tables::All, &mut |table, values| {
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        if table < variables {
            return nodes.push(values.to_vec());
        }
        let [a, b] = base.tables[table].scope[..] else { panic!("not an edge") };
        for state in 0..3 {
            let row: f64 = values[3 * state..3 * state + 3].iter().sum();
            let column: f64 = values[state..].iter().step_by(3).sum();
            assert!((row - nodes[a][state]).abs() < 1e-14);
            assert!((column - nodes[b][state]).abs() < 1e-14);
        }
    });
}

#[test]
fn a_dense_graph_of_a_thousand_variables_is_refused_before_it_is_eliminated() {
    let base = attractive(&[2; 1000], &complete(1000));
    let start = Instant::now();
    let error = JunctionTree::new(&base, &Support::new()).unwrap_err();
    assert!(matches!(error, ModelError::TooWide { largest_clique: 1000, .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn a_long_ladder_is_narrow() {
    let rails = 5_000;
    let mut edges: Vec<_> = (0..rails).map(|v| (v, rails + v)).collect();
    for (a, b) in path(rails) {
        edges.extend([(a, b), (rails + a, rails + b)]);
    }
    let base = attractive(&vec![2; 2 * rails], &edges);
    let mut tree =
        JunctionTree::with_limit(&base, &Support::new(), MemoryLimit::of(10 << 20)).unwrap();
    let log_partition = tree.tilted(&[], &mut []);
    // Rung by rung: the four states of a rung, and what its steps to the next score.
    let equal = |a: usize, b: usize| if a == b { 1.0f64 } else { 0.0 };
    let rung = |state: usize| equal(state / 2, state % 2);
    let step = |from: usize, to: usize| equal(from / 2, to / 2) + equal(from % 2, to % 2);
    let mut weights: [f64; 4] = std::array::from_fn(|state| rung(state).exp());
    let mut exact = 0.0;
    for _ in 1..rails {
        let next = |to| (0..4).map(|from| weights[from] * (step(from, to) + rung(to)).exp()).sum();
        let following: [f64; 4] = std::array::from_fn(next);
        let total: f64 = following.iter().sum();
        weights = following.map(|weight| weight / total);
        exact += total.ln();
    }
    exact += weights.iter().sum::<f64>().ln();
    assert!((log_partition - exact).abs() < 1e-12 * exact, "{log_partition} against {exact}");
}
