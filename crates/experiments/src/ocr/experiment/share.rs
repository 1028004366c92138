use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rayon::ThreadPoolBuilder;

use super::Stopped;

/// Works on items side by side, each with its even share of the threads; results are in the order
/// of the items.
///
/// Learning goes through few words between two steps, too few to share: so folds are.
pub(super) fn share<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, Stopped> + Sync,
) -> Result<Vec<R>, Stopped> {
    let threads = rayon::current_num_threads();
    let workers = threads.min(items.len());
    let next = AtomicUsize::new(0);
    let some = || -> Result<Vec<(usize, R)>, Stopped> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(done) };
            done.push((at, work(item)?));
        }
    };
    let worker = || match ThreadPoolBuilder::new().num_threads(threads / workers).build() {
        Ok(pool) => pool.install(some),
        // The threads that all share have to do.
        Err(_) => some(),
    };
    let done: Result<Vec<_>, Stopped> = thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let ended = started.into_iter().map(|worker| worker.join());
        ended.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let mut done: Vec<(usize, R)> = done?.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_a_stop_is_passed_on() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            let items: Vec<usize> = (0..20).collect();
            let squares = share(&items, |&item| Ok(item * item)).unwrap();
            assert_eq!(squares, items.iter().map(|item| item * item).collect::<Vec<_>>());
            let alone = share(&[0], |_| Ok(rayon::current_num_threads())).unwrap();
            assert_eq!(alone, [3], "one item has all threads");
            assert_eq!(
                share(&items, |&item| if item < 7 { Ok(()) } else { Err(Stopped) }),
                Err(Stopped)
            );
            assert_eq!(share(&[], |_: &usize| Ok(())), Ok(Vec::new()));
        });
    }
}
