//! A person's name.

use super::text::is_dash;
use super::tidy::{mended, tidy};

/// A person's name in its parts, or a name that has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// `Beethoven`; the whole name where it has no parts (a company, a name of one word).
    pub family: String,
    /// `Ludwig`.
    pub given: String,
    /// `van`.
    pub particle: String,
    /// `Jr.`.
    pub suffix: String,
    /// Whether the family name is a name that has no parts.
    pub is_whole: bool,
}

/// People, and whether there are others who are not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    /// Their names.
    pub names: Vec<Name>,
    /// `et al.`
    pub others: bool,
}

const PARTICLES: &[&str] = &[
    "af", "al", "auf", "av", "bin", "da", "dal", "das", "de", "degli", "del", "dela", "della",
    "den", "der", "des", "di", "do", "dos", "du", "e", "el", "ibn", "la", "las", "le", "los", "op",
    "ten", "ter", "'t", "van", "vande", "vander", "ver", "vom", "von", "y", "zu", "zum", "zur",
];

const SUFFIXES: &[&str] = &["jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "esq"];

impl Name {
    /// A name of marked parts.
    pub fn of_parts(given: &str, family: &str, suffix: &str) -> Option<Self> {
        let given = given_name(given);
        let (particle, family) = particle(&family_name(family));
        let suffix = suffix_of(suffix);
        let name = match (family.is_empty(), given.is_empty()) {
            (true, true) => return None,
            (true, false) => Self { family: given, suffix, ..Self::default() },
            (false, _) => Self { family, given, particle, suffix, is_whole: false },
        };
        Some(name.or_whole())
    }

    /// The name of a group of people, or of one whose parts are not known.
    pub fn whole(text: &str) -> Option<Self> {
        let family = tidy(text);
        let family = family.trim_matches(['[', ']', '(', ')']).trim().to_string();
        (!family.is_empty()).then(|| Self { family, is_whole: true, ..Self::default() })
    }

    /// From its words in the order `First Middle von Last Jr.`, or `Last F. M.`.
    pub fn of_words(text: &str) -> Option<Self> {
        let text = tidy(text);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let suffix = take_suffix(&mut words);
        let initials = words.iter().rev().take_while(|word| is_initials(word)).count();
        let inverted = initials > 0 && initials < words.len() && !is_initials(words[0]);
        let (given, family) = if inverted {
            let (family, given) = words.split_at(words.len() - initials);
            (given.join(" "), family.join(" "))
        } else {
            // The family name is the last word with the particles before it.
            let last = words.len().saturating_sub(1);
            let particles = words[..last].iter().rev().take_while(|word| is_particle(word)).count();
            let (given, family) = words.split_at(last - particles);
            (given.join(" "), family.join(" "))
        };
        Self::of_parts(&given, &family, &suffix)
    }

    /// From `Last`, `First` on both sides of a comma.
    pub fn inverted(family: &str, given: &str) -> Option<Self> {
        let family = tidy(family);
        let mut words: Vec<&str> = given.split_whitespace().collect();
        let suffix = take_suffix(&mut words);
        // `Beethoven, Ludwig van`
        let particles = words.iter().rev().take_while(|word| is_particle(word)).count();
        let (given, particles) = words.split_at(words.len() - particles.min(words.len() - 1));
        let family = [particles, &[family.as_str()]].concat().join(" ");
        Self::of_parts(&given.join(" "), &family, &suffix)
    }

    /// A name without a first name has no parts, if it has several words.
    fn or_whole(mut self) -> Self {
        if self.given.is_empty() && self.suffix.is_empty() {
            if !self.particle.is_empty() {
                self.family = format!("{} {}", self.particle, self.family);
                self.particle = String::new();
            }
            self.is_whole = self.family.contains(' ') || !self.family.contains(char::is_lowercase);
        }
        self
    }
}

impl People {
    /// Adds others.
    pub fn extend(&mut self, more: Self) {
        self.names.extend(more.names);
        self.others |= more.others;
    }
}

/// Initials with their stops, and names.
fn given_name(text: &str) -> String {
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '&' | '(' | ')' | '[' | ']')
    });
    let mut given = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let word = word.trim_end_matches([',', ';', ':']);
        let joined =
            given.is_empty() || word.starts_with(is_dash) || given.ends_with('-') || word == ".";
        if !joined {
            given.push(' ');
        }
        given.push_str(word);
    }
    let given = mended(&given);
    // A stop behind a whole name is that of the list.
    match given.strip_suffix('.') {
        Some(rest)
            if rest.rsplit([' ', '.', '-']).next().is_some_and(|w| w.chars().count() > 3) =>
        {
            rest.to_string()
        }
        _ => given,
    }
}

