//! Solvers work on the base model and know the support only: what they find is carried back to the
//! stated variables, in the stated order of axes, with observed states filled in.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::answer::{Answer, EnergyAnswer, TableAnswer};
use super::map::Decoding;
use super::{BoundProblem, Problem, Request};
use crate::cancel::{Cancel, Cause};
use crate::energy::Energies;
use crate::model::{BaseModel, CellMap, Model, ModelError};
use crate::oracle::{Exactness, Oracle, OracleKind, Tables};
use crate::solve::{
    Clock, Ignore, Method, Observer, Settings, Solution, SolveError, Status, Task, solve,
};

/// The limits that every attempt at a problem must respect.
#[derive(Clone, Copy)]
struct Ask<'a> {
    settings: &'a Settings,
    clock: Clock,
    needs_tilt: bool,
}

/// A problem, bound and solved.
pub(super) struct Solved {
    pub bound: BoundProblem,
    pub solution: Solution,
    /// Ends what the oracle does to write the answer down.
    pub cancel: Cancel,
    pub clock: Clock,
}

impl Problem {
    /// Solves the problem with the defaults of [`Settings`] and [`Request`].
    ///
    /// ```
    /// let problem = bethe_core::Problem::from_json(br#"{
    ///     "variables": [2],
    ///     "energies": [{"kind": "measurement", "penalty": {"kind": "equal"}, "offset": -0.9,
    ///                   "terms": [{"scope": [0], "coefficients": [0, 1]}]}]
    /// }"#)?;
    /// let answer = problem.solve()?;
    /// assert!((answer.marginal(0)[1] - 0.9).abs() < 1e-5);
    /// assert_eq!(answer.map.assignment, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Problem::solve_with`].
    pub fn solve(&self) -> Result<Answer, SolveError> {
        self.solve_with(&Settings::default(), &Request::default(), &mut Ignore)
    }

