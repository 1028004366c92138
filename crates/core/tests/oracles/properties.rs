//! What may change about how a model is stated without changing its answers.

use std::sync::Arc;

use bethe_core::model::BaseModel;
use bethe_core::model::table::{row_major_strides, table_size, walk};
use bethe_core::oracle::Tables;
use bethe_core::{Factor, Model, ModelError, Support};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::second_order::{dot, product};
use crate::{Bind, ORACLES, TOLERANCE, supports, visited};

/// A model as numbers: cardinalities and factors.
#[derive(Clone, Debug)]
struct Statement {
    cardinalities: Vec<usize>,
    factors: Vec<Factor>,
}

/// Answers in the statement's order.
struct Answers {
    log_partition: f64,
    map_score: f64,
    /// Of every variable, then of every factor. `[tables][cells]`
    marginals: Vec<Vec<f64>>,
}

impl Statement {
    fn base(&self) -> Result<BaseModel, ModelError> {
        let mut model = Model::new(&self.cardinalities).unwrap();
        for factor in &self.factors {
            model.add_factor(&factor.scope, &factor.log_potentials).unwrap();
        }
        BaseModel::new(&model, [])
    }

    fn shape(&self, scope: &[usize]) -> Vec<usize> {
        scope.iter().map(|&v| self.cardinalities[v]).collect()
    }

    fn answers(&self, bind: Bind) -> Option<Answers> {
        let base = self.base().unwrap();
        let mut oracle = bind(&base, &Support::new())?;
        let log_partition = oracle.tilted(&[], &mut []);
        let mut tables = visited(oracle.as_mut(), Tables::All);
        if log_partition == f64::NEG_INFINITY {
            // Unspecified, and not compared; only the sizes matter.
            tables = base.tables.iter().map(|t| vec![0.0; t.log_potentials.len()]).collect();
        }
        let scopes = (0..self.cardinalities.len()).map(|v| vec![v]);
        let scopes = scopes.chain(self.factors.iter().map(|factor| factor.scope.clone()));
        let marginals = scopes.map(|scope| {
            let map = base.locate(&scope).unwrap();
            map.scatter(map.table.map_or(&[1.0], |table| &tables[table]))
        });
        let marginals = marginals.collect();
        let map_score = oracle.decode(&[], &mut vec![0; base.variables()]);
        Some(Answers { log_partition, map_score, marginals })
    }
}

/// The same answers but for a constant in every score; marginals mean nothing if all is forbidden.
fn assert_shifted(found: &Answers, expected: &Answers, constant: f64) -> Result<(), TestCaseError> {
    if expected.log_partition == f64::NEG_INFINITY {
        prop_assert_eq!(found.log_partition, f64::NEG_INFINITY);
        prop_assert_eq!(found.map_score, f64::NEG_INFINITY);
        return Ok(());
    }
    prop_assert!((found.log_partition - expected.log_partition - constant).abs() < TOLERANCE);
    prop_assert!((found.map_score - expected.map_score - constant).abs() < TOLERANCE);
    prop_assert_eq!(found.marginals.len(), expected.marginals.len());
    for (found, expected) in found.marginals.iter().zip(&expected.marginals) {
        prop_assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            prop_assert!((f - e).abs() < TOLERANCE, "{} against {}", f, e);
        }
    }
    Ok(())
}

fn statements() -> impl Strategy<Value = Statement> {
    prop::collection::vec(1usize..5, 1..7).prop_flat_map(|cardinalities| {
        let factors = prop::collection::vec(factors(cardinalities.clone()), 1..9);
        (Just(cardinalities), factors)
            .prop_map(|(cardinalities, factors)| Statement { cardinalities, factors })
            .prop_filter("a forbidden constant is no base model", |s| s.base().is_ok())
    })
}

fn factors(cardinalities: Vec<usize>) -> impl Strategy<Value = Factor> {
    let variables: Vec<usize> = (0..cardinalities.len()).collect();
    let scope = (Just(variables).prop_shuffle(), 1usize..4);
    scope.prop_flat_map(move |(mut scope, len)| {
        scope.truncate(len);
        let cells = table_size(scope.iter().map(|&v| cardinalities[v])).unwrap();
        let score = prop_oneof![12 => -5.0..5.0, 2 => -300.0..300.0, 1 => Just(f64::NEG_INFINITY)];
        (Just(scope), prop::collection::vec(score, cells))
            .prop_map(|(scope, values)| Factor { scope, log_potentials: values.into() })
    })
}

/// A statement and a new number for each of its variables.
fn relabellings() -> impl Strategy<Value = (Statement, Vec<usize>)> {
    statements().prop_flat_map(|statement| {
        let numbers: Vec<usize> = (0..statement.cardinalities.len()).collect();
        (Just(statement), Just(numbers).prop_shuffle())
    })
}

