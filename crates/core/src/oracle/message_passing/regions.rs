//! The graph of variables and tables for message passing.
//!
//! A region is a table that no other contains; smaller tables of two or more variables are added to
//! a region that holds them. Beliefs of regions agree on single variables, and on nothing larger.

use crate::model::BaseModel;
use crate::model::table::{row_major_strides, strides_within, walk};
use crate::support::Support;

/// The bipartite graph of variables and regions.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    pub cardinalities: Vec<usize>,
    /// First cell of each variable, and the end. `[variables + 1]`
    pub nodes: Vec<usize>,
    pub list: Vec<Region>,
    /// Region and axis of every table that a variable takes part in. `[variables]`
    pub around: Vec<Vec<(usize, usize)>>,
    /// Cells of all regions.
    pub cells: usize,
    /// Entries of all messages: one per region, variable in it and state.
    pub entries: usize,
    /// Where the marginals of each table of the base model are found. `[tables]`
    pub homes: Vec<Home>,
    /// Log-potentials of single variables; impossible states are `-∞`. `[states of all variables]`
    pub node_potentials: Vec<f64>,
    /// The same of regions. `[cells]`
    pub region_potentials: Vec<f64>,
    /// Whether no configuration is possible.
    pub is_empty: bool,
    pub support: Support,
    pub constant: f64,
}

/// A table of two or more variables.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub scope: Vec<usize>,
    pub shape: Vec<usize>,
    /// First cell among those of all regions.
    pub start: usize,
    pub cells: usize,
    /// First entry of the message about each axis. `[axes]`
    pub messages: Vec<usize>,
    /// Whether some cell is forbidden though its states are possible.
    pub has_holes: bool,
}

/// Where the marginals of a base table are found.
#[derive(Clone, Debug)]
pub(super) enum Home {
    Node(usize),
    Whole(usize),
    /// In a larger region: the table's cell for each cell of the region.
    Part(usize, Vec<usize>),
}

impl Region {
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.cells
    }

    /// Entries of the message about an axis.
    pub fn message(&self, axis: usize) -> std::ops::Range<usize> {
        self.messages[axis]..self.messages[axis] + self.shape[axis]
    }

    /// Numbers of cells before and after an axis: a cell is `(before, state, after)`.
    pub fn split(&self, axis: usize) -> (usize, usize) {
        let after: usize = self.shape[axis + 1..].iter().product();
        (self.cells / (self.shape[axis] * after).max(1), after)
    }

    /// Calls `visit(cells, state)` for every run of cells that share a state of an axis.
    #[inline(always)]
    pub fn runs(&self, axis: usize, mut visit: impl FnMut(std::ops::Range<usize>, usize)) {
        let (before, after) = self.split(axis);
        let mut at = 0;
        for _ in 0..before {
            for state in 0..self.shape[axis] {
                visit(at..at + after, state);
                at += after;
            }
        }
    }
}

impl Regions {
    pub fn new(base: &BaseModel, support: &Support) -> Self {
        let variables = base.variables();
        let mut nodes = vec![0];
        for &cardinality in &base.cardinalities {
            nodes.push(nodes[nodes.len() - 1] + cardinality);
        }
        let mut regions = Self {
            cardinalities: base.cardinalities.clone(),
            nodes,
            list: Vec::new(),
            around: vec![Vec::new(); variables],
            cells: 0,
            entries: 0,
            homes: (0..variables).map(Home::Node).collect(),
            node_potentials: Vec::new(),
            region_potentials: Vec::new(),
            is_empty: false,
            support: support.clone(),
            constant: base.constant,
        };
        for table in &base.tables[..variables] {
            regions.node_potentials.extend(table.log_potentials.iter());
        }
        regions.place_tables(base);
        regions.rule_out_impossible();
        for index in 0..regions.list.len() {
            regions.list[index].has_holes = regions.find_holes(index);
        }
        regions
    }

    /// Gives every larger table a region, the largest tables first.
    fn place_tables(&mut self, base: &BaseModel) {
        let variables = base.variables();
        let mut larger: Vec<usize> = (variables..base.tables.len()).collect();
        larger.sort_by_key(|&t| (std::cmp::Reverse(base.tables[t].scope.len()), t));
        let mut homes = vec![None; base.tables.len() - variables];
        for table in larger {
            let (scope, potentials) =
                (&base.tables[table].scope, &base.tables[table].log_potentials);
            homes[table - variables] = Some(match self.region_over(scope) {
                Some(region) => {
                    let outer = &self.list[region];
                    let strides = strides_within(scope, &outer.scope, &self.cardinalities);
                    let mut cells = Vec::with_capacity(outer.cells);
                    walk(&outer.shape, &strides, |cell| cells.push(cell));
                    let target = &mut self.region_potentials[outer.range()];
                    target.iter_mut().zip(&cells).for_each(|(sum, &cell)| *sum += potentials[cell]);
                    Home::Part(region, cells)
                }
                None => {
                    self.region_potentials.extend(potentials.iter());
                    Home::Whole(self.add_region(scope, potentials.len()))
                }
            });
        }
        self.homes.extend(homes.into_iter().flatten());
    }

