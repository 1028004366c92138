//! References that a program makes up: forms of many styles in four languages, filled with invented
//! people, titles and journals. They teach the model what the labelled sets have few of.

mod people;
mod words;

use bethe_cite::Tokeniser;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::data::{Piece, Reference, Source};
use words::Words;

/// This many of them, always the same.
pub fn generated(count: usize, seed: u64) -> Vec<Reference> {
    let words = Words::new();
    let styles: Vec<(&str, &str)> = styles().collect();
    let mut random = StdRng::seed_from_u64(seed);
    let reference = |at: usize| {
        let (language, form) = styles[at % styles.len()];
        let mut filling = Filling { words: &words, language, random: &mut random };
        Reference { source: Source::Generated, pieces: filling.pieces(form) }
    };
    (0..count).map(reference).collect()
}

/// The language and the form of every style.
fn styles() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("styles.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' '))
}

/// One reference being made.
struct Filling<'a> {
    words: &'a Words,
    language: &'a str,
    random: &'a mut StdRng,
}

impl Filling<'_> {
    /// The fields of a form: `field=text` at spaces, or right behind a mark.
    fn pieces(&mut self, form: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (field, text) in fields(form) {
            let text = self.filled(text);
            let places = Tokeniser::Punctuation.tokens(&text);
            let tokens: Vec<String> =
                places.into_iter().map(|place| text[place].to_string()).collect();
            if !tokens.is_empty() {
                pieces.push(Piece { field: field.to_string(), tokens });
            }
        }
        if self.random.random_bool(0.12) {
            let number = self.random.random_range(1..120);
            let mark = match self.random.random_range(0..3) {
                0 => format!("[ {number} ]"),
                1 => format!("{number} ."),
                _ => format!("( {number} )"),
            };
            pieces.insert(0, Piece::new("citation-number", &mark));
        }
        pieces
    }

    /// A text with its names in braces replaced.
    fn filled(&mut self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("a closing brace");
            filled.push_str(before);
            let value = self.value(name);
            // `J.` at the end of names takes no second stop.
            rest =
                if value.ends_with('.') { after.strip_prefix('.').unwrap_or(after) } else { after };
            filled.push_str(&value);
        }
        filled + rest
    }

    fn value(&mut self, name: &str) -> String {
        match name {
            "t" | "T" => self.title(name == "T"),
            "j" => self.journal(),
            "ja" => abbreviated(&self.journal(), self.random),
            "c" => self.pattern("conference"),
            "n" => self.one("newspaper"),
            "mt" => format!("{} {}", self.one("meeting"), self.year()),
            "s" => self.pattern("series"),
            "P" => self.one("publisher"),
            "L" => self.one("place"),
            "S" => self.one("school"),
            "u" => format!("{}/{}", self.one("site"), self.number(10, 9999)),
            "m" => self.one("month"),
            "ms" => self.month_of("short"),
            "mss" => self.month_of("short").trim_end_matches('.').to_string(),
            "mn" => format!("{:02}", self.number(1, 12)),
            "d" => self.number(1, 28).to_string(),
            "y" => self.year(),
            "v" => self.number(1, 180).to_string(),
            "V" => format!("{}{}", ["A", "B", "C", "D"][self.number(0, 3)], self.number(1, 700)),
            "i" => self.number(1, 12).to_string(),
            "ord" => self.number(2, 6).to_string(),
            "o" => ["2nd", "3rd", "4th", "Rev."][self.number(0, 3)].to_string(),
            "p" => self.number(1, 480).to_string(),
            "q" => self.number(481, 990).to_string(),
            "tot" => self.number(90, 700).to_string(),
            "pat" => format!(
                "{},{:03},{:03}",
                self.number(3, 9),
                self.number(0, 999),
                self.number(0, 999)
            ),
            "arxiv" => format!(
                "{:02}{:02}.{:05}",
                self.number(7, 23),
                self.number(1, 12),
                self.number(1, 19999)
            ),
            "doi" => format!(
                "10.{}/{}.{}",
                self.number(1001, 9999),
                self.one("syllable"),
                self.number(1000, 99999)
            ),
            "org" => self.one("organisation"),
            "news" => self.one("newspaper"),
            people => self.people(people),
        }
    }

    fn year(&mut self) -> String {
        let year = self.number(1955, 2024);
        match self.random.random_range(0..25) {
            0 => format!("{year}a"),
            1 => format!("{year}b"),
            _ => year.to_string(),
        }
    }

    fn number(&mut self, least: usize, most: usize) -> usize {
        self.random.random_range(least..=most)
    }

    /// One of a list, in the reference's language where there is such a list.
    fn one(&mut self, list: &str) -> String {
        let all = self.words.list(list, self.language);
        all[self.random.random_range(0..all.len())].clone()
    }

    fn month_of(&mut self, form: &str) -> String {
        let all = self.words.list("month", form);
        all[self.random.random_range(0..all.len())].clone()
    }

    fn journal(&mut self) -> String {
        self.pattern("journal")
    }

    fn pattern(&mut self, list: &str) -> String {
        let field = self.one("field");
        self.one(list).replace("%f", &field)
    }

    fn title(&mut self, capitalised: bool) -> String {
        let mut frame = self.one("frame");
        while let Some(at) = frame.find('%') {
            let list = match frame.as_bytes().get(at + 1) {
                Some(b'a') => "adjective",
                Some(b's') => "system",
                _ => "noun",
            };
            frame.replace_range(at..at + 2, &self.one(list));
        }
        if self.random.random_bool(0.2) && !frame.contains([':', '?']) {
            let second = self.one("frame");
            if !second.contains('%') || !second.contains(':') {
                let (noun, adjective) = (self.one("noun"), self.one("adjective"));
                frame =
                    format!("{frame}: {}", second.replace("%n", &noun).replace("%a", &adjective));
            }
        }
        let first = upper(&frame);
        match capitalised && self.language == "en" {
            true => title_case(&first),
            false => first,
        }
    }
}

