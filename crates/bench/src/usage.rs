//! What this process used.

/// Seconds that a processor spent on the threads of this process; on a busy machine wall-clock time
/// says more about other processes.
pub fn processor_seconds() -> f64 {
    #[cfg(unix)]
    return seconds_of(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

/// The same of this thread alone.
pub fn thread_seconds() -> f64 {
    #[cfg(unix)]
    return seconds_of(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

#[cfg(unix)]
fn seconds_of(clock: rustix::time::ClockId) -> f64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Wall-clock time, on systems that are not asked for processor time.
#[cfg(not(unix))]
fn elapsed() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
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
