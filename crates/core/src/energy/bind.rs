use std::ops::Range;

use super::agreement::Lay;
use super::custom::{BoundCustom, Coordinate};
use super::layout::{CellRow, Layout, LinearRow, linear_rows, whole_tables};
use super::squared_tables::MeasuredTable;
use super::{
    Curvature, Energy, EnergyFunction, Measurements, Nearest, Penalty, Product, Rows, Valued,
};
use crate::model::table::row_major_strides;
use crate::model::{BaseModel, CellMap};
use crate::support::Support;

/// The sum of all energies, bound to a base model, in support coordinates.
pub struct Energies {
    support: Support,
    /// Convex measurements, which have a dual.
    pub measurements: Measurements,
    /// Minima of convex pieces.
    pub nearest: Vec<Nearest>,
    /// Energies known only by value and gradient.
    pub others: Vec<Box<dyn EnergyFunction>>,
    /// Where each stated energy went. `[energies]`
    pub(super) slots: Vec<Slot>,
    /// Rows that say that the `z` of the row before is not negative, ascending.
    pub(super) negated: Vec<usize>,
    /// The measurements that are of whole tables.
    pub(super) tables: Vec<MeasuredTable>,
}

/// Where a stated energy went.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Rows(Range<usize>),
    Nearest(usize),
    Other(usize),
    /// Measurements of negative weight, which are among the others.
    Negative(usize, Box<Measurements>),
}

impl Energies {
    /// Binds checked energies to a base model that has a table for every scope they name
    /// ([`Energies::scopes`]).
    ///
    /// Tables that all energies read with the same linear coefficients share one block: a count
    /// over positions has one coordinate per state, for any number of positions.
    pub fn bind(base: &BaseModel, energies: &[Energy]) -> Self {
        Self::bind_to(base, energies, whole_tables(base, energies))
    }

    /// The same with a block of its own for every table that the energies read, and for `others`.
    /// The rows are those of [`Energies::bind`].
    pub(crate) fn bind_apart(base: &BaseModel, energies: &[Energy], others: &[usize]) -> Self {
        let scopes = Self::scopes(energies).filter_map(|scope| base.table_of(scope));
        let products = energies.iter().flat_map(|energy| match energy {
            Energy::Product { scope, .. } => &scope[..],
            _ => &[],
        });
        let nodes = products.filter_map(|&v| base.table_of(&[v]));
        let mut tables: Vec<usize> = scopes.chain(nodes).chain(others.iter().copied()).collect();
        tables.sort_unstable();
        tables.dedup();
        Self::bind_to(base, energies, tables)
    }

    /// Binds energies; each of the `whole` tables has a block of its own.
    fn bind_to(base: &BaseModel, energies: &[Energy], whole: Vec<usize>) -> Self {
        let linear: Vec<LinearRow> = energies.iter().flat_map(|e| linear_rows(base, e)).collect();
        let mut layout = Layout::new(base, &linear, whole);
        let mut bound = Self {
            support: std::mem::take(&mut layout.support),
            measurements: Measurements::default(),
            nearest: Vec::new(),
            others: Vec::new(),
            slots: Vec::with_capacity(energies.len()),
            negated: Vec::new(),
            tables: Vec::new(),
        };
        let mut linear = linear.into_iter();
        for energy in energies {
            let slot = bound.add(base, &layout, energy, &mut linear);
            bound.slots.push(slot);
        }
        bound
    }

    /// Measurements whose rows are already in coordinates of `support`.
    pub fn of_measurements(support: Support, measurements: Measurements) -> Self {
        let slots = (0..measurements.len()).map(|row| Slot::Rows(row..row + 1)).collect();
        let (nearest, others, negated) = (Vec::new(), Vec::new(), Vec::new());
        Self { support, measurements, nearest, others, slots, negated, tables: Vec::new() }
    }

