//! The answer to a problem, as a person reads it: over the variables and factors they stated.
//!
//! Solvers work on the base model and know the support only. [`Problem::solve`] runs one and
//! carries what it found back: marginals in the stated order and axis order, the MAP assignment
//! completed by the observed states, one value per stated energy.

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::model::file::ReferenceFile;
use crate::model::{BaseModel, BoundProblem, Model, Problem};
use crate::oracle::{Exactness, Oracle, Tables};
use crate::solve::{Observer, Settings, Solution, SolveError, Status, Task, solve};
use crate::support::Support;

/// Everything that `bethe solve` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How the solve ended.
    pub status: Status,
    /// The solver that ran.
    pub solver: &'static str,
    /// What the entropy, and so the objective, is worth.
    pub entropy: &'static str,
    /// Iterations done.
    pub iterations: usize,
    /// Oracle calls done.
    pub oracle_calls: usize,
    /// Time the solver took.
    pub seconds: f64,
    /// `F` at the answer; `None` where the problem is infeasible.
    pub objective: Option<f64>,
    /// A lower bound on the optimum, where one exists.
    pub lower_bound: Option<f64>,
    /// An upper bound on `objective − optimum`, where one exists.
    pub gap: Option<f64>,
    /// `√(gap/2)`, which bounds the error of every marginal (Pinsker); divided by `√ρ` with the
    /// least appearance probability `ρ` under the tree-reweighted entropy.
    pub marginal_error_bound: Option<f64>,
    /// Which of the solver's points this is.
    pub returned: &'static str,
    /// `A(θ + δ)` at the answer's tilt.
    pub log_partition: f64,
    /// `A(θ)`
    pub base_log_partition: f64,
    /// An upper bound on the model's own `A(θ)`, where `base_log_partition` is not that itself.
    pub log_partition_bound: Option<f64>,
    /// Whether message passing came to rest, where it is used.
    pub messages_settled: Option<bool>,
    /// One entry per variable, then one per factor, as far as they were asked for.
    pub marginals: Vec<Marginal>,
    /// The most probable assignment at the answer's tilt.
    pub map: Map,
    /// Weighted value of each energy; `None` for hard constraints of an infeasible problem.
    pub energies: Vec<Option<f64>>,
}

/// The marginals of one variable or one factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal {
    /// The variables, in the order of the table's axes.
    pub scope: Vec<usize>,
    /// Row-major, last variable fastest. `[states of the scope]`
    pub values: Vec<f64>,
}

/// A most probable assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The state of every variable.
    pub assignment: Vec<usize>,
    /// Its score under `θ + δ`.
    pub log_score: f64,
}

/// An answer, and the tilt that it comes from.
/// Which point an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// The best that the solver found, also where it is an average.
    Best,
    /// One that a tilt leads to.
    OfItsTilt,
}

pub(crate) struct Solved {
    pub answer: Answer,
    pub base: BaseModel,
    pub support: Support,
    /// `δ`. `[support]`
    pub tilt: Vec<f64>,
}

impl Problem {
    /// Solves the problem, telling `observer` of every iteration.
    ///
    /// ```
    /// use bethe_core::{Problem, Settings, solve::Ignore};
    /// let problem = Problem::from_json(br#"{
    ///     "variables": [2],
    ///     "energies": [{"kind": "measurement", "penalty": {"kind": "equal"}, "offset": -0.9,
    ///                   "terms": [{"scope": [0], "coefficients": [0, 1]}]}]
    /// }"#)?;
    /// let answer = problem.solve(&Settings::default(), &mut Ignore)?;
    /// assert!((answer.marginals[0].values[1] - 0.9).abs() < 1e-5);
    /// assert_eq!(answer.map.assignment, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve()`], and if inference is to be exact and the model is too wide for that.
    pub fn solve(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SolveError> {
        self.solve_bound(settings, Point::Best, observer).map(|solved| solved.answer)
    }

    /// The same, with the tilt on the base model.
    pub(crate) fn solve_bound(
        &self,
        settings: &Settings,
        point: Point,
        observer: &mut dyn Observer,
    ) -> Result<Solved, SolveError> {
        let bound = self.bind_to(settings.oracle).map_err(|error| self.blamed(error.into()))?;
        let BoundProblem { base, mut energies, mut oracle } = bound;
        let task = Task {
            oracle: oracle.as_mut(),
            energies: &mut energies,
            lowest_score: base.lowest_score(),
        };
        let mut solution = solve(task, settings, observer).map_err(|error| self.blamed(error))?;
        if point == Point::OfItsTilt {
            solution.without_average(oracle.as_mut(), &mut energies, settings.tolerance);
        }
        let infeasible = solution.status == Status::Infeasible;
        let values = energies.values(&solution.marginals);
        let values = self.energies().iter().zip(values).map(|(energy, value)| {
            let hard = energy.penalty().is_some_and(|penalty| penalty.is_hard());
            (!(infeasible && hard)).then_some(value)
        });
        let gap = solution.gap.filter(|_| !infeasible);
        let exactness = oracle.exactness();
        let answer = Answer {
            status: solution.status,
            solver: solution.solver,
            entropy: exactness.name(),
            iterations: solution.iterations,
            oracle_calls: solution.oracle_calls,
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
            marginals: marginals(
                self.model(),
                &base,
                oracle.as_mut(),
                &solution,
                settings.marginals,
            ),
            map: decode(&base, oracle.as_mut(), &solution.tilt),
            energies: values.collect(),
        };
        Ok(Solved { answer, base, support: energies.support().clone(), tilt: solution.tilt })
    }
}

/// The marginals that were asked for, from the oracle or from the solver's average.
fn marginals(
    model: &Model,
    base: &BaseModel,
    oracle: &mut dyn Oracle,
    solution: &Solution,
    tables: Tables,
) -> Vec<Marginal> {
    let nodes = (0..model.variables().len()).map(|variable| vec![variable]);
    let factors = model.factors().iter().map(|factor| factor.scope.clone());
    let scopes: Vec<Vec<usize>> = match tables {
        Tables::All => nodes.chain(factors).collect(),
        Tables::Nodes => nodes.collect(),
        Tables::None => return Vec::new(),
    };
    let mut answer: Vec<Marginal> = Vec::with_capacity(scopes.len());
    // Which entries each base table serves. `[tables]`
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); base.tables.len()];
    for (entry, scope) in scopes.into_iter().enumerate() {
        let mut values = Vec::new();
        match base.table_of(&scope) {
            Some(table) => readers[table].push(entry),
            None => values = lay_out(base, &scope, &[1.0]),
        }
        answer.push(Marginal { scope, values });
    }
    let mut fill = |table: usize, probabilities: &[f64]| {
        for &entry in &readers[table] {
            answer[entry].values = lay_out(base, &answer[entry].scope, probabilities);
        }
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
                fill(index, own);
                rest = after;
            }
        }
    }
    answer
}

