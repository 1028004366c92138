use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::RuleFileMistake;
use crate::labels::States;
use crate::rules::names::{Unclear, find_kind};
use crate::rules::{MOST_SEGMENTS, MOST_WEIGHT, Weight};

/// A mistake, and the bytes where it was made.
pub(super) type Found<T> = Result<T, (Range<usize>, RuleFileMistake)>;

pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// Reads the values of fields.
pub(super) struct Values<'a> {
    pub text: &'a str,
    pub states: &'a States,
}

impl Values<'_> {
    /// The first line of a value, as it was written.
    fn written(&self, value: &Value<'_>) -> String {
        self.text[value.span()].lines().next().unwrap_or_default().to_string()
    }

    fn wrong_type<T>(
        &self,
        field: &'static str,
        value: &Value<'_>,
        expected: &'static str,
    ) -> Found<T> {
        Err((value.span(), RuleFileMistake::Type { field, found: self.written(value), expected }))
    }

    pub fn bound(&self, field: &'static str, value: &Value<'_>) -> Found<u32> {
        let number = value.get_ref().as_integer().and_then(whole);
        number
            .and_then(|number| u32::try_from(number).ok())
            .filter(|&bound| bound <= MOST_SEGMENTS)
            .ok_or_else(|| {
                (value.span(), RuleFileMistake::Bound { field, found: self.written(value) })
            })
    }

    pub fn weight(&self, value: Option<&Value<'_>>) -> Found<Weight> {
        let Some(value) = value else { return Ok(Weight::Learned) };
        let number = match value.get_ref() {
            DeValue::String(word) if word == "hard" => return Ok(Weight::Hard),
            DeValue::String(word) if word == "learned" => return Ok(Weight::Learned),
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => whole(number).map(|number| number as f64),
            _ => None,
        };
        number
            .filter(|weight: &f64| (0.0..=MOST_WEIGHT).contains(weight))
            .map(Weight::Given)
            .ok_or_else(|| (value.span(), RuleFileMistake::Weight { found: self.written(value) }))
    }

    /// The kind of one name.
    pub fn kind(&self, field: &'static str, value: &Value<'_>) -> Found<usize> {
        match value.get_ref() {
            DeValue::String(name) => self.named(name, value.span()),
            _ => self.wrong_type(field, value, "the name of a kind"),
        }
    }

    /// The kinds of two names.
    pub fn pair(&self, field: &'static str, value: &Value<'_>) -> Found<(usize, usize)> {
        let two = match value.get_ref() {
            DeValue::Array(names) if names.len() == 2 => names,
            _ => return self.wrong_type(field, value, "a list of two names of kinds"),
        };
        let (first, second) = (self.kind(field, &two[0])?, self.kind(field, &two[1])?);
        self.distinct(field, [(first, &two[0]), (second, &two[1])])?;
        Ok((first, second))
    }

    /// The kinds to count: one name, several, or names with coefficients.
    pub fn terms(&self, field: &'static str, value: &Value<'_>) -> Found<Vec<(usize, i32)>> {
        match value.get_ref() {
            DeValue::String(_) => Ok(vec![(self.kind(field, value)?, 1)]),
            DeValue::Array(names) => {
                let kinds: Vec<(usize, &Value<'_>)> = names
                    .iter()
                    .map(|name| Ok((self.kind(field, name)?, name)))
                    .collect::<Found<_>>()?;
                self.distinct(field, kinds.iter().copied())?;
                Ok(kinds.into_iter().map(|(kind, _)| (kind, 1)).collect())
            }
            DeValue::Table(table) => {
                let mut terms = Vec::new();
                let mut places = Vec::new();
                for (name, value) in table {
                    let kind = self.named(name.get_ref(), name.span())?;
                    let c = value.get_ref().as_integer().and_then(whole);
                    match c.and_then(|c| i32::try_from(c).ok()) {
                        Some(c) => terms.push((kind, c)),
                        None => return self.wrong_type(field, value, "a small whole number"),
                    }
                    places.push((kind, value));
                }
                self.distinct(field, places)?;
                Ok(terms)
            }
            _ => {
                let expected = "a name of a kind, a list of names, or { name = coefficient, … }";
                self.wrong_type(field, value, expected)
            }
        }
    }

    fn named(&self, name: &str, place: Range<usize>) -> Found<usize> {
        let found = name.to_string();
        find_kind(self.states, name).map_err(|unclear| match unclear {
            Unclear::Unknown(known) => (place, RuleFileMistake::UnknownKind { found, known }),
            Unclear::Ambiguous(written) => {
                (place, RuleFileMistake::AmbiguousKind { found, written })
            }
        })
    }

    /// Kinds, with the values that named them, must differ.
    pub fn distinct<'v>(
        &self,
        field: &'static str,
        kinds: impl IntoIterator<Item = (usize, &'v Value<'v>)>,
    ) -> Found<()> {
        let mut seen = HashSet::new();
        for (kind, value) in kinds {
            if !seen.insert(kind) {
                let found = self.states.kinds()[kind].name.clone();
                return Err((value.span(), RuleFileMistake::RepeatedKind { field, found }));
            }
        }
        Ok(())
    }
}

fn whole(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
