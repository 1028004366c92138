use rustc_hash::FxHashSet;

use super::words::{Word, Words};
use super::{Ignored, UaiError};
use crate::model::table::table_size;
use crate::model::{Factor, Model, ModelError, Variable};

impl Model {
    /// Reads a `.uai` file, `MARKOV` or `BAYES`. Whatever comes after the last table is ignored;
    /// [`read_model`] says what that was.
    pub fn from_uai(text: &[u8]) -> Result<Self, UaiError> {
        read_model(text).map(|(model, _)| model)
    }
}

/// Reads a `.uai` file, `MARKOV` or `BAYES`, and says what comes after the last table.
pub fn read_model(text: &[u8]) -> Result<(Model, Option<Ignored>), UaiError> {
    let mut words = Words::new(text);
    let kind = words.expect(|| "MARKOV or BAYES".to_string())?;
    if !matches!(kind.text, b"MARKOV" | b"BAYES") {
        return Err(kind.unexpected("MARKOV or BAYES"));
    }
    let mut model = read_variables(&mut words)?;
    let scopes = read_scopes(&mut words, &model)?;
    for (function, scope) in scopes.into_iter().enumerate() {
        read_table(&mut words, &mut model, function, scope)?;
    }
    Ok((model, Ignored::rest(words, "the last table")))
}

fn read_variables(words: &mut Words) -> Result<Model, UaiError> {
    let (_, count) = words.whole(|| "the number of variables".to_string())?;
    let mut model = Model::default();
    for variable in 0..count {
        let expected = || format!("the number of states of variable {variable}, at least 1");
        let (word, cardinality) = words.whole(expected)?;
        let added = model.add_variable(Variable { cardinality, names: None });
        added.map_err(|_| word.unexpected(expected()))?;
    }
    Ok(model)
}

fn read_scopes(words: &mut Words, model: &Model) -> Result<Vec<Vec<usize>>, UaiError> {
    let (_, functions) = words.whole(|| "the number of functions".to_string())?;
    let mut scopes = Vec::new();
    for function in 0..functions {
        let expected = || format!("the number of variables of function {function}");
        let (_, size) = words.whole(expected)?;
        let mut scope: Vec<usize> = Vec::new();
        let mut seen = FxHashSet::default();
        for place in 0..size {
            let expected = || format!("variable {place} of the {size} of function {function}");
            let (word, variable) = words.whole(expected)?;
            let refused =
                |error| refused(&word, format!("the scope of function {function}"), error);
            let variables = model.variables().len();
            if variable >= variables {
                return Err(refused(ModelError::UnknownVariable { found: variable, variables }));
            }
            if !seen.insert(variable) {
                return Err(refused(ModelError::RepeatedVariable { variable }));
            }
            scope.push(variable);
        }
        scopes.push(scope);
    }
    Ok(scopes)
}

fn read_table(
    words: &mut Words,
    model: &mut Model,
    function: usize,
    scope: Vec<usize>,
) -> Result<(), UaiError> {
    let expected = || format!("the number of entries of function {function}");
    let (word, cells) = words.whole(expected)?;
    let shape: Vec<usize> = scope.iter().map(|&v| model.variables()[v].cardinality).collect();
    if table_size(shape.iter().copied()) != Some(cells) {
        let error = ModelError::TableSize { shape, found: cells };
        return Err(refused(&word, format!("the table of function {function}"), error));
    }
    // A table has no more entries than the text has words.
    let mut log_potentials = Vec::with_capacity(cells.min(words.most_left()));
    for cell in 0..cells {
        let expected = || format!("entry {cell} of the {cells} of function {function}");
        let word = words.expect(expected)?;
        let value = std::str::from_utf8(word.text).ok().and_then(|text| text.parse::<f64>().ok());
        // Nothing written out is infinite; what is too large for a double reads as if it were.
        let value = value.filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| {
            word.unexpected(format!("a finite number that is not negative as {}", expected()))
        })?;
        log_potentials.push(value.ln());
    }
    model
        .push_factor(Factor { scope, log_potentials: log_potentials.into() })
        .map_err(|error| refused(&word, format!("the table of function {function}"), error))
}

fn refused(word: &Word, part: String, error: ModelError) -> UaiError {
    UaiError::Model { line: word.line, column: word.column, part, error }
}
