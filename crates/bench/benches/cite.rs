//! References in plain text into entries: how many a second, where the time goes, how many fields
//! are right.
//!
//! `cargo bench -p bethe-bench --bench cite -- --data DIR` reads `DIR/citation/umass` and trains a
//! tagger with the template for references, the word lists of `DIR/citation/lexicons` and generated
//! rules; it is kept in the target folder for the next time. The lines are the test references as
//! they would be printed. One thread, timed by what it spent on its core where the system tells, at
//! most ten iterations of inference under rules.

use std::ops::Range;
use std::path::Path;

use bethe_bench::Verdicts;
use bethe_bench::usage::thread_seconds;
use bethe_cite::{
    Cited, Citer, Citing, Dialect, Entry, Field, Keys, Labelled as LabelledLine, base_settings,
    bibtex, clean, lexicons, printed, template,
};
use bethe_learn::corpus::Corpus;
use bethe_learn::crf::Scorer;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::features::Workspace;
use bethe_tagging::train::{ConstraintSource, Labelled, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger, Tagging};

fn main() {
    let Some(data) = bethe_bench::data_folder() else {
        println!("skipped: --data DIR names the folder that holds citation/umass/");
        return;
    };
    let data = data.join("citation");
    let tagger = tagger(&data);
    let test = read(&data.join("umass/test.conll"));
    let dialect = Dialect::of(&tagger, None).expect("a model of tokens");
    println!("{} rules, tokeniser {:?}", tagger.rules().len(), dialect.tokeniser);
    let citer = Citer::new(&tagger, dialect);
    retokenised(&citer, &data);
    let lines: Vec<String> = test.iter().map(|sequence| printed(&words(sequence))).collect();
    let mut options = TagOptions::default();
    options.limits.max_iterations = 10;
    let cited = quality(&citer, &test, &lines, &options);
    let mut verdicts = Verdicts::default();
    speed(&tagger, &citer, (&lines, &cited), &options, &mut verdicts);
    verdicts.print();
}

