//! Records made here: fields in an order that varies, each at most once, whose words overlap.

use std::fmt::Write as _;

use bethe_tagging::data::{Format, Sequence, Sequences};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Fields: a name, and in how many of a hundred records it is.
const FIELDS: [(&str, u32); 12] = [
    ("author", 100),
    ("title", 100),
    ("venue", 80),
    ("year", 95),
    ("editor", 30),
    ("publisher", 40),
    ("volume", 60),
    ("number", 40),
    ("pages", 70),
    ("place", 35),
    ("note", 20),
    ("series", 15),
];
/// Words of each field that are its own; the others all fields have.
const OWN: usize = 6;
const COMMON: usize = 40;

/// So many records, as sequences of a column file.
pub fn records(count: usize, seed: u64) -> Vec<Sequence> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut text = String::new();
    for _ in 0..count {
        let mut fields: Vec<usize> =
            (0..FIELDS.len()).filter(|&field| rng.random_range(0..100) < FIELDS[field].1).collect();
        for _ in 0..2 {
            let (a, b) = (rng.random_range(0..fields.len()), rng.random_range(0..fields.len()));
            fields.swap(a, b);
        }
        for field in fields {
            for place in 0..rng.random_range(1..=4) {
                let word = match rng.random_range(0..100) {
                    own if own < 35 => format!("{}{}", FIELDS[field].0, rng.random_range(0..OWN)),
                    _ => format!("word{}", rng.random_range(0..COMMON)),
                };
                let prefix = if place == 0 { "B" } else { "I" };
                let _ = writeln!(text, "{word}\t{prefix}-{}", FIELDS[field].0);
            }
            text.push_str(".\tO\n");
        }
        text.push('\n');
    }
    let sequences = Sequences::new(text.as_bytes(), "records", Format::Columns);
    sequences.collect::<Result<_, _>>().expect("well-formed records")
}