fn family_name(text: &str) -> String {
    let text = tidy(text);
    let text = text.trim_matches(|c: char| {
        matches!(c, ',' | ';' | '.' | '&' | '(' | ')') || c.is_whitespace()
    });
    text.replace(',', "")
}

fn suffix_of(text: &str) -> String {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    match bare.to_lowercase().as_str() {
        "jr" | "sr" | "esq" => format!("{bare}."),
        _ => bare.to_string(),
    }
}

/// The suffix behind other words.
fn take_suffix(words: &mut Vec<&str>) -> String {
    let is_last = words.len() > 1 && words.last().is_some_and(|word| is_suffix(word));
    if is_last { words.pop().map(suffix_of).unwrap_or_default() } else { String::new() }
}

/// Particles before the family name, and the family name.
fn particle(family: &str) -> (String, String) {
    let words: Vec<&str> = family.split(' ').collect();
    let count = words.iter().take_while(|word| is_particle(word)).count();
    let (particles, rest) = words.split_at(count.min(words.len() - 1));
    (particles.join(" "), rest.join(" "))
}

fn is_particle(word: &str) -> bool {
    word.starts_with(|c: char| c.is_lowercase() || c == '\'') && PARTICLES.contains(&word)
}

/// `Jr.`, `III`.
pub(super) fn is_suffix(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_roman = bare.chars().all(|c| "IV".contains(c));
    let is_roman_or_word = is_roman || bare.chars().any(|c| c.is_lowercase());
    SUFFIXES.contains(&bare.to_lowercase().as_str()) && is_roman_or_word
}

/// `J.`, `J.-P.`, `JP`, `Yu.`: at most two letters, or up to three before a stop, capital first.
pub(super) fn is_initials(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';']);
    if is_suffix(word) {
        return false;
    }
    let stopped = word.contains('.');
    let mut pieces =
        word.split(|c: char| c == '.' || is_dash(c)).filter(|p| !p.is_empty()).peekable();
    pieces.peek().is_some()
        && pieces.all(|piece| {
            let count = piece.chars().count();
            let capital = piece.starts_with(char::is_uppercase);
            let capitals = piece.chars().all(char::is_uppercase);
            capital && (count == 1 || (stopped && count <= 2) || (capitals && count <= 2))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(family: &str, given: &str, particle: &str, suffix: &str) -> Option<Name> {
        let [family, given, particle, suffix] =
            [family, given, particle, suffix].map(str::to_string);
        Some(Name { family, given, particle, suffix, is_whole: false })
    }

    #[test]
    fn names_are_read_in_both_orders() {
        assert_eq!(Name::of_words("E. W. Montroll,"), name("Montroll", "E. W.", "", ""));
        assert_eq!(Name::of_words("Heidegger M."), name("Heidegger", "M.", "", ""));
        assert_eq!(Name::of_words("Smith JK"), name("Smith", "JK", "", ""));
        assert_eq!(Name::of_words("W.-P. de Roever"), name("Roever", "W.-P.", "de", ""));
        assert_eq!(
            Name::of_words("Johannes Diderik van der Waals"),
            name("Waals", "Johannes Diderik", "van der", "")
        );
        assert_eq!(
            Name::of_words("Martin Luther King Jr."),
            name("King", "Martin Luther", "", "Jr.")
        );
        assert_eq!(Name::of_words("García Márquez G."), name("García Márquez", "G.", "", ""));
        assert_eq!(Name::inverted("van den Bosch", "F. C."), name("Bosch", "F. C.", "van den", ""));
        assert_eq!(
            Name::inverted("Beethoven", "Ludwig van"),
            name("Beethoven", "Ludwig", "van", "")
        );
        assert_eq!(Name::inverted("Bush", "George W., III"), name("Bush", "George W.", "", "III"));
        assert_eq!(Name::of_parts("Y. -C .", "Li ,", ""), name("Li", "Y.-C.", "", ""));
        assert_eq!(Name::of_parts("John.", "Smith.", "Jr . ,"), name("Smith", "John", "", "Jr."));
        assert_eq!(Name::of_parts(",", ".", ""), None);
    }

    #[test]
    fn names_without_parts_are_whole() {
        let whole = Name::whole("[ DAYA-BAY Collaboration ],").unwrap();
        assert_eq!((whole.family.as_str(), whole.is_whole), ("DAYA-BAY Collaboration", true));
        assert!(Name::of_words("王小明").unwrap().is_whole);
        assert!(Name::of_parts("", "World Health Organization", "").unwrap().is_whole);
        assert!(!Name::of_words("Plato").unwrap().is_whole);
    }
}