    /// Solves the problem and shows every iteration to `observer`.
    ///
    /// # Errors
    /// As [`solve()`], if exact inference was requested and the model is too wide for it, if not
    /// even message passing fits into the memory limit, and [`SolveError::OutOfTime`] if the time
    /// limit passes before there is an answer.
    pub fn solve_with(
        &self,
        settings: &Settings,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SolveError> {
        let needs_tilt = request.potentials || request.covariance.is_some();
        let request = &request.checked()?;
        self.run(settings, request, needs_tilt, observer)?.answer(self, request)
    }

    /// Binds and solves the problem; if the answer needs a tilt, it is not an average of iterates.
    /// [`OracleKind::Auto`] turns to message passing where exact inference does not fit into the memory
    /// limit, or its first call, where message passing may be faster, into half of the time limit.
    pub(super) fn run(
        &self,
        settings: &Settings,
        request: &Request,
        needs_tilt: bool,
        observer: &mut dyn Observer,
    ) -> Result<Solved, SolveError> {
        let clock = Clock::start(settings.time_limit);
        let mut attempt = |oracle: OracleKind, first_end: Option<Instant>| {
            // The oracle looks at it too, and must not once there is an answer to write down.
            let cancel = request.cancel.child();
            cancel.limit(first_end);
            let request = Request { oracle, cancel, ..request.clone() };
            self.attempt(Ask { settings, clock, needs_tilt }, &request, observer)
        };
        if request.oracle != OracleKind::Auto {
            return attempt(request.oracle, clock.end());
        }
        // Message passing saves no time where tables form a forest, and serves no Newton steps.
        let may_relax = settings.method != Method::Newton && !self.is_forest();
        let end = if may_relax { clock.exact_end() } else { clock.end() };
        match attempt(OracleKind::Exact, end) {
            Err(SolveError::OutOfTime) if !may_relax => Err(SolveError::OutOfTime),
            Err(SolveError::OutOfTime | SolveError::Model(ModelError::TooWide { .. })) => {
                attempt(OracleKind::TreeReweighted, clock.end())
            }
            found => found,
        }
    }

    /// Whether the pairs of variables that share a table form a forest, and no table has more than two.
    fn is_forest(&self) -> bool {
        let mut roots: Vec<usize> = (0..self.model.variables().len()).collect();
        let mut seen = FxHashSet::default();
        let factors = self.model.factors().iter().map(|factor| &factor.scope[..]);
        factors.chain(Energies::scopes(&self.energies)).all(|scope| match *scope {
            [] | [_] => true,
            [a, b] if !seen.insert((a.min(b), a.max(b))) => true,
            [a, b] => {
                let [a, b] = [a, b].map(|variable| root(&mut roots, variable));
                roots[a] = b;
                a != b
            }
            _ => false,
        })
    }

    /// Binds and solves the problem with one oracle. The token is its own.
    fn attempt(
        &self,
        ask: Ask,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Solved, SolveError> {
        let Ask { settings, clock, needs_tilt } = ask;
        let cancel = request.cancel.clone();
        let failed = |error: SolveError| match (&error, cancel.cause()) {
            (SolveError::Cancelled | SolveError::OutOfTime, Some(cause)) => clock.error(cause),
            // The time that is left is too short, by estimate.
            (SolveError::Cancelled, None) => clock.error(Cause::Deadline),
            _ => self.blamed(error, request.memory_limit),
        };
        let bound = self.bind_within(request.oracle, &request.limits());
        let mut bound = bound.map_err(|error| failed(error.into()))?;
        let (marginals, allows_average) = (request.marginals, !needs_tilt);
        let task = Task { marginals, allows_average, cancel: cancel.clone(), ..bound.task() };
        let settings = Settings { time_limit: clock.left(), ..settings.clone() };
        let solution = solve(task, &settings, observer).map_err(failed)?;
        clock.wind_up(&cancel);
        Ok(Solved { bound, solution, cancel, clock })
    }
}

impl Solved {
    /// The tilt of each table that has one, and its variables in the model.
    pub fn tilts(&self) -> impl Iterator<Item = (Vec<usize>, &[f64])> {
        let BoundProblem { base, energies, .. } = &self.bound;
        energies.support().blocks().iter().flat_map(move |block| {
            let tilt = &self.solution.tilt[block.range()];
            let tables = block.tables.iter().filter(|_| tilt.iter().any(|&t| t != 0.0));
            tables.map(move |&table| {
                let scope = base.tables[table].scope.iter().map(|&v| base.origin()[v]);
                (scope.collect(), tilt)
            })
        })
    }

    /// The answer in the words of the problem.
    ///
    /// # Errors
    /// If there is no time left to write it down.
    pub fn answer(mut self, problem: &Problem, request: &Request) -> Result<Answer, SolveError> {
        let covariance = self.covariance(problem, request)?;
        let is_tilted = request.potentials && self.solution.status != Status::Infeasible;
        let potentials = is_tilted.then(|| self.potentials(problem.model()));
        let tilt = is_tilted.then(|| {
            let table = |(scope, tilt): (_, &[f64])| TableAnswer { scope, values: tilt.to_vec() };
            self.tilts().map(table).collect()
        });
        let energies = self.energies(problem);
        let Self { bound, solution, cancel, clock } = &mut self;
        let BoundProblem { base, energies: bound_energies, oracle, oracle_name, oracle_bytes } =
            bound;
        let infeasible = solution.status == Status::Infeasible;
        let gap = solution.gap.filter(|_| !infeasible);
        let exactness = oracle.exactness();
        let marginals =
            marginals(problem.model(), base, oracle.as_mut(), solution, request.marginals);
        // A search ends with the time limit; what writes the answer down may be a little later.
        let searching = cancel.child();
        searching.limit(clock.last_call(Duration::ZERO));
        let decoding = Decoding {
            base,
            energies: bound_energies,
            oracle: oracle.as_mut(),
            solution,
            cells: request.map_budget,
            cancel: &searching,
        };
        let map = decoding.map();
        let is_cut_off = map.log_score.is_nan() || marginals.iter().any(|t| t.values.is_empty());
        if let (Some(cause), true) = (cancel.cause(), is_cut_off) {
            return Err(clock.error(cause));
        }
        Ok(Answer {
            status: solution.status,
            solver: solution.solver,
            oracle: oracle_name,
            memory_estimate: *oracle_bytes as u64,
            entropy: exactness.name(),
            iterations: solution.iterations,
            oracle_calls: solution.oracle_calls,
            products: solution.products,
            seconds: solution.seconds,
            objective: (!infeasible).then_some(solution.objective),
            lower_bound: solution.lower_bound.filter(|_| !infeasible),
            gap,
            marginal_error_bound: gap.map(|gap| exactness.widening() * (0.5 * gap).sqrt()),
            returned: solution.returned.name(),
            log_partition: solution.log_partition,
            base_log_partition: solution.base_log_partition,
            log_partition_bound: match exactness {
                Exactness::TreeReweighted { .. } => Some(solution.base_log_partition),
                Exactness::Exact | Exactness::Bethe { .. } => None,
            },
            messages_settled: exactness.is_settled(),
            marginals,
            map,
            energies,
            potentials,
            tilt,
            covariance,
        })
    }

    fn energies(&mut self, problem: &Problem) -> Vec<EnergyAnswer> {
        let Self { bound: BoundProblem { base, energies, .. }, solution, .. } = self;
        let infeasible = solution.status == Status::Infeasible;
        let stated = problem.energies();
        let (rows, marginals) = (&solution.multipliers, &solution.marginals);
        let multipliers = energies.stated_multipliers(base, stated, rows, marginals);
        let mut multipliers = multipliers.into_iter();
        let values = energies.values(&solution.marginals);
        let answers = stated.iter().zip(values).map(|(energy, value)| {
            let is_hard = energy.penalty().is_some_and(|penalty| penalty.is_hard());
            EnergyAnswer {
                value: (!(infeasible && is_hard)).then_some(value),
                multipliers: multipliers.next().flatten().filter(|_| !infeasible),
            }
        });
        answers.collect()
    }

    /// `θ + δ` for each scope that is tilted.
    fn potentials(&self, model: &Model) -> Vec<TableAnswer> {
        let tilted = self.tilts().map(|(scope, tilt)| {
            let mut values = tilt.to_vec();
            for factor in model.factors().iter().filter(|f| f.scope.len() == scope.len()) {
                if factor.scope.iter().all(|variable| scope.contains(variable)) {
                    let own = self.bound.base.locate(&factor.scope);
                    let own = own.expect("the scope of a factor has its table");
                    let own = own.gather(&factor.log_potentials, values.len());
                    values.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
                }
            }
            TableAnswer { scope, values }
        });
        tilted.collect()
    }
}

/// Who stands for all that a variable is joined with; the ways there are halved.
fn root(roots: &mut [usize], mut variable: usize) -> usize {
    while roots[variable] != variable {
        roots[variable] = roots[roots[variable]];
        variable = roots[variable];
    }
    variable
}

/// The variables of each of the requested marginals.
pub(super) fn scopes(model: &Model, tables: Tables) -> Vec<Vec<usize>> {
    let nodes = (0..model.variables().len()).map(|variable| vec![variable]);
    let factors = model.factors().iter().map(|factor| factor.scope.clone());
    match tables {
        Tables::All => nodes.chain(factors).collect(),
        Tables::Nodes => nodes.collect(),
        Tables::None => Vec::new(),
    }
}

/// The requested marginals, from the oracle or from the solver's average.
fn marginals(
    model: &Model,
    base: &BaseModel,
    oracle: &mut dyn Oracle,
    solution: &Solution,
    tables: Tables,
) -> Vec<TableAnswer> {
    let scopes = scopes(model, tables);
    if scopes.is_empty() {
        return Vec::new();
    }
    let mut answer: Vec<TableAnswer> = Vec::with_capacity(scopes.len());
    // Which entries each base table serves. `[tables]`
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); base.tables.len()];
    for (entry, scope) in scopes.into_iter().enumerate() {
        let mut values = Vec::new();
        match base.table_of(&scope) {
            Some(table) => readers[table].push(entry),
            None => values = lay_out(base, &scope, &[1.0]),
        }
        answer.push(TableAnswer { scope, values });
    }
    let mut fill = |table: usize, probabilities: &mut Vec<f64>| {
        let Some((&last, others)) = readers[table].split_last() else { return };
        for &entry in others {
            answer[entry].values = lay_out(base, &answer[entry].scope, probabilities);
        }
        let map = located(base, &answer[last].scope);
        let whole = map.is_same().then(|| std::mem::take(probabilities));
        answer[last].values = whole.unwrap_or_else(|| map.scatter(probabilities));
    };
    match &solution.averaged_tables {
        None => {
            oracle.visit_marginals(tables, &mut fill);
        }
        Some(averaged) => {
            let shown = if tables == Tables::All { base.tables.len() } else { base.variables() };
            let mut rest = averaged.as_slice();
            for (index, table) in base.tables[..shown].iter().enumerate() {
                let (own, after) = rest.split_at(table.log_potentials.len());
                fill(index, &mut own.to_vec());
                rest = after;
            }
        }
    }
    answer
}

/// The probabilities of a base table, in the order of a stated scope.
fn lay_out(base: &BaseModel, scope: &[usize], probabilities: &[f64]) -> Vec<f64> {
    located(base, scope).scatter(probabilities)
}

fn located(base: &BaseModel, scope: &[usize]) -> CellMap {
    base.locate(scope).expect("the scope of a variable or a factor has its table")
}
