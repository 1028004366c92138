//! Work on threads of its own, with limits on what runs at once, what waits, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bethe_core::{Cancel, MemoryLimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bodies::Room;
use super::failure::Failure;

/// How long after its time limit a request is answered without its work. The work was cancelled by
/// then, and keeps its place until it ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// The queue, and the limits of each request.
pub struct Work {
    /// Places for requests that run or wait.
    places: Arc<Semaphore>,
    /// Places for requests that run.
    slots: Arc<Semaphore>,
    /// Cancelled when the program ends.
    pub stop: Cancel,
    pub time_limit: Duration,
    /// The memory limit of one request.
    pub memory: MemoryLimit,
}

/// A place in the queue.
pub struct Place {
    place: OwnedSemaphorePermit,
    /// What the request itself takes.
    room: Room,
    deadline: Instant,
}

/// Cancels work that nobody waits for any more.
struct Abandoned(Cancel);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Work {
    /// At most this many requests at once, and this many more that wait.
    pub fn new(threads: usize, queue: usize, time_limit: Duration, memory: MemoryLimit) -> Self {
        Self {
            places: Arc::new(Semaphore::new(threads + queue)),
            slots: Arc::new(Semaphore::new(threads)),
            stop: Cancel::new(),
            time_limit,
            memory: memory.shared_by(threads),
        }
    }

    /// A place in the queue for a request that takes this room.
    ///
    /// # Errors
    /// If there is none.
    pub fn place(&self, room: Room) -> Result<Place, Failure> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Failure::busy())?;
        Ok(Place { place, room, deadline: Instant::now() + self.time_limit })
    }

    /// Does work on a thread of its own once it is its turn. Dropping the future cancels it.
    pub async fn run<T: Send + 'static>(
        &self,
        Place { place, room, deadline }: Place,
        work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = Arc::clone(&self.slots).acquire_owned();
        let slot = tokio::time::timeout_at(deadline.into(), turn).await;
        let slot = slot.map_err(|_| Failure::late())?.map_err(|_| Failure::busy())?;
        let cancel = self.stop.until(deadline);
        let abandoned = Abandoned(cancel.clone());
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&cancel);
            // The next one begins when this one has ended, even if nobody waits for its answer any
            // more.
            drop((slot, place, room));
            done
        });
        let done = tokio::time::timeout_at((deadline + PATIENCE).into(), done).await;
        let done = done.map_err(|_| Failure::late())?.unwrap_or_else(|_| Err(Failure::fault()));
        drop(abandoned);
        done
    }
}
