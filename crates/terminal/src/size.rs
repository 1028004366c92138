//! Sizes of memory on the command line.

use anyhow::Result;
use bethe_core::MemoryLimit;

use crate::bad_input;

/// A size with its unit, `500MB` or `2GiB`; `flag` is for the message.
pub fn parse(flag: &str, text: &str) -> Result<MemoryLimit> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "B" => Some(1.0),
        "kB" | "KB" => Some(1e3),
        "MB" => Some(1e6),
        "GB" => Some(1e9),
        "TB" => Some(1e12),
        "KiB" => Some(1024.0),
        "MiB" => Some(1024f64.powi(2)),
        "GiB" => Some(1024f64.powi(3)),
        "TiB" => Some(1024f64.powi(4)),
        _ => None,
    };
    let number = number.trim().parse::<f64>().ok();
    let bytes = number.zip(scale).map(|(number, scale)| number * scale);
    match bytes.filter(|bytes| (1.0..u64::MAX as f64).contains(bytes)) {
        Some(bytes) => Ok(MemoryLimit::of(bytes as u64)),
        None => Err(bad_input(format!(
            "{flag}: found {text:?}, expected a size of at least 1B with its unit (B, kB, MB, GB, \
             TB, KiB, MiB, GiB, TiB), such as 500MB"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_either_kind_and_may_have_decimals() {
        let size = |text| parse("--memory-limit", text).map(MemoryLimit::bytes);
        assert_eq!(size("500MB").unwrap(), 500_000_000);
        assert_eq!(size("2GiB").unwrap(), 2 << 30);
        assert_eq!(size("1.5 KiB").unwrap(), 1536);
        assert_eq!(size("64kB").unwrap(), 64_000);
        for wrong in ["", "500", "MB", "-1MB", "0B", "1e400MB", "NaNMB", "1PB", "5 5MB", "1e30TB"] {
            assert!(size(wrong).is_err(), "{wrong:?} was taken");
        }
    }
}
