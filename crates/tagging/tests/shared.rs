//! A tagger as bindings and servers use it: owned, shared by threads, loaded from anywhere, and with
//! errors in place of panics.

use std::fs;
use std::thread;

use bethe_core::Method;
use bethe_core::solve::SolveError;
use bethe_tagging::labels::Scheme;
use bethe_tagging::rules::{Form, Relation, Rule, RulePenalty, Weight};
use bethe_tagging::{ModelError, TagError, TagOptions, Tagged, Tagger, Tagging, states_of};

const LABELS: [&str; 3] = ["O", "B-a", "I-a"];
const SCORES: [f64; 12] = [0.0, 1.0, 0.2, 0.1, 1.2, 0.3, 0.0, 0.9, 0.1, 0.2, 0.7, 0.4];

const _: () = {
    const fn is_shared<T: Send + Sync + Clone + 'static>() {}
    const fn is_sent<T: Send + 'static>() {}
    is_shared::<Tagger>();
    is_shared::<Tagged>();
    is_sent::<Tagging>();
    is_sent::<TagError>();
    is_sent::<ModelError>();
};

fn tagger(weight: Weight, penalty: RulePenalty) -> Tagger {
    let states = states_of(Scheme::Bio, &LABELS).unwrap();
    let rule = Rule { form: Form::linear([(0, 1)], Relation::AtMost, 1), weight };
    let tagger = Tagger::of_scores(states, &LABELS, &[], vec![rule]).unwrap();
    let mut parts = tagger.parts().clone();
    parts.penalty = penalty;
    Tagger::new(parts).unwrap()
}

fn solving_with(method: Method) -> TagOptions {
    let mut options = TagOptions::default();
    options.inference.method = method;
    options
}

#[test]
fn a_solver_that_cannot_serve_the_rules_is_an_error_and_not_a_panic() {
    let hinge = tagger(Weight::Given(2.0), RulePenalty::Hinge);
    let hard = tagger(Weight::Hard, RulePenalty::SmoothedHinge);
    let rda = Method::Rda { beta: 0.0 };
    for (tagger, method) in [(&hinge, Method::Adaptive), (&hard, Method::Adaptive), (&hard, rda)] {
        let options = solving_with(method);
        let is_refusal = |error: &TagError| {
            matches!(error, TagError::Solve(SolveError::Unserved { solver, .. })
                if *solver == method.name())
        };
        let mut tagging = Tagging::new(tagger);
        assert!(is_refusal(&tagging.tag_scores(&SCORES, &options).unwrap_err()));
        assert!(is_refusal(&tagger.check(&options).unwrap_err()));
        // Rules that do not count are not in the way, and the memory is as good as before.
        let without = TagOptions { rules: false, ..options };
        assert!(tagger.check(&without).is_ok());
        assert!(tagging.tag_scores(&SCORES, &without).is_ok());
        assert!(tagging.tag_scores(&SCORES, &TagOptions::default()).is_ok());
    }
    let smooth = tagger(Weight::Given(2.0), RulePenalty::SmoothedHinge);
    assert!(smooth.check(&solving_with(Method::Adaptive)).is_ok());
    assert!(Tagging::new(&hinge).tag_scores(&SCORES, &solving_with(rda)).is_ok());
}

#[test]
fn settings_out_of_range_are_errors() {
    let mut options = TagOptions::default();
    options.inference.tolerance = 0.0;
    let tagger = tagger(Weight::Given(2.0), RulePenalty::SmoothedHinge);
    let error = Tagging::new(&tagger).tag_scores(&SCORES, &options).unwrap_err();
    assert_eq!(error.to_string(), "tolerance: found 0, expected a positive number");
}

#[test]
fn threads_share_a_tagger_and_outlive_whoever_made_it() {
    let tagger = tagger(Weight::Given(2.0), RulePenalty::SmoothedHinge);
    let expected = Tagging::new(&tagger).tag_scores(&SCORES, &TagOptions::default()).unwrap();
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let mut tagging = Tagging::new(&tagger);
            thread::spawn(move || tagging.tag_scores(&SCORES, &TagOptions::default()).unwrap())
        })
        .collect();
    drop(tagger);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn a_tagger_is_loaded_from_a_path_a_reader_or_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let written = tagger(Weight::Given(2.0), RulePenalty::Hinge);
    written.write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let loaded = [
        Tagger::load(&path).unwrap(),
        Tagger::from_reader(fs::File::open(&path).unwrap()).unwrap(),
        Tagger::from_bytes(&bytes).unwrap(),
    ];
    let tag = |tagger: &Tagger| Tagging::new(tagger).tag_scores(&SCORES, &TagOptions::default());
    for tagger in &loaded {
        assert_eq!(tag(tagger).unwrap(), tag(&written).unwrap());
        assert_eq!(tagger.labels(), LABELS);
    }
    let message = Tagger::from_bytes(&bytes[..20]).unwrap_err().to_string();
    assert!(message.starts_with("model: not a model file, or damaged"), "{message}");
    assert!(Tagger::from_reader(&b""[..]).is_err());
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(r#"\"constraints\":"#), "the name of rules in files stays");
}
