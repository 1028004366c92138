use super::words::{Word, Words};
use super::{Ignored, UaiError};
use crate::model::{Model, ModelError};

/// What was observed: one sample, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    samples: Vec<Sample>,
    ignored: Option<Ignored>,
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

/// Words, and how many have been read.
struct Numbers<'a> {
    words: Vec<Word<'a>>,
    /// The words before the first that is not a whole number.
    values: Vec<usize>,
    at: usize,
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// A number of observations, and that many of them.
    Sample,
    /// A number of samples, and that many of them.
    Samples,
}

impl Evidence {
    /// Reads an `.evid` file: the number of observations and then a variable and its state each; or
    /// the number of samples first, and then that for every sample.
    ///
    /// The numbers tell which of the two it is. If they fit both, line ends decide: a first line
    /// with one number is a number of samples, unless all other lines have two numbers, a variable
    /// and its state. What comes after the end is [`Evidence::ignored`].
    pub fn from_uai(text: &[u8]) -> Result<Self, UaiError> {
        let words: Vec<Word> = Words::new(text).collect();
        let Some(first) = words.first() else {
            let line = 1;
            let expected = "the number of observations, or of samples".to_string();
            return Err(UaiError::End { line, expected });
        };
        let values: Vec<usize> = words.iter().map_while(Word::whole).collect();
        if values.is_empty() {
            return Err(first.unexpected("a whole number"));
        }
        let numbers = Numbers { words, values, at: 0 };
        match numbers.layout() {
            Layout::Sample => numbers.sample_alone(),
            Layout::Samples => numbers.samples(),
        }
    }

    /// What the file has after its last observation.
    pub fn ignored(&self) -> Option<&Ignored> {
        self.ignored.as_ref()
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
    /// The layout that the words fit to the end; if they fit both, the lines tell. A sample that
    /// starts in the first line and ends where a line does is one, whatever follows. If the words fit
    /// neither layout, it is the one that they look like, unless the other leaves less over.
    fn layout(&self) -> Layout {
        let numbers = &self.words[..self.values.len()];
        let alone = numbers.get(1).is_none_or(|second| second.line > numbers[0].line);
        let in_pairs = numbers[1..].chunk_by(|a, b| a.line == b.line).all(|line| line.len() == 2);
        let looks_counted = alone && !in_pairs;
        let by_look = if looks_counted { Layout::Samples } else { Layout::Sample };
        match (self.left_by_sample(), self.left_by_samples()) {
            (Some(0), Some(0)) => by_look,
            (Some(0), _) => Layout::Sample,
            (Some(left), _) if !alone && self.starts_a_line(left) => Layout::Sample,
            (_, Some(0)) => Layout::Samples,
            _ if looks_counted => Layout::Samples,
            (Some(sample), Some(samples)) if samples < sample => Layout::Samples,
            _ => Layout::Sample,
        }
    }

    /// How many words come after a number of samples and that many samples, if there are these.
    fn left_by_samples(&self) -> Option<usize> {
        let mut at = 1;
        for _ in 0..self.values[0] {
            let &observations = self.values.get(at)?;
            at = at.saturating_add(1).saturating_add(observations.saturating_mul(2));
        }
        self.left_after(at)
    }

    /// How many words come after a number of observations and that many of them, if there are these.
    fn left_by_sample(&self) -> Option<usize> {
        let end = self.values[0].checked_mul(2)?.checked_add(1)?;
        self.left_after(end)
    }

    /// Whether the last words, this many of them, begin at the start of a line.
    fn starts_a_line(&self, last: usize) -> bool {
        let at = self.words.len() - last;
        self.words[at - 1].line < self.words[at].line
    }

    /// How many words come after this many numbers, if there are these.
    fn left_after(&self, numbers: usize) -> Option<usize> {
        (numbers <= self.values.len()).then(|| self.words.len() - numbers)
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
        Ok(self.evidence(samples))
    }

    fn sample_alone(mut self) -> Result<Evidence, UaiError> {
        let samples = vec![self.sample("")?];
        Ok(self.evidence(samples))
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
        let Some(&value) = self.values.get(self.at) else {
            return Err(word.unexpected(format!("a whole number as {}", expected())));
        };
        self.at += 1;
        Ok(((word.line, word.column), value))
    }

    /// The samples, and what comes after them.
    fn evidence(&self, samples: Vec<Sample>) -> Evidence {
        let rest = self.words[self.at..].iter().copied();
        Evidence { samples, ignored: Ignored::rest(rest, "the last observation") }
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
    fn what_comes_after_the_end_is_ignored_and_said() {
        for (text, expected, said) in [
            (
                "0\n2 0",
                vec![vec![]],
                "line 2, column 1: ignored 2 words after the last observation, the first of them \"2\"",
            ),
            (
                "0 2 0\n",
                vec![vec![]],
                "line 1, column 3: ignored 2 words after the last observation, the first of them \"2\"",
            ),
            (
                "1 0 1 3",
                vec![vec![(0, 1)]],
                "line 1, column 7: ignored \"3\" after the last observation",
            ),
            (
                "1 0 1\nend of file",
                vec![vec![(0, 1)]],
                "line 2, column 1: ignored 3 words after the last observation, the first of them \"end\"",
            ),
            (
                "1 1 2\n9",
                vec![vec![(1, 2)]],
                "line 2, column 1: ignored \"9\" after the last observation",
            ),
            (
                "1\n2 0 1 3 0\n7",
                vec![vec![(0, 1), (3, 0)]],
                "line 3, column 1: ignored \"7\" after the last observation",
            ),
            (
                "1 2 0 1 3 0 7",
                vec![vec![(0, 1), (3, 0)]],
                "line 1, column 13: ignored \"7\" after the last observation",
            ),
            (
                "2\n1 0 1\n1 3 0\n1 4",
                vec![vec![(0, 1)], vec![(3, 0)]],
                "line 4, column 1: ignored 2 words after the last observation, the first of them \"1\"",
            ),
            (
                "1\n0\n5 5 5",
                vec![vec![]],
                "line 3, column 1: ignored 3 words after the last observation, the first of them \"5\"",
            ),
            (
                "2\n0 1\n1 1\n5 5\n",
                vec![vec![(0, 1), (1, 1)]],
                "line 4, column 1: ignored 2 words after the last observation, the first of them \"5\"",
            ),
        ] {
            assert_eq!(samples(text), expected, "{text:?}");
            let evidence = Evidence::from_uai(text.as_bytes()).unwrap();
            assert_eq!(evidence.ignored().unwrap().to_string(), said, "{text:?}");
        }
        for text in ["0", "1 0", "2 0 1 3 0\n", "1\n2 0 1 3 0"] {
            assert_eq!(Evidence::from_uai(text.as_bytes()).unwrap().ignored(), None, "{text:?}");
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
