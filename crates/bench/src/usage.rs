//! What this process used.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds that a processor spent on the threads of this process, where the system tells; on a busy
/// machine the clock on the wall tells more about others. Otherwise that clock.
pub fn processor_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = |task: std::io::Result<std::fs::DirEntry>| -> Option<f64> {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").ok();
    match tasks.and_then(|tasks| tasks.map(nanoseconds).sum::<Option<f64>>()) {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// The same of this thread alone.
pub fn thread_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()) {
        Some(nanoseconds) if nanoseconds > 0.0 => nanoseconds / 1e9,
        // Some systems count nothing.
        _ => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// Forgets the most memory this process had: what it has now counts as the most. Whether the system
/// let it.
pub fn forget_peak_memory() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory this process had, where the system tells.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}
