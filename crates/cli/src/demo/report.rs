//! How the demo shows probabilities, readings and changes.

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
pub const WIDTH: usize = 80;

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
    use super::coloured;

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