/// `field=text` pairs of a form.
fn fields(form: &str) -> Vec<(&str, &str)> {
    // A field's name is letters and hyphens before `=`; what stands before it belongs to the last.
    let mut starts: Vec<(usize, usize)> = Vec::new();
    for (equals, _) in form.match_indices('=') {
        let name = form[..equals]
            .rfind(|c: char| !(c.is_ascii_lowercase() || c == '-'))
            .map_or(0, |at| at + 1);
        if name < equals && form[name..equals].len() > 2 {
            starts.push((name, equals));
        }
    }
    let ends = starts.iter().skip(1).map(|&(name, _)| name).chain([form.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&(name, equals), end)| (&form[name..equals], form[equals + 1..end].trim()))
        .collect()
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn title_case(text: &str) -> String {
    const SMALL: [&str; 12] =
        ["a", "an", "and", "of", "on", "in", "the", "to", "from", "with", "for", "us"];
    let word = |word: &str| if SMALL.contains(&word) { word.to_string() } else { upper(word) };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// `J. Ecol.`, `J Ecol`, or as it is.
fn abbreviated(journal: &str, random: &mut StdRng) -> String {
    let form = random.random_range(0..3);
    if form == 0 || !journal.contains(' ') {
        return journal.to_string();
    }
    let is_small =
        |word: &&str| !matches!(*word, "of" | "the" | "and" | "in" | "on" | "The" | "für" | "de");
    let short = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        let length = match word {
            "Journal" => 1,
            _ if letters.len() > 6 => 4,
            _ => letters.len(),
        };
        let cut: String = letters[..length].iter().collect();
        if length < letters.len() && form == 1 { format!("{cut}.") } else { cut }
    };
    journal.split(' ').filter(is_small).map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_cut_at_the_names_of_fields() {
        let form = "author={a}. date={y};volume={v}({i}):pages={p}-{q}.";
        let expected =
            [("author", "{a}."), ("date", "{y};"), ("volume", "{v}({i}):"), ("pages", "{p}-{q}.")];
        assert_eq!(fields(form), expected);
    }

    #[test]
    fn every_style_fills_and_the_same_seed_gives_the_same_references() {
        let count = styles().count();
        let made = generated(count, 7);
        assert_eq!(made, generated(count, 7));
        assert_ne!(made, generated(count, 8));
        for reference in &made {
            assert!(reference.pieces.len() >= 2, "{reference:?}");
            assert!(
                reference.tokens().all(|token| !token.contains(['{', '}', '%', '='])),
                "{reference:?}"
            );
        }
    }
}
