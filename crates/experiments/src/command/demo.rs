//! `bethe-reproduce demo`: handwriting and grids on simulated data.

use std::path::PathBuf;

use anyhow::Result;
use bethe_terminal::{Folder, Interrupt, Outcome, show};
use clap::Args;

use super::{grids, handwriting};

/// Drawn words read under a dictionary energy, and Ising grids under every kind of inference; no
/// data needed.
#[derive(Args)]
pub struct Flags {
    /// Folder for the picture of the drawn words and the problem of a wide grid
    #[arg(long, short, value_name = "DIR", default_value = "bethe-reproduce-demo")]
    out: PathBuf,
}

/// Runs both parts. The folder appears at the end.
pub fn run(flags: Flags) -> Result<Outcome> {
    Interrupt::end_at_once()?;
    let folder = Folder::create(&flags.out)?;
    for part in [handwriting::handwriting, grids::grids] {
        show(&part(&folder)?)?;
    }
    folder.publish()?;
    Ok(Outcome::Done)
}
