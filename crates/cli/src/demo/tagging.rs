//! Taggers of references, without and with learned rules.

use std::fmt::Write;

use anyhow::Result;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::score::{Report, Score};
use bethe_tagging::train::{Labelled, RuleSettings, RuleSource, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use bethe_terminal::{Folder, Interrupt};

use super::records::records;

const TEMPLATE: &str = "\
Uword:%x[0,0]
Ubefore:%x[-1,0]
Uafter:%x[1,0]
Uoutline:%outline[0,0]
Uedge:%edge[0]
B
";
const TRAIN: &str = "references-train.txt";
const TEST: &str = "references-test.txt";
const PLAIN: &str = "plain.safetensors";
const RULED: &str = "rules.safetensors";
/// L1 penalty on weights of rules; cross-validation would take longer.
const PENALTY: f64 = 0.3;
/// How many rules to show.
const SHOWN: usize = 3;

/// Trains both and compares them on references they have not seen.
pub fn references(out: &Folder) -> Result<String> {
    let train_text = records(300, 1);
    let test_text = records(500, 2);
    for (name, text) in
        [(TRAIN, &train_text), (TEST, &test_text), ("template.txt", &TEMPLATE.into())]
    {
        out.text(name, text)?;
    }
    let [training, test] = [(TRAIN, &train_text), (TEST, &test_text)].map(|(name, text)| {
        Sequences::new(text.as_bytes(), name, Format::Columns).collect::<Result<Vec<_>, _>>()
    });
    let (training, test) = (training?, test?);
    let plain = trained(&training, RuleSource::None)?;
    let ruled = trained(&training, RuleSource::Auto)?;
    plain.write(&out.staging().join(PLAIN))?;
    ruled.write(&out.staging().join(RULED))?;
    let [before, after] = [&plain, &ruled].map(|tagger| tagged(tagger, &test));
    let (before, after) = (before?, after?);
    let mut text = String::from(
        "Taggers that learn which rules hold\n\n\
         Every reference has one title and at most one venue, and both use similar words.\n\
         A chain sees a few words at a time and mixes them up. Rules about the number of\n\
         segments were generated from 300 labelled references, and their weights learned.\n\
         On 500 other references, in percent:\n\n",
    );
    writeln!(text, "  {:<30}{:>12}{:>12}", "", "chain alone", "with rules")?;
    let mut row = |name: &str, share: fn(&Report) -> f64| {
        let [before, after] = [&before, &after].map(|(report, _)| 100.0 * share(report));
        writeln!(text, "  {name:<30}{before:>12.1}{after:>12.1}")
    };
    row("F1 of all fields", |report| report.f1)?;
    row("F1 of titles", |report| report.per_label["title"].f1)?;
    row("references without a mistake", |report| report.sequence_accuracy)?;
    writeln!(text, "\n  the heaviest rules:")?;
    for (rule, weight) in ruled.rules().into_iter().take(SHOWN) {
        writeln!(text, "  {weight:>7.2}  {}", rule.in_words(ruled.states()))?;
    }
    text.push_str(&example(&test, &before.1, &after.1)?);
    text.push('\n');
    Ok(text)
}

fn trained(sequences: &[Sequence], rule_source: RuleSource) -> Result<Tagger> {
    let rules = RuleSettings { l1: Some(PENALTY), ..RuleSettings::default() };
    let template = Some(TEMPLATE.parse()?);
    let interrupt = Some(Interrupt::install()?.flag());
    let settings =
        TrainSettings { template, rule_source, rules, interrupt, ..TrainSettings::default() };
    Ok(train(Labelled { sequences, scores: None }, None, &settings, &mut |_| ())?)
}

/// The score, and the predicted labels.
pub fn tagged(tagger: &Tagger, test: &[Sequence]) -> Result<(Report, Vec<Vec<String>>)> {
    let mut score = Score::new(tagger.states().scheme());
    let mut tagging = Tagging::new(tagger);
    let mut all = Vec::with_capacity(test.len());
    for sequence in test {
        let best = tagging.tag(sequence, &TagOptions::default())?.best.swap_remove(0).0;
        let labels: Vec<&str> = best.iter().map(|&state| tagger.states().label(state)).collect();
        score.add(&truth(sequence), &labels);
        all.push(labels.into_iter().map(str::to_string).collect());
    }
    Ok((score.report(), all))
}

fn truth(sequence: &Sequence) -> Vec<&str> {
    (0..sequence.len()).map(|t| sequence.cell(t, 1).unwrap_or_default()).collect()
}

/// The first reference that rules correct.
fn example(test: &[Sequence], before: &[Vec<String>], after: &[Vec<String>]) -> Result<String> {
    let mut text = String::new();
    let runs = test.iter().zip(before.iter().zip(after));
    let mut put_right = runs.filter(|(sequence, (before, after))| {
        before != after && truth(sequence).iter().eq(after.iter())
    });
    let Some((sequence, (before, after))) = put_right.next() else { return Ok(text) };
    writeln!(text, "\n  {:<15}{:<15}with rules", "word", "chain alone")?;
    for (t, (before, after)) in before.iter().zip(after).enumerate() {
        let word = sequence.cell(t, 0).unwrap_or_default();
        let changed = if before == after { "" } else { "  <" };
        writeln!(text, "  {word:<15}{before:<15}{after}{changed}")?;
    }
    Ok(text)
}
