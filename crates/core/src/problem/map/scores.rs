//! Scores of configurations: the tables of a base model with a tilt in them.

use std::sync::Arc;

use crate::model::BaseModel;
use crate::model::table::row_major_strides;
use crate::support::Support;

/// Tilted tables, and how configurations fall into their cells.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    /// The model whose tables are tilted.
    pub base: BaseModel,
    /// Variables of each table with their strides. `[tables]`
    pub axes: Vec<Vec<Axis>>,
    /// The tables around each variable with its stride there. `[variables]`
    pub around: Vec<Vec<Around>>,
    /// What scores are sums of has this size at most.
    pub size: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub variable: usize,
    pub stride: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub table: usize,
    pub stride: usize,
}

impl Scores {
    pub fn new(base: &BaseModel, support: &Support, tilt: &[f64]) -> Self {
        let mut base = base.clone();
        for block in support.blocks() {
            for &table in &block.tables {
                let cells = Arc::make_mut(&mut base.tables[table].log_potentials).iter_mut();
                cells.zip(&tilt[block.range()]).for_each(|(score, tilt)| *score += tilt);
            }
        }
        let mut around = vec![Vec::new(); base.variables()];
        let mut axes = Vec::with_capacity(base.tables.len());
        for (table, own) in base.tables.iter().enumerate() {
            let shape: Vec<usize> = own.scope.iter().map(|&v| base.cardinalities[v]).collect();
            let strides = row_major_strides(&shape);
            let pairs = own.scope.iter().zip(strides);
            let own: Vec<Axis> =
                pairs.map(|(&variable, stride)| Axis { variable, stride }).collect();
            for axis in &own {
                around[axis.variable].push(Around { table, stride: axis.stride });
            }
            axes.push(own);
        }
        let largest = |scores: &[f64]| {
            let allowed = scores.iter().filter(|score| score.is_finite());
            allowed.map(|score| score.abs()).fold(0.0, f64::max)
        };
        let sizes = base.tables.iter().map(|table| largest(&table.log_potentials));
        let size = base.constant.abs() + sizes.sum::<f64>();
        Self { base, axes, around, size }
    }

    /// The cell of a table that a configuration falls into.
    pub fn cell(&self, table: usize, states: &[usize]) -> usize {
        self.axes[table].iter().map(|axis| states[axis.variable] * axis.stride).sum()
    }

    /// The score of a configuration.
    pub fn of(&self, states: &[usize]) -> f64 {
        let tables = self.base.tables.iter().enumerate();
        let scores = tables.map(|(table, own)| own.log_potentials[self.cell(table, states)]);
        self.base.constant + scores.sum::<f64>()
    }

    /// No allowed configuration scores less.
    pub fn lowest(&self) -> f64 {
        let lowest = |scores: &[f64]| {
            scores.iter().copied().filter(|score| score.is_finite()).fold(f64::INFINITY, f64::min)
        };
        let tables = self.base.tables.iter().map(|table| lowest(&table.log_potentials));
        self.base.constant + tables.sum::<f64>()
    }

    /// Cells of all tables.
    pub fn cells(&self) -> usize {
        self.base.tables.iter().map(|table| table.log_potentials.len()).sum()
    }
}

/// No configuration at `θ + tilt` scores more: the sum of every table's highest.
pub(super) fn sum_of_highest(base: &BaseModel, support: &Support, tilt: &[f64]) -> f64 {
    let block_of = support.block_of_table(base.tables.len());
    let highest = |(table, own): (usize, &crate::model::Table)| {
        let scores = own.log_potentials.iter();
        match block_of[table] {
            None => scores.copied().fold(f64::NEG_INFINITY, f64::max),
            Some(block) => {
                let tilt = &tilt[support.blocks()[block].range()];
                scores.zip(tilt).map(|(s, t)| s + t).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    };
    base.constant + base.tables.iter().enumerate().map(highest).sum::<f64>()
}
