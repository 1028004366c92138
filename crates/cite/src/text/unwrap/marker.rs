//! What stands before a reference in a list: numbers, labels, bullets.

/// How a list marks its references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `[7]`
    Square,
    /// `(7)`
    Round,
    /// `7.`
    Stop,
    /// `7)`
    Bracket,
    /// `[Knu97]`, `[Knuth 1997]`
    Label,
    /// `•`
    Bullet,
}

impl Style {
    pub(crate) const ALL: [Self; 6] =
        [Self::Square, Self::Round, Self::Stop, Self::Bracket, Self::Label, Self::Bullet];
}

/// The mark of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) style: Style,
    /// Its number, if the style has numbers.
    pub(crate) number: Option<u32>,
    /// Bytes of the mark, without the space behind it.
    pub(crate) length: usize,
}

/// A number of more digits is a year or a page.
const MOST: u32 = 1000;
/// Bytes between the brackets of the longest label.
const LONGEST: usize = 60;
/// Text begins within as many characters behind a mark.
const NEAR: usize = 100;
/// A star or a point is a bullet only before a space; they all are here.
const BULLETS: [char; 12] = ['•', '◦', '▪', '‣', '●', '■', '○', '□', '➢', '✓', '·', '*'];

/// The mark that a line begins with, if text follows it.
pub(crate) fn marker(line: &str) -> Option<Marker> {
    let text = line.trim_start();
    let found = in_brackets(text).or_else(|| bullet(text)).or_else(|| number(text))?;
    let rest = &text[found.length..];
    // `[7]Knuth` occurs, `7.5` is a number.
    let is_apart = match found.style {
        Style::Square | Style::Round | Style::Label => true,
        Style::Stop | Style::Bracket | Style::Bullet => rest.starts_with(char::is_whitespace),
    };
    (is_apart && rest.chars().take(NEAR).any(char::is_alphabetic)).then_some(found)
}

fn in_brackets(text: &str) -> Option<Marker> {
    let close = match text.chars().next()? {
        '[' => ']',
        '(' => ')',
        _ => return None,
    };
    let (end, _) = text.char_indices().take(LONGEST + 2).find(|&(_, c)| c == close)?;
    let length = end + 1;
    let inside = text[1..end].trim();
    let style = if close == ']' { Style::Square } else { Style::Round };
    if let Some(number) = counted(inside) {
        return Some(Marker { style, number: Some(number), length });
    }
    let is_label = close == ']' && inside.len() <= LONGEST && is_label(inside);
    is_label.then_some(Marker { style: Style::Label, number: None, length })
}

/// `Knu97`, `ABC+12`, `Knuth 1997a`, `Miller and Smith, 2003`, `Knuth(1997)`: a word that begins
/// with a letter and ends with a year or its last digits.
fn is_label(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || " ,.+*&:_-()'’".contains(c);
    let year = text.trim_end_matches(|c: char| c == ')' || c.is_ascii_lowercase());
    let digits = year.len() - year.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.starts_with(char::is_alphabetic)
        && text.chars().all(is_part)
        && (2..=4).contains(&digits)
        && digits < year.len()
}

fn bullet(text: &str) -> Option<Marker> {
    let first = text.chars().next().filter(|c| BULLETS.contains(c))?;
    Some(Marker { style: Style::Bullet, number: None, length: first.len_utf8() })
}

fn number(text: &str) -> Option<Marker> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = counted(&text[..digits])?;
    let style = match text[digits..].chars().next()? {
        '.' => Style::Stop,
        ')' => Style::Bracket,
        _ => return None,
    };
    Some(Marker { style, number: Some(number), length: digits + 1 })
}

fn counted(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?.filter(|&number| number < MOST)
}

/// A line without the bullet before it.
pub(crate) fn without_bullet(line: &str) -> &str {
    match marker(line) {
        Some(Marker { style: Style::Bullet, length, .. }) => {
            line.trim_start()[length..].trim_start()
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_lists_are_told_from_text() {
        let found = |line: &str| marker(line).map(|marker| (marker.style, marker.number));
        for (line, style, number) in [
            ("[7] Knuth", Style::Square, Some(7)),
            ("  [ 7 ] Knuth", Style::Square, Some(7)),
            ("[7]Knuth", Style::Square, Some(7)),
            ("(63) Kamerlin, S.", Style::Round, Some(63)),
            ("12.\tKnuth", Style::Stop, Some(12)),
            ("12) Knuth", Style::Bracket, Some(12)),
            ("[Knu97] D. Knuth", Style::Label, None),
            ("[ABC+12] A. Li", Style::Label, None),
            ("[Miller and Smith, 2003a] A.", Style::Label, None),
            ("[Knuth(1997)] D. Knuth", Style::Label, None),
            ("•\u{a0}Knuth", Style::Bullet, None),
            ("* Knuth", Style::Bullet, None),
        ] {
            assert_eq!(found(line), Some((style, number)), "{line}");
        }
        for line in [
            "(2004). A title",
            "2004. A title",
            "12.5 seconds",
            "[7]",
            "12.",
            "[hep-th/9711200] A",
            "[1609.05383] A",
            "[Online]. Available",
            "(eds.) A",
            "[NuTeV Collaboration] A",
            "*star",
            "[ DAYA-BAY Collaboration ] A",
            "",
            "[",
            "(",
            "12-17. Springer",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
        assert_eq!(without_bullet(" •  Knuth, D."), "Knuth, D.");
    }
}
