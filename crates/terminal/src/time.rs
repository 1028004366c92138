//! Times on the command line.

use std::time::Duration;

use anyhow::Result;

use crate::bad_input;

/// A time with its unit, `50ms`; `flag` is for the message.
pub fn parse(flag: &str, text: &str) -> Result<Duration> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "ns" => Some(1e-9),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        _ => None,
    };
    let number = number.trim().parse::<f64>().ok();
    let seconds = number.zip(scale).map(|(number, scale)| number * scale);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        bad_input(format!(
            "{flag}: found {text:?}, expected a number and a unit (ns, us, ms, s, m), such as 50ms"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_may_have_decimals() {
        let time = |text| parse("--time-limit", text);
        assert_eq!(time("50ms").unwrap(), Duration::from_millis(50));
        assert_eq!(time("1.5s").unwrap(), Duration::from_millis(1500));
        assert_eq!(time("2m").unwrap(), Duration::from_secs(120));
        assert_eq!(time("250us").unwrap(), Duration::from_micros(250));
        assert_eq!(time("10ns").unwrap(), Duration::from_nanos(10));
        for wrong in ["", "50", "ms", "-1s", "1h", "1e400s", "NaNs", "1 2s"] {
            assert!(time(wrong).is_err(), "{wrong:?} was taken");
        }
    }
}
