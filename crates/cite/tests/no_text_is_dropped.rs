//! Every word of a reference is in its entry, except words that only say which field comes next.

use bethe_cite::{Entry, Parser, Parsing, fields};
use bethe_tagging::TagOptions;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::Value;

/// Words that the readers of fields leave out.
const CUES: &str = "a accessed al and at available by chapter consulté de dir doi ed edited editor editors edition eds et \
    from in issue isbn le no number of on online org others p page pages pp retrieved s the \
    trans translated url vol volume zugriff am hrsg bd heft und th last nr more with y";

/// References of many styles: `%a` are people, `%t` a title, `%j` a journal, `%v`, `%n`, `%p` and `%y`
/// numbers, `%c` a place, `%b` a publisher, `%d` a date, `%u` an address, `%w` words of any kind.
const STYLES: [&str; 24] = [
    "%a (%y). %t. %j, %v(%n), %p.",
    "%a (%y). %t. %c: %b.",
    "%a (%y, %d). %t. %j. Retrieved %d, from %w: %u",
    "%a (%y). %t. %j, %v, %p. Retrieved %d, from %w.",
    "%a, \"%t,\" %j, vol. %v, no. %n, pp. %p, %y.",
    "%a. %t. %j %y;%v(%n):%p.",
    "%a. “%t.” %j %v, no. %n (%d %y): %p.",
    "%a: %t. In: %a (Hrsg.): %t. Bd. %v, %b, %c %y, S. %p.",
    "%a, « %t », %j, %v, n° %n, %y, p. %p.",
    "[%v] %a, %t. (%y) #hep-th/9809098",
    "[%v] %a, %j %v, %p (%y); erratum: %y, %j, %v, %p",
    "%a. %t. Translated by %a; revised by %a. %c: %b, %y.",
    "%a. %t. In %a, editors, %t, volume %v of %w, pages %p. %b, %d %y.",
    "%a; %w; %y",
    "%a %w %y %w",
    "%w. %y. %w, %w. %w",
    "%a. %t. PhD thesis, %w, %c, %y. %w.",
    "%a. %t (%n nd ed., %w). %b, %y. ISBN 978-3-16-148410-0. %w",
    "%a. %t. %u (accessed %d) and %u. %w",
    "%a, %t. Technical Report %w-%v, %w, %d–%d %y.",
    "%t. (%y, %d). %j. %u [last accessed %d]",
    "%a et al. for the %w, %j. arXiv:1412.6980 %w doi:10.1000/182. %w",
    "%a. %y-%n. %t: %w. %j (%w) %v, %w: %p",
    "%w",
];

fn made_up(random: &mut StdRng, style: &str) -> String {
    let mut text = String::new();
    let mut rest = style;
    while let Some((before, behind)) = rest.split_once('%') {
        text.push_str(before);
        text.push_str(&piece(random, &behind[..1]));
        rest = &behind[1..];
    }
    text + rest
}

