//! Text in lines that fit.

/// Words in lines of at most `width` characters, each after its indent; lines that go on have an end.
pub fn wrapped<'a>(
    words: impl IntoIterator<Item = &'a str>,
    (indent, end): (&str, &str),
    width: usize,
) -> String {
    let mut lines = vec![indent.to_string()];
    for word in words {
        let line = lines.last_mut().expect("there is one");
        let length =
            [&*line, " ", word, end].iter().map(|part| part.chars().count()).sum::<usize>();
        if *line == indent {
            line.push_str(word);
        } else if length <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            line.push_str(end);
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        let words = vec!["word"; 40];
        let text = wrapped(words.iter().copied(), ("  ", " \\"), 80);
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= 80));
        assert_eq!(text.lines().filter(|line| line.ends_with(" \\")).count(), 2);
        assert_eq!(text.matches("word").count(), 40);
        let long = "x".repeat(100);
        assert_eq!(wrapped(["a", &long], ("", ""), 80), format!("a\n{long}"));
    }
}
