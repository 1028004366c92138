//! Names of organisations, which are not taken apart.

use super::name_word::is_initials;

/// Words that mark an organisation.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "academy", "administration", "agency", "alliance", "association", "authority", "centers",
    "centres", "collaboration", "collaborations", "collaborators", "comité", "commission",
    "committee", "community", "consortium", "contributors", "corp", "corporation", "council",
    "department", "developers", "directorate", "federation", "foundation", "gesellschaft", "gmbh",
    "government", "inc", "initiative", "institut", "institute", "institution", "instituto",
    "investigators", "istituto", "laboratories", "laboratory", "llc", "llp", "ltd", "ministerio",
    "ministerium", "ministry", "ministère", "nations", "news", "organisation", "organization", "parliament",
    "plc", "secretariat", "sociedad", "society", "società", "société", "stiftung", "team",
    "universidad", "universität", "university", "università", "université", "verein",
];

/// Words that do so only together with others, since people have these names too.
#[rustfmt::skip]
const WEAK_KINDS: &[&str] = &[
    "bank", "board", "bureau", "center", "centre", "company", "division", "force", "forum", "fund",
    "group", "hospital", "library", "museum", "network", "office", "party", "program", "programme",
    "project", "school", "service", "services", "trust", "union",
];

/// First words of organisations.
#[rustfmt::skip]
const ADJECTIVES: &[&str] = &[
    "american", "british", "canadian", "central", "european", "federal", "international", "national",
    "royal", "the", "uk", "united", "u.s", "us", "world",
];

/// Endings of a company's name after its founder's.
const COMPANIONS: &[&str] =
    &["associates", "bros", "brothers", "cie", "co", "company", "partners", "söhne", "sons"];

/// `Company` in `McKinsey & Company`.
pub(crate) fn is_companion(piece: &str) -> bool {
    COMPANIONS.contains(&piece.trim_end_matches('.').to_lowercase().as_str())
}

/// Endings of a company's name after a comma; shorter ones, `AG`, could be initials.
const FORMS: &[&str] =
    &["corp", "corporation", "gmbh", "inc", "incorporated", "limited", "llc", "llp", "ltd", "plc"];

/// `Inc.` in `Apple, Inc.`
pub(crate) fn is_company_form(piece: &str) -> bool {
    FORMS.contains(&piece.trim_end_matches('.').to_lowercase().as_str())
}

/// Whether a name is an organisation's: no person's name has one of these words, or `of` inside.
pub(crate) fn is_organisation(name: &str) -> bool {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut words = name.split_whitespace();
    let Some(first) = words.next() else { return false };
    let (mut count, mut weak, mut initials) = (1, false, is_initials(first));
    let first = bare(first);
    for word in words {
        if matches!(word, "of" | "for" | "the") {
            return true;
        }
        let lower = bare(word);
        let capital = word.starts_with(char::is_uppercase);
        if capital && KINDS.contains(&lower.as_str()) {
            return true;
        }
        count += 1;
        weak |= capital && WEAK_KINDS.contains(&lower.as_str());
        initials |= is_initials(word);
    }
    let has_kind = count > 1 && KINDS.contains(&first.as_str());
    let called_so = ADJECTIVES.contains(&first.as_str());
    has_kind || count > 1 && (first == "the" || weak && (called_so || count > 2 && !initials))
}

/// Whether a name begins as those of organisations do: `National`, `US`.
pub(crate) fn begins_as_organisation(name: &str) -> bool {
    let Some((first, rest)) = name.split_once(' ') else { return false };
    let bare = first.trim_end_matches('.').to_lowercase();
    ADJECTIVES.contains(&bare.as_str()) && !rest.split_whitespace().any(is_initials)
}

/// Whether a name continues with the organisation's purpose, so that it may contain commas and
/// `and`.
pub(crate) fn names_a_field(name: &str) -> bool {
    let joins = |word: &str| matches!(word, "of" | "for" | "on");
    is_organisation(name) && name.split_whitespace().any(joins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn organisations_are_told_from_people() {
        for name in [
            "World Health Organization",
            "The ATLAS Collaboration",
            "United Nations",
            "World Bank",
            "Bank of England",
            "R Core Team",
            "Lake Study Group",
            "Institut Henri Poincaré",
            "Foo Inc.",
        ] {
            assert!(is_organisation(name), "{name}");
        }
        for name in ["John Smith", "J. S. Group", "Steven Bank", "W. H. Press", "Plato", "", "王明"]
        {
            assert!(!is_organisation(name), "{name}");
        }
    }
}
