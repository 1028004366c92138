//! Attributes for a tagger of references.

use std::path::Path;

use bethe_tagging::features::{LexiconError, Lexicons, Template};
use bethe_tagging::train::BaseSettings;

/// Words that announce a field, by what they announce.
const CUES: &[(&str, &[&str])] = &[
    ("cue-and", &["and", "&"]),
    ("cue-appear", &["accepted", "appear", "forthcoming", "preparation", "press", "submitted"]),
    ("cue-edition", &["edition", "edn"]),
    ("cue-editor", &["ed", "edited", "editor", "editors", "eds"]),
    ("cue-et-al", &["al", "et"]),
    ("cue-in", &["in"]),
    (
        "cue-institution",
        &[
            "college",
            "department",
            "dept",
            "institute",
            "lab",
            "laboratory",
            "school",
            "univ",
            "university",
        ],
    ),
    ("cue-journal", &["annals", "j", "journal", "letters", "review", "trans", "transactions"]),
    (
        "cue-month",
        &[
            "jan",
            "feb",
            "mar",
            "apr",
            "may",
            "jun",
            "jul",
            "aug",
            "sep",
            "sept",
            "oct",
            "nov",
            "dec",
            "january",
            "february",
            "march",
            "april",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
    ),
    ("cue-pages", &["p", "page", "pages", "pp"]),
    (
        "cue-proceedings",
        &[
            "annual",
            "conf",
            "conference",
            "international",
            "proc",
            "proceedings",
            "symp",
            "symposium",
            "workshop",
        ],
    ),
    ("cue-publisher", &["press", "publishers", "verlag"]),
    ("cue-series", &["lecture notes", "lncs", "series"]),
    ("cue-report", &["memo", "rep", "report", "tech", "technical", "tr"]),
    ("cue-thesis", &["dissertation", "m.s", "master", "masters", "ph.d", "phd", "thesis"]),
    ("cue-volume", &["issue", "no", "number", "vol", "volume"]),
];

/// The template for references: one column, the tokens.
pub fn template() -> Template {
    include_str!("references.template").parse().expect("the built-in template is well formed")
}

/// How the base model of a reference parser is trained; chosen by cross-validation inside the train
/// and dev parts of UMass.
pub fn base_settings() -> BaseSettings {
    BaseSettings {
        l1: 0.03,
        l2: 0.01,
        pool: 3,
        share_weights: true,
        max_iterations: 60,
        ..BaseSettings::default()
    }
}

/// The cue words that [`template`] needs, and more lists from files and folders.
pub fn lexicons(paths: &[impl AsRef<Path>]) -> Result<Lexicons, LexiconError> {
    let read = Lexicons::read(paths)?;
    let own = CUES.iter().map(|&(name, words)| (name.to_owned(), owned(words)));
    let more = read.lists().map(|(name, entries)| (name.to_owned(), entries.to_vec()));
    Lexicons::from_lists(own.chain(more))
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
