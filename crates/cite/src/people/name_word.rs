//! Words of names, and words between and after names.

use crate::text::characters::is_dash;

/// Lower-case words between first and family name.
const PARTICLES: &[&str] = &[
    "af", "al", "auf", "av", "bin", "da", "dal", "das", "de", "degli", "del", "dela", "della",
    "den", "der", "des", "di", "do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "op",
    "ten", "ter", "und", "van", "vande", "vander", "ver", "vom", "von", "zu", "zum", "zur",
];

/// Capitalised words that start a family name: `De Niro`, `Mac Lane`.
const PREFIXES: &[&str] = &[
    "da", "dal", "de", "degli", "del", "dela", "della", "den", "der", "des", "di", "dos", "du",
    "el", "la", "las", "le", "los", "mac", "mc", "nic", "ní", "st", "ste", "ter", "uí", "van",
    "vande", "vander", "vom", "von", "zu", "zum", "zur", "ó",
];

const SUFFIXES: &[&str] = &["jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "esq"];

const DEGREES: &[&str] =
    &["md", "phd", "msc", "bsc", "dsc", "dphil", "mba", "mph", "rn", "dr", "prof", "facs"];

/// `van`, `de la`.
pub(crate) fn is_particle(word: &str) -> bool {
    match word.strip_prefix(['\'', '’', '‘']) {
        Some(rest) => rest == "t" || rest == "s",
        None => word.starts_with(char::is_lowercase) && PARTICLES.contains(&word),
    }
}

/// `De`, `Mac`, `St.`, `VAN`: a word with a capital that a family name begins with.
pub(crate) fn is_prefix(word: &str) -> bool {
    let bare = word.strip_suffix('.').unwrap_or(word);
    word.starts_with(char::is_uppercase) && PREFIXES.contains(&bare.to_lowercase().as_str())
}

/// `y` in `Ortega y Gasset`: a word inside a family name of two.
pub(crate) fn joins_family_names(word: &str) -> bool {
    matches!(word, "y" | "e" | "i")
}

/// Whether a word stands between names, in a list that is or is not in capitals throughout.
pub(crate) fn is_and(word: &str, capitals: bool) -> bool {
    match word {
        "and" | "And" | "AND" | "&" | "＆" | "and/or" | "with" => true,
        "et" | "und" | "y" | "e" | "i" | "en" | "og" | "och" | "и" | "і" | "та" => true,
        // Else initials.
        "ET" | "UND" => capitals,
        _ => false,
    }
}

/// Whether a word, in lower case, stands between names, or before or behind one and is left out.
pub(crate) fn is_cue(word: &str) -> bool {
    is_and(word, false) || is_degree(word) || matches!(word, "dr" | "prof")
}

/// `Jr.`, `III`.
pub(crate) fn is_suffix(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_roman = bare.chars().all(|c| "IV".contains(c));
    let is_roman_or_word = is_roman || bare.chars().any(char::is_lowercase);
    SUFFIXES.contains(&bare.to_lowercase().as_str()) && is_roman_or_word
}

/// `PhD`, `M.D.` behind a name.
pub(crate) fn is_degree(text: &str) -> bool {
    let letters = text.chars().filter(|c| !matches!(c, '.' | ' ' | ','));
    DEGREES.contains(&letters.collect::<String>().to_lowercase().as_str())
}

/// `Dr.`, `Prof.` before a name.
pub(crate) fn is_title(word: &str) -> bool {
    matches!(word, "Dr" | "Dr." | "Prof" | "Prof.")
}

/// `J.`, `J.-P.`, `JP`, `JRR`, `Yu.`, `Chr.`: at most two letters, or three if none is a vowel,
/// capital first; several only in capitals or before a stop.
pub(crate) fn is_initials(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';']);
    if is_suffix(word) || matches!(word, "St." | "Ste." | "ST." | "Mc" | "MC") {
        return false;
    }
    let stopped = word.contains('.');
    let mut pieces =
        word.split(|c: char| c == '.' || is_dash(c)).filter(|piece| !piece.is_empty()).peekable();
    pieces.peek().is_some()
        && pieces.all(|piece| {
            let capitals = piece.chars().all(char::is_uppercase);
            let short = match piece.chars().count() {
                1 | 2 => true,
                3 => is_without_vowel(piece),
                _ => false,
            };
            let single = piece.chars().count() == 1;
            piece.starts_with(char::is_uppercase) && short && (single || stopped || capitals)
        })
}

/// Whether a stop after the last word of a list belongs to the word: `Th.`, `Chr.`, but not `Ng.`
pub(crate) fn is_short_first_name(word: &str) -> bool {
    (2..=3).contains(&word.chars().count())
        && word.starts_with(char::is_uppercase)
        && word.chars().skip(1).all(char::is_lowercase)
        && is_without_vowel(word)
        && word != "Ng"
}

/// Whether a stop after a first name of two or three letters is not its own: `Tim.`, but not
/// `Chr.`, `Geo.`, `Yu.`
pub(crate) fn is_short_whole_name(word: &str) -> bool {
    const SHORT_FORMS: &[&str] =
        &["Aug", "Edw", "Geo", "Ja", "Jas", "Jno", "Joh", "Jos", "Ju", "Ya", "Ye", "Yu"];
    (2..=3).contains(&word.chars().count())
        && word.starts_with(char::is_uppercase)
        && word.chars().skip(1).all(char::is_lowercase)
        && !is_without_vowel(word)
        && !SHORT_FORMS.contains(&word)
}

/// `LI`: initials, or a family name in capitals.
pub(crate) fn is_short_capitals(word: &str) -> bool {
    (2..=3).contains(&word.chars().count()) && word.chars().all(char::is_uppercase)
}

fn is_without_vowel(word: &str) -> bool {
    let ascii = any_ascii::any_ascii(word).to_ascii_lowercase();
    word.chars().all(char::is_alphabetic) && !ascii.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_told_from_names() {
        for word in ["J.", "J", "JP", "J.-P.", "J.R.R.", "JRR", "Yu.", "Chr.", "Т."] {
            assert!(is_initials(word), "{word}");
        }
        for word in ["St.", "Jr.", "IV", "Kim", "KIM", "Xu", "SMITH", "van", "12", "-"] {
            assert!(!is_initials(word), "{word}");
        }
    }

    #[test]
    fn stops_of_first_names_are_told_from_those_of_lists() {
        assert!(["Th", "Chr", "Wm"].into_iter().all(is_short_first_name));
        assert!(!["Ng", "Xu", "Lee", "Smth", "th", "DP"].into_iter().any(is_short_first_name));
    }
}
