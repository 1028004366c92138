//! How a tagger is trained, by keyword: the words are the flags of `bethe train`.

use bethe_learn::energy::Learner;
use bethe_tagging::features::Template;
use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::RulePenalty;
use bethe_tagging::train::{
    AllowedTransitions, BaseSettings, Optimiser, RuleSettings, RuleSource, TrainSettings,
};
use bethe_tagging::{Decoding, WeightFeatures};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::keywords::Keywords;

/// Every keyword of training.
const WORDS: [&str; 23] = [
    "constraints",
    "template",
    "scheme",
    "learner",
    "penalty",
    "decoding",
    "rule_penalty",
    "weight_features",
    "importance",
    "least_violations",
    "folds",
    "batch",
    "joint",
    "optimiser",
    "l1",
    "l2",
    "max_iterations",
    "rate",
    "pool",
    "share_weights",
    "min_count",
    "transitions",
    "seed",
];

/// The settings of a call.
pub fn settings(given: Option<&Bound<'_, PyDict>>) -> PyResult<TrainSettings> {
    let given = Keywords::new(given, &WORDS)?;
    let default = TrainSettings::default();
    let template = given.get::<String>("template")?.map(|text| text.parse::<Template>());
    let template = template
        .transpose()
        .map_err(|error| PyValueError::new_err(format!("template: {error}")))?;
    let seed = given.get("seed")?.unwrap_or(default.seed);
    Ok(TrainSettings {
        scheme: given.choice(
            "scheme",
            &[
                ("auto", None),
                ("bio", Some(Scheme::Bio)),
                ("io", Some(Scheme::Io)),
                ("iobes", Some(Scheme::Iobes)),
                ("plain", Some(Scheme::Plain)),
            ],
        )?,
        template,
        min_count: at_least(&given, "min_count", default.min_count, 1)?,
        transitions: given.choice(
            "transitions",
            &[
                ("auto", AllowedTransitions::Auto),
                ("seen", AllowedTransitions::Seen),
                ("valid", AllowedTransitions::Valid),
                ("weighted", AllowedTransitions::Weighted),
            ],
        )?,
        base: base(&given)?,
        rule_source: match given.get::<String>("constraints")?.as_deref() {
            None | Some("auto") => RuleSource::Auto,
            Some("none") => RuleSource::None,
            Some(file) => RuleSource::File(file.into()),
        },
        rules: rules(&given, seed)?,
        seed,
        memory_limit: bethe_io::half_of_memory(),
        ..default
    })
}

fn base(given: &Keywords<'_, '_>) -> PyResult<BaseSettings> {
    let default = BaseSettings::default();
    let rate = given.get("rate")?.unwrap_or(default.rate);
    if !(rate > 0.0 && rate <= 1000.0) {
        return Err(PyValueError::new_err(format!(
            "rate: found {rate}, expected more than 0, at most 1000"
        )));
    }
    Ok(BaseSettings {
        optimiser: given.choice(
            "optimiser",
            &[("lbfgs", Optimiser::QuasiNewton), ("adagrad", Optimiser::AdaGrad)],
        )?,
        l1: not_negative(given, "l1", default.l1)?,
        l2: not_negative(given, "l2", default.l2)?,
        max_iterations: at_least(given, "max_iterations", default.max_iterations, 1)?,
        rate,
        pool: at_least(given, "pool", default.pool, 1)?,
        share_weights: given.get("share_weights")?.unwrap_or(false),
        ..default
    })
}

fn rules(given: &Keywords<'_, '_>, seed: u64) -> PyResult<RuleSettings> {
    let default = RuleSettings::default();
    let learner = given.choice(
        "learner",
        &[
            ("fenchel-young", Learner::FenchelYoung),
            ("surrogate", Learner::Surrogate),
            ("surrogate-batch", Learner::SurrogateBatch),
            ("perceptron", Learner::Perceptron),
        ],
    )?;
    let penalty = given.optional_choice(
        "penalty",
        &[("hinge", RulePenalty::Hinge), ("smoothed-hinge", RulePenalty::SmoothedHinge)],
    )?;
    let l1: Option<f64> = given.get("rule_penalty")?;
    if let Some(found) = l1.filter(|l1| !(l1.is_finite() && *l1 >= 0.0)) {
        return Err(PyValueError::new_err(format!(
            "rule_penalty: found {found}, expected at least 0"
        )));
    }
    let folds: Option<usize> = given.get("folds")?;
    if let Some(found) = folds.filter(|folds| *folds < 2) {
        return Err(PyValueError::new_err(format!("folds: found {found}, expected at least 2")));
    }
    Ok(RuleSettings {
        learner,
        penalty: penalty.unwrap_or(match learner {
            Learner::Surrogate | Learner::SurrogateBatch => RulePenalty::SmoothedHinge,
            Learner::FenchelYoung | Learner::Perceptron => default.penalty,
        }),
        l1,
        decoding: given.optional_choice(
            "decoding",
            &[
                ("tilted", Decoding::Tilted),
                ("weighed", Decoding::Weighed),
                ("soft-dd", Decoding::SoftDual),
            ],
        )?,
        features: weight_features(given, seed)?,
        importance: not_negative(given, "importance", default.importance)?,
        least_violations: given.get("least_violations")?.unwrap_or(default.least_violations),
        folds,
        batch: at_least(given, "batch", default.batch, 1)?,
        joint: given.get("joint")?.unwrap_or(false),
        ..default
    })
}

fn weight_features(given: &Keywords<'_, '_>, seed: u64) -> PyResult<WeightFeatures> {
    let Some(text) = given.get::<String>("weight_features")? else {
        return Ok(RuleSettings::default().features);
    };
    let count = text.strip_prefix("fourier:").and_then(|count| count.parse().ok());
    match (text.as_str(), count) {
        ("constant", _) => Ok(WeightFeatures::Constant),
        ("length", _) => Ok(WeightFeatures::Length),
        (_, Some(count)) if (1..=WeightFeatures::MOST).contains(&count) => {
            Ok(WeightFeatures::Fourier { count, seed })
        }
        _ => Err(PyValueError::new_err(format!(
            "weight_features: found {text:?}, expected constant, length, or fourier:N with N from 1 \
             to {}",
            WeightFeatures::MOST
        ))),
    }
}

fn not_negative(given: &Keywords<'_, '_>, word: &str, default: f64) -> PyResult<f64> {
    match given.get(word)?.unwrap_or(default) {
        found if f64::is_finite(found) && found >= 0.0 => Ok(found),
        found => Err(PyValueError::new_err(format!("{word}: found {found}, expected at least 0"))),
    }
}

fn at_least<T>(given: &Keywords<'_, '_>, word: &str, default: T, least: T) -> PyResult<T>
where
    T: PartialOrd + std::fmt::Display + for<'a, 'py> FromPyObject<'a, 'py>,
{
    let found = given.get(word)?.unwrap_or(default);
    if found < least {
        return Err(PyValueError::new_err(format!(
            "{word}: found {found}, expected at least {least}"
        )));
    }
    Ok(found)
}
