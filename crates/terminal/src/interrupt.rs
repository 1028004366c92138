//! Ctrl-C, and the signal that asks a process to end (SIGTERM).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use bethe_core::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Exit code of a program that Ctrl-C killed, by convention.
pub const KILLED: u8 = 130;

/// Set by the first Ctrl-C or SIGTERM. The second one ends the program at once.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

static INSTALLED: Mutex<Option<Interrupt>> = Mutex::new(None);

impl Interrupt {
    /// Watches for the signals from now on. Another call gives the same flag.
    pub fn install() -> Result<Self> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interrupt) = &*installed {
            return Ok(interrupt.clone());
        }
        let interrupt = Self(Arc::new(AtomicBool::new(false)));
        watch(interrupt.flag()).context("cannot watch for Ctrl-C")?;
        *installed = Some(interrupt.clone());
        Ok(interrupt)
    }

    /// Lets the first signal end the program, without files that it was still writing.
    pub fn end_at_once() -> Result<()> {
        watch(Arc::new(AtomicBool::new(true))).context("cannot watch for Ctrl-C")
    }

    /// Whether a signal came.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The token that a signal cancels.
    pub fn cancel(&self) -> Cancel {
        Cancel::from(self.flag())
    }

    /// The flag itself, for code that polls it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Waits for signals in a thread, which may do what a signal handler may not.
#[cfg(unix)]
fn watch(seen: Arc<AtomicBool>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in &mut signals {
            if seen.swap(true, Ordering::Relaxed) {
                bethe_io::remove_unfinished();
                std::process::exit(i32::from(KILLED));
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn watch(seen: Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, KILLED.into(), seen.clone())?;
        signal_hook::flag::register(signal, seen.clone())?;
    }
    Ok(())
}
