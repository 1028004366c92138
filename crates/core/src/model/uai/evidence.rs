use super::UaiError;
use super::words::{Word, Words};
use crate::model::{Model, ModelError};

/// What was observed: one sample, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    samples: Vec<Sample>,
}

/// One set of observations of different variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    observations: Vec<Observation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Observation {
    variable: usize,
    state: usize,
    /// The places of the variable and of the state in the file.
    lines: [usize; 2],
    columns: [usize; 2],
}

/// Whole numbers, and how many have been read.
struct Numbers<'a> {
    words: Vec<Word<'a>>,
    values: Vec<usize>,
    at: usize,
}

impl Evidence {
    /// Reads an `.evid` file: the number of observations and then a variable and its state each; or
    /// the number of samples first, and then that for every sample.
    ///
    /// The numbers tell which of the two it is. If they fit both, line ends decide: a first line
    /// with one number is a number of samples, unless all other lines have two numbers, a variable
    /// and its state.
    pub fn from_uai(text: &[u8]) -> Result<Self, UaiError> {
        let words: Vec<Word> = Words::new(text).collect();
        let Some(first) = words.first() else {
            let line = 1;
            let expected = "the number of observations, or of samples".to_string();
            return Err(UaiError::End { line, expected });
        };
        let whole = |word: &Word| word.whole().ok_or_else(|| word.unexpected("a whole number"));
        let values: Vec<usize> = words.iter().map(whole).collect::<Result<_, _>>()?;
        let alone = words.get(1).is_none_or(|second| second.line > first.line);
        let in_pairs = words[1..].chunk_by(|a, b| a.line == b.line).all(|line| line.len() == 2);
        let numbers = Numbers { words, values, at: 0 };
        let counted = numbers.counts_samples();
        if counted && (alone && !in_pairs || !numbers.is_one_sample()) {
            return numbers.samples();
        }
        // If neither fits, the error is about the layout it looks like.
        let looks_counted = !numbers.is_one_sample() && alone && !in_pairs;
        if looks_counted { numbers.samples() } else { numbers.sample_alone() }
    }

    /// The samples, in the order of the file.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

impl Sample {
    /// Number of observations.
    pub fn len(&self) -> usize {
        self.observations.len()
    }

    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.observations.is_empty()
    }

    /// Fixes the observed variables of a model to their states.
    pub fn observe(&self, model: &mut Model) -> Result<(), UaiError> {
        for observation in &self.observations {
            let &Observation { variable, state, lines, columns } = observation;
            if model.observed().get(variable).is_some_and(Option::is_some) {
                let (line, column) = (lines[0], columns[0]);
                return Err(UaiError::RepeatedEvidence { line, column, variable });
            }
            model.observe(variable, state).map_err(|error| {
                let at = usize::from(matches!(error, ModelError::UnknownState { .. }));
                let (line, column) = (lines[at], columns[at]);
                UaiError::Model { line, column, part: "the evidence".to_string(), error }
            })?;
        }
        Ok(())
    }
}

impl Numbers<'_> {
    /// Whether the text is a number of samples and that many samples.
    fn counts_samples(&self) -> bool {
        let mut at = 1;
        for _ in 0..self.values[0] {
            let Some(&observations) = self.values.get(at) else { return false };
            at = at.saturating_add(1).saturating_add(observations.saturating_mul(2));
        }
        at == self.values.len()
    }

    /// Whether the text is a number of observations and that many observations.
    fn is_one_sample(&self) -> bool {
        self.values[0].checked_mul(2).and_then(|n| n.checked_add(1)) == Some(self.values.len())
    }

    fn samples(mut self) -> Result<Evidence, UaiError> {
        let count = self.values[0];
        self.at = 1;
        let mut samples = Vec::new();
        for index in 0..count {
            samples.push(self.sample(&format!(" of sample {index}"))?);
        }
        // No samples means that nothing was observed.
        if samples.is_empty() {
            samples.push(Sample::default());
        }
        self.end()?;
        Ok(Evidence { samples })
    }

    fn sample_alone(mut self) -> Result<Evidence, UaiError> {
        let samples = vec![self.sample("")?];
        self.end()?;
        Ok(Evidence { samples })
    }

    fn sample(&mut self, of: &str) -> Result<Sample, UaiError> {
        let (_, count) = self.next(|| format!("the number of observations{of}"))?;
        let mut observations: Vec<Observation> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for index in 0..count {
            let (name, variable) =
                self.next(|| format!("the variable of observation {index} of the {count}{of}"))?;
            let (word, state) =
                self.next(|| format!("the state of observation {index} of the {count}{of}"))?;
            let (lines, columns) = ([name.0, word.0], [name.1, word.1]);
            if !seen.insert(variable) {
                let (line, column) = name;
                return Err(UaiError::RepeatedEvidence { line, column, variable });
            }
            observations.push(Observation { variable, state, lines, columns });
        }
        Ok(Sample { observations })
    }

    /// The next number, with line and column.
    fn next(
        &mut self,
        expected: impl FnOnce() -> String,
    ) -> Result<((usize, usize), usize), UaiError> {
        let Some(word) = self.words.get(self.at) else {
            let line = self.words.last().map_or(1, |word| word.line);
            return Err(UaiError::End { line, expected: expected() });
        };
        self.at += 1;
        Ok(((word.line, word.column), self.values[self.at - 1]))
    }

    fn end(&self) -> Result<(), UaiError> {
        let expected = "nothing after the last observation";
        self.words.get(self.at).map_or(Ok(()), |word| Err(word.unexpected(expected)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Vec<Vec<(usize, usize)>> {
        let evidence = Evidence::from_uai(text.as_bytes()).unwrap();
        let pairs = |sample: &Sample| {
            sample.observations.iter().map(|o| (o.variable, o.state)).collect::<Vec<_>>()
        };
        evidence.samples().iter().map(pairs).collect()
    }

    #[test]
    fn both_conventions_are_told_apart() {
        for text in
            ["2 0 1 3 0", "1\n2 0 1 3 0", "1 2 0 1 3 0", " 2 0\n1\r\n3\t0\n", "1\n2\n0\n1\n3\n0"]
        {
            assert_eq!(samples(text), [[(0, 1), (3, 0)]], "{text:?}");
        }
        for text in ["0", "1 0", "1\n0\n", "0\n"] {
            assert_eq!(samples(text), [[]], "{text:?}");
        }
    }

    #[test]
    fn line_ends_decide_where_the_numbers_fit_both() {
        assert_eq!(samples("2 0 1 5 0"), [vec![(0, 1), (5, 0)]]);
        assert_eq!(samples("2\n0\n1 5 0"), [vec![], vec![(5, 0)]]);
        assert_eq!(samples("2\n1 0 1\n1 3 0"), [vec![(0, 1)], vec![(3, 0)]]);
        assert_eq!(samples("2\n0 1\n1 1\n"), [vec![(0, 1), (1, 1)]]);
        assert_eq!(samples("2\r\n1 2\r\n0 0\r\n"), [vec![(1, 2), (0, 0)]]);
        assert_eq!(samples("1\n4 1"), [vec![(4, 1)]]);
    }
}
