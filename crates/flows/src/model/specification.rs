//! Features as text: `stay=0.5,distance=-1,goal:Cell25=1,wind=0.7,habitat=2`.

use thiserror::Error;

use super::{Feature, FeatureKind};
use crate::data::{Cells, Covariate};

/// The default features: a move of one spacing is `e` times less likely than staying.
pub const DEFAULT_FEATURES: &str = "distance=-1";

/// What comes before the power of distance.
const POWER: &str = "distance^";

/// The feature whose values are always in a file.
const WIND: &str = "wind";

/// Why a text is not a list of features.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SpecificationError {
    /// Something without a name or a weight.
    #[error("found {found:?}, expected name=weight, such as distance=-1")]
    Malformed {
        /// What is there.
        found: String,
    },
    /// An unknown name.
    #[error("found the feature {name:?}, expected one of {known}")]
    Unknown {
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// A feature whose values come from a file that is not there.
    #[error("{name} needs a file of covariates")]
    NoCovariates {
        /// The name.
        name: String,
    },
    /// A covariate with the name of a built-in feature.
    #[error("the feature {name:?} is also a column of a covariates file; rename that column")]
    Ambiguous {
        /// The name.
        name: String,
    },
    /// A weight that is not a number.
    #[error("{name}: found the weight {found:?}, expected a finite number")]
    Weight {
        /// The feature.
        name: String,
        /// What is there.
        found: String,
    },
    /// A feature twice.
    #[error("found the feature {name:?} twice, expected each once")]
    Repeated {
        /// Its name.
        name: String,
    },
    /// An invalid power of distance.
    #[error("found {name:?}, expected distance^P with a positive number P, such as distance^0.5")]
    Power {
        /// What is there.
        name: String,
    },
    /// A goal that is not a cell.
    #[error("goal: {name:?} is not one of the {known} cells")]
    Goal {
        /// The name.
        name: String,
        /// How many there are.
        known: usize,
    },
}

/// A feature as it was stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// With weight 0 if none was given.
    pub feature: Feature,
    /// Whether a weight was given.
    pub has_weight: bool,
}

impl Stated {
    /// Features as a list of `name=weight`, or `name` for a weight that is not known, split by
    /// commas.
    ///
    /// | name | its value for a move |
    /// | --- | --- |
    /// | `stay` | 1 if the cell stays the same |
    /// | `distance`, `distance^P` | the distance, in units of [`Cells::spacing`], to the power `P` |
    /// | `stride` | four times the log-normal density with parameters 1 and 1 at the distance |
    /// | `goal:CELL` | the cosine of the angle to the direction of that cell |
    /// | `wind` | the cosine of the angle to the wind, of the covariate of that name |
    /// | any other | the value of the covariate of that name |
    pub fn parse_list(
        text: &str,
        cells: &Cells,
        covariates: &[Covariate],
    ) -> Result<Vec<Self>, SpecificationError> {
        let mut stated: Vec<Self> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            // Names of cells may hold an equals sign.
            let (name, weight) = match (kind(part, cells, covariates), part.rsplit_once('=')) {
                (Err(_), Some((name, weight))) => (name.trim().to_string(), Some(weight.trim())),
                _ => (part.to_string(), None),
            };
            let weight = weight.map(|weight| {
                let number = weight.parse().ok().filter(|number: &f64| number.is_finite());
                let (name, found) = (name.clone(), weight.to_string());
                number.ok_or(SpecificationError::Weight { name, found })
            });
            let weight = weight.transpose()?;
            let kind = kind(&name, cells, covariates)?;
            if stated.iter().any(|other| other.feature.base_name() == base_name(&name)) {
                return Err(SpecificationError::Repeated { name });
            }
            let feature = Feature { name, kind, weight: weight.unwrap_or(0.0) };
            stated.push(Self { feature, has_weight: weight.is_some() });
        }
        Ok(stated)
    }
}

impl Feature {
    /// Its name without a power of distance.
    pub fn base_name(&self) -> &str {
        base_name(&self.name)
    }

    /// Features as a list of `name=weight`, split by commas, as [`Stated::parse_list`] has them.
    pub fn parse_list(
        text: &str,
        cells: &Cells,
        covariates: &[Covariate],
    ) -> Result<Vec<Self>, SpecificationError> {
        let own = |stated: Stated| match stated.has_weight {
            true => Ok(stated.feature),
            false => Err(SpecificationError::Malformed { found: stated.feature.name }),
        };
        Stated::parse_list(text, cells, covariates)?.into_iter().map(own).collect()
    }
}

fn base_name(name: &str) -> &str {
    if name.starts_with(POWER) { "distance" } else { name }
}

fn kind(
    name: &str,
    cells: &Cells,
    covariates: &[Covariate],
) -> Result<FeatureKind, SpecificationError> {
    let name_of = |covariate: &Covariate| covariate.name.clone();
    let given = covariates.iter().find(|covariate| covariate.name == name);
    match (built_in(name, cells)?, given) {
        (Some(_), Some(_)) => Err(SpecificationError::Ambiguous { name: name.to_string() }),
        (Some(kind), None) => Ok(kind),
        (None, Some(covariate)) => Ok(covariate.kind.clone()),
        (None, None) if name == WIND => {
            Err(SpecificationError::NoCovariates { name: name.to_string() })
        }
        (None, None) => {
            let fixed =
                ["stay", "distance", "distance^P", "stride", "goal:CELL"].map(str::to_string);
            let mut known: Vec<String> =
                fixed.into_iter().chain(covariates.iter().map(name_of)).collect();
            if !known.iter().any(|name| name == WIND) {
                known.push(format!("{WIND} (which needs a file of covariates)"));
            }
            let (name, known) = (name.to_string(), known.join(", "));
            Err(SpecificationError::Unknown { name, known })
        }
    }
}

/// Features without a file.
fn built_in(name: &str, cells: &Cells) -> Result<Option<FeatureKind>, SpecificationError> {
    Ok(Some(match name {
        "stay" => FeatureKind::Stay(1.0),
        "distance" => FeatureKind::Power { unit: cells.spacing(), exponent: 1.0 },
        "stride" => FeatureKind::Stride,
        _ if name.starts_with(POWER) => {
            let power = name[POWER.len()..].parse().ok();
            let power = power.filter(|power: &f64| power.is_finite() && *power > 0.0);
            let unknown = || SpecificationError::Power { name: name.to_string() };
            FeatureKind::Power { unit: cells.spacing(), exponent: power.ok_or_else(unknown)? }
        }
        _ => match name.strip_prefix("goal:") {
            Some(goal) => FeatureKind::Goal(cells.find(goal).ok_or_else(|| {
                SpecificationError::Goal { name: goal.to_string(), known: cells.len() }
            })?),
            None => return Ok(None),
        },
    }))
}
