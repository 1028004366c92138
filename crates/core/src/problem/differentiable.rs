//! The derivative of an answer, in the words of the problem.

use super::apart::{Apart, Lies, Linear};
use super::solving::scopes;
use super::{Answer, Problem, Request, TableAnswer};
use crate::derivative::{DerivativeError, RowGradients};
use crate::energy::{Energy, Penalty, StatedRow};
use crate::oracle::{Limits, Tables};
use crate::solve::{Observer, Settings, SolveError};

/// An answer that can be differentiated again and again.
pub struct Differentiable {
    answer: Answer,
    apart: Apart,
    energies: Vec<Energy>,
    /// Which rows each measurement of each energy became. `[energies][measurements]`
    rows: Vec<Vec<StatedRow>>,
    /// What gradients in potentials are given for.
    shown: Vec<Vec<usize>>,
}

/// The gradient of `Σ ⟨v, μ*⟩` in all numbers of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// In log-potentials: for each of the answer's marginals, in what is added to a table over its
    /// variables. An answer without marginals has those of the tables that energies read.
    pub potentials: Vec<TableAnswer>,
    /// `[energies]`
    pub energies: Vec<EnergyGradients>,
    /// Energies at the border of what they can do, such as a limit that just holds and pulls at
    /// nothing. If there are any, all gradients are one-sided.
    pub ties: Vec<usize>,
    /// Energies that hold what others hold as well: gradients in their offsets, targets and
    /// coefficients apply where all of them move together, and exist for one alone on one side at
    /// most.
    pub repeated: Vec<usize>,
}

/// The gradient in the numbers of one energy.
#[derive(Clone, Debug, PartialEq)]
pub enum EnergyGradients {
    /// The gradient of an [`Energy::Measurement`].
    Measurement {
        /// In its weight; 0 if it is hard.
        weight: f64,
        /// In its offset.
        offset: f64,
        /// In the coefficients of its terms. `[terms][cells]`
        coefficients: Vec<Vec<f64>>,
    },
    /// The gradient of an [`Energy::TableMeasurement`].
    TableMeasurement {
        /// In its weight; 0 if it is hard.
        weight: f64,
        /// In each cell of its target. `[cells]`
        target: Vec<f64>,
        /// In what marginals are multiplied by.
        total: f64,
    },
    /// Other energies that are linear or convex measurements in disguise: not given.
    Other,
}

