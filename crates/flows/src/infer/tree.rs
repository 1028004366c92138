use bethe_core::model::BaseModel;
use bethe_core::oracle::{Limits, OracleKind, Tables, bind};
use bethe_core::solve::{Observer, Task, solve};
use bethe_core::{Cancel, Model, Settings, Solution};

use super::{FlowError, cells_after, check_time, first_cells};
use crate::data::Observations;
use crate::energy::{Counts, Noise};
use crate::model::Moves;

/// Counts of a population whose routes branch. A node (a time, a stage, a stretch of a river)
/// follows another, and several may follow one. Every individual has a cell at each node.
///
/// The energy is that of chains; the oracle is a junction tree over dense tables, for small trees.
#[derive(Clone, Debug)]
pub struct TreeProblem<'a> {
    /// The node that each one follows, with a smaller number; the first follows none. `[nodes]`
    pub parents: &'a [Option<usize>],
    /// The possible moves from the parent of each node to it, as the steps of these moves; what the
    /// first node has does not matter.
    pub moves: &'a Moves,
    /// Log-potentials of the first node's cells, `-∞` to forbid a cell; equal if `None`.
    pub start: Option<&'a [f64]>,
    /// The counts, with one time per node.
    pub observations: &'a Observations,
    /// The distribution of counts.
    pub noise: &'a Noise,
    /// How many individuals there are.
    pub population: f64,
    /// Stops the search, also while it is being set up.
    pub cancel: Cancel,
}

/// The movement over a tree.
#[derive(Clone, Debug)]
pub struct TreeFlows {
    /// How it was found, with its certificate.
    pub solution: Solution,
    /// Expected numbers of individuals. `[nodes][cells]`
    pub counts: Vec<f64>,
    /// Expected numbers of moves from the parent's cells to a node's, nothing for the first node.
    /// `[nodes][from][to]`
    pub flows: Vec<Vec<f64>>,
}

impl TreeProblem<'_> {
    /// Finds the most likely movement of the population.
    ///
    /// # Panics
    /// If there is not one parent per time of the observations, or a node other than the first has
    /// no parent with a smaller number.
    pub fn solve(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<TreeFlows, FlowError> {
        self.check_tree();
        self.check_counts()?;
        let Counts { mut energies, mut scores } =
            Counts::new(self.observations, self.noise, self.population);
        let start = self.start.unwrap_or_default();
        scores.iter_mut().zip(start).for_each(|(score, start)| *score += start);
        let base = BaseModel::new(&self.model(&scores)?, [])?;
        let cancel = self.cancel.child();
        let limits = Limits { cancel: cancel.clone(), ..Limits::default() };
        let mut oracle = bind(OracleKind::Exact, &base, energies.support(), &limits)?.oracle;
        let task = Task { cancel, ..Task::new(oracle.as_mut(), &mut energies) };
        let solution = solve(task, settings, observer)?;
        let mut tables = Vec::with_capacity(base.tables.len());
        match &solution.averaged_tables {
            Some(averaged) => {
                let mut rest = &averaged[..];
                for table in &base.tables {
                    let (own, after) = rest.split_at(table.log_potentials.len());
                    tables.push(own.to_vec());
                    rest = after;
                }
            }
            None => oracle.visit_marginals(Tables::All, &mut |_, own| tables.push(own.to_vec())),
        }
        let number = |share: f64| share * self.population;
        tables.iter_mut().flatten().for_each(|share| *share = number(*share));
        let mut moved = tables.split_off(self.parents.len()).into_iter();
        let flows = self.parents.iter().map(|parent| match parent {
            Some(_) => moved.next().expect("a table for each edge"),
            None => Vec::new(),
        });
        Ok(TreeFlows { flows: flows.collect(), counts: tables.concat(), solution })
    }

    /// One variable per node, with a table to its parent.
    fn model(&self, scores: &[f64]) -> Result<Model, FlowError> {
        let cells = self.observations.cells();
        if cells < 2 {
            return Err(FlowError::OneCell);
        }
        let mut model = Model::new(&vec![cells; self.parents.len()])?;
        for (node, parent) in self.parents.iter().enumerate() {
            model.add_factor(&[node], &scores[node * cells..][..cells])?;
            let Some(parent) = *parent else { continue };
            let table = &self.moves.tables[self.moves.of_step[node]];
            let mut dense = vec![f64::NEG_INFINITY; cells * cells];
            for from in 0..cells {
                let (to, log_potentials) = table.row(from);
                for (&to, &value) in to.iter().zip(log_potentials) {
                    dense[from * cells + to as usize] = value;
                }
            }
            model.add_factor(&[parent, node], &dense)?;
        }
        Ok(model)
    }

    fn check_tree(&self) {
        assert_eq!(self.parents.len(), self.observations.times().len(), "a parent for each node");
        for (node, parent) in self.parents.iter().enumerate() {
            let fits = if node == 0 { parent.is_none() } else { parent.is_some_and(|p| p < node) };
            assert!(fits, "node {node} follows {parent:?}");
        }
    }

    fn check_counts(&self) -> Result<(), FlowError> {
        let mut possible: Vec<Vec<bool>> = Vec::with_capacity(self.parents.len());
        for (node, parent) in self.parents.iter().enumerate() {
            possible.push(match parent {
                Some(parent) => cells_after(self.moves, node, &possible[*parent]),
                None => first_cells(self.start, self.observations.cells()),
            });
            check_time(self.observations, self.noise, node, &possible[node])?;
        }
        Ok(())
    }
}
