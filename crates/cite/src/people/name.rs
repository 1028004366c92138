//! A person's name.

use super::name_word::{
    is_and, is_initials, is_particle, is_prefix, is_short_capitals, is_short_first_name,
    is_short_whole_name, is_suffix, is_title, joins_family_names,
};
use crate::text::characters::is_dash;
use crate::text::mend::mended;
use crate::text::tidy::tidy;

/// A person's name in parts, or a name without parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// `Beethoven`; the whole name if it has no parts (a company, a name of one word).
    pub family: String,
    /// `Ludwig`.
    pub given: String,
    /// `van`.
    pub particle: String,
    /// `Jr.`.
    pub suffix: String,
    /// Whether the family name is a whole name without parts.
    pub is_whole: bool,
}

/// People, and whether there are unnamed others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    /// Their names.
    pub names: Vec<Name>,
    /// `et al.`
    pub others: bool,
}

impl Name {
    /// A name from labelled parts.
    pub fn of_parts(given: &str, family: &str, suffix: &str) -> Option<Self> {
        let (given, particles) = match family.trim().is_empty() {
            true => (given.to_string(), String::new()),
            false => without_particles(given),
        };
        let given = given_name(&given);
        let family = family_name(&format!("{particles} {family}"));
        let mut words: Vec<&str> = family.split(' ').collect();
        // `Gates III` is a whole name: nobody has only a family name and a suffix.
        let suffix = match suffix_of(suffix) {
            none if none.is_empty() && !given.is_empty() => take_suffix(&mut words),
            suffix => suffix,
        };
        let (particle, family) = particle(&words);
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
        // `Office for National Statistics (UK)` keeps its brackets.
        let closes = family.ends_with(')') && family.find('(').is_some_and(|at| at > 0);
        let family = match closes {
            true => family,
            false => family.trim_matches(['[', ']', '(', ')']).trim().to_string(),
        };
        (!family.is_empty()).then(|| Self { family, is_whole: true, ..Self::default() })
    }

    /// From its words in the order `First Middle von Last Jr.`, or `Last F. M.`.
    pub fn of_words(text: &str) -> Option<Self> {
        let text = with_own_stop(text);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let titles = words.iter().take_while(|word| is_title(word)).count();
        words.drain(..titles.min(words.len().saturating_sub(2)));
        if let Some(family) = inverted_family(&words) {
            let (family, given) = words.split_at(family);
            return Self::inverted(&family.join(" "), &given.join(" "));
        }
        let suffix = take_suffix(&mut words);
        let (given, family) = words.split_at(family_start(&words));
        Self::of_parts(&given.join(" "), &family.join(" "), &suffix)
    }

    /// From `Last`, `First` on both sides of a comma.
    pub fn inverted(family: &str, given: &str) -> Option<Self> {
        let family = tidy(family);
        let mut family: Vec<&str> = family.split_whitespace().collect();
        let mut given: Vec<&str> = given.split_whitespace().collect();
        // `King Jr., M. L.`, `King, M. L., Jr.`
        let suffix = [take_suffix(&mut family), take_suffix(&mut given)].concat();
        Self::of_parts(&given.join(" "), &family.join(" "), &suffix)
    }

