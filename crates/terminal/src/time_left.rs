//! How long work will still take.

use std::time::Duration;

/// Before this much time has passed, an estimate is noise.
const PATIENCE: Duration = Duration::from_secs(2);
/// And before this share of the work is done.
const LEAST_SHARE: f64 = 0.01;

/// The time that is left, if a share of the work took `elapsed` and the rest goes on like it: `40 s
/// left`, `3 min left`. `None` as long as that says nothing.
pub fn time_left(elapsed: Duration, share: f64) -> Option<String> {
    if elapsed < PATIENCE || !(LEAST_SHARE..1.0).contains(&share) {
        return None;
    }
    let seconds = elapsed.as_secs_f64() * (1.0 - share) / share;
    Some(match seconds {
        s if s < 90.0 => format!("{:.0} s left", s.ceil()),
        s if s < 90.0 * 60.0 => format!("{:.0} min left", s / 60.0),
        s => format!("{:.1} h left", s / 3600.0),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::time_left;

    #[test]
    fn what_is_left_is_in_proportion_to_what_was_done() {
        let left = |seconds, share| time_left(Duration::from_secs(seconds), share);
        assert_eq!(left(10, 0.5).as_deref(), Some("10 s left"));
        assert_eq!(left(60, 0.2).as_deref(), Some("4 min left"));
        assert_eq!(left(3600, 0.25).as_deref(), Some("3.0 h left"));
        for (seconds, share) in [(1, 0.5), (10, 0.001), (10, 1.0), (10, f64::NAN), (10, -1.0)] {
            assert_eq!(left(seconds, share), None, "{seconds} {share}");
        }
    }
}
