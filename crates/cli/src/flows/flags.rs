use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::memory::MemoryFlag;
use crate::solver::{SolverChoice, StepFlags};

/// Infer how a population moved from counts per place and time.
///
/// OBSERVATIONS has a column of times and one column per cell, or a row per count: time,cell,count.
/// An empty value or NA means not observed. Gzip is unpacked, - is standard input. Exit code 2 means
/// bad input, 3 that no movement explains the counts, 4 that the time limit passed before there was
/// an answer.
#[derive(Args)]
pub struct Flags {
    /// Counts: time,CELL,CELL,…, one row per time; or time,cell,count (or time,x,y,count), one row
    /// per count
    pub observations: PathBuf,

    /// For counts as time,cell,count: what it means if a time and a cell have no row [default:
    /// unobserved]
    #[arg(long, value_enum)]
    pub unlisted: Option<UnlistedChoice>,

    /// Cells: cell,x,y or cell,lon,lat
    #[arg(long, value_name = "FILE.csv")]
    pub cells: PathBuf,

    /// Which coordinates to use if cells have both [default: xy]
    #[arg(long, value_enum)]
    pub coordinates: Option<CoordinatesChoice>,

    /// How many individuals there are [default with --loss birdflow: 1]
    #[arg(long, value_name = "M", allow_negative_numbers = true, required_unless_present = "loss")]
    pub population: Option<f64>,

    /// Minimise another loss instead of the likelihood of counts
    #[arg(long, value_enum, value_name = "NAME")]
    pub loss: Option<LossChoice>,

    /// Weights of --loss birdflow, with the power of distance and the unit of distance [default:
    /// obs=1,distance=0.01,entropy=0.0001,power=0.4, unit 100 km, with x and y in metres]
    #[arg(long, value_name = "NAME=NUMBER,…", allow_hyphen_values = true)]
    pub weights: Option<String>,

    /// The cells that are open at each time: all, counted (all but those with a count of 0), or a
    /// file laid out like OBSERVATIONS with 0 where nobody can be
    #[arg(long, value_name = "all|counted|FILE", default_value = "all")]
    pub extent: String,

    /// Leave out the times before this one; if it comes after --last, the season spans the end of
    /// the year
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub first: Option<String>,

    /// Leave out the times after this one
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub last: Option<String>,

    /// Repeat the first time at the end
    #[arg(long)]
    pub close_year: bool,

    /// The distribution of counts [default: poisson]
    #[arg(long, value_enum, value_name = "NAME")]
    pub noise: Option<NoiseChoice>,

    /// Expected count per individual: a number, or a file cell,rate [default: 1]
    #[arg(long, value_name = "ALPHA|FILE", allow_hyphen_values = true)]
    pub rate: Option<String>,

    /// Variance of a count, for gaussian [default: the mean count]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub variance: Option<f64>,

    /// Weight of half a squared error of a share, for squared [default: 100 per cell]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub weight: Option<f64>,

    /// For squared: divide the counts of each time by their sum
    #[arg(long)]
    pub shares: bool,

    /// Forbid longer moves; in units of x and y, in kilometres for lon and lat
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    pub reach: Option<f64>,

    /// What to learn from the counts: where individuals start, the weights of movement that
    /// --features does not give, and the pulls of places; or nothing [default: counts; none with
    /// --normalise no or --loss birdflow]
    #[arg(long, value_enum, value_name = "counts|none")]
    pub fit: Option<FitChoice>,

    /// What moves depend on, each with a weight, or without one to learn it: stay, distance or
    /// distance^P (in median distances between neighbours), stride, goal:CELL, wind, or a column of
    /// a covariates file. Unless they are given, stay, distance and all covariates are learned
    /// [default with --fit none: distance=-1]
    #[arg(long, value_name = "NAME[=WEIGHT],…", allow_hyphen_values = true)]
    pub features: Option<String>,

    /// Data for features: time,wind or time,u,v; cell,NAME,…; from,to,NAME,… or
    /// from,to,time,NAME,…; may be repeated
    #[arg(long, value_name = "FILE.csv")]
    pub covariates: Vec<PathBuf>,

