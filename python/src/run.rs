//! Work with the interpreter released, on threads of our own, that Ctrl-C ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use bethe_core::{Cancel, MemoryLimit};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often to look for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Short work is waited for without sleeping: falling asleep and waking up takes as long as the
/// work.
const AWAKE: Duration = Duration::from_micros(200);

/// Threads for all cores. They do not survive a fork, so a child process starts its own.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// A pool of this many threads, or the shared one of all cores.
pub fn pool(jobs: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let build = |jobs: usize| {
        let built = ThreadPoolBuilder::new().num_threads(jobs).build();
        built.map(Arc::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    };
    if let Some(jobs) = jobs {
        return build(jobs);
    }
    let mut shared = SHARED.lock().unwrap_or_else(|held| held.into_inner());
    let process = std::process::id();
    match &*shared {
        Some((owner, pool)) if *owner == process => Ok(Arc::clone(pool)),
        _ => {
            let pool = build(0)?;
            *shared = Some((process, Arc::clone(&pool)));
            Ok(pool)
        }
    }
}

/// Half of the memory that there is. Asking the system takes as long as a small solve, so it is asked once.
pub fn memory_limit() -> MemoryLimit {
    static HALF: OnceLock<MemoryLimit> = OnceLock::new();
    *HALF.get_or_init(bethe_io::half_of_memory)
}

/// What became of work: its result, and the exception of a signal that came meanwhile.
pub struct Ended<T> {
    pub result: T,
    pub signal: Option<PyErr>,
}

/// Runs work on a pool and looks at signals while it runs. A signal that raises, such as Ctrl-C,
/// cancels the work, whose result is waited for all the same: it is the best so far.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    pool: &ThreadPool,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<Ended<T>> {
    // A function of Python that runs on the pool may call again. Waiting there for another thread could
    // be waiting for itself.
    if pool.current_thread_index().is_some() {
        let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
        return result.map(|result| Ended { result, signal: None }).map_err(|_| fault());
    }
    let (sender, receiver) = sync_channel(1);
    pool.spawn(move || {
        // A panic must not end the process: without a result, the caller raises. Nobody listens only
        // if the caller is gone.
        if let Ok(result) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = sender.send(result);
        }
    });
    let receiver = Mutex::new(receiver);
    let mut signal = None;
    let mut patience = AWAKE;
    loop {
        let received = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(|held| held.into_inner());
            received(&receiver, std::mem::take(&mut patience))
        });
        match received {
            Ok(result) => return Ok(Ended { result, signal }),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals() {
                    cancel.cancel();
                    signal.get_or_insert(raised);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(signal.unwrap_or_else(fault)),
        }
    }
}

/// What comes within the time between two looks; the first part of it is spent awake.
fn received<T>(receiver: &Receiver<T>, awake: Duration) -> Result<T, RecvTimeoutError> {
    let begun = Instant::now();
    while begun.elapsed() < awake {
        match receiver.try_recv() {
            Ok(result) => return Ok(result),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    receiver.recv_timeout(LOOK)
}

fn fault() -> PyErr {
    PyRuntimeError::new_err("a thread of the engine failed: please report it")
}
