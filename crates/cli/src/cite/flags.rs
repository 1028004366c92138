use std::path::PathBuf;

use anyhow::Result;
use bethe_terminal::{bad_input, check_apart};
use clap::{Args, ValueEnum};

use crate::tagging::{LimitFlags, Tokens};

/// Turn references in plain text into bibliography entries.
///
/// A file has one reference per line, or references that are wrapped over several lines. Every
/// reference gives an entry; if it cannot be parsed, the entry has type misc and holds the text.
/// Entries are written while lines are still being read. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Text files (gzip is unpacked), or - for standard input
    #[arg(value_name = "FILE", default_value = "-", conflicts_with = "text")]
    pub files: Vec<PathBuf>,

    /// Read this text instead of a file: one reference, or a list
    #[arg(long, value_name = "REFERENCE", allow_hyphen_values = true)]
    pub text: Option<String>,

    /// Model file, from bethe train on labelled references [default: the built-in model]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,

    /// Write to this file, which appears once it is complete [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Bibtex)]
    pub format: Format,

    /// Whether references are wrapped over several lines. auto looks at the first thousand lines;
    /// never answers each line at once
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Unwrap::Auto,
          num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    pub unwrap: Unwrap,

    /// How lines are split into tokens
    #[arg(long, value_enum, default_value_t = Tokens::Auto)]
    pub tokens: Tokens,

    /// Add probabilities of labels and segments (json, conll)
    #[arg(long)]
    pub marginals: bool,

    /// Say which rules were active and which labels they changed (bibtex, json, conll)
    #[arg(long, conflicts_with = "no_rules")]
    pub explain: bool,

    #[command(flatten)]
    pub limits: LimitFlags,

    /// How many references to read at once [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// No summary and no warnings on standard error
    #[arg(long)]
    pub quiet: bool,
}

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Entries for LaTeX
    Bibtex,
    /// One JSON array, for reference managers and citation processors
    CslJson,
    /// Tagged lines, for reference managers
    Ris,
    /// One object per line: fields, tokens and labels
    Json,
    /// Tokens and labels, as bethe tag writes them
    Conll,
}

/// Whether references are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unwrap {
    /// Wrapped if the first lines of the file suggest it
    Auto,
    /// Wrapped
    Always,
    /// One reference per line
    Never,
}

impl Flags {
    /// Refuses flags that do not go together.
    pub fn check(&self) -> Result<()> {
        self.check_format()?;
        if self.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(bad_input("--text: found no word, expected a reference"));
        }
        let inputs = self.files.iter().chain(&self.model).map(PathBuf::as_path);
        match &self.out {
            Some(out) => check_apart("--out", out, inputs),
            None => Ok(()),
        }
    }

    /// What messages call the model.
    pub fn model_name(&self) -> String {
        self.model
            .as_ref()
            .map_or("the built-in model".to_string(), |path| path.display().to_string())
    }

    /// Refuses flags that the format cannot show.
    fn check_format(&self) -> Result<()> {
        let refused = |flag: &str, format: &str, expected: &str| {
            Err(bad_input(format!("{flag} needs --format {expected}, found --format {format}")))
        };
        match self.format {
            Format::CslJson if self.explain => {
                refused("--explain", "csl-json", "bibtex, json or conll")
            }
            Format::CslJson if self.marginals => {
                refused("--marginals", "csl-json", "json or conll")
            }
            Format::Bibtex if self.marginals => refused("--marginals", "bibtex", "json or conll"),
            Format::Ris if self.explain => refused("--explain", "ris", "bibtex, json or conll"),
            Format::Ris if self.marginals => refused("--marginals", "ris", "json or conll"),
            _ => Ok(()),
        }
    }
}
