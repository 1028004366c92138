//! From raw to checked energies: the fields of each kind, their defaults and meaning.

use super::place::JsonPlace;
use super::raw::{Object, RawEnergy, RawNorm, RawPenalty, RawTerm};
use super::resolve::{check_size, scope};
use super::{JsonPath, ProblemFileError};
use crate::energy::{Energy, Norm, Penalty, Term};
use crate::model::Model;

const KINDS: &str = "measurement, table_measurement, product, nearest";
const PENALTIES: &str =
    "linear, hinge, smoothed_hinge, squared, absolute, huber, poisson, at_most, equal";

pub(super) fn resolve(
    model: &Model,
    raw: &[Object<RawEnergy>],
) -> Result<Vec<Energy>, ProblemFileError> {
    let outer = JsonPlace::Root.field("energies");
    let resolve_one = |(index, Object(raw)): (usize, &Object<RawEnergy>)| {
        let place = outer.index(index);
        let energy = energy(model, raw, &place)?;
        energy.check(model).map_err(|error| ProblemFileError::Energy {
            place: JsonPath(format!("{place}.{}", error.place)),
            fault: error.fault,
        })?;
        Ok(energy)
    };
    raw.iter().enumerate().map(resolve_one).collect()
}

/// Checks kinds, fields and penalties, which need no model.
pub(super) fn check_alone(raw: &[Object<RawEnergy>]) -> Result<(), ProblemFileError> {
    let outer = JsonPlace::Root.field("energies");
    raw.iter().enumerate().try_for_each(|(index, Object(raw))| {
        let place = outer.index(index);
        check_kind(raw, &place)?;
        match raw.kind.as_str() {
            "measurement" | "table_measurement" => checked_penalty(raw, &place).map(|_| ()),
            "nearest" => norm(raw, &place).map(|_| ()),
            _ => Ok(()),
        }
    })
}

/// Checks that the energy has the fields of its kind, and no others.
fn check_kind(raw: &RawEnergy, place: &JsonPlace) -> Result<(), ProblemFileError> {
    let (allowed, needed): (&[&str], &[&str]) = match raw.kind.as_str() {
        "measurement" => (&["kind", "weight", "penalty", "offset", "terms"], &["penalty", "terms"]),
        "table_measurement" => (
            &["kind", "weight", "penalty", "scope", "target", "total"],
            &["penalty", "scope", "target"],
        ),
        "product" => (&["kind", "scope", "log_potentials"], &["scope", "log_potentials"]),
        "nearest" => (
            &["kind", "weight", "norm", "cap", "measurements", "points"],
            &["measurements", "points"],
        ),
        _ => return Err(unknown_kind(&raw.kind, KINDS, &place.field("kind"))),
    };
    let given = [
        ("weight", raw.weight.is_some()),
        ("penalty", raw.penalty.is_some()),
        ("offset", raw.offset.is_some()),
        ("terms", raw.terms.is_some()),
        ("scope", raw.scope.is_some()),
        ("log_potentials", raw.log_potentials.is_some()),
        ("target", raw.target.is_some()),
        ("total", raw.total.is_some()),
        ("norm", raw.norm.is_some()),
        ("cap", raw.cap.is_some()),
        ("measurements", raw.measurements.is_some()),
        ("points", raw.points.is_some()),
    ];
    check_fields(&given, allowed, place)?;
    let missing = given.iter().find(|(field, present)| !present && needed.contains(field));
    match missing {
        None => Ok(()),
        Some((field, _)) => Err(missing_field(field, place)),
    }
}

fn energy(model: &Model, raw: &RawEnergy, place: &JsonPlace) -> Result<Energy, ProblemFileError> {
    check_kind(raw, place)?;
    match raw.kind.as_str() {
        "measurement" => measurement(model, raw, place),
        "table_measurement" => table_measurement(model, raw, place),
        "product" => product(model, raw, place),
        _ => nearest(model, raw, place),
    }
}

/// The penalty, which has a weight unless it is hard.
fn checked_penalty(raw: &RawEnergy, place: &JsonPlace) -> Result<Penalty, ProblemFileError> {
    let Object(raw_penalty) = required(&raw.penalty, "penalty", place)?;
    let penalty = penalty(raw_penalty, &place.field("penalty"))?;
    if penalty.is_hard() && raw.weight.is_some() {
        let penalty = if penalty == Penalty::AtMost { "at_most" } else { "equal" };
        return Err(ProblemFileError::WeightOnConstraint {
            place: place.field("weight").path(),
            penalty,
        });
    }
    Ok(penalty)
}

fn measurement(
    model: &Model,
    raw: &RawEnergy,
    place: &JsonPlace,
) -> Result<Energy, ProblemFileError> {
    Ok(Energy::Measurement {
        penalty: checked_penalty(raw, place)?,
        weight: raw.weight.unwrap_or(1.0),
        offset: raw.offset.unwrap_or(0.0),
        terms: terms(model, required(&raw.terms, "terms", place)?, &place.field("terms"))?,
    })
}

