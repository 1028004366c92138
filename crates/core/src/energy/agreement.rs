//! Makes overlapping tables agree.
//!
//! Tables `q_t`, one per scope, *agree* if all have the same sum, and any two have the same sums
//! over the variables they share. Marginals agree; noisy measurements of them do not. With weights
//! `W_t`, let `p̄` be the tables nearest to `p`, in `Σ_t W_t ‖·‖²`, that agree and sum to 1. Such
//! tables form an affine set that contains all marginals, so for every `μ` (Pythagoras)
//!
//! ```text
//! Σ_t W_t ‖μ_t − p_t‖² = Σ_t W_t ‖μ_t − p̄_t‖² + Σ_t W_t ‖p_t − p̄_t‖²
//! ```
//!
//! and the last sum is a constant: squared errors from `p̄` and from `p` differ by a constant.
//!
//! The projection has a closed form. Reflect each axis of a table so that the constant direction
//! becomes the first coordinate. The coordinates that are first on all axes but those of `c` are
//! then the part of the table that depends on all variables of `c` and no others, scaled by `1/√n`
//! with `n` cells outside `c`. These parts are orthogonal, and tables agree if and only if their
//! parts of the same `c` agree up to that factor. So the nearest tables that agree have, for each
//! `c`, the weighted mean of the parts.

use rustc_hash::FxHashMap;

use crate::model::table::{row_major_strides, walk};
use crate::vector::vectorised;

/// Where a table lies in a vector over several, and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lay {
    /// First coordinate.
    pub start: usize,
    /// The variables, in the order of the table's axes.
    pub scope: Vec<usize>,
    /// `[scope]`
    pub shape: Vec<usize>,
}

impl Lay {
    pub fn cells(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The nearest tables that agree.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    tables: Vec<Lay>,
    /// What several tables have a part of.
    shared: Vec<Vec<Part>>,
    /// One fibre of the widest table.
    scratch: Vec<f64>,
}

/// A table's part that depends on all of some variables and no others.
#[derive(Clone, Debug)]
struct Part {
    /// Its coordinates among the reflected ones, in an order that all tables have in common.
    places: Vec<u32>,
    /// Its size is multiplied by this to be comparable.
    stretch: f64,
    /// Its share in the mean.
    share: f64,
}

impl Agreement {
    /// For tables with these weights, whose scopes differ.
    pub fn new(tables: Vec<Lay>, weights: &[f64]) -> Self {
        let mut shared: FxHashMap<Vec<usize>, Vec<Part>> = FxHashMap::default();
        let mut order = Vec::new();
        for (table, &weight) in tables.iter().zip(weights) {
            // Every variable has two states at least: there are no more subsets than cells.
            for subset in 1..1usize << table.scope.len() {
                let (variables, part) = part(table, subset, weight);
                shared
                    .entry(variables)
                    .or_insert_with_key(|variables| {
                        order.push(variables.clone());
                        Vec::new()
                    })
                    .push(part);
            }
        }
        let mut shared: Vec<Vec<Part>> =
            order.iter().filter_map(|variables| shared.remove(variables)).collect();
        shared.retain(|parts| parts.len() > 1);
        for parts in &mut shared {
            let sum: f64 = parts.iter().map(|part| part.share).sum();
            parts.iter_mut().for_each(|part| part.share /= sum);
        }
        let fibre = |table: &Lay| table.shape[1..].iter().product();
        let scratch = vec![0.0; tables.iter().map(fibre).max().unwrap_or(0)];
        Self { tables, shared, scratch }
    }