impl Problem {
    /// Solves the problem as [`Problem::solve_with`] does, and keeps what it takes to differentiate
    /// the answer. Inference is exact.
    ///
    /// ```
    /// use bethe_core::problem::{EnergyGradients, TableAnswer};
    /// use bethe_core::solve::Ignore;
    /// use bethe_core::{Energy, Model, Problem, Request, Settings, count};
    ///
    /// let mut model = Model::new(&[2, 2, 2])?;
    /// model.add_factor(&[0, 1], &[1.0, 0.0, 0.0, 1.0])?;
    /// model.add_factor(&[1, 2], &[1.0, 0.0, 0.0, 1.0])?;
    /// let ups = count(&model, [(0, 1), (1, 1), (2, 1)])?;
    /// let problem = Problem::new(model, vec![Energy::squared(20.0, 1.0, ups)])?;
    /// let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    /// let mut solved = problem.solve_differentiable(&settings, &Request::default(), &mut Ignore)?;
    /// // How P(first is up) changes with everything.
    /// let v = TableAnswer { scope: vec![0], values: vec![0.0, 1.0] };
    /// let gradients = solved.pullback(&[v])?;
    /// assert!(gradients.potentials[0].values[1] > 0.0);
    /// let EnergyGradients::Measurement { offset, .. } = &gradients.energies[0] else { panic!() };
    /// assert!(*offset < 0.0); // the offset is minus the target
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Problem::solve_with`], and if the request is not for exact inference.
    /// [`Differentiable::pullback`] says whether the answer has a derivative.
    pub fn solve_differentiable(
        &self,
        settings: &Settings,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Differentiable, SolveError> {
        let request = request.exact()?;
        let solved = self.run(settings, &request, true, observer)?;
        let base = &solved.bound.base;
        let shown: Vec<Vec<usize>> = match request.marginals {
            Tables::None => {
                let blocks = solved.bound.energies.support().blocks().iter();
                let tables = blocks.flat_map(|block| &block.tables);
                let scope = |&table: &usize| base.tables[table].scope.iter();
                let stated = |table| scope(table).map(|&v| base.origin()[v]).collect();
                tables.map(stated).collect()
            }
            tables => scopes(self.model(), tables),
        };
        let tables: Vec<usize> = shown.iter().filter_map(|scope| base.table_of(scope)).collect();
        let limits = Limits { memory: request.memory_limit, cancel: request.cancel.clone() };
        let apart = Apart::new(&solved, self, &tables, &limits)?;
        let stated = self.energies().iter().enumerate();
        let rows = stated
            .map(|(index, energy)| apart.energies.stated_rows(&apart.base, index, energy))
            .collect();
        let answer = solved.answer(self, &request)?;
        Ok(Differentiable { answer, apart, energies: self.energies().to_vec(), rows, shown })
    }
}

impl Differentiable {
    /// The answer.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer alone.
    pub fn into_answer(self) -> Answer {
        self.answer
    }

    /// The gradient of `Σ ⟨v, μ*⟩` over some tables `v`, such as a loss has in the answer's
    /// marginals. Costs two products with the covariance, about two oracle calls, once the active
    /// measurements have cost one each.
    ///
    /// # Errors
    /// If the answer is not proved, or the energies are not convex measurements; if `v` has a table
    /// that the answer lacks.
    pub fn pullback(&mut self, v: &[TableAnswer]) -> Result<Gradients, DerivativeError> {
        let direction = self.direction(v)?;
        let Apart { derivative, oracle, .. } = &mut self.apart;
        let derivative = derivative.as_ref().map_err(Clone::clone)?;
        let found = derivative.pullback(oracle.as_mut(), &direction)?;
        let energy_of = |row: &usize| {
            let is_own = |own: &StatedRow| own.row == *row || own.negated == Some(*row);
            self.rows.iter().position(|rows| rows.iter().any(is_own))
        };
        let named = |rows: &mut dyn Iterator<Item = usize>| {
            let mut energies: Vec<usize> = rows.filter_map(|row| energy_of(&row)).collect();
            energies.sort_unstable();
            energies.dedup();
            energies
        };
        let ties = named(&mut derivative.ties());
        let repeated = named(&mut derivative.repeated().iter().copied());
        let energies = (0..self.energies.len()).map(|index| self.energy(index, &found)).collect();
        let potentials = self.shown.iter().map(|scope| self.table(scope, &found)).collect();
        Ok(Gradients { potentials, energies, ties, repeated })
    }

    /// Tables as a vector on the support.
    fn direction(&self, v: &[TableAnswer]) -> Result<Vec<f64>, DerivativeError> {
        let Apart { base, energies, .. } = &self.apart;
        let variables = self.answer.map.assignment.len();
        let mut direction = vec![0.0; energies.support().len()];
        for TableAnswer { scope, values } in v {
            let unknown = || DerivativeError::UnknownTable { scope: scope.clone() };
            if scope.iter().any(|&v| v >= variables) {
                return Err(unknown());
            }
            let map = base.locate(scope).ok_or_else(unknown)?;
            let (expected, found) = (map.cells(), values.len());
            if found != expected {
                return Err(DerivativeError::WrongSize { scope: scope.clone(), expected, found });
            }
            let Some(table) = map.table else { continue };
            let start = self.apart.start(table).ok_or_else(unknown)?;
            let cells = base.tables[table].log_potentials.len();
            let own = direction[start..start + cells].iter_mut();
            own.zip(map.gather(values, cells)).for_each(|(sum, value)| *sum += value);
        }
        Ok(direction)
    }

    /// The gradient in a table over some variables.
    fn table(&self, scope: &[usize], found: &RowGradients) -> TableAnswer {
        let Apart { base, .. } = &self.apart;
        let map = base.locate(scope).expect("the scope of a shown table");
        let own = map.table.and_then(|table| {
            let start = self.apart.start(table)?;
            Some(&found.potentials[start..start + base.tables[table].log_potentials.len()])
        });
        let values = own.map_or_else(|| vec![0.0; map.cells()], |own| map.scatter(own));
        TableAnswer { scope: scope.to_vec(), values }
    }

    fn energy(&self, index: usize, found: &RowGradients) -> EnergyGradients {
        let (apart, rows) = (&self.apart, &self.rows[index]);
        match &self.energies[index] {
            Energy::Measurement { penalty, offset, terms, .. } => {
                let (measured, row) = (apart.terms(terms), rows.first().copied());
                let stated = Stated { measured, offset: *offset, penalty: *penalty, row };
                let coefficients = terms.iter().map(|term| {
                    let places = apart.places(&term.scope).into_iter();
                    places.map(|at| stated.coefficient(at, found)).collect()
                });
                EnergyGradients::Measurement {
                    weight: stated.weight(&apart.marginals, found),
                    offset: stated.shift(found),
                    coefficients: coefficients.collect(),
                }
            }
            Energy::TableMeasurement { penalty, scope, target, total, .. } => {
                let (mut weight, mut in_target, mut in_total) = (0.0, Vec::new(), 0.0);
                for (cell, (at, target)) in apart.places(scope).into_iter().zip(target).enumerate()
                {
                    let (measured, row) = (Linear::cell(at, *total), rows.get(cell).copied());
                    let stated = Stated { measured, offset: -target, penalty: *penalty, row };
                    weight += stated.weight(&apart.marginals, found);
                    in_target.push(0.0 - stated.shift(found));
                    in_total += stated.coefficient(at, found);
                }
                EnergyGradients::TableMeasurement { weight, target: in_target, total: in_total }
            }
            Energy::Product { .. } | Energy::Nearest { .. } | Energy::Custom(_) => {
                EnergyGradients::Other
            }
        }
    }
}

/// One measurement as it was stated.
struct Stated {
    measured: Linear,
    offset: f64,
    penalty: Penalty,
    /// None without a weight.
    row: Option<StatedRow>,
}

impl Stated {
    fn weight(&self, marginals: &[f64], found: &RowGradients) -> f64 {
        match (self.row, self.penalty) {
            (_, penalty) if penalty.is_hard() => 0.0,
            // Bound as a linear penalty of this many times the weight.
            (Some(own), Penalty::Poisson { rate, count: 0.0 }) => rate * found.weights[own.row],
            (Some(own), _) => found.weights[own.row],
            // What a little weight would do.
            (None, penalty) => {
                let Linear { constant, .. } = self.measured;
                let z = self.measured.along(marginals) + constant + self.offset;
                0.0 - penalty.derivative(z) * self.measured.along(&found.potentials)
            }
        }
    }

    /// The gradient in the offset.
    fn shift(&self, found: &RowGradients) -> f64 {
        let Some(StatedRow { row, negated }) = self.row else { return 0.0 };
        found.offsets[row] - negated.map_or(0.0, |negated| found.offsets[negated])
    }

    /// The gradient in the coefficient of a cell.
    fn coefficient(&self, at: Lies, found: &RowGradients) -> f64 {
        let Some(StatedRow { row, negated }) = self.row else { return 0.0 };
        match at {
            Lies::Impossible => 0.0,
            Lies::Certain => self.shift(found),
            Lies::At(coordinate) => {
                let of = |row: usize| found.coefficient(row, coordinate);
                of(row) - negated.map_or(0.0, of)
            }
        }
    }
}