fn piece(random: &mut StdRng, kind: &str) -> String {
    let mut one = |of: &[&str]| (*of.choose(random).unwrap()).to_string();
    match kind {
        "a" => one(&[
            "Smith, J.",
            "Okafor, N. R., & Lindqvist, P.",
            "Karl Weber and Ann Roe",
            "Müller H, Li Y",
            "J. R. R. van der Berg",
            "World Health Organization",
            "Dupont Jean et Petit Anne",
            "Q. Xu, Jr.",
            "Lake Study Group",
            "Ortega y Gasset, José; Roe, B.",
        ]),
        "t" => one(&[
            "On small rivers",
            "How floods are remembered: a study of 12 lakes",
            "Die Flüsse im Norden",
            "Graphs, trees and more",
            "Part 2, Silence",
            "Is ice cold? 1950–1999",
            "Les fleuves de la Loire",
        ]),
        "j" => one(&[
            "Journal of River Research",
            "Nature",
            "AJ",
            "Phys. Rev. Lett.",
            "La Revue, série B",
        ]),
        "v" | "n" => one(&["3", "17", "122", "XII", "4-5"]),
        "p" => one(&["12-17", "118–137", "S12–S19", "e1000217", "1239", "45, 67"]),
        "y" => one(&["1998", "2004", "2011a", "1885"]),
        "c" => one(&["Cambridge", "New York, NY", "Berlin"]),
        "b" => one(&["Halloway Press", "Springer", "Éditions du Lac"]),
        "d" => one(&[
            "June 19",
            "12 May 2003",
            "Spring",
            "3.11.2009",
            "September 5th, 2001",
            "Monday, July 4",
        ]),
        "u" => one(&[
            "http://a.org/b_c?d=1",
            "https://doi.org/10.5555/jrr.2016.118",
            "www.lakes.org/x",
        ]),
        _ => one(&[
            "bar",
            "Alderman Library, University of Virginia website",
            "LexisNexis AU",
            "Foo bar 12",
            "rev. by Q",
            "erratum",
            "June",
            "B",
            "with 3 maps",
            "(in press)",
            "17",
            "[Online]",
            "Ref. 12/3",
            "1923, 1925",
            "see also Roe 1999",
            "Bericht Nr. 12",
            "Working paper",
            "Proceedings of the Lakes",
            "2nd",
            "forthcoming",
        ]),
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// All text of an entry.
fn said(entry: &Entry) -> String {
    fn add(value: &Value, said: &mut String) {
        match value {
            Value::Object(fields) => fields.values().for_each(|own| add(own, said)),
            Value::Array(values) => values.iter().for_each(|own| add(own, said)),
            Value::String(text) => said.extend([text, " "]),
            other => said.push_str(&format!("{other} ")),
        }
    }
    let mut said = entry.unparsed.clone().unwrap_or_default() + " ";
    add(&fields(entry), &mut said);
    said
}

/// Whether dates of an entry say a word as a number or a season.
fn is_dated(entry: &Entry, word: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let digits = word.trim_end_matches(char::is_alphabetic);
    let number = digits.parse::<u16>().ok();
    [entry.date, entry.accessed].iter().any(|date| {
        let month = date.month.map(u16::from);
        let named = month.is_some_and(|month| MONTHS[usize::from(month) - 1] == word);
        named || number.is_some() && [date.year, month, date.day.map(u16::from)].contains(&number)
    })
}

fn lost(text: &str, entry: &Entry) -> Vec<String> {
    let said: Vec<String> = words(&said(entry)).collect();
    // A capital alone may be an initial, or that of pages.
    let initials: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| {
            word.len() == 1 && word.chars().all(char::is_uppercase) && !["S", "P"].contains(word)
        })
        .collect();
    let is_initial = |word: &str| initials.contains(&word.to_uppercase().as_str());
    let is_cue = |word: &str| CUES.split_whitespace().any(|cue| cue == word) && !is_initial(word);
    words(text)
        .filter(|word| !said.contains(word) && !is_cue(word) && !is_dated(entry, word))
        // Of an identifier, the resolver.
        .filter(|word| !["https", "org", "arxiv", "n"].contains(&word.as_str()))
        .collect()
}

const ROUNDS: usize = 4_800;

#[test]
fn every_word_of_a_reference_is_in_its_entry() {
    let mut parsing = Parsing::new(Parser::embedded());
    let mut random = StdRng::seed_from_u64(7);
    let mut failures = Vec::new();
    for round in 0..ROUNDS {
        let mut text = made_up(&mut random, STYLES[round % STYLES.len()]);
        if round % 3 == 0 {
            // Something that no style has, somewhere.
            let spaces: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
            let at = spaces.choose(&mut random).copied().unwrap_or(0);
            text.insert_str(at, &format!(" {}", piece(&mut random, "w")));
        }
        if random.random_bool(0.1) {
            text = text.to_uppercase();
        }
        let entry = parsing.parse(&text, &TagOptions::default()).unwrap().entry;
        let lost = lost(&text, &entry);
        if !lost.is_empty() {
            failures.push(format!("{lost:?}: {text}"));
        }
    }
    assert!(failures.is_empty(), "{} of {ROUNDS}:\n{}", failures.len(), failures.join("\n"));
}
