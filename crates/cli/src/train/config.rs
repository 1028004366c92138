//! From flags to valid settings. No flag is silently ignored.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_learn::energy::Learner;
use bethe_tagging::data::Format;
use bethe_tagging::features::{Lexicons, Template};
use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::RulePenalty;
use bethe_tagging::train::{
    AllowedTransitions, BaseSettings, Optimiser, RuleSettings, RuleSource, TrainSettings,
};

use bethe_tagging::{Decoding, WeightFeatures};
use bethe_terminal::{bad_input, time};

use super::flags::{
    DecodingChoice, Flags, FormatChoice, LearnerChoice, OptimiserChoice, PenaltyChoice,
    SchemeChoice, TransitionsChoice,
};

/// The settings for the flags.
pub fn settings(flags: &Flags) -> Result<TrainSettings> {
    check_combinations(flags)?;
    let memory = flags.memory.limit()?;
    let template = flags.template.as_deref();
    let template = template.map(|path| Template::read_within(path, memory)).transpose();
    let lexicons = Lexicons::read_within(&flags.lexicon, memory);
    Ok(TrainSettings {
        format: match flags.format {
            FormatChoice::Columns => Format::Columns,
            FormatChoice::Attributes => Format::Attributes,
        },
        column: flags.column,
        observe: observed(flags)?,
        scheme: match flags.scheme {
            SchemeChoice::Auto => None,
            SchemeChoice::Bio => Some(Scheme::Bio),
            SchemeChoice::Io => Some(Scheme::Io),
            SchemeChoice::Iobes => Some(Scheme::Iobes),
            SchemeChoice::Bilou => Some(Scheme::Bilou),
            SchemeChoice::Plain => Some(Scheme::Plain),
        },
        template: template.map_err(|error| bad_input(error.to_string()))?,
        lexicons: lexicons.map_err(|error| bad_input(error.to_string()))?,
        min_count: at_least("--min-count", flags.min_count.unwrap_or(1), 1)?,
        transitions: match flags.transitions {
            TransitionsChoice::Auto => AllowedTransitions::Auto,
            TransitionsChoice::Seen => AllowedTransitions::Seen,
            TransitionsChoice::Valid => AllowedTransitions::Valid,
            TransitionsChoice::Weighted => AllowedTransitions::Weighted,
        },
        base: base(flags)?,
        rule_source: rule_source(&flags.constraints)?,
        rules: rules(flags)?,
        seed: flags.seed,
        checkpoint: (!flags.no_checkpoint).then(|| checkpoint(&flags.model)),
        checkpoint_interval: time::parse("--checkpoint-every", &flags.checkpoint_every)?,
        memory_limit: memory,
        interrupt: None,
    })
}

/// The checkpoint file.
pub fn checkpoint(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".checkpoint");
    name.into()
}

fn rule_source(text: &str) -> Result<RuleSource> {
    match text {
        "none" => Ok(RuleSource::None),
        "auto" => Ok(RuleSource::Auto),
        file if Path::new(file).exists() => Ok(RuleSource::File(file.into())),
        file => Err(bad_input(format!(
            "--constraints: found {file:?}, which is no file, expected auto, none, or a file of rules"
        ))),
    }
}

fn base(flags: &Flags) -> Result<BaseSettings> {
    let default = BaseSettings::default();
    Ok(BaseSettings {
        optimiser: match flags.optimiser {
            OptimiserChoice::Lbfgs => Optimiser::QuasiNewton,
            OptimiserChoice::Adagrad => Optimiser::AdaGrad,
        },
        l1: not_negative("--l1", flags.l1.unwrap_or(default.l1))?,
        l2: not_negative("--l2", flags.l2)?,
        max_iterations: at_least("--max-iterations", flags.max_iterations, 1)?,
        patience: at_least("--patience", flags.patience.unwrap_or(default.patience), 1)?,
        pool: at_least("--pool", flags.pool.unwrap_or(default.pool), 1)?,
        share_weights: flags.share_weights,
        rate: match flags.rate.unwrap_or(default.rate) {
            rate if rate > 0.0 && rate <= 1000.0 => rate,
            rate => {
                let message = format!("--rate: found {rate}, expected more than 0, at most 1000");
                return Err(bad_input(message));
            }
        },
        ..default
    })
}

fn rules(flags: &Flags) -> Result<RuleSettings> {
    let default = RuleSettings::default();
    let l1 = flags.rule_penalty.map(|l1| not_negative("--rule-penalty", l1));
    let features = flags.weight_features.as_deref();
    let least = flags.least_violations.unwrap_or(default.least_violations);
    let learner = match flags.learner {
        Some(LearnerChoice::Surrogate) => Learner::Surrogate,
        Some(LearnerChoice::SurrogateBatch) => Learner::SurrogateBatch,
        Some(LearnerChoice::FenchelYoung) => Learner::FenchelYoung,
        Some(LearnerChoice::Perceptron) => Learner::Perceptron,
        None => default.learner,
    };
    Ok(RuleSettings {
        learner,
        penalty: match flags.penalty {
            Some(PenaltyChoice::Hinge) => RulePenalty::Hinge,
            Some(PenaltyChoice::SmoothedHinge) => RulePenalty::SmoothedHinge,
            None => match learner {
                Learner::Surrogate | Learner::SurrogateBatch => RulePenalty::SmoothedHinge,
                Learner::FenchelYoung | Learner::Perceptron => default.penalty,
            },
        },
        decoding: flags.decoding.map(|decoding| match decoding {
            DecodingChoice::Tilted => Decoding::Tilted,
            DecodingChoice::Weighed => Decoding::Weighed,
            DecodingChoice::SoftDd => Decoding::SoftDual,
        }),
        l1: l1.transpose()?,
        features: features
            .map_or(Ok(default.features), |text| weight_features(text, flags.seed))?,
        importance: not_negative("--importance", flags.importance.unwrap_or(default.importance))?,
        least_violations: least,
        folds: flags.folds.map(|folds| at_least("--folds", folds, 2)).transpose()?,
        batch: at_least("--batch", flags.batch.unwrap_or(default.batch), 1)?,
        joint: flags.joint,
        ..default
    })
}

