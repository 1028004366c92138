//! From flags to a valid configuration. No flag is silently ignored.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::{MemoryLimit, Settings};
use bethe_flows::birdflow::Weights;
use bethe_flows::data::{Geometry, Unlisted};
use bethe_flows::learn::Prior;
use bethe_flows::output::rounded;
use bethe_terminal::{bad_input, time};

use super::flags::{
    CoordinatesChoice, FitChoice, Flags, FormatChoice, LossChoice, NoiseChoice, TuneChoice,
    UnlistedChoice, YesNo,
};
use crate::solver;

/// The validated configuration of `bethe flows`.
pub struct Config {
    pub memory: MemoryLimit,
    pub observations: PathBuf,
    /// Only for a long file; `None` for the default.
    pub unlisted: Option<Unlisted>,
    pub cells: PathBuf,
    /// `None` for whichever the cells have.
    pub geometry: Option<Geometry>,
    pub population: f64,
    pub noise: NoiseChoice,
    /// The weights of its loss, if that is minimised.
    pub birdflow: Option<Weights>,
    /// `all`, `counted` or a file.
    pub extent: String,
    /// Whether standard errors are wanted, if that was said.
    pub errors: Option<bool>,
    /// Populations of a bootstrap, and their seed.
    pub bootstrap: Option<(usize, u64)>,
    pub pairs: Option<PathBuf>,
    pub tune: Option<TuneChoice>,
    /// How strong pulls are, if that is known.
    pub prior: Option<Option<Prior>>,
    /// The first and the last time that are not left out, by name.
    pub season: [Option<String>; 2],
    pub close_year: bool,
    pub rate: Option<String>,
    pub variance: Option<f64>,
    pub weight: Option<f64>,
    pub shares: bool,
    pub reach: Option<f64>,
    /// Whether movement is learned from the counts.
    pub learns: bool,
    pub features: Option<String>,
    pub covariates: Vec<PathBuf>,
    pub normalised: bool,
    pub start: String,
    pub settings: Settings,
    pub out: Option<PathBuf>,
    pub threshold: f64,
    /// Number of routes, and their seed.
    pub sample: Option<(usize, u64)>,
    pub forecast: usize,
    /// A cell and a time, by name.
    pub given: Option<(String, String)>,
    pub geojson: bool,
    /// The EPSG code of the coordinates.
    pub crs: Option<u32>,
    pub transitions: bool,
    /// Whether names in CSV files are protected from spreadsheets.
    pub quote_formulas: bool,
    #[cfg(feature = "parquet")]
    pub parquet: bool,
    /// How the summary is printed, if that was said.
    pub format: Option<FormatChoice>,
    pub quiet: bool,
}

/// The longest forecast; counts stop changing long before.
const MOST_STEPS: usize = 100_000;
/// Populations with which no sum or share of individuals overflows, or is lost to rounding.
const POPULATION: std::ops::RangeInclusive<f64> = 1e-6..=1e15;
/// Smallest share of the population that a flow must have to be written.
const THRESHOLD: f64 = 1e-5;

impl TryFrom<Flags> for Config {
    type Error = anyhow::Error;

