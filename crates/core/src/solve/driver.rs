use std::time::{Duration, Instant};

use super::candidate::{Best, Candidate};
use super::clock::{Clock, Control};
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::named_method::choose;
use super::own_method::{Own, OwnMethod};
use super::point::Point;
use super::task::{Base, Task};
use super::{Observer, Record, Returned, Settings, Solution, SolveError, Status};
use crate::cancel::{Cancel, Cause};
use crate::energy::Energies;
use crate::model::ModelError;
use crate::oracle::Exactness;

/// Polishing takes at most as many iterations as the relative tolerance took, plus this many.
const POLISHING: usize = 10;

/// Rounding leaves at most this part of the objective of a gap, the square root of what it does to
/// values times a large weight, …
const ROUNDED: f64 = 1e-3;
/// … or a few times what it does to the objective itself.
const ROUNDINGS: f64 = 10.0;

/// Minimises `F` and shows every iteration to `observer`.
///
/// The oracle is left at the returned tilt: its [`visit_marginals`] shows the answer.
///
/// [`visit_marginals`]: crate::oracle::Oracle::visit_marginals
///
/// # Errors
/// If a setting is out of range, if every configuration is forbidden, if the method does not
/// support the energies, or if it is cancelled before there is an answer. Running out of time or
/// iterations is not an error but a [`Status`].
pub fn solve(
    mut task: Task,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, SolveError> {
    settings.check()?;
    let clock = Clock::start(settings.time_limit);
    let base = first_call(&mut task, &clock);
    let shown = task.marginals;
    let choose = |engine: &mut Engine| choose(engine, settings, shown);
    drive(task, base, Control::after_a_call(settings, clock), observer, choose)
}

/// The call at the base model, which ends with the time limit where nobody has set it another end.
fn first_call(task: &mut Task, clock: &Clock) -> Base {
    if task.cancel.remaining().is_none() {
        task.cancel.limit(clock.end());
    }
    Base::of(task)
}

/// As [`solve`], by a method of your own; the settings' method does not matter.
///
/// # Errors
/// As [`solve`], and if there are hard measurements, which need multipliers, or if an average is to
/// be returned.
pub fn solve_by(
    mut task: Task,
    method: &mut dyn OwnMethod,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, SolveError> {
    settings.check()?;
    let clock = Clock::start(settings.time_limit);
    if task.energies.measurements.has_hard() {
        let (solver, energy) = (method.name(), "a hard measurement");
        return Err(SolveError::Unserved {
            solver,
            energy,
            expected: "solver auto, dual or newton",
        });
    }
    if settings.returned == Returned::Average {
        let found = "a method of your own, which keeps no average of its iterates";
        return Err(SolveError::NoAverage { found, or: "" });
    }
    let base = first_call(&mut task, &clock);
    drive(task, base, Control::after_a_call(settings, clock), observer, move |engine| {
        Ok(Box::new(Own::start(engine, method)))
    })
}

/// As [`solve`], if the oracle's latest call was at the base model. That call is not repeated, but
/// it counts.
///
/// # Errors
/// As [`solve`].
///
/// # Panics
/// If the number of marginals is not that of the support's coordinates.
pub fn solve_from(
    task: Task,
    base: Base,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, SolveError> {
    settings.check()?;
    let shown = task.marginals;
    let choose = |engine: &mut Engine| choose(engine, settings, shown);
    let (clock, call) = (Clock::start(settings.time_limit), Duration::ZERO);
    drive(task, base, Control { settings, clock, call }, observer, choose)
}

fn drive<'s>(
    mut task: Task,
    base: Base,
    control: Control,
    observer: &mut dyn Observer,
    begin: impl FnOnce(&mut Engine) -> Result<Box<dyn Solver + 's>, SolveError>,
) -> Result<Solution, SolveError> {
    if let Some(cause) = task.cancel.cause()
        && (cause == Cause::Asked || base.log_partition.is_nan())
    {
        return Err(control.clock.error(cause));
    }
    if task.cancel.is_never() && control.settings.time_limit.is_some() {
        task.cancel = Cancel::new();
    }
    // The caller may have left less time for that than there is.
    task.cancel.limit(control.clock.first_step_end(control.call));
    let mut engine = Engine::after(task, base);
    check_finite(engine.base.log_partition, engine.energies)?;
    let solver = begin(&mut engine);
    if engine.cancel.cause() == Some(Cause::Asked) {
        return Err(SolveError::Cancelled);
    }
    let mut solver = solver?;
    let mut run = Run::new(&mut engine, solver.as_ref(), control);
    let status = run.drive(&mut engine, solver.as_mut(), observer);
    let late = (status == Status::TimeLimit).then_some(Cause::Deadline);
    let cause = late.or(engine.cancel.cause());
    // Calls that were cut off are not numbers. A point of no finite energy is an answer.
    if let (Some(cause), true) = (cause, run.chosen.objective.is_nan()) {
        engine.warm(1.0);
        return Err(control.clock.error(cause));
    }
    control.clock.wind_up(&engine.cancel);
    // The answer is about the model as stated, whatever temperature a solver left it at.
    engine.warm(1.0);
    let solution = run.finish(&mut engine, solver.as_mut(), status);
    let cut_off = engine.cancel.cause().filter(|_| solution.log_partition.is_nan());
    engine.cancel.limit(None);
    engine.cancel.suspend(false);
    cut_off.map_or(Ok(solution), |cause| Err(control.clock.error(cause)))
}

/// The status if log-partitions prove nothing: no certified optimum, no proof of infeasibility; a
/// point is stationary if the oracle settled.
fn claimed(status: Status, exactness: Exactness) -> Status {
    match status {
        _ if exactness.certifies() => status,
        Status::Infeasible => Status::IterationLimit,
        Status::Converged | Status::Stationary if exactness.is_settled() == Some(false) => {
            Status::IterationLimit
        }
        Status::Converged => Status::Stationary,
        _ => status,
    }
}

/// Refuses problems whose numbers leave the range of a double, and models that forbid everything.
pub(crate) fn check_finite(base_log_partition: f64, energies: &Energies) -> Result<(), SolveError> {
    match base_log_partition {
        f64::NEG_INFINITY => Err(ModelError::AllForbidden.into()),
        sum if !sum.is_finite() => Err(ModelError::Overflow.into()),
        _ if !energies.is_finite() => Err(SolveError::Overflow),
        _ => Ok(()),
    }
}

/// Everything the driver keeps between iterations.
struct Run<'a> {
    settings: &'a Settings,
    start: Instant,
    /// When to stop, if there is a time limit.
    end: Option<Instant>,
    iteration: usize,
    lower_bound: f64,
    best: Best,
    /// What would be returned now.
    chosen: Candidate,
    /// The iteration in which the relative tolerance was first met.
    met_at: Option<usize>,
    /// Where sharp bounds are worked out, once they are.
    scratch: Option<Point>,
}

impl<'a> Run<'a> {
    fn new(engine: &mut Engine, solver: &dyn Solver, control: Control<'a>) -> Self {
        let Control { settings, clock, call } = control;
        let best = Best::new(engine, solver, settings);
        Self {
            settings,
            start: clock.started(),
            end: clock.last_call(call),
            iteration: 0,
            lower_bound: f64::NEG_INFINITY,
            chosen: best.candidate(),
            best,
            met_at: None,
            scratch: None,
        }
    }

    /// The one loop.
    fn drive(
        &mut self,
        engine: &mut Engine,
        solver: &mut dyn Solver,
        observer: &mut dyn Observer,
    ) -> Status {
        let looks = observer.looks();
        loop {
            let step = solver.step(engine);
            self.iteration += 1;
            let cut_off = engine.cancel.cause().filter(|_| self.iteration == 1);
            if self.iteration == 1 {
                engine.cancel.limit(self.end);
            }
            self.lower_bound = self.lower_bound.max(step.lower_bound);
            let cancelled = cut_off.or(engine.cancel.cause());
            let out_of_iterations = self.iteration >= self.settings.max_iterations;
            let ends =
                out_of_iterations || cancelled.is_some() || step.verdict != Verdict::Continue;
            let last = Candidate::new(solver.name(), &step);
            let average = self.consider(engine, solver, last, looks);
            if (ends || self.is_time_to_look())
                && step.can_be_sharpened
                && !self.is_polished(&self.chosen)
            {
                let coordinates = engine.coordinates();
                let scratch = self.scratch.get_or_insert_with(|| Point::new(coordinates));
                let bound = engine.sharp_bound(solver.point(), scratch);
                self.lower_bound = self.lower_bound.max(bound);
            }
            let is_lost = cancelled.is_some() && step.objective.is_nan();
            let stopped = looks && !is_lost && {
                let record = self.record(engine, &step, average);
                observer.observe(&record, &solver.point().marginals).is_break()
            };
            // What is left of the gap is what rounding takes off bounds: further steps change nothing.
            let is_exact =
                step.violation == 0.0 && step.gap.is_some_and(|own| own <= self.settings.tolerance);
            let ended = match step.verdict {
                // A call that was cancelled proves nothing.
                Verdict::Infeasible if cancelled.is_none() => Some(Status::Infeasible),
                _ if self.has_converged(ends || stopped || is_exact) => Some(Status::Converged),
                Verdict::Stationary if self.best.is_feasible(&self.chosen) => {
                    Some(Status::Stationary)
                }
                _ if stopped || cancelled == Some(Cause::Asked) => Some(Status::Stopped),
                _ if cancelled.is_some() => Some(Status::TimeLimit),
                Verdict::Settled if self.is_rounded(&self.chosen) => Some(Status::RoundingLimit),
                _ if is_exact => Some(Status::RoundingLimit),
                _ if ends => Some(Status::IterationLimit),
                _ => None,
            };
            if let Some(status) = ended {
                return claimed(status, engine.oracle.exactness());
            }
        }
    }

    /// Chooses the point that would be returned now. The objective of the average, if it was
    /// evaluated: an observer that looks at it does not change the answer.
    fn consider(
        &mut self,
        engine: &mut Engine,
        solver: &mut dyn Solver,
        last: Candidate,
        looks: bool,
    ) -> Option<f64> {
        self.best.see(solver, last);
        let (is_average, returned) = (last.returned == Returned::Average, self.settings.returned);
        let due = match returned {
            Returned::Best => is_average || self.is_time_to_look(),
            Returned::Last => is_average,
            Returned::Average => true,
        };
        let average = if due || looks { solver.average(engine) } else { None };
        let average = average.map(|average| Candidate::average(last.solver, average));
        if let Some(average) = average.filter(|_| due && engine.allows_average) {
            self.best.see_average(engine, solver, average);
        }
        self.chosen = self.best.candidate();
        // Slightly broken constraints may leave an earlier point below the optimum for good.
        if returned == Returned::Best
            && last.violation > 0.0
            && self.is_within(&last)
            && !self.is_within(&self.chosen)
        {
            self.chosen = last;
        }
        average.map(|average| average.objective)
    }

    /// The proven gap of a candidate, never less than what its objective and the lower bound leave;
    /// none while it breaks a hard constraint or is not finite.
    fn gap(&self, candidate: &Candidate) -> Option<f64> {
        let bounded = self.lower_bound > f64::NEG_INFINITY && candidate.objective.is_finite();
        // An objective below a bound is off by rounding, by that much at least.
        let left = (candidate.objective - self.lower_bound).abs();
        let apart = left + candidate.rounding;
        // The oracle goes back to an earlier point, where it may round otherwise.
        let returns = candidate.returned == Returned::Best;
        let own_gap =
            candidate.own_gap.map(|own| own + if returns { candidate.rounding } else { 0.0 });
        // If a hard constraint is slightly violated, the objective may be below the optimum.
        let gap = match own_gap {
            Some(own) if candidate.violation > 0.0 => own,
            Some(own) => own.min(apart),
            None => apart,
        };
        let gap = gap.max(left);
        let proved = bounded && gap.is_finite() && self.best.is_feasible(candidate);
        proved.then_some(gap)
    }

    /// Primal solvers hold a free certificate that lags behind, and averages. From time to time,
    /// and before the end, a sharp certificate is worth a call; from time to time, the average is
    /// worth a pass.
    fn is_time_to_look(&self) -> bool {
        self.iteration.is_power_of_two() || self.iteration.is_multiple_of(8)
    }

    /// Whether the tolerance is met in absolute terms.
    fn is_polished(&self, candidate: &Candidate) -> bool {
        self.gap(candidate).is_some_and(|gap| gap <= self.settings.tolerance)
    }

    /// Whether the tolerance is met.
    fn is_within(&self, candidate: &Candidate) -> bool {
        let allowed = self.settings.tolerance * candidate.objective.abs().max(1.0);
        self.gap(candidate).is_some_and(|gap| gap <= allowed)
    }

    /// Whether what would be returned is within the tolerance, and polished as far as possible.
    fn has_converged(&mut self, ends: bool) -> bool {
        if !self.is_within(&self.chosen) {
            return false;
        }
        let met_at = *self.met_at.get_or_insert(self.iteration);
        let goes_on = self.settings.polish && self.iteration < 2 * met_at + POLISHING;
        self.is_polished(&self.chosen) || !goes_on || ends
    }

    /// Whether rounding may explain what is left of the gap: a search that finds nothing better may
    /// also be lost.
    fn is_rounded(&self, candidate: &Candidate) -> bool {
        let allowed = ROUNDED * candidate.objective.abs().max(1.0);
        let allowed = allowed.max(ROUNDINGS * candidate.rounding);
        self.gap(candidate).is_some_and(|gap| gap <= allowed)
    }

    fn record(&self, engine: &Engine, step: &Step, average_objective: Option<f64>) -> Record {
        let last = Candidate::new("", step);
        let proved = engine.oracle.exactness().certifies();
        Record {
            iteration: self.iteration,
            objective: step.objective,
            average_objective,
            lower_bound: Some(self.lower_bound).filter(|bound| proved && bound.is_finite()),
            gap: self.gap(&last).filter(|_| proved),
            residual: step.residual,
            oracle_calls: engine.oracle_calls,
            products: engine.products,
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }

    /// Moves the oracle to the chosen point and reads the answer there.
    fn finish(self, engine: &mut Engine, solver: &mut dyn Solver, status: Status) -> Solution {
        let mut chosen = self.chosen;
        let mut point = solver.point().clone();
        let kept = self.best.kept();
        let is_average = chosen.returned == Returned::Average;
        if chosen.returned != Returned::Last && self.best.is_base() {
            point.tilt.fill(0.0);
        } else if chosen.returned != Returned::Last {
            point.tilt.copy_from_slice(kept.tilt);
        }
        let mut log_partition = point.log_partition;
        if is_average {
            log_partition = engine.call(&point.tilt, &mut vec![0.0; engine.coordinates()]);
            point.marginals.copy_from_slice(kept.marginals);
        } else {
            if chosen.returned == Returned::Best || point.call != engine.oracle_calls {
                engine.evaluate(&mut point);
                log_partition = point.log_partition;
                // What the oracle rounds differently from before is not part of the objective yet.
                let drift = (point.objective() - chosen.objective).max(0.0);
                chosen.rounding += drift;
                chosen.own_gap = chosen.own_gap.map(|own| own + drift);
            }
            // Messages that start from others end elsewhere.
            if engine.oracle.exactness() != Exactness::Exact || !chosen.objective.is_finite() {
                point.read_energy(engine.energies);
                point.summarise();
                chosen.objective = point.objective();
            }
        }
        let is_lost = status == Status::Converged && !self.is_within(&chosen);
        let status = if is_lost { Status::RoundingLimit } else { status };
        let multipliers = self.multipliers(engine, solver, chosen.returned, &point.marginals);
        let proved = status != Status::Infeasible && engine.oracle.exactness().certifies();
        let bound = Some(self.lower_bound).filter(|bound| bound.is_finite());
        Solution {
            status,
            solver: chosen.solver,
            iterations: self.iteration,
            oracle_calls: engine.oracle_calls,
            products: engine.products,
            seconds: self.start.elapsed().as_secs_f64(),
            objective: chosen.objective,
            lower_bound: bound.filter(|_| proved),
            gap: self.gap(&chosen).filter(|_| proved),
            returned: chosen.returned,
            tilt: point.tilt.to_vec(),
            multipliers,
            marginals: point.marginals.to_vec(),
            averaged_tables: is_average.then(|| kept.tables.to_vec()),
            log_partition,
            base_log_partition: engine.base.log_partition,
        }
    }

    /// The multipliers of the measurements at the point that is returned.
    fn multipliers(
        &self,
        engine: &Engine,
        solver: &dyn Solver,
        returned: Returned,
        marginals: &[f64],
    ) -> Vec<f64> {
        let measurements = &engine.energies.measurements;
        let mut multipliers = Vec::new();
        match returned {
            Returned::Last => {
                solver.multipliers(Held::Current, &mut multipliers);
            }
            // The base model, next to the optimum: so are the multipliers that prove it.
            Returned::Best if self.best.is_base() && self.is_within(&self.chosen) => {
                solver.multipliers(Held::Current, &mut multipliers);
            }
            Returned::Best if self.best.is_base() => {
                // Those that do not tilt the model.
                if solver.multipliers(Held::Current, &mut multipliers) {
                    multipliers.fill(0.0);
                }
            }
            Returned::Best => multipliers.extend_from_slice(self.best.kept().multipliers),
            Returned::Average => {}
        }
        if multipliers.is_empty() {
            return measurements.slopes(marginals);
        }
        multipliers.truncate(measurements.len());
        multipliers
    }
}
