//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use bethe_core::Cancel;

/// Exit code of a program that Ctrl-C killed, by convention.
pub const KILLED: u8 = 130;

/// Set by the first Ctrl-C. The second one ends the program at once.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C from now on. Call it once per program.
    pub fn install() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let handler = move || {
            if seen.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(KILLED));
            }
        };
        ctrlc::set_handler(handler).context("cannot watch for Ctrl-C")?;
        Ok(Self(flag))
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The token that Ctrl-C cancels.
    pub fn cancel(&self) -> Cancel {
        Cancel::from(self.flag())
    }

    /// The flag itself, for code that polls it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
