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

    /// For counts as time,cell,count: what a time and a cell without a row mean [default:
    /// unobserved]
    #[arg(long, value_enum)]
    pub unlisted: Option<UnlistedChoice>,

    /// Cells: cell,x,y or cell,lon,lat
    #[arg(long, value_name = "FILE.csv")]
    pub cells: PathBuf,

    /// Which coordinates to use if cells have both [default: xy]
    #[arg(long, value_enum)]
    pub coordinates: Option<CoordinatesChoice>,

    /// How many individuals there are
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub population: f64,

    /// The distribution of counts
    #[arg(long, value_enum, default_value_t = NoiseChoice::Poisson)]
    pub noise: NoiseChoice,

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

    /// What moves depend on, each with a weight: stay, distance (in median distances between
    /// neighbours), stride, goal:CELL, wind, or a column of a covariates file [default:
    /// distance=-1]
    #[arg(long, value_name = "NAME=WEIGHT,…", allow_hyphen_values = true)]
    pub features: Option<String>,

    /// Data for features: time,wind or time,u,v; cell,NAME,…; from,to,NAME,… or
    /// from,to,time,NAME,…; may be repeated
    #[arg(long, value_name = "FILE.csv")]
    pub covariates: Vec<PathBuf>,

    /// Whether the moves from a cell are normalised to probabilities
    #[arg(long, value_enum, default_value_t = YesNo::Yes)]
    pub normalise: YesNo,

    /// Where individuals start: free, a cell, or a file cell,weight
    #[arg(long, value_name = "free|CELL|FILE", default_value = "free")]
    pub start: String,

    /// Which solver to run
    #[arg(long, value_enum, default_value_t = SolverChoice::Auto)]
    pub solver: SolverChoice,

    #[command(flatten)]
    pub steps: StepFlags,

    /// Converged means gap ≤ tolerance · max(1, |objective|)
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
    #[arg(long, value_name = "DIR")]
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

    /// Seed of the routes [default: 0]
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
    #[cfg(feature = "parquet")]
    #[arg(long)]
    pub parquet: bool,

    /// No progress, no warnings and no summary on standard error
    #[arg(long)]
    pub quiet: bool,
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
pub enum YesNo {
    Yes,
    No,
}
