//! What `bethe cite` writes for a reference.

use std::path::Path;

use bethe_cite::{Confidence, Keys, Parsed, Parser, bibtex, csl, fields, ris};
use bethe_tagging::Tagged;
use bethe_tagging::labels::leaf_segments;
use bethe_terminal::shown;
use serde::Serialize;
use serde_json::Value;

use super::flags::Format;
use crate::tag::write::sequence;

/// The label of tokens that have none.
const NO_LABEL: &str = "_";

/// Writes entries one by one.
pub struct Writer<'a> {
    parser: &'a Parser,
    format: Format,
    explain: bool,
    keys: Keys,
    /// Whether an entry was written.
    begun: bool,
}

/// Where a reference stands.
pub struct Place<'a> {
    /// The file, where there are several.
    pub file: Option<&'a Path>,
    /// The line.
    pub line: usize,
}

/// An object of the JSON format.
#[derive(Serialize)]
pub struct Record<'a> {
    key: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: usize,
    fields: Value,
    text: &'a str,
    tokens: Vec<&'a str>,
    labels: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<SegmentRecord<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<String>>,
}

/// Tokens that belong together, `first` to `end` - 1, from 0.
#[derive(Serialize)]
struct SegmentRecord<'a> {
    label: &'a str,
    first: usize,
    end: usize,
    probability: f64,
}

impl<'a> Writer<'a> {
    /// A writer for one model and format.
    pub fn new(parser: &'a Parser, format: Format, explain: bool) -> Self {
        Self { parser, format, explain, keys: Keys::default(), begun: false }
    }

    /// Appends an entry.
    pub fn add(&mut self, out: &mut String, place: &Place, parsed: &Parsed) {
        match self.format {
            Format::Bibtex => self.bibtex(out, parsed),
            Format::CslJson => {
                out.push_str(if self.begun { ",\n" } else { "[\n" });
                let key = self.key(parsed);
                out.push_str(&csl(&parsed.entry, &key).to_string());
            }
            Format::Ris => {
                let key = self.key(parsed);
                out.push_str(&ris(&parsed.entry, &key));
            }
            Format::Json => self.json(out, place, parsed),
            Format::Conll => self.conll(out, parsed),
        }
        self.begun = true;
    }

    /// What closes the file.
    pub fn end(&self) -> &'static str {
        match (self.format, self.begun) {
            (Format::CslJson, true) => "\n]\n",
            (Format::CslJson, false) => "[]\n",
            _ => "",
        }
    }

    /// Whether anything was written.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    fn bibtex(&mut self, out: &mut String, parsed: &Parsed) {
        if self.begun {
            out.push('\n');
        }
        let doubts = parsed.confidence.as_ref().and_then(doubts);
        for line in doubts.into_iter().chain(self.explanation(parsed).unwrap_or_default()) {
            // BibTeX skips text between entries up to the next @.
            out.extend(["% ", &shown(&line).replace('@', "(at)"), "\n"]);
        }
        let key = self.key(parsed);
        out.push_str(&bibtex(&parsed.entry, &key));
    }

    /// The key of the next entry.
    pub fn key(&mut self, parsed: &Parsed) -> String {
        self.keys.unique(&parsed.entry.key())
    }

    fn json(&mut self, out: &mut String, place: &Place, parsed: &Parsed) {
        let key = self.key(parsed);
        let record = self.record(&key, place, parsed);
        out.push_str(&serde_json::to_string(&record).expect("strings and finite numbers"));
        out.push('\n');
    }

    /// The object of an entry.
    pub fn record<'b>(&'b self, key: &'b str, place: &Place, parsed: &'b Parsed) -> Record<'b> {
        let tagged = parsed.tagged.as_ref();
        let labels: Vec<&str> = match tagged {
            Some(tagged) => self.parser.labels(tagged).collect(),
            None => vec![NO_LABEL; parsed.tokens.len()],
        };
        let probabilities = tagged.and_then(|tagged| tagged.probabilities.first());
        let segments = tagged.filter(|tagged| !tagged.segments.is_empty());
        Record {
            key,
            kind: parsed.entry.kind.name(),
            file: place.file.map(|path| path.display().to_string()),
            line: place.line,
            fields: fields(&parsed.entry),
            text: &parsed.text,
            tokens: parsed.tokens.iter().map(|place| &parsed.text[place.clone()]).collect(),
            probabilities: probabilities.map(Vec::as_slice),
            confidence: parsed.confidence.as_ref().map(|confidence| confidence.entry),
            segments: segments.map(|tagged| self.segments(&labels, tagged)),
            explanation: self.explanation(parsed),
            labels,
        }
    }

    fn segments<'b>(&self, labels: &[&'b str], tagged: &Tagged) -> Vec<SegmentRecord<'b>> {
        let named = leaf_segments(self.parser.tagger().states().scheme(), labels);
        let probabilities = tagged.segments.first().into_iter().flatten();
        let record = |(segment, &(first, end, probability)): (_, &(usize, usize, f64))| {
            let bethe_tagging::labels::Segment { name: label, .. } = segment;
            SegmentRecord { label, first, end, probability }
        };
        named.into_iter().zip(probabilities).map(record).collect()
    }

    fn conll(&mut self, out: &mut String, parsed: &Parsed) {
        for line in self.explanation(parsed).unwrap_or_default() {
            out.extend(["# ", &shown(&line), "\n"]);
        }
        let row = |t: usize| parsed.tokens.get(t).map(|place| &parsed.text[place.clone()]);
        match &parsed.tagged {
            Some(tagged) => sequence(out, self.parser.tagger(), &row, tagged, false),
            None => {
                for token in (0..parsed.tokens.len()).filter_map(row) {
                    out.extend([token, "\t", NO_LABEL, "\n"]);
                }
                out.push('\n');
            }
        }
    }

    fn explanation(&self, parsed: &Parsed) -> Option<Vec<String>> {
        let tagged = parsed.tagged.as_ref();
        self.explain.then(|| tagged.map_or_else(Vec::new, |t| self.parser.tagger().explanation(t)))
    }
}

/// `low confidence 0.41: title, publisher`, the least sure field first; `None` for an entry that is
/// not worth checking.
fn doubts(confidence: &Confidence) -> Option<String> {
    let fields: Vec<&str> = confidence.doubtful().iter().map(|(field, _)| field.name()).collect();
    let which = if fields.is_empty() { "not read".to_string() } else { fields.join(", ") };
    confidence.is_low().then(|| format!("low confidence {:.2}: {which}", confidence.entry))
}
