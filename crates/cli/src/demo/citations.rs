//! Made-up references as journals print them, in four styles: lines of text, and tokens with
//! hierarchical labels.

use std::fmt::Write;

use bethe_cite::Tokeniser;

use super::random::Random;

const FAMILIES: [&str; 24] = [
    "Abel",
    "Baxter",
    "Chen",
    "Dietz",
    "Evans",
    "Fuchs",
    "Gupta",
    "Horn",
    "Ito",
    "Jung",
    "Kaya",
    "López",
    "Müller",
    "Nowak",
    "O'Neil",
    "Petrov",
    "van Dyk",
    "Rossi",
    "de Silva",
    "Tanaka",
    "Weiß",
    "Young",
    "Zhang",
    "Smith-Jones",
];
const FIRSTS: [&str; 12] = [
    "Anna", "Carl", "Diego", "Elena", "Frank", "Irene", "Jonas", "Karin", "Louis", "Maria",
    "Pavel", "Ruth",
];
const INITIALS: [&str; 10] = ["A.", "C.", "D.", "E.", "F.", "J.", "K.", "M.", "R.", "T."];
const KINDS: [&str; 12] = [
    "fast",
    "robust",
    "sparse",
    "hidden",
    "Bayesian",
    "convex",
    "local",
    "stochastic",
    "deep",
    "global",
    "adaptive",
    "discrete",
];
const THINGS: [&str; 16] = [
    "inference",
    "estimation",
    "learning",
    "graphs",
    "networks",
    "Markov models",
    "constraints",
    "marginals",
    "projections",
    "rivers",
    "bird migration",
    "parsing",
    "DNA sequences",
    "labels",
    "search",
    "vision",
];
const TOPICS: [&str; 10] = [
    "Machine Learning",
    "Statistics",
    "Computational Biology",
    "Graph Theory",
    "Language Processing",
    "Applied Mathematics",
    "Physics",
    "Ecology",
    "Operations Research",
    "Computer Vision",
];
const JOURNALS: [&str; 8] = [
    "Journal of",
    "Annals of",
    "IEEE Transactions on",
    "Advances in",
    "Letters in",
    "Review of",
    "Archive of",
    "Trends in",
];
const ABBREVIATED: [&str; 6] = [
    "Phys. Rev. Lett.",
    "Ann. Statist.",
    "J. Comput. Phys.",
    "Math. Ann.",
    "Nucl. Phys. B",
    "Appl. Opt.",
];
const MEETINGS: [&str; 4] = [
    "Proceedings of the International Conference on",
    "Proc. Symposium on",
    "Workshop on",
    "Proceedings of the Annual Meeting on",
];
const PUBLISHERS: [&str; 6] =
    ["Springer", "Cambridge University Press", "Wiley", "MIT Press", "Elsevier", "North-Holland"];
const CITIES: [&str; 8] =
    ["Berlin", "New York", "Amsterdam", "Cambridge, MA", "Kyoto", "Oxford", "Lisbon", "Vienna"];
const SCHOOLS: [&str; 6] = [
    "University of Amherst",
    "Technical University of Graz",
    "Kyoto University",
    "Leiden University",
    "University of Lisbon",
    "Institute of Mathematics",
];

/// A reference: the line, and its tokens with their labels.
pub struct Citation {
    /// As it is printed.
    pub line: String,
    /// Tokens and labels.
    pub rows: Vec<(String, String)>,
}

/// Random references.
pub fn citations(count: usize, seed: u64) -> Vec<Citation> {
    let mut random = Random(seed);
    (0..count).map(|_| citation(&mut random)).collect()
}

/// References as a column file: the token, a tab, the label.
pub fn labelled(citations: &[Citation]) -> String {
    let mut text = String::new();
    for citation in citations {
        for (token, label) in &citation.rows {
            let _ = writeln!(text, "{token}\t{label}");
        }
        text.push('\n');
    }
    text
}

/// A line in progress: its text, and the label of each stretch.
#[derive(Default)]
struct Draft {
    line: String,
    /// Where a stretch begins, and its names from the outside in; `#` and a number tell two
    /// stretches of the same name apart.
    spans: Vec<(usize, String)>,
}

impl Draft {
    fn put(&mut self, path: &str, text: &str) {
        self.spans.push((self.line.len(), path.to_string()));
        self.line.push_str(text);
    }

    fn finish(self) -> Citation {
        let line = self.line.trim_end().to_string();
        let mut rows = Vec::new();
        let mut before: Vec<String> = Vec::new();
        for place in Tokeniser::Words.tokens(&line) {
            let span = self.spans.partition_point(|(start, _)| *start <= place.start) - 1;
            let path: Vec<String> = self.spans[span].1.split('/').map(str::to_string).collect();
            let label: Vec<String> = (0..path.len())
                .map(|level| {
                    let goes_on = before.get(..=level) == Some(&path[..=level]);
                    let name = path[level].split('#').next().unwrap_or_default();
                    format!("{}-{name}", if goes_on { "I" } else { "B" })
                })
                .collect();
            rows.push((line[place].to_string(), label.join(":")));
            before = path;
        }
        Citation { line, rows }
    }
}

