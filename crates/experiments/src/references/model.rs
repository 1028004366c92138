//! The model that `bethe cite` uses unless it is given another.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bethe_cite::{Dialect, Parser, Tokeniser};
use bethe_tagging::Tagger;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::features::{Lexicons, Template};
use bethe_tagging::train::{self, Base, BaseSettings, Labelled, RuleSource, TrainSettings};

use super::data::Reference;
use crate::citation::ExperimentError;

/// What it looks at: what every tagger of references does, and more where marks are tokens.
pub fn template() -> Template {
    let text = format!("{}\n{}", bethe_cite::template(), include_str!("model.template"));
    text.parse().expect("both templates are well formed")
}

/// The cue words of every tagger of references, and our lists of common words and names.
fn lexicons() -> Lexicons {
    let none: [&str; 0] = [];
    let known = bethe_cite::lexicons(&none).expect("the built-in lists are valid");
    let known = known.lists().map(|(name, entries)| (name.to_string(), entries.to_vec()));
    let lines = include_str!("cues.txt").lines().filter(|line| !line.starts_with('#'));
    let own = lines.filter_map(|line| {
        let (name, entries) = line.split_once(": ")?;
        Some((name.to_string(), entries.split('|').map(str::to_string).collect()))
    });
    Lexicons::from_lists(known.chain(own)).expect("our lists are valid")
}

/// How text is given to the model.
pub fn dialect() -> Dialect {
    Dialect::plain(Tokeniser::Punctuation)
}

/// How it is trained.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// What it looks at.
    pub template: Template,
    /// The base model.
    pub base: BaseSettings,
    /// Attributes that occur less often are left out.
    pub min_count: u32,
    /// Whether rules are generated, and kept if they help.
    pub rules: bool,
    /// Training stops soon after this is set.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl ModelSettings {
    fn training(&self) -> TrainSettings {
        TrainSettings {
            template: Some(self.template.clone()),
            lexicons: lexicons(),
            base: self.base,
            min_count: self.min_count,
            rule_source: if self.rules { RuleSource::Auto } else { RuleSource::None },
            interrupt: self.interrupt.clone(),
            ..TrainSettings::default()
        }
    }

    /// A model of these references, in the form that is stored.
    pub fn train(
        &self,
        references: &[Reference],
        observe: &mut dyn FnMut(train::Event),
    ) -> Result<Tagger, ExperimentError> {
        let sequences = sequences(references);
        let settings = self.training();
        let labelled = Labelled { sequences: &sequences, scores: None };
        let mut base = Base::train(labelled, None, &settings, observe)?;
        let learned = match self.rules {
            true => {
                let held_out = base.hold_out(observe)?;
                base.choose(&held_out, &settings.rules, observe)?
            }
            false => train::LearnedRules::default(),
        };
        let mut parts = base.tagger(learned)?.parts().clone();
        parts.annotations.extend(dialect().annotations());
        let tagger = Tagger::new(parts).expect("the same rules");
        Ok(tagger.compacted().expect("weights of rules are constant"))
    }
}

/// A parser of a model.
pub fn parser(tagger: &Tagger) -> Parser {
    Parser::new(tagger, dialect())
}

/// References as the model sees them.
fn sequences(references: &[Reference]) -> Vec<Sequence> {
    let mut text = String::new();
    for reference in references {
        for (token, label) in reference.tokens().zip(reference.labels()) {
            let _ = writeln!(text, "{}\t{label}", dialect().seen(token));
        }
        text.push('\n');
    }
    let sequences = Sequences::new(text.as_bytes(), "references", Format::Columns);
    sequences.collect::<Result<_, _>>().expect("rows of two cells")
}
