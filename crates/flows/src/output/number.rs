/// A number with this many significant digits, as short as possible.
pub fn rounded(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_string() } else { value.to_string() };
    }
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().expect("written by us");
    let plain = rounded.to_string();
    let scientific = format!("{rounded:e}");
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// A number for people: three digits, those of thousands in groups.
pub(super) fn label(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e9).contains(&size) {
        return rounded(value, 3);
    }
    let rounded: f64 = format!("{value:.2e}").parse().expect("written by us");
    let plain = rounded.to_string();
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && digit.is_ascii_digit() && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::{label, rounded};

    #[test]
    fn labels_are_short_and_grouped() {
        let cases = [
            (0.0, "0"),
            (196_987.0, "197,000"),
            (1.0e6, "1,000,000"),
            (5.504, "5.5"),
            (1e-4, "1e-4"),
        ];
        for (value, text) in cases {
            assert_eq!(label(value), text);
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_no_more() {
        let cases = [
            (0.0, "0"),
            (1234.5678, "1234.57"),
            (0.1 + 0.2, "0.3"),
            (1.0e6, "1e6"),
            (123_456.0, "123456"),
            (0.000_012_345_67, "1.23457e-5"),
            (-2.5, "-2.5"),
        ];
        for (value, text) in cases {
            assert_eq!(rounded(value, 6), text);
        }
    }
}
