//! What rules cost: in tagging, and to learn.

use std::path::Path;
use std::time::Instant;

use bethe_bench::exponent;
use bethe_bench::usage::processor_seconds;
use bethe_core::Method;
use bethe_io::results::{Table, grouped};
use bethe_tagging::data::{Format, Sequence};
use bethe_tagging::rules::Candidates;
use bethe_tagging::train::{Base, Event, Labelled, LearnedRules, RuleSource, TrainSettings, train};
use bethe_tagging::{Decoding, TagOptions, Tagger, Tagging};

use super::data::{Scratch, attribute_files, read};
use super::records::records;

pub const TAGGING: &str = "tagging-rules";
pub const LEARNING: &str = "tagging-learning";
/// Times that a file is tagged; the least time counts.
const REPEATS: usize = 3;
/// Rules whose weights are learned together.
const RULES: usize = 600;

/// Rules that a person might declare for chunks of sentences, all of given weights.
const CHUNKING: &str = r#"
rule = [
    { at_least = 1, of = "VP", weight = 1.0 },
    { at_most = 3, of = "NP", weight = 0.3 },
    { at_least = 0, of = { NP = 1, VP = -1 }, weight = 0.5 },
    { at_most = 1, of = "SBAR", weight = 0.5 },
    { at_most = 2, of = ["PP", "SBAR"], weight = 0.5 },
    { if = "PRT", then = "VP", weight = 1.0 },
]
"#;

/// What rules cost in tagging; the table needs the data, and what can be measured without is
/// printed.
pub fn tagging(data: Option<&Path>) -> Option<Table> {
    let mut settings = TrainSettings { rule_source: RuleSource::Auto, ..Default::default() };
    settings.rules.l1 = Some(1.0);
    settings.base.max_iterations = 50;
    let tagger = trained(&records(600, 1), &settings);
    let made = tagging_under("made-up records", &tagger, &records(1000, 2));
    let folder = Scratch::new("rules");
    let [training, test] = attribute_files(data?, folder.path());
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, CHUNKING).expect("room in the temporary folder");
    settings.rule_source = RuleSource::File(file);
    settings.format = Format::Attributes;
    let declared = trained(&read(&training, Format::Attributes), &settings);
    let sentences = tagging_under("CoNLL-2000", &declared, &read(&test, Format::Attributes));
    let mut table = Table::new(TAGGING, &["data", "rules", "`rda`", "`dual`"]);
    let rows = [
        ("made-up records", &tagger, "learned", made),
        ("CoNLL-2000", &declared, "declared", sentences),
    ];
    for (data, tagger, origin, ratios) in rows {
        let rules = format!("{} {origin}", tagger.rules().len());
        let [rda, dual] = [ratios.rda, ratios.dual].map(|ratio| format!("{ratio:.1}"));
        table.push([data.to_string(), rules, rda, dual]);
    }
    Some(table)
}

/// Time with ten iterations of inference for every sequence, over that without rules.
struct Ratios {
    rda: f64,
    dual: f64,
}

fn trained(sequences: &[Sequence], settings: &TrainSettings) -> Tagger {
    let labelled = Labelled { sequences, scores: None };
    train(labelled, None, settings, &mut |_| ()).expect("data to train on")
}

fn tagging_under(name: &str, tagger: &Tagger, test: &[Sequence]) -> Ratios {
    let mut options = TagOptions { rules: false, ..TagOptions::default() };
    let (plain, _) = seconds(tagger, test, &options);
    options.rules = true;
    let (usual, iterations) = seconds(tagger, test, &options);
    let rules = tagger.rules().len();
    println!("{name}: tagging {plain:.3} s without rules, {rules} rules");
    println!("  to the usual tolerance: {usual:.3} s, {iterations:.1} iterations");
    // No gap is as small as this: what ends inference is the limit.
    (options.inference.max_iterations, options.inference.tolerance) = (10, 1e-300);
    let mut ratio = |solver: &str, method: Method| {
        options.inference.method = method;
        let (ruled, iterations) = seconds(tagger, test, &options);
        println!("  limit of ten, {solver}: {ruled:.3} s, {iterations:.1} iterations");
        ruled / plain
    };
    let dual = ratio("dual", Method::Auto);
    Ratios { rda: ratio("rda", Method::Rda { beta: 0.0 }), dual }
}

/// Seconds of one thread, and the mean number of iterations.
fn seconds(tagger: &Tagger, test: &[Sequence], options: &TagOptions) -> (f64, f64) {
    let (mut least, mut iterations) = (f64::INFINITY, 0);
    for _ in 0..REPEATS {
        let mut tagging = Tagging::new(tagger);
        iterations = 0;
        let start = processor_seconds();
        for sequence in test {
            let tagged = tagging.tag(sequence, options).expect("a sequence of the data");
            iterations += tagged.summary.map_or(0, |summary| summary.iterations);
        }
        least = least.min(processor_seconds() - start);
    }
    (least, iterations as f64 / test.len() as f64)
}

/// Seconds to learn the weights of [`RULES`] rules from held-out sequences, by their number.
pub fn learning() -> Table {
    let mut settings = TrainSettings::default();
    settings.base.max_iterations = 30;
    let training = records(300, 3);
    let labelled = Labelled { sequences: &training, scores: None };
    let base = Base::train(labelled, None, &settings, &mut |_| ()).expect("data to train on");
    let mut rules = base.candidates().rules;
    let generated = rules.len();
    rules.truncate(RULES);
    println!("learning the weights of {} of {generated} generated rules:", rules.len());
    let columns =
        ["held-out sequences", &format!("seconds to learn the weights of {} rules", rules.len())];
    let mut table = Table::new(LEARNING, &columns);
    let (sizes, mut times) = ([165, 330, 660, 1320], Vec::new());
    for size in sizes {
        let sequences = records(size, 4);
        let labelled = Labelled { sequences: &sequences, scores: None };
        let held_out = base.predict(labelled).expect("records");
        // In proportion, or more sequences would also mean more rules that have a weight.
        settings.rules.l1 = Some(size as f64 / 660.0);
        settings.rules.decoding = Some(Decoding::Tilted);
        let mut passes = 0;
        let (begun, processor) = (Instant::now(), processor_seconds());
        let candidates = Candidates { rules: rules.clone(), considered: generated };
        let learned = base.learn(&held_out, candidates, &settings.rules, &mut |event| {
            passes += usize::from(matches!(event, Event::Pass { .. }));
        });
        let (wall, spent) = (begun.elapsed().as_secs_f64(), processor_seconds() - processor);
        let LearnedRules { rules: kept, .. } = learned.expect("rules with weights to learn");
        println!(
            "  {size} sequences: {wall:.1} s ({spent:.1} s of processors), {passes} passes, {} kept",
            kept.len()
        );
        times.push(spent / passes.max(1) as f64);
        table.push([grouped(size as f64), format!("{spent:.1}")]);
    }
    println!("  a pass takes the number of sequences to the power {:.2}", exponent(&sizes, &times));
    table
}
