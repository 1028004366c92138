use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::table::{row_major_strides, table_size, walk_two};
use super::{Factor, Model, ModelError};

/// Most states over all variables. Model, canonical form, scratch and answer take about 50 bytes
/// per state: two gibibytes.
const STATE_LIMIT: usize = 1 << 25;

/// A table of the base model: ascending variables, log-potentials row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Base variables, ascending.
    pub scope: Vec<usize>,
    /// Shared with the factor it is of, and with the oracles that read it. `[states of the scope]`
    pub log_potentials: Arc<Vec<f64>>,
}

/// The canonical form of a model, on which every oracle works.
///
/// Observed variables and variables with one state are removed; factors on one scope are summed
/// into one table. Tables `0..n` belong to the `n` remaining variables; the others have two or more
/// variables and distinct scopes. The distribution over the remaining variables is unchanged, and
/// so is the log-partition after adding [`BaseModel::constant`].
#[derive(Clone, Debug)]
pub struct BaseModel {
    /// Numbers of states, all at least two. `[base variables]`
    pub cardinalities: Vec<usize>,
    /// One table per base variable, then one per distinct larger scope.
    pub tables: Vec<Table>,
    /// The score of the removed variables.
    pub constant: f64,
    lowest_score: f64,
    score_size: f64,
    /// `[model variables]`
    placement: Vec<Placement>,
    /// Model variable of each base variable. `[base variables]`
    origin: Vec<usize>,
    by_scope: FxHashMap<Vec<usize>, usize>,
}

#[derive(Clone, Copy, Debug)]
enum Placement {
    Free(usize),
    Fixed { state: usize, cardinality: usize },
}

/// How a table over a scope of the model lies in the base model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellMap {
    /// Index of the base table; `None` if every variable of the scope is fixed.
    pub table: Option<usize>,
    /// One for each variable of the scope.
    axes: Vec<Axis>,
}

/// An axis of a table of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    states: usize,
    /// In the model's table.
    stride: usize,
    lies: Lies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    /// In the base table, with a stride there.
    Along(usize),
    /// Nowhere: the variable has this state.
    At(usize),
}

impl CellMap {
    /// Cells of the model's table.
    pub fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.states).product()
    }

    /// Whether no variable is fixed, so that every cell has its place in the base table.
    pub fn is_free(&self) -> bool {
        self.axes.iter().all(|axis| matches!(axis.lies, Lies::Along(_)))
    }

    /// For each cell of the model's table, its cell in the base table (0 if `table` is `None`);
    /// `None` if the cell contradicts a fixed state. `[cells]`
    pub fn places(&self) -> Vec<Option<usize>> {
        let mut places = vec![None; self.cells()];
        self.each(|cell, place| places[cell] = Some(place));
        places
    }

    /// Shows every cell of the model's table that contradicts no fixed state, with its cell in the
    /// base table.
    fn each(&self, mut visit: impl FnMut(usize, usize)) {
        let (mut shape, mut own, mut base) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for &Axis { states, stride, lies } in &self.axes {
            match lies {
                Lies::At(state) => first += state * stride,
                Lies::Along(along) => {
                    shape.push(states);
                    own.push(stride);
                    base.push(along);
                }
            }
        }
        walk_two(&shape, [&own, &base], |[cell, place]| visit(first + cell, place));
    }

    /// Whether both tables have the same cells in the same order.
    pub(crate) fn is_same(&self) -> bool {
        self.axes.iter().all(|axis| axis.lies == Lies::Along(axis.stride))
    }

    /// Reorders values from the model's table to the base table.
    pub fn gather(&self, values: &[f64], base_cells: usize) -> Vec<f64> {
        if self.is_same() {
            return values.to_vec();
        }
        let mut gathered = vec![0.0; base_cells];
        self.each(|cell, place| gathered[place] = values[cell]);
        gathered
    }

    /// Reorders a base table's marginals to the model's table; contradicted cells are 0.
    pub fn scatter(&self, base: &[f64]) -> Vec<f64> {
        if self.is_same() {
            return base.to_vec();
        }
        let mut scattered = vec![0.0; self.cells()];
        self.each(|cell, place| scattered[cell] = base[place]);
        scattered
    }
}

/// What the entries of a table are, from one pass over them.
struct Extent {
    /// The least that is finite, else ∞.
    lowest: f64,
    /// Whether one is NaN or +∞.
    overflows: bool,
}

