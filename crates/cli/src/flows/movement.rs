//! The law of movement, from --features and covariates.

use anyhow::Result;
use bethe_flows::data::{Cells, Covariate, Observations, read_covariates};
use bethe_flows::model::{DEFAULT_FEATURES, Feature, Movement, SpecificationError, Stated};
use bethe_terminal::bad_input;

use super::config::Config;
use super::input::wrong;

/// The weight of distance that learning begins with.
const FIRST_DISTANCE: f64 = -1.0;

/// The law, and which of its weights are learned.
pub fn movement(
    config: &Config,
    cells: &Cells,
    observations: &Observations,
) -> Result<(Movement, Vec<bool>)> {
    if let Some(weights) = config.birdflow {
        return Ok((weights.movement(cells, config.reach), vec![false]));
    }
    let mut steps = observations.times()[..observations.times().len() - 1].to_vec();
    if config.forecast > 0 {
        steps.extend(observations.times().last().cloned());
        steps.extend(observations.following(config.forecast - 1));
    }
    let text = match config.learns {
        true => config.features.as_deref().unwrap_or_default(),
        false => config.features.as_deref().unwrap_or(DEFAULT_FEATURES),
    };
    let mut covariates: Vec<Covariate> = Vec::new();
    let mut of_file = Vec::new();
    for path in &config.covariates {
        let own =
            read_covariates(path, (cells, &config.cells), &steps, config.memory).map_err(wrong)?;
        if let Some(twice) = own.iter().find(|a| covariates.iter().any(|b| a.name == b.name)) {
            return Err(bad_input(format!(
                "{}: the covariate {:?} is also in another file; rename one of them",
                path.display(),
                twice.name
            )));
        }
        of_file.push((path, covariates.len()..covariates.len() + own.len()));
        covariates.extend(own);
    }
    let wrong = |error| match error {
        SpecificationError::NoCovariates { name } => {
            bad_input(format!("--features: {name} needs --covariates FILE.csv"))
        }
        error => bad_input(format!("--features: {error}")),
    };
    let (features, learned) = match config.learns {
        true => with_learned(text, cells, &covariates).map_err(wrong)?,
        false => {
            let features = Feature::parse_list(text, cells, &covariates).map_err(wrong)?;
            let learned = vec![false; features.len()];
            (features, learned)
        }
    };
    for (path, range) in of_file {
        let own = &covariates[range];
        if !own.iter().any(|covariate| features.iter().any(|f| f.name == covariate.name)) {
            let names: Vec<&str> = own.iter().map(|covariate| &covariate.name[..]).collect();
            return Err(bad_input(format!(
                "{}: --features uses none of {}; give one of them a weight",
                path.display(),
                names.join(", ")
            )));
        }
    }
    Ok((Movement { features, reach: config.reach, normalised: config.normalised }, learned))
}

/// The features that were stated, then `stay`, `distance` and all covariates that were not; and which
/// weights are to be learned.
fn with_learned(
    text: &str,
    cells: &Cells,
    covariates: &[Covariate],
) -> Result<(Vec<Feature>, Vec<bool>), SpecificationError> {
    let stated = Stated::parse_list(text, cells, covariates)?;
    let mut learned: Vec<bool> = stated.iter().map(|stated| !stated.has_weight).collect();
    let mut features: Vec<Feature> = stated.into_iter().map(|stated| stated.feature).collect();
    let others = ["stay", "distance"].into_iter();
    for name in others.chain(covariates.iter().map(|covariate| &covariate.name[..])) {
        if !features.iter().any(|feature| feature.base_name() == name) {
            let own = Stated::parse_list(name, cells, covariates)?;
            features.extend(own.into_iter().map(|stated| stated.feature));
            learned.push(true);
        }
    }
    let fresh = features.iter_mut().zip(&learned).filter(|(_, learned)| **learned);
    for (feature, _) in fresh {
        feature.weight = if feature.base_name() == "distance" { FIRST_DISTANCE } else { 0.0 };
    }
    Ok((features, learned))
}