    /// With a separate suffix: `King, Jr.`
    pub(crate) fn with_suffix(mut self, suffix: &str) -> Self {
        self.suffix = suffix_of(suffix);
        self.is_whole = false;
        self
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

/// First names, and the particles after them that belong to the family name: `Ludwig van`, or `L.
/// van der` if labels call them middle names.
fn without_particles(given: &str) -> (String, String) {
    let mut given: Vec<&str> = given.split_whitespace().collect();
    if let Some(last) = given.last_mut()
        && let Some(particle) = last.strip_suffix('.').filter(|word| is_particle(word))
    {
        *last = particle;
    }
    let particles = given.iter().rev().take_while(|word| is_particle(word)).count();
    let (given, particles) = given.split_at(given.len() - particles);
    (given.join(" "), particles.join(" "))
}

/// How many words the family name has in a name that starts with it: `Last F. M.`, `LI Y`.
fn inverted_family(words: &[&str]) -> Option<usize> {
    let words = match words {
        [rest @ .., last] if rest.len() > 1 && is_suffix(last) => rest,
        _ => words,
    };
    if let Some(shouted) = shouted_family(words) {
        return Some(shouted);
    }
    let particles = words.iter().rev().take_while(|word| is_particle(word)).count();
    let words = &words[..words.len() - particles];
    // `Petrov IV`: nobody is called by a family name and a suffix alone.
    let is_given = |word: &&&str| {
        is_initials(word) || words.len() == 2 && is_short_capitals(word) && is_suffix(word)
    };
    let initials = words.iter().rev().take_while(is_given).count();
    let first = words.first().filter(|_| initials > 0 && words.len() > 1)?;
    match (initials < words.len(), is_initials(first) && !is_prefix(first)) {
        (true, false) => Some(words.len() - initials),
        (false, _) if is_short_capitals(first) => Some(1),
        _ => None,
    }
}

/// How many words in capitals are before first names that are not: `GARCÍA MÁRQUEZ Gabriel`.
fn shouted_family(words: &[&str]) -> Option<usize> {
    let is_shouted = |word: &&&str| {
        let letters = || word.chars().filter(|c| *c != '-' && *c != '’' && *c != '\'');
        letters().count() > 2 && letters().all(char::is_uppercase)
    };
    let count = words.iter().take_while(is_shouted).count();
    let mut given = words[count..].iter();
    let is_given =
        |word: &&str| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
    (count > 0 && count < words.len() && given.all(is_given)).then_some(count)
}

/// Where the family name starts in a name that ends with it: at the last word, or at particles or
/// another family name before it.
fn family_start(words: &[&str]) -> usize {
    let mut start = first_particle(words).unwrap_or(words.len().saturating_sub(1));
    let capitals = words.last().is_some_and(|last| !last.contains(char::is_lowercase));
    // `VAN GOGH`, but initials in `Adam DI Kramer`.
    let is_prefix = |word: &str| {
        is_prefix(word) && (capitals || word.chars().nth(1).is_none_or(char::is_lowercase))
    };
    loop {
        start -= match words[..start] {
            [.., _, joint] if joins_family_names(joint) => 2,
            [.., before] if is_particle(before) => 1,
            [_, .., before] if is_prefix(before) => 1,
            _ => return start,
        }
    }
}

/// Where particles begin before a family name of several words: `Miguel de Cervantes Saavedra`.
fn first_particle(words: &[&str]) -> Option<usize> {
    let first = words.iter().position(|word| is_particle(word))?;
    // `María del Carmen García`: particles are also in first names.
    let is_given = first.checked_sub(1).is_some_and(|at| matches!(words[at], "Maria" | "María"));
    (first > 0 && !is_given).then_some(first)
}

/// Trimmed, but with the stop of a final abbreviated first name.
fn with_own_stop(text: &str) -> String {
    let stopped = text.trim_end_matches([',', ' ']).ends_with('.');
    let mut text = tidy(text);
    if stopped && text.rsplit_once(' ').is_some_and(|(_, last)| is_short_first_name(last)) {
        text.push('.');
    }
    text
}

/// Initials with their stops, and names.
fn given_name(text: &str) -> String {
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '&' | '(' | ')' | '[' | ']')
    });
    let mut given = String::with_capacity(text.len());
    for word in own_words(text) {
        let word = word.trim_end_matches([',', ';', ':']);
        if word == "." && given.ends_with('.') {
            continue;
        }
        let joined =
            given.is_empty() || word.starts_with(is_dash) || given.ends_with('-') || word == ".";
        if !joined {
            given.push(' ');
        }
        given.push_str(word);
    }
    let given = mended(&given);
    // A stop after a whole name, or after initials without stops, belongs to the list.
    let is_of_list = |rest: &str| {
        let last = rest.rsplit([' ', '.', '-']).next().unwrap_or(rest);
        last.chars().count() > 3 || is_short_capitals(rest) || is_short_whole_name(last)
    };
    match given.strip_suffix('.').filter(|rest| is_of_list(rest)) {
        Some(rest) => rest.to_string(),
        None => given,
    }
}

fn family_name(text: &str) -> String {
    let text = own_words(&tidy(text)).join(" ");
    let text = text.trim_matches(|c: char| {
        matches!(c, ',' | ';' | '.' | '&' | '(' | ')') || c.is_whitespace()
    });
    text.replace(',', "")
}

/// The words of a name without those at its ends that only stand between names.
fn own_words(text: &str) -> Vec<&str> {
    let is_between =
        |word: &&str| is_and(word.trim_matches([',', ';']), false) && !joins_family_names(word);
    let mut words: Vec<&str> = text.split_whitespace().skip_while(is_between).collect();
    while words.last().is_some_and(is_between) {
        words.pop();
    }
    words
}

fn suffix_of(text: &str) -> String {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    match bare.to_lowercase().as_str() {
        "jr" | "sr" | "esq" => format!("{bare}."),
        "and" => String::new(),
        _ => bare.to_string(),
    }
}

/// The suffix behind other words.
fn take_suffix(words: &mut Vec<&str>) -> String {
    let is_last = words.len() > 1 && words.last().is_some_and(|word| is_suffix(word));
    if is_last { words.pop().map(suffix_of).unwrap_or_default() } else { String::new() }
}