fn citation(random: &mut Random) -> Citation {
    let mut draft = Draft::default();
    let style = random.below(4);
    let year = 1960 + random.below(65);
    if random.below(3) == 0 {
        draft.put("ref-marker", &format!("[{}] ", 1 + random.below(60)));
    }
    people(&mut draft, random, ("authors", style == 1 || style == 2));
    match style {
        1 => draft.put("date/year", &format!("({year}). ")),
        2 => draft.put("date/year", &format!("{year}, ")),
        _ => {}
    }
    title(&mut draft, random, style);
    let dated = style == 1 || style == 2;
    match random.below(10) {
        0..5 => journal(&mut draft, random, style),
        5..8 => meeting(&mut draft, random, style),
        8 => book(&mut draft, random),
        _ => school(&mut draft, random),
    }
    match random.below(8) {
        0 => draft.put("venue/status", "to appear. "),
        1 => draft.put(
            "venue/web",
            &format!("doi:10.{}/x.{}. ", 1000 + random.below(9000), random.below(999)),
        ),
        _ => {}
    }
    if !dated {
        draft.put(
            "venue/date/year",
            &if style == 0 { format!("{year}.") } else { format!("({year}).") },
        );
    }
    draft.finish()
}

/// A list of people, with family names first or last.
fn people(draft: &mut Draft, random: &mut Random, (role, inverted): (&str, bool)) {
    let count = 1 + random.below(4);
    let full = random.below(3) == 0;
    for person in 0..count {
        let last = person + 1 == count;
        let (family, first) =
            (random.of(&FAMILIES), if full { random.of(&FIRSTS) } else { random.of(&INITIALS) });
        let middle = (random.below(3) == 0).then(|| random.of(&INITIALS));
        let end = match (last, inverted, role) {
            (true, _, "authors") if !inverted => ". ",
            (true, ..) => " ",
            _ => ", ",
        };
        if last && count > 1 {
            draft.put(role, if inverted { "& " } else { "and " });
        }
        let part = |name: &str| format!("{role}/person#{person}/person-{name}");
        let given = |text: &str, end: &str| format!("{text}{end}");
        if inverted {
            draft.put(&part("last"), &format!("{family}, "));
            draft.put(&part("first"), &given(first, if middle.is_some() { " " } else { end }));
            if let Some(middle) = middle {
                draft.put(&part("middle"), &given(middle, end));
            }
        } else {
            draft.put(&part("first"), &given(first, " "));
            if let Some(middle) = middle {
                draft.put(&part("middle"), &given(middle, " "));
            }
            draft.put(&part("last"), &format!("{family}{end}"));
        }
    }
}

fn title(draft: &mut Draft, random: &mut Random, style: u64) {
    let mut thing = || format!("{} {}", random.of(&KINDS), random.of(&THINGS));
    let (first, second) = (thing(), thing());
    let text = match random.below(5) {
        0 => format!("On {first} and {second}"),
        1 => format!("{first} for {second}"),
        2 => format!("Towards {first}"),
        3 => format!("{first}: a study of {second}"),
        _ => format!("A theory of {first} in {second}"),
    };
    let mut characters = text.chars();
    let text: String =
        characters.next().map(|c| c.to_uppercase().chain(characters).collect()).unwrap_or_default();
    match style {
        3 => draft.put("title", &format!("\"{text},\" ")),
        2 => draft.put("title", &format!("{text}, ")),
        _ => draft.put("title", &format!("{text}. ")),
    }
}

fn journal(draft: &mut Draft, random: &mut Random, style: u64) {
    let name = match random.below(3) {
        0 => random.of(&ABBREVIATED).to_string(),
        _ => format!("{} {}", random.of(&JOURNALS), random.of(&TOPICS)),
    };
    let (volume, issue, page) = (1 + random.below(99), 1 + random.below(12), 1 + random.below(900));
    let last = page + 1 + random.below(40);
    draft.put("venue/journal", &format!("{name}{}", if style == 3 { " " } else { ", " }));
    match style {
        0 => {
            draft.put("venue/volume", &volume.to_string());
            draft.put("venue/number", &format!("({issue}):"));
            draft.put("venue/pages", &format!("{page}–{last}, "));
        }
        1 => {
            draft.put("venue/volume", &format!("{volume}, "));
            draft.put("venue/pages", &format!("{page}-{last}. "));
        }
        2 => {
            draft.put("venue/volume", &format!("vol. {volume}, "));
            draft.put("venue/number", &format!("no. {issue}, "));
            draft.put("venue/pages", &format!("pp. {page}--{last}. "));
        }
        _ => {
            draft.put("venue/volume", &format!("{volume} "));
            draft.put("venue/pages", &format!("{page} "));
        }
    }
}

fn meeting(draft: &mut Draft, random: &mut Random, style: u64) {
    draft.put("venue", if style == 3 { "in " } else { "In " });
    if random.below(3) == 0 {
        people(draft, random, ("venue/editor", false));
        draft.put("venue/editor", "(Eds.), ");
    }
    draft.put("venue/booktitle", &format!("{} {}, ", random.of(&MEETINGS), random.of(&TOPICS)));
    let page = 1 + random.below(400);
    draft.put("venue/pages", &format!("pp. {page}-{}, ", page + 8));
    if random.below(2) == 0 {
        draft.put("venue/address", &format!("{}: ", random.of(&CITIES)));
        draft.put("venue/publisher", &format!("{}. ", random.of(&PUBLISHERS)));
    }
}

fn book(draft: &mut Draft, random: &mut Random) {
    if random.below(3) == 0 {
        draft.put("venue/edition", "Second edition. ");
    }
    draft.put("venue/publisher", &format!("{}, ", random.of(&PUBLISHERS)));
    draft.put("venue/address", &format!("{}. ", random.of(&CITIES)));
}

fn school(draft: &mut Draft, random: &mut Random) {
    match random.below(3) {
        0 => draft.put("venue/tech", &format!("Technical Report TR-{}, ", 10 + random.below(90))),
        1 => draft.put("venue/thesis", "Master's thesis, "),
        _ => draft.put("venue/thesis", "PhD thesis, "),
    }
    draft.put("venue/institution", &format!("{}. ", random.of(&SCHOOLS)));
}
