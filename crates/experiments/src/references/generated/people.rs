//! Invented people, as styles write them.

use rand::Rng;

use super::{Filling, upper};

struct Person {
    given: Vec<String>,
    family: String,
}

impl Person {
    fn initials(&self, between: &str) -> String {
        let first = |name: &String| name.chars().next().map_or(String::new(), |c| c.to_string());
        self.given.iter().map(first).map(|c| c + between).collect::<String>().trim_end().to_string()
    }
}

impl Filling<'_> {
    /// People in a style.
    pub(super) fn people(&mut self, style: &str) -> String {
        let count = match style {
            "ed" | "full1" => 1,
            _ => [1, 1, 1, 2, 2, 3, 4, 6][self.random.random_range(0..8)],
        };
        let all: Vec<Person> = (0..count).map(|_| self.person()).collect();
        let others = count > 2 && self.random.random_bool(0.15);
        let conjunction = match self.language {
            "de" => "und",
            "fr" => "et",
            "es" => "y",
            _ => "and",
        };
        let names: Vec<String> =
            all.iter().enumerate().map(|(at, person)| written(person, style, at)).collect();
        if others && !matches!(style, "inverted" | "chem") {
            return format!("{}, et al.", names[0]);
        }
        match style {
            "apa" => {
                joined(&names, ", ", if self.random.random_bool(0.8) { ", & " } else { " & " })
            }
            "vancouver" | "spaced" => names.join(", "),
            "chem" => names.join("; "),
            "inverted" if self.random.random_bool(0.5) => names.join("; "),
            "inverted" => names.join(" / "),
            "mla" | "caps" => joined(&names, ", ", &format!(", {conjunction} ")),
            "plain" | "ed" | "eds" if self.random.random_bool(0.3) => names.join(", "),
            _ => joined(&names, ", ", &format!(" {conjunction} ")),
        }
    }

    fn person(&mut self) -> Person {
        let mut family = upper(&self.one("syllable"));
        if self.random.random_bool(0.3) {
            family.push_str(&self.one("syllable"));
        }
        family.push_str(&self.one("ending"));
        if self.random.random_bool(0.06) {
            family = format!("{family}-{}{}", upper(&self.one("syllable")), self.one("ending"));
        }
        if self.random.random_bool(0.05) {
            family = format!("{} {family}", self.one("particle"));
        }
        let given = (0..1 + usize::from(self.random.random_bool(0.4))).map(|_| self.one("given"));
        Person { given: given.collect(), family }
    }
}

/// One person; `at` is the place in the list.
fn written(person: &Person, style: &str, at: usize) -> String {
    let Person { given, family } = person;
    let spaced = person.initials(". ");
    match style {
        "apa" | "chem" => format!("{family}, {spaced}"),
        "spaced" => format!("{family} {spaced}"),
        "harvard" => format!("{family}, {}", person.initials(".")),
        "vancouver" => format!("{family} {}", person.initials("")),
        "plain" | "ed" | "eds" => format!("{spaced} {family}"),
        "inverted" => format!("{family}, {}", given.join(" ")),
        "caps" => format!("{} {}", family.to_uppercase(), given.join(" ")),
        "mla" if at == 0 => match given.len() {
            1 => format!("{family}, {}", given[0]),
            _ => format!("{family}, {} {}.", given[0], &given[1][..1]),
        },
        _ => format!("{} {family}", given.join(" ")),
    }
}

fn joined(names: &[String], between: &str, last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., end] => format!("{}{last}{end}", rest.join(between)),
    }
}