/// A table over the same variables with its axes turned: the last becomes the first.
fn turned(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut strides = row_major_strides(shape);
    strides.rotate_right(1);
    let mut turned_shape = shape.to_vec();
    turned_shape.rotate_right(1);
    let mut turned = Vec::with_capacity(values.len());
    walk(&turned_shape, &strides, |position| turned.push(values[position]));
    turned
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/oracles/properties.regressions"
        )))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn relabelling_variables_and_turning_scopes_changes_nothing(
        (statement, numbers) in relabellings()
    ) {
        let mut relabelled = statement.clone();
        for (v, &number) in numbers.iter().enumerate() {
            relabelled.cardinalities[number] = statement.cardinalities[v];
        }
        for factor in &mut relabelled.factors {
            let shape = statement.shape(&factor.scope);
            factor.log_potentials = turned(&factor.log_potentials, &shape).into();
            factor.scope.rotate_right(1);
            factor.scope.iter_mut().for_each(|v| *v = numbers[*v]);
        }
        relabelled.factors.reverse();
        for (_, bind) in ORACLES {
            let Some(mut expected) = statement.answers(*bind) else { continue };
            let Some(found) = relabelled.answers(*bind) else { continue };
            let variables = numbers.len();
            let mut nodes = vec![Vec::new(); variables];
            for (v, &number) in numbers.iter().enumerate() {
                nodes[number] = expected.marginals[v].clone();
            }
            let tables = statement.factors.iter().zip(&expected.marginals[variables..]).rev();
            nodes.extend(tables.map(|(f, values)| turned(values, &statement.shape(&f.scope))));
            expected.marginals = nodes;
            assert_shifted(&found, &expected, 0.0)?;
        }
    }

    #[test]
    fn a_constant_in_a_table_shifts_the_scores_only(
        statement in statements(), which: prop::sample::Index, constant in -100.0..100.0
    ) {
        let mut shifted = statement.clone();
        let factor = which.index(shifted.factors.len());
        let scores = Arc::make_mut(&mut shifted.factors[factor].log_potentials);
        scores.iter_mut().for_each(|score| *score += constant);
        for (_, bind) in ORACLES {
            let Some(expected) = statement.answers(*bind) else { continue };
            assert_shifted(&shifted.answers(*bind).unwrap(), &expected, constant)?;
        }
    }

    #[test]
    fn splitting_a_factor_in_two_changes_nothing(
        statement in statements(), which: prop::sample::Index, share in -2.0..2.0
    ) {
        let mut split = statement.clone();
        let factor = which.index(split.factors.len());
        let mut part = split.factors[factor].clone();
        let own = Arc::make_mut(&mut part.log_potentials).iter_mut();
        let whole = Arc::make_mut(&mut split.factors[factor].log_potentials).iter_mut();
        for (cell, (own, whole)) in own.zip(whole).enumerate() {
            *own = share * (cell as f64 + 1.0);
            *whole -= *own;
        }
        split.factors.push(part);
        for (_, bind) in ORACLES {
            let Some(mut expected) = statement.answers(*bind) else { continue };
            let again = expected.marginals[statement.cardinalities.len() + factor].clone();
            expected.marginals.push(again);
            assert_shifted(&split.answers(*bind).unwrap(), &expected, 0.0)?;
        }
    }

    #[test]
    fn every_oracle_agrees_with_enumeration(statement in statements()) {
        let expected = statement.answers(ORACLES[0].1).unwrap();
        for (_, bind) in ORACLES {
            let Some(found) = statement.answers(*bind) else { continue };
            assert_shifted(&found, &expected, 0.0)?;
        }
    }

    #[test]
    fn products_with_the_covariance_agree_with_enumeration(
        statement in statements(), which: prop::sample::Index, tilts in prop::collection::vec(-3.0..3.0, 2000)
    ) {
        let base = statement.base().unwrap();
        let supports = supports(&base);
        let (_, support) = &supports[which.index(supports.len())];
        let len = support.len();
        let (tilt, v, w) = (&tilts[..len], &tilts[600..600 + len], &tilts[1200..1200 + len]);
        let mut marginals = vec![0.0; len];
        let mut exact = ORACLES[0].1(&base, support).unwrap();
        if exact.tilted(tilt, &mut marginals) > f64::NEG_INFINITY {
            let expected = product(exact.as_mut(), v);
            for (_, bind) in ORACLES {
                let Some(mut oracle) = bind(&base, support) else { continue };
                oracle.tilted(tilt, &mut marginals);
                let (found, other) = (product(oracle.as_mut(), v), product(oracle.as_mut(), w));
                for (f, e) in found.iter().zip(&expected) {
                    prop_assert!((f - e).abs() < 1e-11, "{} against {}", f, e);
                }
                prop_assert!((dot(&found, w) - dot(&other, v)).abs() < 1e-10);
                prop_assert!(dot(&found, v) > -1e-11);
            }
        }
    }
}