/// A base table's probabilities in the order of a stated scope.
fn lay_out(base: &BaseModel, scope: &[usize], probabilities: &[f64]) -> Vec<f64> {
    let map = base.locate(scope).expect("the scope of a variable or a factor has its table");
    map.scatter(probabilities)
}

fn decode(base: &BaseModel, oracle: &mut dyn Oracle, tilt: &[f64]) -> Map {
    let mut states = vec![0; base.variables()];
    let log_score = oracle.decode(tilt, &mut states);
    Map { assignment: base.complete(&states), log_score }
}

impl Answer {
    /// The answer as one line of JSON; variables and states that have names are called by them.
    /// What is not finite is `null`.
    pub fn to_json(&self, model: &Model) -> String {
        let named = AnswerFile {
            status: self.status.name(),
            solver: self.solver,
            entropy: self.entropy,
            iterations: self.iterations,
            oracle_calls: self.oracle_calls,
            seconds: self.seconds,
            objective: self.objective,
            lower_bound: self.lower_bound,
            gap: self.gap,
            marginal_error_bound: self.marginal_error_bound,
            returned: self.returned,
            log_partition: self.log_partition,
            base_log_partition: self.base_log_partition,
            log_partition_bound: self.log_partition_bound,
            messages_settled: self.messages_settled,
            marginals: Named { model, items: &self.marginals },
            map: MapFile {
                assignment: Named { model, items: &self.map.assignment },
                log_score: self.map.log_score,
            },
            energies: self.energies.iter().map(|&value| EnergyFile { value }).collect(),
        };
        serde_json::to_string(&named).expect("numbers, strings, lists and objects")
    }
}

#[derive(Serialize)]
struct AnswerFile<'a> {
    status: &'static str,
    solver: &'static str,
    entropy: &'static str,
    iterations: usize,
    oracle_calls: usize,
    seconds: f64,
    objective: Option<f64>,
    lower_bound: Option<f64>,
    gap: Option<f64>,
    marginal_error_bound: Option<f64>,
    returned: &'static str,
    log_partition: f64,
    base_log_partition: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_partition_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_settled: Option<bool>,
    marginals: Named<'a, Marginal>,
    map: MapFile<'a>,
    energies: Vec<EnergyFile>,
}

#[derive(Serialize)]
struct MapFile<'a> {
    assignment: Named<'a, usize>,
    log_score: f64,
}

#[derive(Serialize)]
struct EnergyFile {
    value: Option<f64>,
}

#[derive(Serialize)]
struct MarginalFile<'a> {
    scope: Vec<ReferenceFile<'a>>,
    values: &'a [f64],
}

/// A list about a model's variables, written with the names they have.
struct Named<'a, T> {
    model: &'a Model,
    items: &'a [T],
}

impl Serialize for Named<'_, Marginal> {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        let mut list = target.serialize_seq(Some(self.items.len()))?;
        for Marginal { scope, values } in self.items {
            let name = |&variable: &usize| ReferenceFile::variable(self.model, variable);
            list.serialize_element(&MarginalFile {
                scope: scope.iter().map(name).collect(),
                values,
            })?;
        }
        list.end()
    }
}

impl Serialize for Named<'_, usize> {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        let states = self.items.iter().enumerate();
        target.collect_seq(states.map(|(v, &state)| ReferenceFile::state(self.model, v, state)))
    }
}
