use std::path::PathBuf;

use clap::Args;

use crate::report::ReportFlags;
use crate::tagging::TaggerFlags;

/// Compare a model's labels with the true labels of a file.
///
/// Precision, recall and F1 count whole segments: a segment is right if its first token, its last
/// token and its name are. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    #[command(flatten)]
    pub tagger: TaggerFlags,

    /// Column or attribute file with labels (gzip is unpacked), or - for standard input
    pub file: PathBuf,

    #[command(flatten)]
    pub report: ReportFlags,
}
