//! A bibliography from plain text.

use std::fmt::Write;

use anyhow::Result;
use bethe_cite::{Dialect, Keys, Parser, Parsing, bibtex, lexicons, template};
use bethe_tagging::TagOptions;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::features::Lexicons;
use bethe_tagging::train::{
    BaseSettings, Labelled, RuleSettings, RuleSource, TrainSettings, train,
};
use bethe_terminal::{Folder, Interrupt};

use super::citations::{citations, labelled};
use super::report::WIDTH;
use super::tagging::tagged;
use crate::wrap::wrapped;

const TRAIN: &str = "citations-train.txt";
const LINES: &str = "citations.txt";
const TEMPLATE: &str = "citations-template.txt";
const MODEL: &str = "citations.safetensors";
/// How many entries to show.
const SHOWN: usize = 1;
/// Few enough references that sharing weights matters.
const FEW: usize = 20;

/// Trains a tagger on made-up references and reads others that it has not seen.
pub fn bibliography(out: &Folder) -> Result<String> {
    let training = labelled(&citations(150, 1));
    let lines: Vec<String> = citations(30, 2).into_iter().map(|citation| citation.line).collect();
    let none: [&str; 0] = [];
    let cues = lexicons(&none)?;
    write_files(out, &training, &lines, &cues)?;
    let sequences = Sequences::new(training.as_bytes(), TRAIN, Format::Columns);
    let sequences = sequences.collect::<Result<Vec<_>, _>>()?;
    let mut settings = TrainSettings {
        template: Some(template()),
        lexicons: cues,
        rule_source: RuleSource::Auto,
        rules: RuleSettings { l1: Some(1.0), ..RuleSettings::default() },
        interrupt: Some(Interrupt::install()?.flag()),
        ..TrainSettings::default()
    };
    settings.base.max_iterations = 30;
    settings.base.share_weights = true;
    let tagger =
        train(Labelled { sequences: &sequences, scores: None }, None, &settings, &mut |_| ())?;
    tagger.write(&out.staging().join(MODEL))?;
    let parser = Parser::new(&tagger, Dialect::of(&tagger, None)?);
    let mut parsing = Parsing::new(&parser);
    let mut keys = Keys::default();
    let mut text = String::from(
        "A bibliography from plain text\n\n\
         A tagger that was trained on 150 made-up references in four styles reads lines\n\
         that it has not seen, and writes BibTeX.\n\n",
    );
    for line in lines.iter().take(SHOWN) {
        let entry = parsing.parse(line, &TagOptions::default())?.entry;
        writeln!(text, "{}\n", wrapped(line.split(' '), ("  ", ""), WIDTH))?;
        for line in bibtex(&entry, &keys.unique(&entry.key())).lines() {
            writeln!(text, "  {line}")?;
        }
        text.push('\n');
    }
    let [alone, shared] = [false, true].map(|share| few_labels(&sequences, &settings, share));
    writeln!(
        text,
        "Labels have several tags, and labels with a common tag share weights. Trained on\n\
         {FEW} references, this raises F1 of fields on the others from {:.1} to {:.1}.\n",
        100.0 * alone?,
        100.0 * shared?
    )?;
    Ok(text)
}

/// Writes what it takes to train the same tagger by hand.
fn write_files(out: &Folder, training: &str, lines: &[String], cues: &Lexicons) -> Result<()> {
    out.text(TRAIN, training)?;
    out.text(LINES, &(lines.join("\n") + "\n"))?;
    out.text(TEMPLATE, &template().to_string())?;
    for (name, words) in cues.lists() {
        out.text(&format!("cues/{name}.txt"), &(words.join("\n") + "\n"))?;
    }
    Ok(())
}

/// F1 on the other references of a tagger without rules, trained on [`FEW`].
fn few_labels(
    sequences: &[Sequence],
    settings: &TrainSettings,
    share_weights: bool,
) -> Result<f64> {
    let (few, others) = sequences.split_at(FEW);
    let base = BaseSettings { share_weights, ..settings.base };
    let settings = TrainSettings { base, rule_source: RuleSource::None, ..settings.clone() };
    let tagger = train(Labelled { sequences: few, scores: None }, None, &settings, &mut |_| ())?;
    Ok(tagged(&tagger, others)?.0.f1)
}