    fn try_from(flags: Flags) -> Result<Self> {
        let positive =
            |flag: &str, value: Option<f64>| check(flag, value, |v| v > 0.0, "a positive number");
        let is_population = |number: f64| POPULATION.contains(&number);
        check("--population", flags.population, is_population, "a number from 1e-6 to 1e15")?;
        positive("--variance", flags.variance)?;
        positive("--weight", flags.weight)?;
        let not_negative = |flag: &str, value: Option<f64>| {
            check(flag, value, |v| v >= 0.0, "a number of at least 0")
        };
        not_negative("--reach", flags.reach)?;
        not_negative("--threshold", flags.threshold)?;
        at_least_one("--sample", flags.sample)?;
        at_least_one("--bootstrap", flags.bootstrap)?;
        at_least_one("--forecast", flags.forecast)?;
        if let Some(found) = flags.forecast.filter(|steps| *steps > MOST_STEPS) {
            return Err(bad_input(format!(
                "--forecast: found {found}, expected at most {MOST_STEPS} steps"
            )));
        }
        let birdflow = birdflow(&flags)?;
        fitting_noise(&flags)?;
        fitting_output(&flags)?;
        fitting_errors(&flags)?;
        let settings = settings(&flags)?;
        let (population, noise) = (flags.population.unwrap_or(1.0), noise(&flags));
        let normalised = flags.normalise.unwrap_or(YesNo::Yes) == YesNo::Yes && birdflow.is_none();
        if flags.fit == Some(FitChoice::Counts) && !normalised {
            let because = if birdflow.is_some() { "--loss birdflow" } else { "--normalise no" };
            return Err(bad_input(format!(
                "--fit counts needs moves that are probabilities, found {because}"
            )));
        }
        let learns = flags.fit.unwrap_or(FitChoice::Counts) == FitChoice::Counts && normalised;
        let memory = flags.memory.limit()?;
        Ok(Self {
            memory,
            observations: flags.observations,
            unlisted: flags.unlisted.map(|choice| match choice {
                UnlistedChoice::Unobserved => Unlisted::Unobserved,
                UnlistedChoice::Zero => Unlisted::Zero,
            }),
            cells: flags.cells,
            geometry: flags.coordinates.map(|choice| match choice {
                CoordinatesChoice::Xy => Geometry::Plane,
                CoordinatesChoice::Lonlat => Geometry::Globe,
            }),
            population,
            noise,
            birdflow,
            extent: flags.extent,
            errors: match flags.population {
                Some(_) => flags.errors.map(|own| own == YesNo::Yes),
                None => Some(false),
            },
            bootstrap: flags.bootstrap.map(|number| (number, flags.seed.unwrap_or(0))),
            pairs: flags.pairs,
            tune: flags.tune,
            prior: None,
            season: [flags.first, flags.last],
            close_year: flags.close_year,
            rate: flags.rate,
            variance: flags.variance,
            weight: flags.weight,
            shares: flags.shares || birdflow.is_some(),
            reach: flags.reach,
            learns,
            features: flags.features,
            covariates: flags.covariates,
            normalised,
            start: flags.start,
            settings,
            out: flags.out,
            threshold: flags.threshold.unwrap_or(THRESHOLD * population),
            sample: flags.sample.map(|number| (number, flags.seed.unwrap_or(0))),
            forecast: flags.forecast.unwrap_or(0),
            given: flags.from.zip(flags.at),
            geojson: flags.geojson,
            crs: flags.crs.as_deref().map(epsg).transpose()?,
            transitions: flags.transitions,
            #[cfg(feature = "parquet")]
            parquet: flags.parquet,
            quote_formulas: flags.quote_formulas,
            format: flags.format,
            quiet: flags.quiet,
        })
    }
}

/// How to solve, and when to stop.
fn settings(flags: &Flags) -> Result<Settings> {
    flags.steps.check(&solver::name(flags.solver))?;
    let time_limit = flags.time_limit.as_deref();
    let time_limit = time_limit.map(|text| time::parse("--time-limit", text));
    let settings = Settings {
        method: flags.steps.method(flags.solver),
        tolerance: flags.tolerance,
        polish: true,
        max_iterations: flags.max_iterations,
        time_limit: time_limit.transpose()?,
        ..Settings::default()
    };
    settings.check().map_err(solver::out_of_range)?;
    Ok(settings)
}

impl Config {
    /// The files that are read.
    pub fn inputs(&self) -> Vec<&Path> {
        let named = [self.rate.as_deref(), Some(&self.start[..]), Some(&self.extent[..])];
        let named = named.into_iter().flatten();
        let files = [&self.observations, &self.cells].into_iter().chain(&self.pairs);
        let files = files.chain(&self.covariates);
        files.map(PathBuf::as_path).chain(named.map(Path::new)).collect()
    }
}

fn check(flag: &str, value: Option<f64>, fits: impl Fn(f64) -> bool, expected: &str) -> Result<()> {
    match value.filter(|value| !(value.is_finite() && fits(*value))) {
        Some(found) => {
            let found = rounded(found, 15);
            Err(bad_input(format!("{flag}: found {found}, expected {expected}")))
        }
        None => Ok(()),
    }
}

/// The number of a system of coordinates.
fn epsg(text: &str) -> Result<u32> {
    let (name, code) = text.split_once(':').unwrap_or_default();
    let code = code.parse().ok().filter(|_| name.eq_ignore_ascii_case("epsg"));
    code.ok_or_else(|| {
        bad_input(format!("--crs: found {text:?}, expected EPSG:CODE, such as EPSG:3035"))
    })
}

fn at_least_one(flag: &str, value: Option<usize>) -> Result<()> {
    match value {
        Some(0) => Err(bad_input(format!("{flag}: found 0, expected at least 1"))),
        _ => Ok(()),
    }
}

fn noise(flags: &Flags) -> NoiseChoice {
    let default = match flags.loss {
        Some(LossChoice::Birdflow) => NoiseChoice::Squared,
        None => NoiseChoice::Poisson,
    };
    flags.noise.unwrap_or(default)
}