fn table_measurement(
    model: &Model,
    raw: &RawEnergy,
    place: &JsonPlace,
) -> Result<Energy, ProblemFileError> {
    let penalty = checked_penalty(raw, place)?;
    let scope = scope(model, required(&raw.scope, "scope", place)?, &place.field("scope"))?;
    let target = required(&raw.target, "target", place)?.clone();
    check_size(model, &scope, target.len(), &place.field("target"))?;
    Ok(Energy::TableMeasurement {
        weight: raw.weight.unwrap_or(1.0),
        penalty,
        scope,
        target,
        total: raw.total.unwrap_or(1.0),
    })
}

fn product(model: &Model, raw: &RawEnergy, place: &JsonPlace) -> Result<Energy, ProblemFileError> {
    let scope = scope(model, required(&raw.scope, "scope", place)?, &place.field("scope"))?;
    let log_potentials = required(&raw.log_potentials, "log_potentials", place)?.clone();
    check_size(model, &scope, log_potentials.len(), &place.field("log_potentials"))?;
    Ok(Energy::Product { scope, log_potentials })
}

fn nearest(model: &Model, raw: &RawEnergy, place: &JsonPlace) -> Result<Energy, ProblemFileError> {
    let outer = place.field("measurements");
    let raw_measurements = required(&raw.measurements, "measurements", place)?;
    let rows = raw_measurements
        .iter()
        .enumerate()
        .map(|(index, Object(row))| terms(model, &row.terms, &outer.index(index).field("terms")));
    Ok(Energy::Nearest {
        weight: raw.weight.unwrap_or(1.0),
        norm: norm(raw, place)?,
        cap: raw.cap,
        measurements: rows.collect::<Result<_, _>>()?,
        points: required(&raw.points, "points", place)?.clone(),
    })
}

fn norm(raw: &RawEnergy, place: &JsonPlace) -> Result<Norm, ProblemFileError> {
    match &raw.norm {
        None => Ok(Norm::L1),
        Some(RawNorm::Word(word)) if word == "l1" => Ok(Norm::L1),
        Some(RawNorm::Huber(norm)) => Ok(Norm::Huber(norm.huber)),
        Some(RawNorm::Word(word)) => {
            Err(unknown_kind(word, "\"l1\", {\"huber\": δ}", &place.field("norm")))
        }
    }
}

fn terms(
    model: &Model,
    raw: &[Object<RawTerm>],
    place: &JsonPlace,
) -> Result<Vec<Term>, ProblemFileError> {
    let term = |(index, Object(raw)): (usize, &Object<RawTerm>)| {
        let place = place.index(index);
        let scope = scope(model, &raw.scope, &place.field("scope"))?;
        check_size(model, &scope, raw.coefficients.len(), &place.field("coefficients"))?;
        Ok(Term { scope, coefficients: raw.coefficients.clone() })
    };
    raw.iter().enumerate().map(term).collect()
}

fn penalty(raw: &RawPenalty, place: &JsonPlace) -> Result<Penalty, ProblemFileError> {
    let (penalty, allowed): (Penalty, &[&str]) = match raw.kind.as_str() {
        "linear" => (Penalty::Linear, &["kind"]),
        "hinge" => (Penalty::Hinge, &["kind"]),
        "smoothed_hinge" => (Penalty::SmoothedHinge, &["kind"]),
        "squared" => (Penalty::Squared, &["kind"]),
        "absolute" => (Penalty::Absolute, &["kind"]),
        "at_most" => (Penalty::AtMost, &["kind"]),
        "equal" => (Penalty::Equal, &["kind"]),
        "huber" => {
            let delta = *required(&raw.delta, "delta", place)?;
            (Penalty::Huber { delta }, &["kind", "delta"])
        }
        "poisson" => {
            let rate = *required(&raw.rate, "rate", place)?;
            let count = *required(&raw.count, "count", place)?;
            (Penalty::Poisson { rate, count }, &["kind", "rate", "count"])
        }
        other => return Err(unknown_kind(other, PENALTIES, &place.field("kind"))),
    };
    let given = [
        ("delta", raw.delta.is_some()),
        ("rate", raw.rate.is_some()),
        ("count", raw.count.is_some()),
    ];
    check_fields(&given, allowed, place)?;
    Ok(penalty)
}

fn check_fields(
    given: &[(&str, bool)],
    allowed: &[&str],
    place: &JsonPlace,
) -> Result<(), ProblemFileError> {
    let stray = given.iter().find(|(field, present)| *present && !allowed.contains(field));
    match stray {
        None => Ok(()),
        Some((field, _)) => Err(ProblemFileError::UnknownField {
            place: place.path(),
            field: field.to_string(),
            expected: match allowed {
                [only] => format!("{only} only"),
                several => format!("one of {}", several.join(", ")),
            },
        }),
    }
}

fn required<'r, T>(
    field: &'r Option<T>,
    name: &str,
    place: &JsonPlace,
) -> Result<&'r T, ProblemFileError> {
    field.as_ref().ok_or_else(|| missing_field(name, place))
}

fn missing_field(name: &str, place: &JsonPlace) -> ProblemFileError {
    ProblemFileError::MissingField { place: place.path(), field: name.to_string() }
}

fn unknown_kind(found: &str, expected: &str, place: &JsonPlace) -> ProblemFileError {
    ProblemFileError::UnknownKind {
        place: place.path(),
        found: found.to_string(),
        expected: expected.to_string(),
    }
}
