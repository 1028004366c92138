//! References in plain text into entries: how many a second, where the time goes, how many fields
//! are right.
//!
//! `cargo bench -p bethe-bench --bench cite -- --data DIR [--results DIR]` reads `DIR/citation/umass` and trains a
//! tagger with the template for references, the word lists of `DIR/citation/lexicons` and generated
//! rules; it is kept in the target folder for the next time. The lines are the test references as
//! they would be printed. One thread, timed by what it spent on its core where the system tells, at
//! most ten iterations of inference under rules.

use std::ops::Range;
use std::path::Path;

use bethe_bench::Report;
use bethe_bench::usage::thread_seconds;
use bethe_cite::{
    Dialect, Entry, Field, Keys, Labelled as LabelledLine, Parsed, Parser, Parsing, base_settings,
    bibtex, clean, lexicons, printed, template,
};
use bethe_io::results::{Table, grouped};
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::Scorer;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::features::Workspace;
use bethe_tagging::train::{Labelled, RuleSource, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger, Tagging, Vocabulary};

fn main() {
    let Some(data) = bethe_bench::data_folder() else {
        println!("skipped, all: --data DIR names the folder that holds citation/umass/");
        return;
    };
    let report = Report::new("cite", &["cite-quality", "cite-tokens", "cite-speed"]);
    let data = data.join("citation");
    let tagger = tagger(&data);
    let test = read(&data.join("umass/test.conll"));
    let dialect = Dialect::of(&tagger, None).expect("a model of tokens");
    println!("{} rules, tokeniser {:?}", tagger.rules().len(), dialect.tokeniser);
    let parser = Parser::new(&tagger, dialect);
    let tokens = retokenised(&parser, &data);
    let lines: Vec<String> = test.iter().map(|sequence| printed(&words(sequence))).collect();
    let mut options = TagOptions::default();
    options.inference.max_iterations = 10;
    let mut parsing = Parsing::new(&parser);
    let cited: Vec<Parsed> = lines
        .iter()
        .map(|line| parsing.parse(line, &options).expect("a solver for every model"))
        .collect();
    let quality = quality(&cited, &truth(&parser, &test, &lines));
    let work = Work { tagger: &tagger, parser: &parser, lines: &lines, cited: &cited, options };
    report.finish(&[quality, tokens, work.speed()]);
}

/// The tagger that an earlier run left, or a new one.
fn tagger(data: &Path) -> Tagger {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cite-shared.safetensors");
    match Tagger::load(&kept) {
        Ok(tagger) if tagger.parts().extractor.template() == &template() => return tagger,
        _ => println!("training, which takes minutes once: {}", kept.display()),
    }
    let [training, dev] =
        ["train", "dev"].map(|part| read(&data.join(format!("umass/{part}.conll"))));
    let mut settings = TrainSettings {
        observe: Some(vec![1]),
        template: Some(template()),
        lexicons: lexicons(&[data.join("lexicons")]).expect("the word lists"),
        rule_source: RuleSource::Auto,
        base: base_settings(),
        ..TrainSettings::default()
    };
    settings.rules.l1 = Some(1.0);
    let labelled = |sequences| Labelled { sequences, scores: None };
    let tagger = train(labelled(&training), Some(labelled(&dev)), &settings, &mut |_| ());
    let tagger = tagger.expect("a data set to train on");
    tagger.write(&kept).expect("room in the target folder");
    tagger
}

fn read(path: &Path) -> Vec<Sequence> {
    let sequences = Sequences::open(path, Format::Columns).expect("the data set");
    sequences.collect::<Result<_, _>>().expect("well-formed data")
}

fn words(sequence: &Sequence) -> Vec<&str> {
    (0..sequence.len()).map(|t| sequence.cell(t, 0).unwrap_or_default()).collect()
}

/// How many references have the same tokens after they were printed and split again.
fn retokenised(parser: &Parser, data: &Path) -> Table {
    let mut table = Table::new("cite-tokens", &["set", "same tokens"]);
    for part in ["train", "dev", "test"] {
        let references = read(&data.join(format!("umass/{part}.conll")));
        let same = references.iter().filter(|reference| {
            let line = printed(&words(reference));
            parser.tokens(&line).into_iter().map(|place| &line[place]).eq(words(reference))
        });
        let share = 100.0 * same.count() as f64 / references.len() as f64;
        table.push([format!("UMass {part}"), format!("{share:.1} %")]);
    }
    table
}

/// Where the tokens of the data are in the line they were printed to.
fn places(line: &str, words: &[&str]) -> Vec<Range<usize>> {
    let mut from = 0;
    let place = |word: &&str| {
        let start = from + line[from..].find(word).expect("a word of the line");
        from = start + word.len();
        start..from
    };
    words.iter().map(place).collect()
}

/// Entries by the true labels.
fn truth(parser: &Parser, test: &[Sequence], lines: &[String]) -> Vec<Entry> {
    let entry = |(sequence, line): (&Sequence, &String)| {
        let labels: Vec<&str> =
            (0..sequence.len()).map(|t| sequence.cell(t, 3).unwrap_or_default()).collect();
        let tokens = places(line, &words(sequence));
        Entry::new(LabelledLine { text: line, tokens: &tokens, labels: &labels }, parser.meanings())
    };
    test.iter().zip(lines).map(entry).collect()
}

