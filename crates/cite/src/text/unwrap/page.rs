//! What stands on a page beside references: its number, its running head, headings.

/// Whether a line is the number of a page: `12`, `- 12 -`, `Page 12 of 30`, `xii`.
pub(crate) fn is_page_number(line: &str) -> bool {
    const WORDS: &[&str] = &["page", "seite", "s", "p", "of", "von", "sur", "de"];
    const MOST: usize = 5;
    let text = line.trim();
    if text.len() > 24 || text.is_empty() {
        return false;
    }
    let mut numbers = 0;
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words += 1;
        let is_roman = word.chars().all(|c| "ivxl".contains(c));
        let is_number = word.len() < MOST && word.bytes().all(|byte| byte.is_ascii_digit());
        numbers += usize::from(is_number || is_roman);
        if !is_number && !is_roman && !WORDS.contains(&word.to_lowercase().as_str()) {
            return false;
        }
    }
    // `1997.`, `12-17` and `12, 17` are of references.
    let is_marked = text.contains(['.', ',', ';', ':', '(', ')', '[', ']']);
    let is_range = numbers > 1 && words == numbers && !text.contains('/');
    numbers > 0 && !is_marked && !is_range
}

/// Whether the first line of a page is its running head: a page number stands apart at one end,
/// `12        Rivers and lakes`.
pub(crate) fn is_running_head(line: &str) -> bool {
    let mut columns = line.trim().split("   ").filter(|column| !column.trim().is_empty());
    let (first, last) = (columns.next().unwrap_or_default(), columns.last());
    last.is_some_and(|last| is_page_number(first) || is_page_number(last))
}

/// A line without its digits, which running heads differ in.
pub(crate) fn without_digits(line: &str) -> String {
    line.trim().chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether a line is the heading of a bibliography.
pub(crate) fn is_heading(line: &str) -> bool {
    #[rustfmt::skip]
    const HEADINGS: &[&str] = &[
        "bibliografia", "bibliografía", "bibliographie", "bibliography", "literatur",
        "literature cited", "literaturverzeichnis", "references", "references and notes",
        "references cited", "referencias", "referências", "riferimenti bibliografici", "références",
        "works cited", "список литературы", "参考文献",
    ];
    let text = line.trim();
    // `7. References`, `VII References`
    let name = text.trim_start_matches(|c: char| c.is_ascii_digit() || "IVX. \t".contains(c));
    let name = name.trim_end_matches([':', '.']).to_lowercase();
    text.len() < 60 && HEADINGS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_and_headings_are_told_from_text() {
        for line in ["12", " - 12 -", "Page 12 of 30", "xii", "\u{c}12", "12 / 30", "– 7 –"] {
            assert!(is_page_number(line), "{line}");
        }
        for line in ["1997.", "12-17", "12, 17", "", "see 12", "vol. 12", "(1997)", "12345"] {
            assert!(!is_page_number(line), "{line}");
        }
        for line in
            ["\u{c}12      Rivers and lakes", "RIVERS AND LAKES     xiii", " J. Li     Water    7"]
        {
            assert!(is_running_head(line), "{line}");
        }
        for line in ["12 Rivers", "Knuth, D.    The art", "1997.    Springer", "", "12"] {
            assert!(!is_running_head(line), "{line}");
        }
        for line in ["References", "  7. REFERENCES", "Literaturverzeichnis:", "VII. Références"]
        {
            assert!(is_heading(line), "{line}");
        }
        for line in ["References to rivers", "Knuth, D. Literature.", ""] {
            assert!(!is_heading(line), "{line}");
        }
    }
}
