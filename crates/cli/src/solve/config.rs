//! From flags to a valid configuration. No flag is silently ignored.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use bethe_core::solve::Returned;
use bethe_core::{Method, OracleKind, Request, Settings, Tables};
use bethe_terminal::{bad_input, check_distinct, time};

use super::covariance::{self, Asked};
use super::flags::{Flags, Format, MarginalsChoice, OracleChoice, ReturnChoice};
use super::problems::{Inputs, NamedProblem};
use crate::solver::{self, SolverChoice};

/// The validated configuration of `bethe solve`.
pub struct Config {
    pub problem: PathBuf,
    pub energies: Option<PathBuf>,
    pub evidence: Option<PathBuf>,
    pub format: Format,
    pub settings: Settings,
    pub request: Request,
    pub covariance: Option<Asked>,
    pub out: Option<PathBuf>,
    pub strict: bool,
    pub solution: Option<PathBuf>,
    pub trace: Option<PathBuf>,
    pub plot: Option<PathBuf>,
    /// `None` for all cores.
    pub threads: Option<usize>,
    pub quiet: bool,
}

impl Config {
    /// The files to read.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs {
            problem: &self.problem,
            energies: self.energies.as_deref(),
            evidence: self.evidence.as_deref(),
            memory: self.request.memory_limit,
            quiet: self.quiet,
        }
    }

    /// The settings for a problem that took this long to parse.
    pub fn settings_after(&self, parsing: Duration) -> Settings {
        let left = self.settings.time_limit.map(|limit| limit.saturating_sub(parsing));
        Settings { time_limit: left, ..self.settings.clone() }
    }

    /// A request in the words of a problem.
    pub fn request_for(&self, request: &Request, named: &NamedProblem) -> Result<Request> {
        match &self.covariance {
            None => Ok(request.clone()),
            Some(asked) => asked.of(request, named),
        }
    }

    /// The request for one of several problems, of which this many are solved at once.
    pub fn request_among(&self, at_once: usize) -> Request {
        let memory_limit = self.request.memory_limit.shared_by(at_once);
        Request { memory_limit, ..self.request.clone() }
    }
}

impl TryFrom<Flags> for Config {
    type Error = anyhow::Error;

    fn try_from(flags: Flags) -> Result<Self> {
        let time_limit = flags.time_limit.as_deref();
        let time_limit = time_limit.map(|text| time::parse("--time-limit", text));
        let settings = Settings {
            method: method(&flags)?,
            tolerance: flags.tolerance,
            polish: true,
            max_iterations: flags.max_iterations,
            time_limit: time_limit.transpose()?,
            returned: returned(&flags)?,
        };
        let format = flags.format();
        only_in_json("--tilt", flags.tilt, format)?;
        let request = Request {
            oracle: match flags.oracle {
                OracleChoice::Auto => OracleKind::Auto,
                OracleChoice::Exact => OracleKind::Exact,
                OracleChoice::Trw => OracleKind::TreeReweighted,
                OracleChoice::Loopy => OracleKind::Loopy,
            },
            marginals: tables(&flags)?,
            potentials: flags.tilt,
            map_budget: flags.map_budget,
            memory_limit: flags.memory.limit()?,
            ..Request::default()
        };
        settings.check().map_err(solver::out_of_range)?;
        let covariance = covariance::asked(&flags)?;
        if flags.threads == Some(0) {
            return Err(bad_input("--threads: found 0, expected at least 1"));
        }
        if let (Some(_), OracleChoice::Trw | OracleChoice::Loopy) = (&flags.solution, flags.oracle)
        {
            let oracle = solver::name(flags.oracle);
            return Err(bad_input(format!(
                "--solution needs --oracle exact or auto, found {oracle}: pseudo-marginals have no \
                 model"
            )));
        }
        check_drawing(flags.plot.as_deref())?;
        check_distinct(&[
            ("--trace", flags.trace.as_deref()),
            ("--plot", flags.plot.as_deref()),
            ("--solution", flags.solution.as_deref()),
            ("--out", flags.out.as_deref()),
        ])?;
        Ok(Self {
            problem: flags.problem,
            energies: flags.energies,
            evidence: flags.evidence,
            format,
            settings,
            request,
            covariance,
            out: flags.out,
            strict: flags.strict,
            solution: flags.solution,
            trace: flags.trace,
            plot: flags.plot,
            threads: flags.threads,
            quiet: flags.quiet,
        })
    }
}

/// A picture is SVG, whatever its name says. Pipes and devices have no ending.
fn check_drawing(plot: Option<&Path>) -> Result<()> {
    let Some((path, ending)) = plot.and_then(|path| Some((path, path.extension()?))) else {
        return Ok(());
    };
    match ending.eq_ignore_ascii_case("svg") {
        true => Ok(()),
        false => Err(bad_input(format!(
            "--plot: found {}, expected a name that ends in .svg: the picture is SVG",
            path.display()
        ))),
    }
}

/// Only the marginals that are printed are computed.
fn tables(flags: &Flags) -> Result<Tables> {
    let format = flags.format();
    only_in_json("--marginals", flags.asks_for_marginals(), format)?;
    Ok(match (format, flags.marginals) {
        (Format::Text | Format::Mar, _) | (_, Some(MarginalsChoice::Nodes)) => Tables::Nodes,
        (Format::Pr, _) | (_, Some(MarginalsChoice::None)) => Tables::None,
        (Format::Json, None | Some(MarginalsChoice::All)) => Tables::All,
    })
}

/// An average has no tilt, and only some solvers keep one.
fn returned(flags: &Flags) -> Result<Returned> {
    let given = [
        ("--tilt", flags.tilt),
        ("--solution", flags.solution.is_some()),
        ("--covariance", flags.covariance.is_some()),
    ];
    let solver = solver::name(flags.solver);
    match (flags.returned, flags.solver, given.iter().find(|(_, given)| *given)) {
        (ReturnChoice::Best, ..) => Ok(Returned::Best),
        (ReturnChoice::Last, ..) => Ok(Returned::Last),
        (ReturnChoice::Average, _, Some((flag, _))) => Err(bad_input(format!(
            "--return average: found with {flag}, expected best or last: an average of iterates \
             has no tilt"
        ))),
        (
            ReturnChoice::Average,
            SolverChoice::Adaptive | SolverChoice::Dual | SolverChoice::Newton,
            _,
        ) => Err(bad_input(format!(
            "--return average needs --solver rda, mirror-descent or accelerated-rda, found \
                 --solver {solver}: it keeps no average of its iterates"
        ))),
        (ReturnChoice::Average, ..) => Ok(Returned::Average),
    }
}

/// Only JSON has a place for tables of every kind.
pub fn only_in_json(flag: &str, given: bool, format: Format) -> Result<()> {
    if given && format != Format::Json {
        let format = solver::name(format);
        return Err(bad_input(format!("{flag} needs --format json, found --format {format}")));
    }
    Ok(())
}

fn method(flags: &Flags) -> Result<Method> {
    let solver = solver::name(flags.solver);
    flags.steps.check(&solver)?;
    solver::only_for("--global", flags.global, &solver, SolverChoice::Auto)?;
    Ok(if flags.global { Method::Global } else { flags.steps.method(flags.solver) })
}