    /// Moves the tables to the nearest ones that agree and have this sum.
    pub fn project(&mut self, values: &mut [f64], sum: f64) {
        let Self { tables, shared, scratch } = self;
        vectorised(
            #[inline(always)]
            || {
                tables.iter().for_each(|table| reflect(table, values, scratch));
                for table in tables.iter() {
                    values[table.start] = sum / (table.cells() as f64).sqrt();
                }
                shared.iter().for_each(|parts| average(parts, values));
                tables.iter().for_each(|table| reflect(table, values, scratch));
            },
        );
    }
}

/// The variables of a subset of a table's axes, ascending, and the table's part in them.
fn part(table: &Lay, subset: usize, weight: f64) -> (Vec<usize>, Part) {
    let mut axes: Vec<usize> =
        (0..table.scope.len()).filter(|axis| subset >> axis & 1 == 1).collect();
    axes.sort_unstable_by_key(|&axis| table.scope[axis]);
    let strides = row_major_strides(&table.shape);
    let own: Vec<usize> = axes.iter().map(|&axis| strides[axis]).collect();
    // All but the first of each axis: what differs along it.
    let shape: Vec<usize> = axes.iter().map(|&axis| table.shape[axis] - 1).collect();
    let first = table.start + own.iter().sum::<usize>();
    let mut places = Vec::with_capacity(shape.iter().product());
    walk(&shape, &own, |place| {
        places.push(u32::try_from(first + place).expect("tables of 2³² cells fit nowhere"));
    });
    let inside: usize = axes.iter().map(|&axis| table.shape[axis]).product();
    let outside = (table.cells() / inside) as f64;
    let variables = axes.iter().map(|&axis| table.scope[axis]).collect();
    (variables, Part { places, stretch: outside.sqrt(), share: weight / outside })
}

/// Gives all parts their mean.
#[inline(always)]
fn average(parts: &[Part], values: &mut [f64]) {
    for cell in 0..parts[0].places.len() {
        let own = |part: &Part| part.share * part.stretch * values[part.places[cell] as usize];
        let mean: f64 = parts.iter().map(own).sum();
        for part in parts {
            values[part.places[cell] as usize] = mean / part.stretch;
        }
    }
}

/// Reflects each axis so that the constant direction and the first change places; twice is nothing.
///
/// With `u` the unit vector of equal entries `1/√n` and `v = e₀ − u`, the reflection `x −
/// 2v(v·x)/(v·v)` takes `x₀` to `Σx/√n` and adds `(x₀ − Σx/√n)/(√n − 1)` to all others.
#[inline(always)]
fn reflect(table: &Lay, values: &mut [f64], scratch: &mut [f64]) {
    let values = &mut values[table.start..table.start + table.cells()];
    let mut inner = values.len();
    for &length in &table.shape {
        let rows = inner;
        inner /= length;
        let root = (length as f64).sqrt();
        let (small, factor) = (1.0 / root, 1.0 / (root - 1.0));
        for rows in values.chunks_exact_mut(rows) {
            let (first, others) = rows.split_at_mut(inner);
            let sums = &mut scratch[..inner];
            sums.copy_from_slice(first);
            for row in others.chunks_exact(inner) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            for (first, sum) in first.iter_mut().zip(sums.iter_mut()) {
                let constant = small * *sum;
                *sum = factor * (*first - constant);
                *first = constant;
            }
            for row in others.chunks_exact_mut(inner) {
                row.iter_mut().zip(sums.iter()).for_each(|(value, sum)| *value += sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::strides_within;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const CARDINALITIES: [usize; 5] = [2, 3, 4, 2, 5];

    fn lays(scopes: &[&[usize]]) -> Vec<Lay> {
        let mut start = 0;
        let lay = |scope: &&[usize]| {
            let shape: Vec<usize> = scope.iter().map(|&v| CARDINALITIES[v]).collect();
            let lay = Lay { start, scope: scope.to_vec(), shape };
            start += lay.cells();
            lay
        };
        scopes.iter().map(lay).collect()
    }

    /// The marginals of a random distribution over all variables.
    fn marginals(random: &mut StdRng, tables: &[Lay]) -> Vec<f64> {
        let all: Vec<usize> = (0..CARDINALITIES.len()).collect();
        let weights: Vec<f64> = (0..CARDINALITIES.iter().product::<usize>())
            .map(|_| random.random_range(0.0..1.0))
            .collect();
        let total: f64 = weights.iter().sum();
        let mut found = vec![0.0; tables.last().map_or(0, |t| t.start + t.cells())];
        for table in tables {
            let strides = strides_within(&table.scope, &all, &CARDINALITIES);
            let mut configuration = 0;
            walk(&CARDINALITIES, &strides, |place| {
                found[table.start + place] += weights[configuration] / total;
                configuration += 1;
            });
        }
        found
    }

    fn distance(tables: &[Lay], weights: &[f64], a: &[f64], b: &[f64]) -> f64 {
        let of = |(table, weight): (&Lay, &f64)| {
            let cells = table.start..table.start + table.cells();
            cells.map(|cell| weight * (a[cell] - b[cell]).powi(2)).sum::<f64>()
        };
        tables.iter().zip(weights).map(of).sum()
    }

    #[test]
    fn squared_errors_from_tables_that_agree_differ_by_a_constant() {
        let mut random = StdRng::seed_from_u64(5);
        let tables = lays(&[&[1, 0], &[2, 1], &[3, 2, 1], &[4], &[0, 4, 2], &[2]]);
        for _ in 0..20 {
            let weights: Vec<f64> = tables.iter().map(|_| random.random_range(0.1..9.0)).collect();
            let mut agreement = Agreement::new(tables.clone(), &weights);
            let cells = tables.iter().map(Lay::cells).sum::<usize>();
            let noisy: Vec<f64> = (0..cells).map(|_| random.random_range(-0.3..0.7)).collect();
            let mut agreed = noisy.clone();
            agreement.project(&mut agreed, 1.0);
            let constant = distance(&tables, &weights, &noisy, &agreed);
            for _ in 0..5 {
                let at = marginals(&mut random, &tables);
                let plain = distance(&tables, &weights, &at, &noisy);
                let split = distance(&tables, &weights, &at, &agreed) + constant;
                assert!((plain - split).abs() < 1e-12 * plain, "{plain} or {split}");
            }
        }
    }

    #[test]
    fn marginals_stay_where_they_are() {
        let mut random = StdRng::seed_from_u64(6);
        let tables = lays(&[&[0, 1, 2], &[2, 1], &[3, 1], &[4, 3], &[0]]);
        let mut agreement = Agreement::new(tables.clone(), &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let at = marginals(&mut random, &tables);
        let mut moved = at.clone();
        agreement.project(&mut moved, 1.0);
        assert!(moved.iter().zip(&at).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn what_is_projected_agrees() {
        let mut random = StdRng::seed_from_u64(7);
        let tables = lays(&[&[0, 1], &[1, 2]]);
        let mut agreement = Agreement::new(tables, &[1.0, 3.0]);
        let mut values: Vec<f64> = (0..18).map(|_| random.random_range(-1.0..1.0)).collect();
        agreement.project(&mut values, 2.5);
        for state in 0..3 {
            let first = values[state] + values[3 + state];
            let second: f64 = values[6 + 4 * state..10 + 4 * state].iter().sum();
            assert!((first - second).abs() < 1e-14);
        }
        assert!((values[..6].iter().sum::<f64>() - 2.5).abs() < 1e-14);
    }

    #[test]
    fn tables_without_a_common_variable_do_not_overlap() {
        assert!(Agreement::new(lays(&[&[0, 1], &[2], &[3, 4]]), &[1.0; 3]).shared.is_empty());
    }
}
