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

/// A number for people, with this many significant digits: thousands in groups, powers of ten only
/// where zeros would have to be counted.
pub fn for_people(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().expect("written by us");
    if rounded != 0.0 && !(1e-5..1e10).contains(&rounded.abs()) {
        return self::rounded(value, digits);
    }
    let plain = rounded.to_string();
    let (sign, plain) = plain.split_at(usize::from(rounded < 0.0));
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut grouped = sign.to_string();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && digit.is_ascii_digit() && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

/// So many individuals, for people.
pub fn individuals(number: f64, digits: usize) -> String {
    let number = for_people(number, digits);
    format!("{number} individual{}", if number == "1" { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{for_people, individuals, rounded};

    #[test]
    fn individuals_are_one_or_more() {
        assert_eq!(individuals(1.0, 3), "1 individual");
        assert_eq!(individuals(0.001, 3), "0.001 individuals");
        assert_eq!(individuals(12_345.6, 15), "12,345.6 individuals");
        assert_eq!(individuals(2000.0, 3), "2,000 individuals");
    }

    #[test]
    fn numbers_for_people_are_short_and_grouped() {
        let cases = [
            (0.0, "0"),
            (196_987.0, "197,000"),
            (1.0e6, "1,000,000"),
            (5.504, "5.5"),
            (-1234.5, "-1,230"),
            (-123.0, "-123"),
            (8.1e9, "8,100,000,000"),
            (1e-3, "0.001"),
            (1e-5, "0.00001"),
            (1.25e-7, "1.25e-7"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(for_people(value, 3), text);
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
