//! How much of a batch is held at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines held for each thread: enough that a slow problem does not keep the others waiting.
const LINES: usize = 16;
/// Text held, in bytes, unless a single line has more.
const BYTES: usize = 64 << 20;

/// Lines that were read and whose answers are not written yet. The reader waits until there is
/// room for the next one.
pub struct Window {
    most_lines: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    lines: usize,
    bytes: usize,
    /// Lines that came in so far.
    entered: usize,
    ended: bool,
    stopped: bool,
}

impl Window {
    pub fn new(threads: usize) -> Self {
        let most_lines = LINES * threads;
        Self { most_lines, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room for a line. Returns its number, from 0; `None` if the work was stopped.
    pub fn enter(&self, bytes: usize) -> Option<usize> {
        let is_full = |state: &mut State| {
            let many = state.lines == self.most_lines || state.bytes + bytes > BYTES;
            !state.stopped && state.lines > 0 && many
        };
        let waited = self.changed.wait_while(self.state(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return None;
        }
        state.lines += 1;
        state.bytes += bytes;
        state.entered += 1;
        self.changed.notify_all();
        Some(state.entered - 1)
    }

    /// The answer to a line is written.
    pub fn leave(&self, bytes: usize) {
        let mut state = self.state();
        state.lines -= 1;
        state.bytes -= bytes;
        self.changed.notify_all();
    }

    /// No line will follow.
    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Lets no line in any more.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    /// Whether every line was read.
    pub fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Whether every line that came in is done.
    pub fn is_done(&self) -> bool {
        let state = self.state();
        (state.ended || state.stopped) && state.lines == 0
    }

    /// Waits for a second line or the end. Returns whether the first line is all there is; false,
    /// too, if nothing happens for that long.
    pub fn is_only_line(&self, patience: Duration) -> bool {
        let is_open = |state: &mut State| state.entered == 1 && !state.ended && !state.stopped;
        let waited = self.changed.wait_timeout_while(self.state(), patience, is_open);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.entered == 1 && state.ended
    }
}