    fn add_region(&mut self, scope: &[usize], cells: usize) -> usize {
        let shape: Vec<usize> = scope.iter().map(|&v| self.cardinalities[v]).collect();
        let mut messages = Vec::with_capacity(scope.len());
        for (axis, (&variable, &states)) in scope.iter().zip(&shape).enumerate() {
            messages.push(self.entries);
            self.entries += states;
            self.around[variable].push((self.list.len(), axis));
        }
        let start = self.cells;
        self.cells += cells;
        let scope = scope.to_vec();
        self.list.push(Region { scope, shape, start, cells, messages, has_holes: false });
        self.list.len() - 1
    }

    /// A region that holds all variables of a scope.
    fn region_over(&self, scope: &[usize]) -> Option<usize> {
        let rarest = scope.iter().min_by_key(|&&v| self.around[v].len())?;
        let holds =
            |region: usize| scope.iter().all(|v| self.list[region].scope.binary_search(v).is_ok());
        self.around[*rarest].iter().map(|&(region, _)| region).find(|&region| holds(region))
    }

    /// Removes states that fit no cell of some region, and cells with a removed state, until
    /// nothing changes.
    fn rule_out_impossible(&mut self) {
        let mut waiting: Vec<usize> = (0..self.list.len()).collect();
        let mut is_waiting = vec![true; self.list.len()];
        while let Some(index) = waiting.pop() {
            is_waiting[index] = false;
            for variable in self.revise(index) {
                for &(other, _) in &self.around[variable] {
                    if !std::mem::replace(&mut is_waiting[other], true) {
                        waiting.push(other);
                    }
                }
            }
        }
        let possible = |v: usize| {
            let states = &self.node_potentials[self.nodes[v]..self.nodes[v + 1]];
            states.iter().any(|p| *p > f64::NEG_INFINITY)
        };
        self.is_empty = !(0..self.cardinalities.len()).all(possible);
    }

    /// Makes one region and its variables agree on what is possible. Returns the variables that
    /// lost a state.
    fn revise(&mut self, index: usize) -> Vec<usize> {
        let region = &self.list[index];
        let potentials = &mut self.region_potentials[region.range()];
        for (axis, &variable) in region.scope.iter().enumerate() {
            let states = &self.node_potentials[self.nodes[variable]..];
            region.runs(axis, |cells, state| {
                if states[state] == f64::NEG_INFINITY {
                    potentials[cells].fill(f64::NEG_INFINITY);
                }
            });
        }
        let mut changed = Vec::new();
        for (axis, &variable) in region.scope.iter().enumerate() {
            let mut fits = vec![false; region.shape[axis]];
            region.runs(axis, |cells, state| {
                fits[state] |= potentials[cells].iter().any(|p| *p > f64::NEG_INFINITY);
            });
            let states = &mut self.node_potentials[self.nodes[variable]..self.nodes[variable + 1]];
            let mut lost = false;
            for (potential, fits) in states.iter_mut().zip(fits) {
                if !fits && *potential > f64::NEG_INFINITY {
                    (*potential, lost) = (f64::NEG_INFINITY, true);
                }
            }
            if lost {
                changed.push(variable);
            }
        }
        changed
    }

    fn find_holes(&self, index: usize) -> bool {
        let region = &self.list[index];
        let mut possible = vec![true; region.cells];
        for (axis, &variable) in region.scope.iter().enumerate() {
            let states = &self.node_potentials[self.nodes[variable]..];
            region.runs(axis, |cells, state| {
                if states[state] == f64::NEG_INFINITY {
                    possible[cells].fill(false);
                }
            });
        }
        let potentials = &self.region_potentials[region.range()];
        potentials.iter().zip(possible).any(|(p, possible)| possible && *p == f64::NEG_INFINITY)
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.cardinalities.len()
    }

    /// The states of a variable among those of all.
    pub fn states(&self, variable: usize) -> std::ops::Range<usize> {
        self.nodes[variable]..self.nodes[variable + 1]
    }

    /// The score of a configuration under some potentials.
    pub fn score(&self, nodes: &[f64], regions: &[f64], assignment: &[usize]) -> f64 {
        let alone = (0..self.variables()).map(|v| nodes[self.nodes[v] + assignment[v]]);
        let together = self.list.iter().map(|region| {
            let strides = row_major_strides(&region.shape);
            let states = region.scope.iter().zip(strides);
            let cell: usize = states.map(|(&v, stride)| assignment[v] * stride).sum();
            regions[region.start + cell]
        });
        alone.sum::<f64>() + together.sum::<f64>() + self.constant
    }
}
