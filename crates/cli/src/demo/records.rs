//! Made-up references with labelled fields. A reference has exactly one title and at most one
//! venue, in either order, with much the same words.

use std::fmt::Write;

use super::random::Random;

const NAMES: [&str; 12] = [
    "Abel", "Baxter", "Chen", "Dietz", "Evans", "Fuchs", "Gupta", "Horn", "Ito", "Jung", "Kaya",
    "Lopez",
];
const INITIALS: [&str; 6] = ["A.", "C.", "J.", "M.", "R.", "T."];
/// Words that titles have more often than venues.
const OF_TITLES: [&str; 6] = ["a", "fast", "towards", "using", "new", "on"];
/// Words that venues have more often than titles.
const OF_VENUES: [&str; 6] = ["journal", "of", "proceedings", "review", "letters", "annual"];
/// Words that are equally likely in both.
const OF_BOTH: [&str; 16] = [
    "learning",
    "models",
    "graphs",
    "inference",
    "networks",
    "vision",
    "language",
    "systems",
    "theory",
    "data",
    "methods",
    "search",
    "control",
    "logic",
    "machine",
    "statistical",
];
/// Percent of words from the field's own list, and from the other field's.
const OWN: u64 = 34;
const OTHER: u64 = 8;

/// References as a column file: the word, a tab, the label.
pub fn records(count: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::new();
    for _ in 0..count {
        record(&mut random, &mut text);
    }
    text
}

fn record(random: &mut Random, text: &mut String) {
    let author = vec![random.of(&NAMES), random.of(&INITIALS)];
    let title = words(random, &OF_TITLES, &OF_VENUES);
    let venue = words(random, &OF_VENUES, &OF_TITLES);
    let year = (1970 + random.below(50)).to_string();
    let mut fields = match random.below(5) {
        0 => vec![("title", title)],
        1 | 2 => vec![("venue", venue), ("title", title)],
        _ => vec![("title", title), ("venue", venue)],
    };
    let place = if random.below(3) == 0 { fields.len() } else { 0 };
    fields.insert(place, ("author", author));
    fields.push(("year", vec![&year]));
    for (name, words) in fields {
        for (place, word) in words.into_iter().enumerate() {
            let _ = writeln!(text, "{word}\t{}-{name}", if place == 0 { "B" } else { "I" });
        }
        text.push_str(".\tO\n");
    }
    text.push('\n');
}

fn words(random: &mut Random, own: &[&'static str], other: &[&'static str]) -> Vec<&'static str> {
    let count = 2 + random.below(3);
    let word = |_| match random.below(100) {
        rare if rare < OWN => random.of(own),
        rare if rare < OWN + OTHER => random.of(other),
        _ => random.of(&OF_BOTH),
    };
    (0..count).map(word).collect()
}