impl Extent {
    fn of(values: &[f64]) -> Self {
        let (mut lowest, mut overflows) = (f64::INFINITY, false);
        for &value in values {
            overflows |= value.is_nan() || value == f64::INFINITY;
            let finite = if value > f64::NEG_INFINITY { value } else { f64::INFINITY };
            lowest = lowest.min(finite);
        }
        Self { lowest, overflows }
    }
}

impl BaseModel {
    /// Canonical form of `model`, with zero tables on the `extra_scopes` (model variables, checked
    /// by [`Model::check_table`]) that no factor has.
    pub fn new<'s>(
        model: &Model,
        extra_scopes: impl IntoIterator<Item = &'s [usize]>,
    ) -> Result<Self, ModelError> {
        Self::check_states(model)?;
        let mut base = Self {
            cardinalities: Vec::new(),
            tables: Vec::new(),
            constant: 0.0,
            lowest_score: 0.0,
            score_size: 0.0,
            placement: Vec::with_capacity(model.variables().len()),
            origin: Vec::new(),
            by_scope: FxHashMap::default(),
        };
        for (index, variable) in model.variables().iter().enumerate() {
            let cardinality = variable.cardinality;
            let fixed = model.observed()[index].or((cardinality == 1).then_some(0));
            base.placement.push(match fixed {
                Some(state) => Placement::Fixed { state, cardinality },
                None => {
                    base.origin.push(index);
                    base.cardinalities.push(cardinality);
                    Placement::Free(base.origin.len() - 1)
                }
            });
        }
        for variable in 0..base.cardinalities.len() {
            base.table_for(&[variable]);
        }
        model.factors().iter().for_each(|factor| base.add(factor));
        for scope in extra_scopes {
            let (free, _) = base.axes(scope);
            if !free.is_empty() {
                base.table_for(&free);
            }
        }
        if base.constant == f64::NEG_INFINITY {
            return Err(ModelError::AllForbidden);
        }
        let extents: Vec<Extent> =
            base.tables.iter().map(|table| Extent::of(&table.log_potentials)).collect();
        let is_wrong = |value: f64| value.is_nan() || value == f64::INFINITY;
        if extents.iter().any(|extent| extent.overflows) || is_wrong(base.constant) {
            return Err(ModelError::Overflow);
        }
        let lowest = extents.iter().map(|extent| extent.lowest).filter(|v| v.is_finite());
        base.lowest_score = base.constant + lowest.sum::<f64>();
        let highest = |table: &Table| table.log_potentials.iter().copied().fold(0.0, f64::max);
        base.score_size = base.constant.abs() + 2.0 * base.tables.iter().map(highest).sum::<f64>();
        Ok(base)
    }

    /// Refuses a model whose variables have more states than any memory limit allows.
    pub(crate) fn check_states(model: &Model) -> Result<(), ModelError> {
        let found: f64 = model.variables().iter().map(|v| v.cardinality as f64).sum();
        if found > STATE_LIMIT as f64 {
            return Err(ModelError::TooManyStates { found, limit: STATE_LIMIT });
        }
        Ok(())
    }

    /// Adds a factor to the table of its scope, or to the constant if all of it is observed.
    fn add(&mut self, factor: &Factor) {
        let (free, axes) = self.axes(&factor.scope);
        let mut map = CellMap { table: None, axes };
        if free.is_empty() {
            map.each(|cell, _| self.constant += factor.log_potentials[cell]);
            return;
        }
        if map.is_same() && !self.by_scope.contains_key(&free) {
            self.push_table(free, Arc::clone(&factor.log_potentials));
            return;
        }
        let table = self.table_for(&free);
        map.table = Some(table);
        let target = Arc::make_mut(&mut self.tables[table].log_potentials);
        map.each(|cell, place| target[place] += factor.log_potentials[cell]);
    }

    /// Number of base variables.
    pub fn variables(&self) -> usize {
        self.cardinalities.len()
    }

    /// A lower bound on the score of every allowed configuration.
    pub fn lowest_score(&self) -> f64 {
        self.lowest_score
    }

    /// What the rounding of log-partitions follows besides their own size: how large the scores of
    /// tables are that cancel in a probable configuration. Twice those above 0 are enough, as what is
    /// below makes up for them.
    pub fn score_size(&self) -> f64 {
        self.score_size
    }

    /// The place of a table over model variables, if the base model has it.
    pub fn locate(&self, scope: &[usize]) -> Option<CellMap> {
        let (free, axes) = self.axes(scope);
        let table = if free.is_empty() { None } else { Some(*self.by_scope.get(&free)?) };
        Some(CellMap { table, axes })
    }

    /// The base table over the free variables of a scope; `None` if all of them are fixed, or there
    /// is no such table.
    pub fn table_of(&self, scope: &[usize]) -> Option<usize> {
        let mut free: Vec<usize> = scope.iter().filter_map(|&v| self.free(v)).collect();
        free.sort_unstable();
        self.by_scope.get(&free).copied()
    }

    /// The state of every model variable, given the states of the base variables.
    pub fn complete(&self, base_assignment: &[usize]) -> Vec<usize> {
        let state = |placement: &Placement| match *placement {
            Placement::Free(variable) => base_assignment[variable],
            Placement::Fixed { state, .. } => state,
        };
        self.placement.iter().map(state).collect()
    }

    /// Model variable of each base variable.
    pub fn origin(&self) -> &[usize] {
        &self.origin
    }

    fn table_for(&mut self, scope: &[usize]) -> usize {
        if let Some(&table) = self.by_scope.get(scope) {
            return table;
        }
        let size = table_size(scope.iter().map(|&v| self.cardinalities[v]))
            .expect("a stated table over this scope exists, so its size fits");
        self.push_table(scope.to_vec(), Arc::new(vec![0.0; size]))
    }

    fn push_table(&mut self, scope: Vec<usize>, log_potentials: Arc<Vec<f64>>) -> usize {
        let table = self.tables.len();
        self.by_scope.insert(scope.clone(), table);
        self.tables.push(Table { scope, log_potentials });
        table
    }

    /// The free base variables of a scope, ascending, and how each axis lies in a table over them.
    fn axes(&self, scope: &[usize]) -> (Vec<usize>, Vec<Axis>) {
        let mut free: Vec<usize> = scope.iter().filter_map(|&v| self.free(v)).collect();
        free.sort_unstable();
        let shape = |v: &usize| match self.placement[*v] {
            Placement::Free(v) => self.cardinalities[v],
            Placement::Fixed { cardinality, .. } => cardinality,
        };
        let shape: Vec<usize> = scope.iter().map(shape).collect();
        let free_shape: Vec<usize> = free.iter().map(|&v| self.cardinalities[v]).collect();
        let (strides, along) = (row_major_strides(&shape), row_major_strides(&free_shape));
        let axis = |(place, v): (usize, &usize)| {
            let lies = match self.placement[*v] {
                Placement::Fixed { state, .. } => Lies::At(state),
                Placement::Free(v) => {
                    Lies::Along(along[free.binary_search(&v).expect("v is among the free ones")])
                }
            };
            Axis { states: shape[place], stride: strides[place], lies }
        };
        let axes = scope.iter().enumerate().map(axis).collect();
        (free, axes)
    }

    /// The base variable of a model variable, unless it is fixed.
    fn free(&self, variable: usize) -> Option<usize> {
        match self.placement[variable] {
            Placement::Free(base) => Some(base),
            Placement::Fixed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_on_one_scope_are_summed_whatever_their_order() {
        let mut model = Model::new(&[2, 3]).unwrap();
        model.add_factor(&[0, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        model.add_factor(&[1, 0], &[0.0, 30.0, 10.0, 40.0, 20.0, 50.0]).unwrap();
        let base = BaseModel::new(&model, []).unwrap();
        assert_eq!(base.tables.len(), 3);
        assert_eq!(*base.tables[2].log_potentials, [0.0, 11.0, 22.0, 33.0, 44.0, 55.0]);
    }

    #[test]
    fn observed_variables_slice_the_tables() {
        let mut model = Model::new(&[2, 3, 1]).unwrap();
        model.add_factor(&[0, 1, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        model.add_factor(&[1], &[7.0, 8.0, 9.0]).unwrap();
        model.observe(1, 2).unwrap();
        let base = BaseModel::new(&model, []).unwrap();
        assert_eq!(base.cardinalities, [2]);
        assert_eq!(*base.tables[0].log_potentials, [2.0, 5.0]);
        assert_eq!(base.constant, 9.0);
        let map = base.locate(&[1, 0]).unwrap();
        assert_eq!(map.table, Some(0));
        assert_eq!(map.scatter(&[0.25, 0.75]), [0.0, 0.0, 0.0, 0.0, 0.25, 0.75]);
        assert_eq!(base.complete(&[1]), [1, 2, 0]);
    }

    #[test]
    fn an_observation_that_is_forbidden_leaves_nothing() {
        let mut model = Model::new(&[2]).unwrap();
        model.add_factor(&[0], &[0.0, f64::NEG_INFINITY]).unwrap();
        model.observe(0, 1).unwrap();
        assert!(matches!(BaseModel::new(&model, []), Err(ModelError::AllForbidden)));
    }
}
