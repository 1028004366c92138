use std::fmt::Write;

use bethe_io::results;
use serde::Serialize;

use super::Score;

/// The rows, in their order, and the paper's number where it has one for the same object: its counts of
/// letters are near those of any word, so its numbers belong to `unigram-all`, not to `unigram`, which
/// knows how long a word is.
pub const MODELS: [(&str, Option<f64>); 22] = [
    ("base", Some(84.93)),
    ("unigram-all", Some(94.01)),
    ("unigram-all-mm", Some(94.96)),
    ("unigram", None),
    ("unigram-mm", None),
    ("unigram-exact", None),
    ("word", Some(98.26)),
    ("word-mm", Some(98.83)),
    ("word-exact", None),
    ("classifier", Some(86.06)),
    ("lexicon", None),
    ("trigram", None),
    ("fourgram", None),
    ("pairs-base", None),
    ("pairs-unigram", None),
    ("pairs-word", None),
    ("pairs-word-exact", None),
    ("pairs-lexicon", None),
    ("open-base", None),
    ("open-lexicon", None),
    ("open-word", None),
    ("open-capped", None),
];

/// The name of the table on the results page.
pub const TABLE: &str = "handwriting";
const COLUMNS: [&str; 6] = ["model", "paper", "letters, %", "sd", "words, %", "µs per word"];

/// Structured prediction cascades by the length of their grams, as the paper quotes them.
const CASCADES: [(usize, f64); 5] = [(2, 85.02), (3, 96.20), (4, 97.21), (5, 98.27), (6, 98.54)];

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The model.
    pub model: String,
    /// The paper's number, in percent of letters.
    pub paper: Option<f64>,
    /// Right letters in percent, mean over folds.
    pub mean: f64,
    /// Standard deviation over folds; 0 for one fold.
    pub sd: f64,
    /// In the order of the folds.
    pub per_fold: Vec<f64>,
    /// Right words in percent, mean over folds.
    pub word_accuracy: f64,
    /// Inference of a word.
    pub microseconds: f64,
}

impl Row {
    /// The cells of [`COLUMNS`] but the model.
    fn cells(&self) -> [String; 5] {
        [
            self.paper.map_or(String::new(), |paper| format!("{paper:.2}")),
            format!("{:.2}", self.mean),
            format!("{:.2}", self.sd),
            format!("{:.2}", self.word_accuracy),
            format!("{:.1}", self.microseconds),
        ]
    }
}

/// Scores by row and fold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// In the order in which they came, folds in order; the score of a fold is the sum over seeds.
    rows: Vec<(String, Vec<(usize, Score)>)>,
}

impl Table {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to the score of a row on a fold.
    pub fn add(&mut self, model: &str, fold: usize, score: Score) {
        let at = self.rows.iter().position(|(name, _)| name == model).unwrap_or_else(|| {
            self.rows.push((model.to_string(), Vec::new()));
            self.rows.len() - 1
        });
        let folds = &mut self.rows[at].1;
        match folds.iter_mut().find(|(known, _)| *known == fold) {
            Some((_, sum)) => sum.join(&score),
            None => folds.push((fold, score)),
        }
        folds.sort_by_key(|(fold, _)| *fold);
    }

    /// The rows: those of [`MODELS`] that were run in their order, then the others.
    pub fn rows(&self) -> Vec<Row> {
        let place = |name: &str| MODELS.iter().position(|(model, _)| *model == name);
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&at| (place(&self.rows[at].0).unwrap_or(MODELS.len()), at));
        order.into_iter().map(|at| self.row(&self.rows[at])).collect()
    }

    fn row(&self, (model, folds): &(String, Vec<(usize, Score)>)) -> Row {
        let per_fold: Vec<f64> = folds.iter().map(|(_, score)| score.accuracy()).collect();
        let of_words = folds.iter().map(|(_, score)| score.word_accuracy());
        let count = per_fold.len().max(1) as f64;
        let mean = per_fold.iter().sum::<f64>() / count;
        let squares: f64 = per_fold.iter().map(|accuracy| (accuracy - mean).powi(2)).sum();
        let mut all = Score::default();
        folds.iter().for_each(|(_, score)| all.join(score));
        Row {
            model: model.clone(),
            paper: MODELS.iter().find(|(name, _)| name == model).and_then(|(_, paper)| *paper),
            mean,
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
            word_accuracy: of_words.sum::<f64>() / count,
            microseconds: all.microseconds(),
            per_fold,
        }
    }

    /// The table of the results page.
    pub fn to_page(&self) -> results::Table {
        let mut table = results::Table::new(TABLE, &COLUMNS);
        for row in self.rows() {
            table.push(std::iter::once(format!("`{}`", row.model)).chain(row.cells()));
        }
        table
    }

    /// The table as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.rows()).expect("numbers and names") + "\n"
    }

    /// The table as Markdown, under a note about how it came about.
    pub fn to_markdown(&self, note: &str) -> String {
        let mut text = String::from("# Handwriting\n\n");
        let _ = writeln!(text, "{note}\n");
        let _ = writeln!(text, "| {} |", COLUMNS.join(" | "));
        text.push_str("| --- | ---: | ---: | ---: | ---: | ---: |\n");
        for row in self.rows() {
            let _ = writeln!(text, "| {} | {} |", row.model, row.cells().join(" | "));
        }
        text.push_str("\nStructured prediction cascades, as the paper quotes them:");
        for (at, (length, accuracy)) in CASCADES.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let _ = write!(text, "{comma} {length}-grams {accuracy:.2}");
        }
        text.push_str(
            ". They are a different model from `trigram` and `fourgram`, which are chains over the \
             histories of training words.\n\nLetters: right letters; words: words \
             without a mistake; means over folds, sd over folds. Times are of inference alone, the \
             scores of letters (or the mean map) given.\n",
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(right: usize) -> Score {
        Score { right, letters: 100, right_words: right / 10, words: 10, seconds: 1e-5 }
    }

    #[test]
    fn rows_come_in_the_order_of_models_with_means_and_deviations() {
        let mut table = Table::new();
        table.add("word-psi-surrogate", 0, score(70));
        table.add("word", 0, score(90));
        table.add("base", 0, score(80));
        table.add("base", 3, score(84));
        table.add("word", 0, score(100));
        let rows = table.rows();
        let names: Vec<&str> = rows.iter().map(|row| &row.model[..]).collect();
        assert_eq!(names, ["base", "word", "word-psi-surrogate"]);
        assert_eq!((rows[0].mean, &rows[0].per_fold[..]), (82.0, &[80.0, 84.0][..]));
        assert!((rows[0].sd - 8f64.sqrt()).abs() < 1e-12);
        assert_eq!(rows[1].per_fold, [95.0], "seeds of a fold count together");
        assert_eq!((rows[1].sd, rows[1].word_accuracy), (0.0, 95.0));
        assert!((rows[0].microseconds - 1.0).abs() < 1e-9);
        let json: serde_json::Value = serde_json::from_str(&table.to_json()).unwrap();
        assert_eq!(json[0]["paper"], 84.93);
        assert!(json[2]["paper"].is_null());
        assert!(table.to_markdown("n").contains("| base | 84.93 | 82.00 | 2.83 | 80.00 | 1.0 |"));
        let page = table.to_page().to_string();
        assert!(page.contains("| `base` | 84.93 | 82.00 | 2.83 | 80.00 | 1.0 |"), "{page}");
        assert!(page.contains("| `word-psi-surrogate` |  | 70.00 |"), "{page}");
    }
}