/// The columns to observe, each once.
fn observed(flags: &Flags) -> Result<Option<Vec<usize>>> {
    let columns = flags.observe.as_deref().unwrap_or_default();
    let twice = |&(at, column): &(usize, &usize)| columns[..at].contains(column);
    match columns.iter().enumerate().find(twice) {
        Some((_, column)) => {
            let message = format!("--observe: found column {column} twice, expected each once");
            Err(bad_input(message))
        }
        None => Ok(flags.observe.clone()),
    }
}

fn weight_features(text: &str, seed: u64) -> Result<WeightFeatures> {
    let count = || {
        text.strip_prefix("fourier:")?
            .parse()
            .ok()
            .filter(|count| (1..=WeightFeatures::MOST).contains(count))
    };
    match (text, count()) {
        ("constant", _) => Ok(WeightFeatures::Constant),
        ("length", _) => Ok(WeightFeatures::Length),
        (_, Some(count)) => Ok(WeightFeatures::Fourier { count, seed }),
        _ => Err(bad_input(format!(
            "--weight-features: found {text:?}, expected constant, length, or fourier:N with N \
             from 1 to {}",
            WeightFeatures::MOST
        ))),
    }
}

/// An error for the first flag that was given.
fn without(what: &str, given: &[(&str, bool)]) -> Result<()> {
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(bad_input(format!("{flag} {what}"))),
        None => Ok(()),
    }
}

/// Refuses flags that would have no effect.
fn check_combinations(flags: &Flags) -> Result<()> {
    let columns = [
        ("--template", flags.template.is_some()),
        ("--column", flags.column.is_some()),
        ("--observe", flags.observe.is_some()),
        ("--lexicon", !flags.lexicon.is_empty()),
    ];
    if flags.format == FormatChoice::Attributes {
        without("has no effect with --format attributes, only with column files", &columns)?;
    }
    if flags.scores.is_some() {
        let what =
            "has no effect with --scores, which replace attributes; labels are in the last column";
        without(what, &columns)?;
        let attributes = flags.format == FormatChoice::Attributes;
        without(what, &[("--format attributes", attributes)])?;
        without(what, &[("--min-count", flags.min_count.is_some())])?;
        without(what, &[("--pool", flags.pool.is_some())])?;
        without(what, &[("--share-weights", flags.share_weights)])?;
        if flags.dev.is_some() != flags.dev_scores.is_some() {
            return Err(bad_input("--dev with --scores also needs --dev-scores"));
        }
    }
    if flags.joint {
        let what = "has no effect with --joint, which uses --l2 only";
        without(what, &[("--l1", flags.l1.is_some())])?;
    }
    if flags.scheme == SchemeChoice::Plain {
        let what = "has no effect with --scheme plain, whose labels have no common parts";
        without(what, &[("--share-weights", flags.share_weights)])?;
    }
    match flags.optimiser {
        OptimiserChoice::Lbfgs => {
            // Algorithm 3 takes stochastic steps on the base model too.
            let steps = flags.joint && flags.learner == Some(LearnerChoice::Surrogate);
            let what = "needs --optimiser adagrad, or --joint with --learner surrogate";
            without(what, &[("--rate", flags.rate.is_some() && !steps)])
        }
        OptimiserChoice::Adagrad => {
            let own = [("--l1", flags.l1.is_some()), ("--share-weights", flags.share_weights)];
            without("needs --optimiser lbfgs", &own)
        }
    }?;
    check_rule_flags(flags)
}

/// Flags on rules make no sense without the rules that they are about.
fn check_rule_flags(flags: &Flags) -> Result<()> {
    let source = rule_source(&flags.constraints)?;
    if source == RuleSource::None {
        let learned = [
            ("--learner", flags.learner.is_some()),
            ("--weight-features", flags.weight_features.is_some()),
            ("--penalty", flags.penalty.is_some()),
            ("--decoding", flags.decoding.is_some()),
            ("--rule-penalty", flags.rule_penalty.is_some()),
            ("--folds", flags.folds.is_some()),
            ("--batch", flags.batch.is_some()),
            ("--joint", flags.joint),
        ];
        without("needs rules: not with --constraints none", &learned)?;
    }
    if flags.learner != Some(LearnerChoice::Surrogate) {
        without("needs --learner surrogate", &[("--batch", flags.batch.is_some())])?;
    }
    if source != RuleSource::Auto {
        let generated = [
            ("--importance", flags.importance.is_some()),
            ("--least-violations", flags.least_violations.is_some()),
        ];
        without("needs generated rules: add --constraints auto", &generated)?;
    }
    Ok(())
}

fn not_negative(flag: &str, found: f64) -> Result<f64> {
    match found >= 0.0 && found.is_finite() {
        true => Ok(found),
        false => Err(bad_input(format!("{flag}: found {found}, expected a number of at least 0"))),
    }
}

fn at_least<N: PartialOrd + std::fmt::Display>(flag: &str, found: N, least: N) -> Result<N> {
    match found >= least {
        true => Ok(found),
        false => Err(bad_input(format!("{flag}: found {found}, expected at least {least}"))),
    }
}
