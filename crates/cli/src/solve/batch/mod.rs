//! One problem per line: answers in order, while the lines are still being read.
//!
//! ```text
//! reader ── lines ──► window ──► threads of the pool ── replies, in any order ──► writer
//!    ▲                                                                              │
//!    └────────────────────── room for the next line ◄───────────────────────────────┘
//! ```

mod tally;
mod window;
mod work;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use bethe_terminal::{Interrupt, Outcome, threads};
use rayon::ThreadPool;

use super::config::Config;
use super::problems::Additions;
use super::progress::Progress;
use super::sink::Sink;
use crate::input::{LineError, Lines, Source};
use tally::Tally;
use window::Window;
use work::{Reached, Reply, Work};

/// How often to look whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);
/// How long to wait for a second line before a mistake in the first one is reported as in a batch.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a batch ended.
pub enum Batch {
    Done(Outcome),
    /// It was a single text without an answer, to be reported as such.
    Alone(Source),
}

/// Solves every line.
pub fn run(
    lines: Lines,
    additions: Arc<Additions>,
    config: &Arc<Config>,
    sink: Sink,
) -> Result<Batch> {
    let interrupt = Interrupt::install()?;
    let pool = Arc::new(threads::pool(config.threads)?);
    let (name, size) = (lines.name().to_string(), lines.size());
    let may_be_one_text = lines.may_be_one_text();
    let request = config.request_among(pool.current_num_threads());
    let work = Arc::new(Work { config: Arc::clone(config), request, additions });
    let window = Arc::new(Window::new(pool.current_num_threads()));
    let failed = Arc::new(Mutex::new(None));
    let (sender, replies) = channel();
    let reader =
        Reader { window: Arc::clone(&window), work, pool, sender, failed: Arc::clone(&failed) };
    // It may wait for its input for ever, so nobody waits for it.
    thread::Builder::new()
        .name("lines".into())
        .spawn(move || reader.run(lines))
        .context("cannot start threads")?;
    let mut writer = Writer {
        window: &window,
        strict: config.strict,
        may_be_one_text,
        sink,
        tally: Tally::new(name),
        progress: Progress::new(0, config.quiet),
        size,
        written: 0,
    };
    if let Some(source) = writer.run(&replies, &interrupt)? {
        return Ok(Batch::Alone(source));
    }
    let Writer { sink, tally, .. } = writer;
    sink.finish()?;
    if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    tally.outcome(config, window.has_ended()).map(Batch::Done)
}

/// Reads lines as long as there is room for them, and has them solved.
struct Reader {
    window: Arc<Window>,
    work: Arc<Work>,
    pool: Arc<ThreadPool>,
    sender: Sender<Reply>,
    failed: Arc<Mutex<Option<Error>>>,
}

impl Reader {
    fn run(self, lines: Lines) {
        for line in lines {
            let source = match line {
                Ok(source) => Ok(source),
                Err(LineError::TooLarge { name, error }) => Err((name, error)),
                Err(LineError::Failed(error)) => {
                    *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    break;
                }
            };
            let bytes = source.as_ref().map_or(0, |source| source.bytes.len());
            let Some(index) = self.window.enter(bytes) else { return };
            let (work, sender) = (Arc::clone(&self.work), self.sender.clone());
            let reply = move || match source {
                Ok(source) => work.reply(index, source),
                Err((name, error)) => work.refusal(index, name, &error),
            };
            // The writer is gone if nobody waits for the reply.
            self.pool.spawn_fifo(move || drop(sender.send(reply())));
        }
        self.window.end();
    }
}

/// Brings replies into order, and writes them.
struct Writer<'a> {
    window: &'a Window,
    strict: bool,
    may_be_one_text: bool,
    sink: Sink,
    tally: Tally,
    progress: Progress,
    /// Bytes of the input, if they are known.
    size: Option<u64>,
    /// And of those lines whose answers are written.
    written: u64,
}

impl Writer<'_> {
    /// Until the last line. Returns the only one if it is a text of its own without an answer.
    fn run(&mut self, replies: &Receiver<Reply>, interrupt: &Interrupt) -> Result<Option<Source>> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        while !self.window.is_done() {
            match replies.recv_timeout(LOOK) {
                Ok(reply) => {
                    let arrived = std::iter::once(reply).chain(replies.try_iter());
                    early.extend(arrived.map(|reply| (reply.index, reply)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The reader ends last.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(reply) = early.remove(&next) {
                let bytes = reply.source.bytes.len();
                if let Some(alone) = self.write(reply)? {
                    return Ok(Some(alone));
                }
                self.window.leave(bytes);
                // And the end of the line.
                self.written += bytes as u64 + 1;
                next += 1;
            }
            self.sink.flush()?;
            let share = self.size.map(|size| self.written as f64 / size.max(1) as f64);
            self.progress.done_of_unknown(next, share);
            if interrupt.is_set() || self.sink.is_closed() || self.tally.is_over(self.strict) {
                self.window.stop();
            }
            if self.tally.is_over(self.strict) || self.sink.is_closed() {
                break;
            }
        }
        Ok(None)
    }

    fn write(&mut self, reply: Reply) -> Result<Option<Source>> {
        let results = reply.results.unwrap_or_else(|panic| resume_unwind(panic));
        let answered = |reached: &Reached| matches!(reached, Reached::Answer { .. });
        if self.may_be_one_text
            && reply.index == 0
            && !results.iter().all(answered)
            && self.window.is_only_line(PATIENCE)
        {
            return Ok(Some(reply.source));
        }
        for reached in &results {
            if !self.tally.is_over(self.strict)
                && let Some(line) = self.tally.line(reached, self.strict)
            {
                self.sink.write(&line)?;
            }
        }
        Ok(None)
    }
}
