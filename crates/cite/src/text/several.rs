//! Several references in one line.

use super::unwrap::{Style, begins_with_name, continuation, marker};

/// Bytes of the shortest reference.
const SHORTEST: usize = 20;

/// The references of a line that has the marks of several, `[1] … [2] …`; `None` if it does not.
pub(crate) fn parts(text: &str) -> Option<Vec<&str>> {
    let first = marker(text)?;
    let mut number = first.number?;
    let mut starts = vec![0];
    for (at, _) in text.match_indices(char::is_whitespace) {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        let Some(own) = marker(rest) else { continue };
        let before = &text[*starts.last()?..start];
        let is_next = own.style == first.style && own.number == Some(number + 1);
        if is_next && before.len() >= SHORTEST && begins(rest, own.length, own.style, before) {
            number += 1;
            starts.push(start);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parts: Vec<&str> =
        starts.iter().zip(ends).map(|(&start, end)| text[start..end].trim()).collect();
    (parts.len() > 1 && parts.iter().all(|part| part.len() >= SHORTEST)).then_some(parts)
}

/// Whether a reference begins at a mark, and the one before it has ended.
fn begins(rest: &str, length: usize, style: Style, before: &str) -> bool {
    let text = rest[length..].trim_start();
    let capital =
        text.starts_with(|c: char| c.is_uppercase() || matches!(c, '"' | '“' | '„' | '«'));
    let ended = before.trim_end().ends_with(['.', ']', ')', '?', '!', ';'])
        && continuation(before, "") <= 0;
    match style {
        Style::Square => capital,
        // `vol. 2. Springer`
        _ => capital && ended,
    }
}

/// Whether a line holds several references, with marks or without.
pub(crate) fn holds_several(text: &str) -> bool {
    parts(text).is_some() || is_several(text)
}

/// Whether a line without marks seems to hold several references: behind the end of one with its
/// year, a name begins another that has a year too.
fn is_several(text: &str) -> bool {
    /// Fewest words of a reference.
    const FEWEST: usize = 7;
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_dated = |at: usize| is_year(words[at]) && !(at > 0 && words[at - 1] == "published");
    let dated: Vec<usize> = (0..words.len()).filter(|&at| is_dated(at)).collect();
    let (Some(&first), Some(&last)) = (dated.first(), dated.last()) else { return false };
    let most = words.len().saturating_sub(FEWEST).min(last);
    (FEWEST.max(first + 1)..=most)
        .any(|at| is_end(words[at - 1]) && begins_with_author(&words[at..]))
}

/// Whether a word may be the last of a reference: a page, a year, a longer word, with a stop.
fn is_end(word: &str) -> bool {
    let bare = word.trim_end_matches(['.', ')', ']', ';', '>', '”', '"']);
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    // Shorter words may be abbreviated: `Mater. Civil Eng.`
    word.ends_with('.') && (bare.ends_with(|c: char| c.is_ascii_digit()) || letters > 5)
}

/// Whether words begin with a person, and not with `In A. Li (Ed.)`, `Ed. A. Li` or `Evanston, IL:`.
fn begins_with_author(words: &[&str]) -> bool {
    const OTHERS: [&str; 8] = ["In", "Ed.", "Eds.", "Am", "Rev.", "Int.", "Res.", "Am."];
    let is_place = words.iter().take(4).any(|word| word.ends_with(':') && word.len() > 2);
    begins_with_name(words[0], words[1]) && !OTHERS.contains(&words[0]) && !is_place
}

/// A year, and not a part of some number: `(2004),`, `2004a`.
fn is_year(word: &str) -> bool {
    word.split([';', '(', ',']).any(|part| {
        let bare = part.trim_matches(|c: char| !c.is_ascii_digit());
        bare.len() == 4 && ("1500".."2100").contains(&bare)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_inside_a_line_part_references() {
        let [first, second] = [
            "[3] A. Li. On the rivers of Asia [4], vol. 4. Springer, 1999.",
            "[4] B. Xu. On lakes. J. Water 12, 2001.",
        ];
        let both = format!("{first} {second}");
        assert_eq!(parts(&both), Some(vec![first, second]));
        let stopped = "1. Li A. Rivers, vol. 2. J Water 1999;12:1-9. 2. Xu B. Lakes. 2001;3:4-5.";
        assert_eq!(parts(stopped).map(|parts| parts.len()), Some(2));
        for one in [first, "2. Li, A. Rivers, vol. 3. Springer, Berlin.", "Li, A. [1] B [2] C", ""]
        {
            assert_eq!(parts(one), None, "{one}");
        }
    }

    #[test]
    fn long_lines_are_read_in_one_pass() {
        for piece in ["[1 ", "1. ", "(1) [2] ", "Li, A. ", "12. Li, A. ", "1999. Li, A. x ", "[[[["]
        {
            let text = piece.repeat(20_000);
            let _ = (parts(&text), is_several(&text));
        }
    }

    #[test]
    fn references_that_follow_one_another_are_noticed() {
        for text in [
            "Li, A. (1999). On the rivers of Asia. Water, 12, 1–9. Xu, B. (2001). On lakes. Sea, 3, 4–5.",
            "Li A, Xu B. On the rivers of Asia. Water 1999;12:1-9. Xu B. On lakes and rivers. Sea 2001;3:4-5.",
            "A. Li. On the rivers of Asia. Springer, Berlin, 1999. B. Xu and C. Ek. On lakes. Wiley, 2001.",
        ] {
            assert!(is_several(text), "{text}");
        }
        for text in [
            "Li, A. (1999). On rivers. In B. Xu (Ed.), Waters of the world (pp. 1–9). Evanston, IL: Wiley, 1999.",
            "Li, A. (1999). On rivers. London: Springer. Original work published 1949.",
            "Li, Ann. Rivers of Asia. 1984. Trans. Bo A. Xu. Studies in Water. Atlantic Highlands, NJ: Ek, 1990.",
            "",
        ] {
            assert!(!is_several(text), "{text}");
        }
    }
}