/// Particles before the family name, and the family name.
fn particle(words: &[&str]) -> (String, String) {
    let count = words.iter().take_while(|word| is_particle(word)).count();
    let (particles, rest) = words.split_at(count.min(words.len() - 1));
    (particles.join(" "), rest.join(" "))
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
        for (words, expected) in [
            ("E. W. Montroll,", name("Montroll", "E. W.", "", "")),
            ("Heidegger M.", name("Heidegger", "M.", "", "")),
            ("Smith JK", name("Smith", "JK", "", "")),
            ("Tolkien JRR", name("Tolkien", "JRR", "", "")),
            ("Mann Th.", name("Mann", "Th.", "", "")),
            ("Andrew Ng.", name("Ng", "Andrew", "", "")),
            ("LI Y", name("LI", "Y", "", "")),
            ("Y. LI", name("LI", "Y.", "", "")),
            ("Petrov IV", name("Petrov", "IV", "", "")),
            ("Ames III A", name("Ames", "A", "", "III")),
            ("Smith J. K., Jr.", name("Smith", "J. K.", "", "Jr.")),
            ("W.-P. de Roever", name("Roever", "W.-P.", "de", "")),
            ("Johannes Diderik van der Waals", name("Waals", "Johannes Diderik", "van der", "")),
            ("Waals J. D. van der", name("Waals", "J. D.", "van der", "")),
            ("C.-J. de la Vallée Poussin", name("Vallée Poussin", "C.-J.", "de la", "")),
            ("Miguel de Cervantes Saavedra", name("Cervantes Saavedra", "Miguel", "de", "")),
            ("Pedro Calderón de la Barca", name("Barca", "Pedro Calderón", "de la", "")),
            ("María del Carmen García", name("García", "María del Carmen", "", "")),
            ("Robert De Niro", name("De Niro", "Robert", "", "")),
            ("VINCENT VAN GOGH", name("VAN GOGH", "VINCENT", "", "")),
            ("Van Morrison", name("Morrison", "Van", "", "")),
            ("Adam DI Kramer", name("Kramer", "Adam DI", "", "")),
            ("Romilly DP.", name("Romilly", "DP", "", "")),
            ("Oliver St. John", name("St. John", "Oliver", "", "")),
            ("José Ortega y Gasset", name("Ortega y Gasset", "José", "", "")),
            ("Karl von und zu Guttenberg", name("Guttenberg", "Karl", "von und zu", "")),
            ("Prof. Dr. Karl Ziegler", name("Ziegler", "Karl", "", "")),
            ("Martin Luther King Jr.", name("King", "Martin Luther", "", "Jr.")),
            ("García Márquez G.", name("García Márquez", "G.", "", "")),
        ] {
            assert_eq!(Name::of_words(words), expected, "{words}");
        }
    }

    #[test]
    fn family_names_in_capitals_may_come_first() {
        for (text, family, given) in [
            ("BOURDIEU Pierre", "BOURDIEU", "Pierre"),
            ("GARCÍA MÁRQUEZ Gabriel", "GARCÍA MÁRQUEZ", "Gabriel"),
            ("CASSARD Jean-Christophe", "CASSARD", "Jean-Christophe"),
            ("Pierre BOURDIEU", "BOURDIEU", "Pierre"),
        ] {
            assert_eq!(Name::of_words(text), name(family, given, "", ""), "{text}");
        }
    }

    #[test]
    fn names_with_a_comma_begin_with_the_family_name() {
        for (family, given, expected) in [
            ("van den Bosch", "F. C.", name("Bosch", "F. C.", "van den", "")),
            ("Beethoven", "Ludwig van.", name("Beethoven", "Ludwig", "van", "")),
            ("Bush", "George W., III", name("Bush", "George W.", "", "III")),
            ("King Jr.", "M. L.", name("King", "M. L.", "", "Jr.")),
        ] {
            assert_eq!(Name::inverted(family, given), expected, "{family}, {given}");
        }
    }

    #[test]
    fn marked_parts_lose_what_is_between_names() {
        assert_eq!(Name::of_parts("Y. -C .", "Li ,", ""), name("Li", "Y.-C.", "", ""));
        assert_eq!(Name::of_parts("John.", "Smith.", "Jr . ,"), name("Smith", "John", "", "Jr."));
        assert_eq!(Name::of_parts("LA.", "Goodman", ""), name("Goodman", "LA", "", ""));
        assert_eq!(Name::of_parts("and W.", "Wonham , and", ""), name("Wonham", "W.", "", ""));
        assert_eq!(Name::of_parts("and", ".", ""), None);
        let maaten = name("Maaten", "L.", "van der", "");
        assert_eq!(Name::of_parts("L. van der", "Maaten ,", ""), maaten);
        assert_eq!(Name::of_parts("L. van", "der Maaten", ""), maaten);
        assert_eq!(Name::of_parts("W. H.", "Gates III", ""), name("Gates", "W. H.", "", "III"));
        assert_eq!(Name::of_parts("Tim.", "Roe", ""), name("Roe", "Tim", "", ""));
        assert_eq!(Name::of_parts("Chr.", "Roe", ""), name("Roe", "Chr.", "", ""));
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