/// The weights of BirdFlow's loss; refuses flags that state another one.
fn birdflow(flags: &Flags) -> Result<Option<Weights>> {
    let text = flags.weights.as_deref();
    if flags.loss.is_none() {
        return match text {
            Some(_) => Err(bad_input("--weights needs --loss birdflow")),
            None => Ok(None),
        };
    }
    let own = [
        ("--noise", flags.noise.is_some()),
        ("--weight", flags.weight.is_some()),
        ("--shares", flags.shares),
        ("--features", flags.features.is_some()),
        ("--covariates", !flags.covariates.is_empty()),
        ("--normalise", flags.normalise.is_some()),
    ];
    if let Some((flag, _)) = own.iter().find(|(_, given)| *given) {
        return Err(bad_input(format!(
            "{flag} cannot be used with --loss birdflow, which sets it"
        )));
    }
    let weights = Weights::parse(text.unwrap_or_default());
    weights.map(Some).map_err(|error| bad_input(format!("--weights: {error}")))
}

/// Refuses flags that belong to another noise.
fn fitting_noise(flags: &Flags) -> Result<()> {
    use NoiseChoice::{Gaussian, Poisson, Squared};
    let own: [(&str, bool, &[NoiseChoice]); 4] = [
        ("--rate", flags.rate.is_some(), &[Poisson, Gaussian]),
        ("--variance", flags.variance.is_some(), &[Gaussian]),
        ("--weight", flags.weight.is_some(), &[Squared]),
        ("--shares", flags.shares, &[Squared]),
    ];
    for (flag, given, fitting) in own {
        if given && !fitting.contains(&noise(flags)) {
            let expected: Vec<String> = fitting.iter().map(|noise| solver::name(*noise)).collect();
            return Err(bad_input(format!(
                "{flag} needs --noise {}, found --noise {}",
                expected.join(" or "),
                solver::name(noise(flags))
            )));
        }
    }
    Ok(())
}

/// Standard errors need a number of individuals and one way to find them.
fn fitting_errors(flags: &Flags) -> Result<()> {
    if flags.errors.is_some() && flags.bootstrap.is_some() {
        return Err(bad_input("--errors cannot be used with --bootstrap, which computes them"));
    }
    let wanted = [
        ("--bootstrap", flags.bootstrap.is_some()),
        ("--errors yes", flags.errors == Some(YesNo::Yes)),
    ];
    match wanted.iter().find(|(_, given)| *given && flags.population.is_none()) {
        Some((flag, _)) => Err(bad_input(format!(
            "{flag} needs --population: errors depend on how many individuals there are"
        ))),
        None => Ok(()),
    }
}

/// Output files need a folder, and some flags need a partner.
fn fitting_output(flags: &Flags) -> Result<()> {
    if flags.parquet && cfg!(not(feature = "parquet")) {
        return Err(bad_input(
            "--parquet: this build is without the feature `parquet`; to get it: cargo install --path \
             crates/cli --features parquet",
        ));
    }
    let needing = [
        ("--threshold", flags.threshold.is_some()),
        ("--quote-formulas", flags.quote_formulas),
        ("--sample", flags.sample.is_some()),
        ("--forecast", flags.forecast.is_some()),
        ("--errors", flags.errors == Some(YesNo::Yes)),
        ("--bootstrap", flags.bootstrap.is_some()),
        ("--from", flags.from.is_some()),
        ("--geojson", flags.geojson),
        ("--transitions", flags.transitions),
        ("--parquet", flags.parquet),
    ];
    if let Some((flag, _)) = needing.iter().find(|(_, given)| *given && flags.out.is_none()) {
        return Err(bad_input(format!("{flag} needs --out DIR, the folder for its file")));
    }
    let draws = flags.sample.is_some() || flags.bootstrap.is_some();
    let by_pairs = flags.tune == Some(TuneChoice::Pairs);
    let pairs = [
        ("--tune pairs", by_pairs, "--pairs", flags.pairs.is_some()),
        ("--seed", flags.seed.is_some(), "--sample or --bootstrap", draws),
        ("--crs", flags.crs.is_some(), "--geojson", flags.geojson),
        ("--at", flags.at.is_some(), "--from", flags.from.is_some()),
        ("--from", flags.from.is_some(), "--at", flags.at.is_some()),
    ];
    match pairs.iter().find(|(_, given, _, partner)| *given && !partner) {
        Some((flag, _, partner, _)) => Err(bad_input(format!("{flag} needs {partner}"))),
        None => Ok(()),
    }
}
