use std::sync::Arc;

use bethe_core::solve::SolveError;

use super::examples::Sample;
use super::learner::{Learned, LearnerSettings, Start, sparse};
use super::loss::{fresh, prepare};
use super::rules::{CountRule, CountRules};
use super::soft_dual::{SoftDual, count};

/// What a violation moves a cost by.
const RATE: f64 = 0.1;

/// Costs of rules by an averaged perceptron on labels by soft dual decomposition: a rule that
/// predictions break more than the truth does costs more, one that the truth breaks more costs less.
/// The L1 penalty takes its share off every cost after every sequence; costs that it brought to zero in
/// the end are zero in the average too.
pub(super) fn perceptron(
    sample: Sample,
    rules: &Arc<CountRules>,
    start: &Start,
    settings: &LearnerSettings,
    observe: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Learned, SolveError> {
    let Sample { examples, which } = sample;
    let mut inference = fresh(examples, rules);
    let mut dual = SoftDual::new(rules);
    let mut parameters = start.parameters.clone();
    let mut sum = vec![0.0; parameters.len()];
    let mut found = vec![0.0; rules.states];
    let shrinkage = RATE * settings.l1 / which.len().max(1) as f64;
    let (mut losses, mut steps) = (Vec::new(), 0usize);
    for pass in 1..=settings.passes {
        let mut loss = 0.0;
        for &at in which {
            let example = &examples.sequences[at];
            prepare(&mut inference, examples, example, &parameters);
            inference.load(&example.scores);
            let costs = inference.weights().to_vec();
            let decoded = dual.decode(inference.chain(), &costs);
            count(&decoded.path, &mut found);
            if example.truth_score > f64::NEG_INFINITY && decoded.worth.is_finite() {
                loss += decoded.worth - example.truth_score + rules.energy(&costs, &example.truth);
            }
            let features = example.features.len();
            for (place, rule) in rules.soft.iter().enumerate() {
                let excess = violation(rule, &found) - violation(rule, &example.truth);
                let own = place * features..(place + 1) * features;
                let free = own
                    .zip(&example.features)
                    .filter(|(at, _)| !start.fixed.get(*at).is_some_and(|fixed| *fixed));
                for (at, feature) in free {
                    let moved = parameters[at] + RATE * excess * feature;
                    let shrunk = moved.signum() * (moved.abs() - shrinkage).max(0.0);
                    // Costs that depend on features are cut off at zero where they are used.
                    parameters[at] = if features == 1 { shrunk.max(0.0) } else { shrunk };
                }
            }
            sum.iter_mut().zip(&parameters).for_each(|(sum, own)| *sum += own);
            steps += 1;
        }
        losses.push(loss);
        if !observe(pass, loss) {
            break;
        }
    }
    if steps == 0 {
        return Ok(Learned { parameters, losses });
    }
    let mut average: Vec<f64> = sum.into_iter().map(|sum| sum / steps as f64).collect();
    if settings.l1 > 0.0 {
        sparse(&mut average, &parameters, &start.fixed);
    }
    Ok(Learned { parameters: average, losses })
}

/// By how much a rule is broken.
fn violation(rule: &CountRule, counts: &[f64]) -> f64 {
    (1.0 - rule.measure(counts)).max(0.0)
}