/// The tagger that an earlier run left, or a new one.
fn tagger(data: &Path) -> Tagger {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cite-shared.safetensors");
    match Tagger::read(&kept) {
        Ok(tagger) if tagger.parts().extractor.template() == &template() => return tagger,
        _ => println!("training, which takes minutes once: {}", kept.display()),
    }
    let [training, dev] =
        ["train", "dev"].map(|part| read(&data.join(format!("umass/{part}.conll"))));
    let mut settings = TrainSettings {
        observe: Some(vec![1]),
        template: Some(template()),
        lexicons: lexicons(&[data.join("lexicons")]).expect("the word lists"),
        constraints: ConstraintSource::Auto,
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
fn retokenised(citer: &Citer, data: &Path) {
    for part in ["train", "dev", "test"] {
        let references = read(&data.join(format!("umass/{part}.conll")));
        let same = references.iter().filter(|reference| {
            let line = printed(&words(reference));
            citer.tokens(&line).into_iter().map(|place| &line[place]).eq(words(reference))
        });
        let share = 100.0 * same.count() as f64 / references.len() as f64;
        println!("{part}: {share:.1}% of references split into the same tokens as in the data");
    }
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

/// Fields that come out as the true labels would have them.
fn quality(citer: &Citer, test: &[Sequence], lines: &[String], options: &TagOptions) -> Vec<Cited> {
    let mut citing = Citing::new(citer);
    let cited: Vec<Cited> = lines.iter().map(|line| citing.cite(line, options)).collect();
    let truth = |(sequence, line): (&Sequence, &String)| {
        let labels: Vec<&str> =
            (0..sequence.len()).map(|t| sequence.cell(t, 3).unwrap_or_default()).collect();
        let tokens = places(line, &words(sequence));
        Entry::new(LabelledLine { text: line, tokens: &tokens, labels: &labels }, citer.meanings())
    };
    let truth: Vec<Entry> = test.iter().zip(lines).map(truth).collect();
    let venue = |entry: &Entry| {
        entry.text(Field::Journal).or(entry.text(Field::BookTitle)).map(str::to_string)
    };
    type Same<'a> = &'a dyn Fn(&Entry, &Entry) -> bool;
    let fields: [(&str, Same); 6] = [
        ("authors", &|a, b| a.authors == b.authors),
        ("title", &|a, b| a.whole_title() == b.whole_title()),
        ("year", &|a, b| a.date.year == b.date.year),
        ("pages", &|a, b| a.text(Field::Pages) == b.text(Field::Pages)),
        ("venue", &|a, b| venue(a) == venue(b)),
        ("type", &|a, b| a.kind == b.kind),
    ];
    let share = |same: Same| {
        let right = cited.iter().zip(&truth).filter(|(cited, truth)| same(&cited.entry, truth));
        100.0 * right.count() as f64 / truth.len() as f64
    };
    println!("\nreferences whose field is as the true labels would have it");
    for (name, same) in fields {
        println!("  {name:<10}{:>6.1}%", share(same));
    }
    println!("  {:<10}{:>6.1}%", "all", share(&|a, b| fields.iter().all(|(_, same)| same(a, b))));
    cited
}

/// References a second, and the share of each step.
fn speed(
    tagger: &Tagger,
    citer: &Citer,
    (lines, cited): (&[String], &[Cited]),
    options: &TagOptions,
    verdicts: &mut Verdicts,
) {
    let sequences: Vec<Sequence> =
        cited.iter().map(|cited| citer.sequence(&cited.text, &cited.tokens)).collect();
    let parts = tagger.parts();
    let kit = (&parts.extractor, &parts.dictionary);
    let (mut workspace, mut corpus) = (Workspace::default(), Corpus::new());
    let mut observed = Corpus::new();
    for sequence in &sequences {
        parts.input.observe(kit, sequence, &mut workspace, &mut observed).expect("tokens");
    }
    let mut features = || {
        corpus.clear();
        for sequence in &sequences {
            parts.input.observe(kit, sequence, &mut workspace, &mut corpus).expect("tokens");
        }
    };
    let mut scorer = Scorer::default();
    let mut scores = || {
        for at in 0..sequences.len() {
            scorer.scores(&parts.crf.structure, &parts.crf.weights, observed.sequence(at));
        }
    };
    let tag = |options: TagOptions| {
        let mut tagging = Tagging::new(tagger);
        let sequences = &sequences;
        move || {
            for sequence in sequences {
                std::hint::black_box(tagging.tag(sequence, &options).expect("tokens"));
            }
        }
    };
    let mut plain = tag(TagOptions { rules: false, ..*options });
    let mut ruled = tag(*options);
    let mut tokens = || {
        for line in lines {
            let text = clean(line);
            std::hint::black_box(citer.sequence(&text, &citer.tokens(&text)));
        }
    };
    let mut entries = || {
        for cited in cited {
            let tagged = cited.tagged.as_ref().expect("labels");
            std::hint::black_box(citer.entry(&cited.text, &cited.tokens, tagged));
        }
    };
    let mut formats = || {
        let mut keys = Keys::default();
        for Cited { entry, .. } in cited {
            std::hint::black_box(bibtex(entry, &keys.unique(&entry.key())));
        }
    };
    let mut citing = Citing::new(citer);
    let mut whole = || {
        let mut keys = Keys::default();
        for line in lines {
            let entry = citing.cite(line, options).entry;
            std::hint::black_box(bibtex(&entry, &keys.unique(&entry.key())));
        }
    };
    let alternatives: [&mut dyn FnMut(); 8] = [
        &mut whole,
        &mut tokens,
        &mut features,
        &mut scores,
        &mut plain,
        &mut ruled,
        &mut entries,
        &mut formats,
    ];
    let [whole, tokens, features, scores, plain, ruled, entries, formats] =
        alternatives.map(seconds_of);
    let count = lines.len() as f64;
    println!("\nmicroseconds of one core a reference");
    for (name, seconds) in [
        ("tokens", tokens),
        ("features", features),
        ("scores", scores),
        ("decoding", plain - features - scores),
        ("inference", ruled - plain),
        ("entries", entries),
        ("bibtex", formats),
        ("all", whole),
    ] {
        println!("  {name:<10}{:>8.1}", 1e6 * seconds / count);
    }
    println!("\n{:.0} references a second", count / whole);
    verdicts.at_least("references a second, in thousands", 1e-3 * count / whole, 2.0);
    verdicts.at_least("the same, what was aimed at", 1e-3 * count / whole, 3.0);
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
