//! Processor time of one thread.

use std::time::Instant;

/// Times one thread: its processor time if the system reports it, else the clock.
pub(super) struct Stopwatch {
    clock: Instant,
    on_core: Option<f64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { clock: Instant::now(), on_core: on_core() }
    }

    /// Seconds since the start, on the thread that it was started on.
    pub fn seconds(&self) -> f64 {
        let spent = self.on_core.zip(on_core()).map(|(before, after)| after - before);
        spent.unwrap_or_else(|| self.clock.elapsed().as_secs_f64())
    }
}

/// Processor seconds of this thread, on Linux.
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split(' ').next()?.parse().ok()?;
    // Some systems count nothing.
    (nanoseconds > 0).then_some(nanoseconds as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let stopwatch = Stopwatch::start();
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < 0.02 {
            std::hint::black_box((0..1000).sum::<u64>());
        }
        let seconds = stopwatch.seconds();
        assert!(seconds > 0.0 && seconds <= begun.elapsed().as_secs_f64() + 1e-3, "{seconds}");
    }
}