    /// Whether the moves from a cell are normalised to probabilities [default: yes]
    #[arg(long, value_enum, value_name = "yes|no")]
    pub normalise: Option<YesNo>,

    /// Where individuals start: free (learned, or anywhere with --fit none), a cell, or a file
    /// cell,weight
    #[arg(long, value_name = "free|CELL|FILE", default_value = "free")]
    pub start: String,

    /// Marked individuals that were seen twice, to score the flows by: time_from, cell_from, time_to,
    /// cell_to
    #[arg(long, value_name = "FILE.csv")]
    pub pairs: Option<PathBuf>,

    /// Try other weights and keep those that predict best: every second individual of --pairs (the
    /// others are scored), or counts that are held out
    #[arg(long, value_enum, value_name = "pairs|counts")]
    pub tune: Option<TuneChoice>,

    /// Whether to find standard errors of counts and flows, given the counts: errors.csv, and a
    /// column of flows.csv [default: yes if they take little time]
    #[arg(long, value_enum, value_name = "yes|no")]
    pub errors: Option<YesNo>,

    /// Find standard errors from N simulated populations that move as inferred, are counted and
    /// inferred again
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub bootstrap: Option<usize>,

    /// Which solver to run
    #[arg(long, value_enum, default_value_t = SolverChoice::Auto)]
    pub solver: SolverChoice,

    #[command(flatten)]
    pub steps: StepFlags,

    /// Converged when gap ≤ tolerance · max(1, |objective|)
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6, allow_negative_numbers = true)]
    pub tolerance: f64,

    /// Stop after this many iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000)]
    pub max_iterations: usize,

    /// Stop after this time, e.g. 50ms (ns, us, ms, s, m)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<String>,

    #[command(flatten)]
    pub memory: MemoryFlag,

    /// Folder for flows.csv, counts.csv, net.csv, summary.json, index.html and frames/ [default:
    /// only the summary, on standard output]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// In CSV files, write names that a spreadsheet would take for a formula (beginning with = + - @)
    /// with an apostrophe before them
    #[arg(long)]
    pub quote_formulas: bool,

    /// Leave out flows of at most this many individuals [default: population / 100000]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub threshold: Option<f64>,

    /// Draw routes of this many individuals: routes.csv
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub sample: Option<usize>,

    /// Seed of the routes and of the bootstrap [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Forecast counts for this many steps after the last time: forecast.csv
    #[arg(long, value_name = "K")]
    pub forecast: Option<usize>,

    /// Where individuals in this cell at the time --at came from and went next: given.csv
    #[arg(long, value_name = "CELL")]
    pub from: Option<String>,

    /// The time of --from
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<String>,

    /// Also write the flows between different cells as lines for maps: flows.geojson
    #[arg(long)]
    pub geojson: bool,

    /// For --geojson: what x and y are, if not longitude and latitude
    #[arg(long, value_name = "EPSG:CODE")]
    pub crs: Option<String>,

    /// Also write where individuals in a cell go next, as probabilities: transitions.csv
    #[arg(long)]
    pub transitions: bool,

    /// Also write the flows as Parquet: flows.parquet
    #[arg(long, hide = !cfg!(feature = "parquet"))]
    pub parquet: bool,

    /// Print the summary as text or as JSON [default without --out: text on a terminal,
    /// json elsewhere]
    #[arg(long, value_enum, value_name = "text|json")]
    pub format: Option<FormatChoice>,

    /// No progress, no warnings and no summary on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnlistedChoice {
    /// Nobody counted
    Unobserved,
    /// Nobody was there
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CoordinatesChoice {
    /// x and y of a plane
    Xy,
    /// Longitude and latitude in degrees
    Lonlat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NoiseChoice {
    /// Poisson with mean rate · individuals
    Poisson,
    /// Normal with that mean and one variance
    Gaussian,
    /// Squared error on shares of the population
    Squared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LossChoice {
    /// Squared errors of weekly distributions, costs of distance, and entropy
    Birdflow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TuneChoice {
    /// By the mean log-probability of second sightings
    Pairs,
    /// By the mean deviance of counts that are held out
    Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FitChoice {
    /// Learn from the counts; held-out counts say how much
    Counts,
    /// Learn nothing
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}
