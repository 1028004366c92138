//! Answers as the UAI inference competitions define results: `MAR` and `PR`.

use std::fmt::Write;

use super::Answer;

/// The marginals of every variable as a `MAR` result, for one answer or one per sample of evidence.
/// The answers show at least the marginals of variables.
///
/// Several answers are preceded by their number, each has a line.
pub fn marginals(answers: &[Answer]) -> String {
    result("MAR", answers, |text, answer| {
        let variables = answer.map.assignment.len();
        let _ = write!(text, "{variables}");
        for marginal in &answer.marginals[..variables] {
            let _ = write!(text, " {}", marginal.values.len());
            marginal.values.iter().for_each(|value| {
                let _ = write!(text, " {value}");
            });
        }
    })
}

/// `log₁₀ Z` as a `PR` result: with evidence, that of its probability under a `BAYES` model.
/// Energies count as part of the model: it is `-F / ln 10` at the answer, and `-inf` where none is
/// feasible.
pub fn partition(answers: &[Answer]) -> String {
    result("PR", answers, |text, answer| {
        // Not −0.
        let log = answer.objective.map_or(f64::NEG_INFINITY, |objective| 0.0 - objective);
        let _ = write!(text, "{}", log / std::f64::consts::LN_10);
    })
}

fn result(task: &str, answers: &[Answer], line: impl Fn(&mut String, &Answer)) -> String {
    let mut text = format!("{task}\n");
    if answers.len() != 1 {
        let _ = writeln!(text, "{}", answers.len());
    }
    for answer in answers {
        line(&mut text, answer);
        text.push('\n');
    }
    text
}
