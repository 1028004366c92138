//! Numbers as tables have them.

/// A number with a comma between its thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 { format!("−{text}") } else { text }
}

/// A number with its sign, whichever it is.
pub fn signed(number: f64, digits: usize) -> String {
    format!("{number:+.digits$}").replace('-', "−")
}

/// A number with three significant digits, at most three of them after the point.
pub fn rounded(number: f64) -> String {
    let magnitude = number.abs().max(1e-9).log10().floor();
    let digits = (2.0 - magnitude).clamp(0.0, 3.0) as usize;
    if digits > 0 {
        return format!("{number:.digits$}");
    }
    let unit = 10f64.powf(magnitude - 2.0);
    grouped((number / unit).round() * unit)
}

/// Seconds, or milliseconds where it is less than a tenth of a second.
pub fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 0.1 => format!("{} ms", rounded(1e3 * short)),
        long => format!("{} s", rounded(long)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let texts = [0.0, 12.4, 999.6, 32_300.0, 1_234_567.0, -1500.0].map(grouped);
        assert_eq!(texts, ["0", "12", "1,000", "32,300", "1,234,567", "−1,500"]);
    }

    #[test]
    fn signs_are_shown_and_minus_is_no_hyphen() {
        assert_eq!([0.784, -0.1].map(|number| signed(number, 2)), ["+0.78", "−0.10"]);
    }

    #[test]
    fn three_digits_count() {
        let texts = [0.04, 0.3599, 2.7, 13.24, 467.4, 999.7, 1019.6, 32_312.0].map(rounded);
        assert_eq!(texts, ["0.040", "0.360", "2.70", "13.2", "467", "1,000", "1,020", "32,300"]);
        assert_eq!(
            [4e-5, 0.0251, 0.36, 151.6].map(duration),
            ["0.040 ms", "25.1 ms", "0.360 s", "152 s"]
        );
    }
}
