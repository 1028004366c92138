//! Reports of `evaluate`, `inspect` and `check`: words for people, or one JSON object.

use std::path::PathBuf;

use anyhow::Result;
use bethe_terminal::shown_lines;
use clap::{Args, ValueEnum};

use crate::output::answer;

/// How a report is printed, and where it goes.
#[derive(Args)]
pub struct ReportFlags {
    /// How to print the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write to this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Text for people
    Text,
    /// One JSON object
    Json,
}

impl ReportFlags {
    /// Prints one of the two.
    pub fn print(
        &self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> serde_json::Result<String>,
    ) -> Result<()> {
        let text = match self.json || self.format == ReportFormat::Json {
            true => json()? + "\n",
            false => shown_lines(&text()).into_owned(),
        };
        answer(self.out.as_deref(), &text)
    }
}
