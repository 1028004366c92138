use std::io::{self, IsTerminal};
use std::path::PathBuf;

use bethe_core::Request;
use clap::{Args, ValueEnum};

use super::covariance;
use crate::memory::MemoryFlag;
use crate::solver::{SolverChoice, StepFlags};

/// Solve a problem: text on a terminal, one JSON object elsewhere.
///
/// PROBLEM is a .json file, a .jsonl file with one problem per line (which gives one answer per
/// line), a .uai model, or - for standard input. Exit code 2 means bad input, 3 that hard
/// measurements cannot hold, 4 that the time limit passed before there was an answer.
#[derive(Args)]
pub struct Flags {
    /// Problem file: .json, .jsonl, .uai, or - for standard input
    pub problem: PathBuf,

    /// File with more energies, {"energies": [...]}, added to every problem
    #[arg(long, value_name = "FILE")]
    pub energies: Option<PathBuf>,

    /// Observed states in the UAI format; several samples give several answers
    #[arg(long, value_name = "FILE.evid")]
    pub evidence: Option<PathBuf>,

    /// How marginals of the base model are computed
    #[arg(long, value_enum, default_value_t = OracleChoice::Auto)]
    pub oracle: OracleChoice,

    /// Which solver to run
    #[arg(long, value_enum, default_value_t = SolverChoice::Auto)]
    pub solver: SolverChoice,

    #[command(flatten)]
    pub steps: StepFlags,

    /// For nearest energies: find the best of all pieces, with a gap; needs --solver auto
    #[arg(long)]
    pub global: bool,

    /// Converged when gap ≤ tolerance · max(1, |objective|); iterations then go on until gap ≤
    /// tolerance, for at most as many again, plus ten
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6, allow_negative_numbers = true)]
    pub tolerance: f64,

    /// Stop after this many iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000)]
    pub max_iterations: usize,

    /// Stop after this time per problem, set-up included, e.g. 50ms (ns, us, ms, s, m)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<String>,

    /// How many table cells the search for map under hard measurements may visit; 0 for no search
    #[arg(
        long,
        value_name = "CELLS",
        allow_negative_numbers = true,
        default_value_t = Request::MAP_BUDGET
    )]
    pub map_budget: usize,

    /// Which point to return
    #[arg(long = "return", value_name = "POINT", value_enum, default_value_t = ReturnChoice::Best)]
    pub returned: ReturnChoice,

    #[command(flatten)]
    pub memory: MemoryFlag,

    /// Which marginals to print [default: all]
    #[arg(long, value_enum)]
    pub marginals: Option<MarginalsChoice>,

    /// How to print the answer [default: text for one problem on a terminal, else json]
    #[arg(long, alias = "output", value_enum)]
    pub format: Option<Format>,

    /// Print the tilted potentials: plain inference with them gives the answer
    #[arg(long)]
    pub tilt: bool,

    /// Print the covariance of all measurements, or of all states of some variables: names or
    /// numbers separated by commas; both for one draw and for what was inferred
    #[arg(
        long,
        value_name = "VARIABLES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = covariance::MEASUREMENTS
    )]
    pub covariance: Option<String>,

    /// Write the answers to a file instead of standard output; it appears whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// In a .jsonl file: stop at the first wrong line; without this flag, such a line is answered
    /// by {"error": …} and the exit code is 2 at the end
    #[arg(long)]
    pub strict: bool,

    /// Write the fitted model as a problem without energies, for bethe sample
    #[arg(long, value_name = "FILE.json")]
    pub solution: Option<PathBuf>,

    /// Write one row per iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub trace: Option<PathBuf>,

    /// Draw convergence as an SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// How many problems of a .jsonl file to solve at once [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// No progress and no notes on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OracleChoice {
    /// Exact if that fits into --memory-limit and --time-limit, else trw, with a note
    Auto,
    /// Exact inference; an error if the model is too wide
    Exact,
    /// Tree-reweighted: any graph; a convex problem with an upper bound on the log-partition
    Trw,
    /// Loopy belief propagation: any graph; no bound, no gap, and it may not converge
    Loopy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReturnChoice {
    /// The best point so far: the base model, an iterate or an average of iterates
    Best,
    /// The last iterate
    Last,
    /// The average of the iterates, with solver rda, mirror-descent or accelerated-rda
    Average,
}

impl Flags {
    /// Whether marginals are asked for, which only JSON has a place for.
    pub fn asks_for_marginals(&self) -> bool {
        self.marginals.is_some_and(|choice| choice != MarginalsChoice::None)
    }

    /// How to print the answer, with this flag or without.
    pub fn format(&self) -> Format {
        let asks_for_tables = self.asks_for_marginals() || self.tilt || self.covariance.is_some();
        let is_batch = self.problem.extension().is_some_and(|extension| extension == "jsonl");
        let for_people = self.out.is_none() && io::stdout().is_terminal();
        self.format.unwrap_or(match for_people && !asks_for_tables && !is_batch {
            true => Format::Text,
            false => Format::Json,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// How far to trust it, what the energies change most, the best assignment
    Text,
    /// One JSON object per problem
    Json,
    /// Marginals of all variables, in the UAI format MAR
    Mar,
    /// Log10 of the partition function, in the UAI format PR
    Pr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MarginalsChoice {
    /// One entry per variable, then one per factor
    All,
    /// One entry per variable
    Nodes,
    /// No entry
    None,
}