    /// One `nearest` energy whose rows are already in coordinates of `support`.
    pub fn of_nearest(support: Support, nearest: Nearest) -> Self {
        Self {
            support,
            measurements: Measurements::default(),
            nearest: vec![nearest],
            others: Vec::new(),
            slots: vec![Slot::Nearest(0)],
            negated: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// The scopes for which the base model needs a table, over model variables.
    pub fn scopes(energies: &[Energy]) -> impl Iterator<Item = &[usize]> {
        energies.iter().flat_map(|energy| -> Box<dyn Iterator<Item = &[usize]>> {
            match energy {
                Energy::Measurement { terms, .. } => Box::new(terms.iter().map(|t| &t.scope[..])),
                Energy::TableMeasurement { scope, .. } => Box::new([&scope[..]].into_iter()),
                Energy::Nearest { measurements, .. } => {
                    Box::new(measurements.iter().flatten().map(|t| &t.scope[..]))
                }
                Energy::Custom(custom) => Box::new(custom.scopes.iter().map(|s| &s[..])),
                Energy::Product { .. } => Box::new(std::iter::empty()),
            }
        })
    }

    /// What the energies read.
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// `L(μ)`; the gradient there overwrites `gradient`.
    pub fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        self.evaluate_sized(marginals, gradient).value
    }

    /// The same, with what its rounding follows; energies that are not measurements count as exact
    /// as their values.
    pub fn evaluate_sized(&mut self, marginals: &[f64], gradient: &mut [f64]) -> Valued {
        gradient.fill(0.0);
        let mut all = self.measurements.evaluate_sized(marginals, gradient);
        let mut add = |value: f64| {
            all = Valued { value: all.value + value, size: all.size + value.abs() };
        };
        for nearest in &mut self.nearest {
            add(nearest.evaluate(marginals, gradient));
        }
        add(self.evaluate_others(marginals, gradient));
        all
    }

    /// The part of `L(μ)` known only by value and gradient; its gradient is added.
    pub fn evaluate_others(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        self.others.iter_mut().map(|other| other.evaluate(marginals, gradient)).sum()
    }

    /// The value of each stated energy, in the order they were stated.
    pub fn values(&mut self, marginals: &[f64]) -> Vec<f64> {
        let mut unused = vec![0.0; self.support.len()];
        let (measurements, nearest, others) =
            (&self.measurements, &mut self.nearest, &mut self.others);
        let value = |slot: &Slot| match slot {
            Slot::Rows(rows) => rows.clone().map(|row| measurements.value(row, marginals)).sum(),
            Slot::Nearest(index) => nearest[*index].lowest_piece(marginals).1,
            Slot::Other(index) | Slot::Negative(index, _) => {
                others[*index].evaluate(marginals, &mut unused)
            }
        };
        self.slots.iter().map(value).collect()
    }

    /// What is known about the curvature of the sum.
    pub fn curvature(&self) -> Curvature {
        let mut infimum = 0.0;
        let parts = (self.nearest.iter().map(EnergyFunction::curvature))
            .chain(self.others.iter().map(|o| o.curvature()))
            .chain([self.measurements.curvature()]);
        for part in parts {
            match part {
                Curvature::Convex { infimum: own } => infimum += own,
                Curvature::Unknown => return Curvature::Unknown,
            }
        }
        Curvature::Convex { infimum }
    }

    /// Whether some energy known only by value and gradient is convex with kinks.
    pub fn has_convex_kinks(&self) -> bool {
        let mut others = self.others.iter();
        others.any(|o| !o.is_smooth() && matches!(o.curvature(), Curvature::Convex { .. }))
    }

    /// Whether every measurement stays within the range of a double.
    pub fn is_finite(&self) -> bool {
        self.measurements.is_finite() && self.nearest.iter().all(Nearest::is_finite)
    }

    /// Whether the gradient is continuous where the value is finite.
    pub fn is_smooth(&self) -> bool {
        self.measurements.is_smooth()
            && self.nearest.iter().all(EnergyFunction::is_smooth)
            && self.others.iter().all(|o| o.is_smooth())
    }

    fn add(
        &mut self,
        base: &BaseModel,
        layout: &Layout,
        energy: &Energy,
        linear: &mut impl Iterator<Item = LinearRow>,
    ) -> Slot {
        let mut next = || linear.next().expect("one linear row per stated measurement");
        match energy {
            Energy::Measurement { weight, penalty, .. } => {
                let row = next();
                if *weight < 0.0 && !penalty.is_hard() && *penalty != Penalty::Linear {
                    let mut alone = Measurements::default();
                    layout.push(&row, base, alone.rows_mut());
                    alone.push(*weight, *penalty);
                    return self.add_negative(alone);
                }
                let first = self.measurements.len();
                if *weight != 0.0 {
                    layout.push(&row, base, self.measurements.rows_mut());
                    self.add_convex(*weight, *penalty);
                }
                Slot::Rows(first..self.measurements.len())
            }
            Energy::TableMeasurement { .. } => self.add_table(base, layout, energy),
            Energy::Product { scope, log_potentials } => {
                self.add_product(base, layout, scope, log_potentials)
            }
            Energy::Nearest { weight, norm, cap, measurements, points } => {
                let mut rows = Rows::default();
                measurements.iter().for_each(|_| layout.push(&next(), base, &mut rows));
                self.add_nearest(Nearest {
                    measured: vec![0.0; rows.len()],
                    rows,
                    points: points.clone(),
                    weight: *weight,
                    norm: *norm,
                    cap: *cap,
                })
            }
            Energy::Custom(custom) => {
                let coordinates: Vec<Coordinate> = custom
                    .scopes
                    .iter()
                    .flat_map(|scope| {
                        let map = base.locate(scope).expect("every scope was added to the model");
                        let start = map.table.map(|table| layout.start[table]);
                        map.places().into_iter().map(move |place| Coordinate::new(start, place))
                    })
                    .collect();
                let cells = coordinates.len();
                self.add_other(Box::new(BoundCustom {
                    energy: custom.clone(),
                    coordinates,
                    marginals: vec![0.0; cells],
                    gradient: vec![0.0; cells],
                }))
            }
        }
    }

    /// Adds a measurement per cell: as a table if every cell can have a probability, else one by
    /// one.
    fn add_table(&mut self, base: &BaseModel, layout: &Layout, energy: &Energy) -> Slot {
        let Energy::TableMeasurement { weight, penalty, scope, target, total } = energy else {
            unreachable!("the caller saw what it is");
        };
        let map = base.locate(scope).expect("every scope was added to the model");
        let negative = *weight < 0.0 && !penalty.is_hard() && *penalty != Penalty::Linear;
        let first = self.measurements.len();
        if *weight == 0.0 {
            return Slot::Rows(first..first);
        }
        let mut alone = Measurements::default();
        if is_whole(base, &map, *penalty) {
            let offsets: Vec<f64> =
                map.gather(target, target.len()).into_iter().map(|value| -value).collect();
            let into = if negative { &mut alone } else { &mut self.measurements };
            let table = map.table.expect("a whole table");
            let start = layout.start[table];
            into.rows_mut().push_table(start, *total, &offsets);
            into.push_table(*weight, *penalty);
            if !negative {
                let scope = base.tables[table].scope.clone();
                let shape = scope.iter().map(|&v| base.cardinalities[v]).collect();
                let rows = first..self.measurements.len();
                self.tables.push(MeasuredTable { rows, lay: Lay { start, scope, shape } });
            }
        } else {
            for (&value, &cell) in target.iter().zip(&map.places()) {
                let into = if negative { &mut alone } else { &mut self.measurements };
                let row = CellRow { table: map.table, cell, multiple: *total, offset: -value };
                layout.push_cell(base, row, into.rows_mut());
                if negative {
                    alone.push(*weight, *penalty);
                } else {
                    self.add_convex(*weight, *penalty);
                }
            }
        }
        if negative {
            return self.add_negative(alone);
        }
        Slot::Rows(first..self.measurements.len())
    }

    /// Adds the penalty on the row just pushed. Without a count, Poisson is linear on `z ≥ 0`.
    fn add_convex(&mut self, weight: f64, penalty: Penalty) {
        let Penalty::Poisson { rate, count: 0.0 } = penalty else {
            self.measurements.push(weight, penalty);
            return;
        };
        self.measurements.push(weight * rate, Penalty::Linear);
        let row = self.measurements.len() - 1;
        let (low, high) = self.measurements.rows().range(row);
        if low < 0.0 {
            let offset = self.measurements.rows().offset(row);
            let negated: Vec<(usize, f64)> =
                self.measurements.rows().entries(row).map(|(c, a)| (c, -a)).collect();
            self.measurements.rows_mut().push(negated, &[-offset], (-high, -low));
            self.measurements.push(1.0, Penalty::AtMost);
            self.negated.push(row + 1);
        }
    }

    /// Fixed variables leave the product; over one variable, or none, it is a linear measurement.
    fn add_product(
        &mut self,
        base: &BaseModel,
        layout: &Layout,
        scope: &[usize],
        log_potentials: &[f64],
    ) -> Slot {
        let maps: Vec<CellMap> = scope
            .iter()
            .map(|&v| base.locate(&[v]).expect("every variable has a node table"))
            .collect();
        let shape: Vec<usize> = maps.iter().map(CellMap::cells).collect();
        let places: Vec<Vec<Option<usize>>> = maps.iter().map(CellMap::places).collect();
        let strides = row_major_strides(&shape);
        let is_possible = |cell: &usize| {
            let state = |axis: usize| cell / strides[axis] % shape[axis];
            places.iter().enumerate().all(|(axis, places)| places[state(axis)].is_some())
        };
        let kept = (0..log_potentials.len()).filter(is_possible);
        let log_potentials: Vec<f64> = kept.map(|cell| log_potentials[cell]).collect();
        let free: Vec<usize> = maps.iter().filter_map(|map| map.table).collect();
        if let [] | [_] = free[..] {
            let costs: Vec<f64> = log_potentials.iter().map(|v| -v).collect();
            let row = match free.first() {
                Some(&table) => {
                    LinearRow { tables: vec![(table, costs)], offset_parts: Vec::new() }
                }
                None => LinearRow { tables: Vec::new(), offset_parts: costs },
            };
            layout.push(&row, base, self.measurements.rows_mut());
            self.measurements.push(1.0, Penalty::Linear);
            return Slot::Rows(self.measurements.len() - 1..self.measurements.len());
        }
        let starts = free.iter().map(|&table| layout.start[table]).collect();
        let shape = free.iter().map(|&table| base.cardinalities[table]).collect();
        self.add_other(Box::new(Product::new(starts, shape, log_potentials)))
    }

    fn add_nearest(&mut self, nearest: Nearest) -> Slot {
        if nearest.weight == 0.0 || nearest.weight > 0.0 && nearest.pieces() == 1 {
            let first = self.measurements.len();
            if nearest.weight > 0.0 {
                nearest.add_piece(0, &mut self.measurements);
            }
            return Slot::Rows(first..self.measurements.len());
        }
        if nearest.weight < 0.0 {
            return self.add_other(Box::new(nearest));
        }
        self.nearest.push(nearest);
        Slot::Nearest(self.nearest.len() - 1)
    }

    fn add_negative(&mut self, measurements: Measurements) -> Slot {
        self.others.push(Box::new(measurements.clone()));
        Slot::Negative(self.others.len() - 1, Box::new(measurements))
    }

    fn add_other(&mut self, other: Box<dyn EnergyFunction>) -> Slot {
        self.others.push(other);
        Slot::Other(self.others.len() - 1)
    }
}

/// Whether a measured table is bound as one: every cell can have a probability, and a row of its own
/// is enough for it.
pub(super) fn is_whole(base: &BaseModel, map: &CellMap, penalty: Penalty) -> bool {
    let possible = |table: usize| base.tables[table].log_potentials.iter().all(|v| v.is_finite());
    map.is_free()
        && map.table.is_some_and(possible)
        && !matches!(penalty, Penalty::Poisson { count: 0.0, .. })
}
