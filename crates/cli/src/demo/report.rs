//! How the demo shows probabilities, readings and changes.

use std::env;
use std::io::{self, IsTerminal};

use bethe_core::{Answer, Model};

/// A probability as a bar of eight cells.
pub fn bar(probability: f64) -> String {
    let filled = (8.0 * probability).round().clamp(0.0, 8.0) as usize;
    "█".repeat(filled) + &"·".repeat(8 - filled)
}

/// The states of the MAP assignment, one after another.
pub fn reading(model: &Model, answer: &Answer) -> String {
    let state = |(variable, &state): (usize, &usize)| {
        let names = model.variables()[variable].names.as_ref();
        names.map_or_else(|| state.to_string(), |names| names.states[state].clone())
    };
    answer.map.assignment.iter().enumerate().map(state).collect()
}

/// The probability of each state of the MAP assignment.
pub fn certainty(answer: &Answer) -> String {
    let of = |(variable, &state): (usize, &usize)| {
        format!("{:.2}", answer.marginals[variable].values[state])
    };
    answer.map.assignment.iter().enumerate().map(of).collect::<Vec<_>>().join(" ")
}

/// A line of text is no longer than this.
const WIDTH: usize = 80;

/// Words in lines that fit, each after its indent; lines that go on have an end.
pub fn wrapped<'a>(words: impl IntoIterator<Item = &'a str>, indent: &str, end: &str) -> String {
    let mut lines = vec![indent.to_string()];
    for word in words {
        let line = lines.last_mut().expect("there is one");
        let length =
            [&*line, " ", word, end].iter().map(|part| part.chars().count()).sum::<usize>();
        if *line == indent {
            line.push_str(word);
        } else if length <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            line.push_str(end);
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

/// Whether standard output is a terminal whose user has not turned colour off (no-color.org).
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A part of the tour with its title in bold, and in green what a rule changed and BibTeX.
pub fn coloured(part: &str) -> String {
    let mut is_entry = false;
    let line = |(at, line): (usize, &str)| {
        is_entry |= line.starts_with("  @");
        let is_green = is_entry || line.ends_with("  <");
        is_entry &= line != "  }";
        match (at, is_green) {
            (0, _) => format!("\x1b[1m{line}\x1b[0m\n"),
            (_, true) => format!("\x1b[32m{line}\x1b[0m\n"),
            (_, false) => format!("{line}\n"),
        }
    };
    part.lines().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, coloured, wrapped};

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        let words = vec!["word"; 40];
        let text = wrapped(words.iter().copied(), "  ", " \\");
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= WIDTH));
        assert_eq!(text.lines().filter(|line| line.ends_with(" \\")).count(), 2);
        assert_eq!(text.matches("word").count(), 40);
        let long = "x".repeat(100);
        assert_eq!(wrapped(["a", &long], "", ""), format!("a\n{long}"));
    }

    #[test]
    fn titles_entries_and_changes_have_colours() {
        let part = "1. Title\n\n  of  O\n  of  B  <\n  @book{x,\n    year = {1},\n  }\n  end\n";
        let bold_and_green = [true, false, false, true, true, true, true, false];
        let text = coloured(part);
        let found: Vec<bool> = text.lines().map(|line| line.starts_with('\x1b')).collect();
        assert_eq!(found, bold_and_green);
        assert!(text.lines().all(|line| line.starts_with('\x1b') == line.ends_with("\x1b[0m")));
    }
}