/// Fields that come out as the true labels would have them.
fn quality(cited: &[Parsed], truth: &[Entry]) -> Table {
    let venue = |entry: &Entry| {
        entry.text(Field::Journal).or(entry.text(Field::BookTitle)).map(str::to_string)
    };
    type Same<'a> = &'a dyn Fn(&Entry, &Entry) -> bool;
    let fields: [(&str, Same); 6] = [
        ("authors", &|a, b| a.authors == b.authors),
        ("title", &|a, b| a.whole_title() == b.whole_title()),
        ("year", &|a, b| a.date.year == b.date.year),
        ("pages", &|a, b| a.text(Field::Pages) == b.text(Field::Pages)),
        ("journal or book", &|a, b| venue(a) == venue(b)),
        ("type", &|a, b| a.kind == b.kind),
    ];
    let all: Same = &|a, b| fields.iter().all(|(_, same)| same(a, b));
    let mut table = Table::new("cite-quality", &["field", "right"]);
    for (name, same) in fields.into_iter().chain([("all", all)]) {
        let right = cited.iter().zip(truth).filter(|(cited, truth)| same(&cited.entry, truth));
        let share = 100.0 * right.count() as f64 / truth.len() as f64;
        table.push([name.to_string(), format!("{share:.1} %")]);
    }
    table
}

/// Lines to cite, and what came of them.
struct Work<'a> {
    tagger: &'a Tagger,
    parser: &'a Parser,
    lines: &'a [String],
    cited: &'a [Parsed],
    options: TagOptions,
}

impl Work<'_> {
    /// Microseconds a reference, by step.
    fn speed(&self) -> Table {
        let [attributes, scores, plain, ruled] = self.tagging();
        let steps = [
            ("attributes", attributes),
            ("scores", scores),
            ("decoding without rules", plain - attributes - scores),
            ("inference under rules", ruled - plain),
            ("tokens, entries, BibTeX", self.around_tagging()),
            ("all", self.whole()),
        ];
        let mut table = Table::new("cite-speed", &["step", "µs"]);
        for (name, seconds) in steps {
            table.push([name.to_string(), grouped(1e6 * seconds / self.lines.len() as f64)]);
        }
        table
    }

    /// Seconds of attributes, of scores, of tagging without rules and with them, each of the last
    /// two with all that comes before.
    fn tagging(&self) -> [f64; 4] {
        let sequences: Vec<Sequence> = self
            .cited
            .iter()
            .map(|cited| self.parser.sequence(&cited.text, &cited.tokens))
            .collect();
        let parts = self.tagger.parts();
        let known = Vocabulary { extractor: &parts.extractor, attributes: &parts.attributes };
        let (mut workspace, mut corpus) = (Workspace::default(), Corpus::new());
        let mut observed = Corpus::new();
        for sequence in &sequences {
            parts.input.observe(known, sequence, &mut workspace, &mut observed).expect("tokens");
        }
        let mut features = || {
            corpus.clear();
            for sequence in &sequences {
                parts.input.observe(known, sequence, &mut workspace, &mut corpus).expect("tokens");
            }
        };
        let mut scorer = Scorer::default();
        let mut scores = || {
            for at in 0..sequences.len() {
                scorer.scores(&parts.crf.structure, &parts.crf.weights, observed.sequence(at));
            }
        };
        let tag = |options: TagOptions| {
            let mut tagging = Tagging::new(self.tagger);
            let sequences = &sequences;
            move || {
                for sequence in sequences {
                    std::hint::black_box(tagging.tag(sequence, &options).expect("tokens"));
                }
            }
        };
        let mut plain = tag(TagOptions { rules: false, ..self.options.clone() });
        let mut ruled = tag(self.options.clone());
        let alternatives: [&mut dyn FnMut(); 4] =
            [&mut features, &mut scores, &mut plain, &mut ruled];
        alternatives.map(seconds_of)
    }

    /// Seconds of what comes before and after the tagger.
    fn around_tagging(&self) -> f64 {
        let mut tokens = || {
            for line in self.lines {
                let text = clean(line);
                std::hint::black_box(self.parser.sequence(&text, &self.parser.tokens(&text)));
            }
        };
        let mut entries = || {
            for cited in self.cited {
                let tagged = cited.tagged.as_ref().expect("labels");
                std::hint::black_box(self.parser.entry(&cited.text, &cited.tokens, tagged));
            }
        };
        let mut formats = || {
            let mut keys = Keys::default();
            for Parsed { entry, .. } in self.cited {
                std::hint::black_box(bibtex(entry, &keys.unique(&entry.key())));
            }
        };
        let alternatives: [&mut dyn FnMut(); 3] = [&mut tokens, &mut entries, &mut formats];
        alternatives.map(seconds_of).iter().sum()
    }

    /// Seconds from lines to BibTeX.
    fn whole(&self) -> f64 {
        let mut parsing = Parsing::new(self.parser);
        seconds_of(&mut || {
            let mut keys = Keys::default();
            for line in self.lines {
                let entry =
                    parsing.parse(line, &self.options).expect("a solver for every model").entry;
                std::hint::black_box(bibtex(&entry, &keys.unique(&entry.key())));
            }
        })
    }
}

/// Time spent on each measurement.
const SECONDS: f64 = 0.5;

/// Mean seconds of a call: of this thread on its core where the system tells, so that others who
/// use the machine do not count; else by the clock on the wall.
fn seconds_of(run: &mut dyn FnMut()) -> f64 {
    run();
    let start = thread_seconds();
    let mut calls = 0;
    while thread_seconds() - start < SECONDS {
        run();
        calls += 1;
    }
    (thread_seconds() - start) / f64::from(calls)
}
