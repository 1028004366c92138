use rustc_hash::FxHashMap;

use super::table::{row_major_strides, table_size, walk};
use super::{Factor, Model, ModelError};

/// Most states over all variables. Model, canonical form, scratch and answer take about 50 bytes
/// per state: two gibibytes.
const STATE_LIMIT: usize = 1 << 25;

/// A table of the base model: ascending variables, log-potentials row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Base variables, ascending.
    pub scope: Vec<usize>,
    /// `[states of the scope]`
    pub log_potentials: Vec<f64>,
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
    /// For each cell of the model's table, its cell in the base table (0 if `table` is `None`);
    /// `None` if the cell contradicts a fixed state. `[cells]`
    pub cells: Vec<Option<usize>>,
}

impl CellMap {
    /// Reorders values from the model's table to the base table.
    pub fn gather(&self, values: &[f64], base_cells: usize) -> Vec<f64> {
        let mut gathered = vec![0.0; base_cells];
        for (&value, cell) in values.iter().zip(&self.cells) {
            if let Some(cell) = cell {
                gathered[*cell] = value;
            }
        }
        gathered
    }

    /// Reorders a base table's marginals to the model's table; contradicted cells are 0.
    pub fn scatter(&self, base: &[f64]) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.map_or(0.0, |c| base[c])).collect()
    }
}

impl BaseModel {
    /// Canonical form of `model`, with zero tables on the `extra_scopes` (model variables, checked
    /// by [`Model::check_table`]) that no factor has.
    pub fn new<'s>(
        model: &Model,
        extra_scopes: impl IntoIterator<Item = &'s [usize]>,
    ) -> Result<Self, ModelError> {
        let states: f64 = model.variables().iter().map(|v| v.cardinality as f64).sum();
        if states > STATE_LIMIT as f64 {
            return Err(ModelError::TooManyStates { found: states, limit: STATE_LIMIT });
        }
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
            base.place(scope);
        }
        if base.constant == f64::NEG_INFINITY {
            return Err(ModelError::AllForbidden);
        }
        let entries = base.tables.iter().flat_map(|table| &table.log_potentials);
        if entries.chain([&base.constant]).any(|v| v.is_nan() || *v == f64::INFINITY) {
            return Err(ModelError::Overflow);
        }
        let lowest = |table: &Table| {
            let allowed = table.log_potentials.iter().copied().filter(|v| v.is_finite());
            allowed.fold(f64::INFINITY, f64::min)
        };
        let lowest = base.tables.iter().map(lowest).filter(|v| v.is_finite());
        base.lowest_score = base.constant + lowest.sum::<f64>();
        let highest = |table: &Table| table.log_potentials.iter().copied().fold(0.0, f64::max);
        base.score_size = base.constant.abs() + 2.0 * base.tables.iter().map(highest).sum::<f64>();
        Ok(base)
    }

    /// Adds a factor to the table of its scope, or to the constant if all of it is observed.
    fn add(&mut self, factor: &Factor) {
        let map = self.place(&factor.scope);
        let Some(table) = map.table else {
            let fixed = map.cells.iter().position(Option::is_some);
            self.constant += fixed.map_or(0.0, |cell| factor.log_potentials[cell]);
            return;
        };
        let target = &mut self.tables[table].log_potentials;
        for (&value, cell) in factor.log_potentials.iter().zip(&map.cells) {
            if let Some(cell) = cell {
                target[*cell] += value;
            }
        }
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
        let (free, cells) = self.cell_map(scope);
        let table = if free.is_empty() { None } else { Some(*self.by_scope.get(&free)?) };
        Some(CellMap { table, cells })
    }

    /// The base table over the free variables of a scope; `None` if all of them are fixed, or there
    /// is no such table.
    pub fn table_of(&self, scope: &[usize]) -> Option<usize> {
        let free = |v: &usize| match self.placement[*v] {
            Placement::Free(base) => Some(base),
            Placement::Fixed { .. } => None,
        };
        let mut free: Vec<usize> = scope.iter().filter_map(free).collect();
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

    fn place(&mut self, scope: &[usize]) -> CellMap {
        let (free, cells) = self.cell_map(scope);
        let table = (!free.is_empty()).then(|| self.table_for(&free));
        CellMap { table, cells }
    }

    fn table_for(&mut self, scope: &[usize]) -> usize {
        if let Some(&table) = self.by_scope.get(scope) {
            return table;
        }
        let size = table_size(scope.iter().map(|&v| self.cardinalities[v]))
            .expect("a stated table over this scope exists, so its size fits");
        self.tables.push(Table { scope: scope.to_vec(), log_potentials: vec![0.0; size] });
        self.by_scope.insert(scope.to_vec(), self.tables.len() - 1);
        self.tables.len() - 1
    }

    /// The free base variables of a scope, ascending, and each cell's position in a table over
    /// them.
    fn cell_map(&self, scope: &[usize]) -> (Vec<usize>, Vec<Option<usize>>) {
        let placements: Vec<Placement> = scope.iter().map(|&v| self.placement[v]).collect();
        let mut free: Vec<usize> = placements
            .iter()
            .filter_map(|p| if let Placement::Free(v) = p { Some(*v) } else { None })
            .collect();
        free.sort_unstable();
        let free_shape: Vec<usize> = free.iter().map(|&v| self.cardinalities[v]).collect();
        let free_strides = row_major_strides(&free_shape);

        let shape: Vec<usize> = placements
            .iter()
            .map(|p| match *p {
                Placement::Free(v) => self.cardinalities[v],
                Placement::Fixed { cardinality, .. } => cardinality,
            })
            .collect();
        let strides: Vec<usize> = placements
            .iter()
            .map(|p| match p {
                Placement::Free(v) => {
                    free_strides[free.binary_search(v).expect("v was collected above")]
                }
                Placement::Fixed { .. } => 0,
            })
            .collect();
        let mut cells = Vec::new();
        walk(&shape, &strides, |position| cells.push(Some(position)));

        let own_strides = row_major_strides(&shape);
        for (axis, placement) in placements.iter().enumerate() {
            if let Placement::Fixed { state, .. } = *placement {
                for (index, cell) in cells.iter_mut().enumerate() {
                    if index / own_strides[axis] % shape[axis] != state {
                        *cell = None;
                    }
                }
            }
        }
        (free, cells)
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
        assert_eq!(base.tables[2].log_potentials, [0.0, 11.0, 22.0, 33.0, 44.0, 55.0]);
    }

    #[test]
    fn observed_variables_slice_the_tables() {
        let mut model = Model::new(&[2, 3, 1]).unwrap();
        model.add_factor(&[0, 1, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        model.add_factor(&[1], &[7.0, 8.0, 9.0]).unwrap();
        model.observe(1, 2).unwrap();
        let base = BaseModel::new(&model, []).unwrap();
        assert_eq!(base.cardinalities, [2]);
        assert_eq!(base.tables[0].log_potentials, [2.0, 5.0]);
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
