//! States learned from labels, and which may follow which.

use bethe_tagging::labels::{LabelError, Role, Scheme, States};

fn learn(scheme: Scheme, sequences: &[&str]) -> States {
    let sequences = sequences.iter().map(|labels| labels.split(' ').collect::<Vec<_>>());
    States::learn(scheme, sequences).unwrap()
}

fn labels(states: &States) -> Vec<&str> {
    (0..states.len()).map(|state| states.label(state)).collect()
}

/// The pairs that may follow each other, as one line per state.
fn followers(states: &States) -> Vec<String> {
    let after = |before| (0..states.len()).filter(move |&after| states.may_follow(before, after));
    let name = |state: usize| format!("{}{}", states.label(state), states.role(state, 0).name());
    (0..states.len()).map(|s| after(s).map(name).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn bio_states_are_labels_in_order_of_appearance() {
    let states = learn(Scheme::Bio, &["O I-x I-x", "B-y O"]);
    assert_eq!(labels(&states), ["O", "B-x", "I-x", "B-y"]);
    let starts: Vec<bool> = (0..4).map(|state| states.may_start(state)).collect();
    assert_eq!(starts, [true, true, false, true]);
    assert!((0..4).all(|state| states.may_end(state)));
    let all_but_inside = "Ooutside B-xbegin B-ybegin";
    let all = "Ooutside B-xbegin I-xinside B-ybegin";
    assert_eq!(followers(&states), [all_but_inside, all, all, all_but_inside]);
}

#[test]
fn io_labels_have_a_state_to_begin_and_one_to_go_on() {
    let states = learn(Scheme::Io, &["x x x O y"]);
    assert_eq!(labels(&states), ["x", "x", "O", "y", "y"]);
    assert_eq!(states.role(0, 0), Role::Begin);
    assert_eq!(states.role(1, 0), Role::Inside);
    assert_eq!(states.matching("x"), [0, 1]);
    assert_eq!(states.encode(&["x", "O", "x", "x", "y"]).unwrap(), [0, 2, 0, 1, 3]);
    assert_eq!(states.encode(&["y", "y"]).unwrap(), [3, 4], "though y had one token in training");
    let (after_x, after_y) = ("xinside Ooutside ybegin", "xbegin Ooutside yinside");
    let after_outside = "xbegin Ooutside ybegin";
    assert_eq!(followers(&states), [after_x, after_x, after_outside, after_y, after_y]);
    assert!(!states.may_start(1));
}

#[test]
fn iobes_segments_are_completed() {
    let states = learn(Scheme::Iobes, &["B-x I-x E-x S-x O"]);
    let (go_on, begin) = ("I-xinside E-xend", "B-xbegin S-xsingle Ooutside");
    assert_eq!(followers(&states), [go_on, go_on, begin, begin, begin]);
    let ends: Vec<bool> = (0..5).map(|state| states.may_end(state)).collect();
    assert_eq!(ends, [false, false, true, true, true]);
    let starts: Vec<bool> = (0..5).map(|state| states.may_start(state)).collect();
    assert_eq!(starts, [true, false, false, true, true]);
}

#[test]
fn plain_states_follow_each_other_freely() {
    let states = learn(Scheme::Plain, &["NN O B-x:B-y NN"]);
    assert_eq!(states.len(), 3);
    assert!((0..9).all(|pair| states.may_follow(pair / 3, pair % 3)));
    assert!((0..3).all(|state| states.may_start(state) && states.may_end(state)));
    assert_eq!(states.kinds().len(), 3);
    assert_eq!(states.begins(1), [1]);
}

#[test]
fn levels_are_kept_apart() {
    let states = learn(Scheme::Bio, &["B-a:B-x I-a:I-x I-a I-a:B-x B-x O"]);
    assert_eq!(labels(&states), ["B-a:B-x", "I-a:I-x", "I-a", "I-a:B-x", "B-x", "O"]);
    let kinds: Vec<(usize, &str)> =
        states.kinds().iter().map(|kind| (kind.level, kind.name.as_str())).collect();
    assert_eq!(kinds, [(0, "a"), (1, "x"), (0, "x")]);
    assert_eq!(states.begins(0), [0, 1]);
    assert!(states.begins(1).is_empty());
    assert_eq!(states.begins(3), [1]);
    assert_eq!(states.begins(4), [2]);
    assert!(states.may_follow(0, 1) && states.may_follow(1, 2) && states.may_follow(2, 3));
    assert!(!states.may_follow(2, 1), "x is not open after I-a");
    assert!(!states.may_follow(4, 1), "x at level 0 is another segment");
    assert!(!states.may_follow(5, 2));
}

#[test]
fn io_may_begin_the_same_again_only_under_a_beginning() {
    let states = learn(Scheme::Io, &["I-a:I-x I-a:I-x I-a I-a:I-x I-b:I-x"]);
    let begin_both = states.encode(&["I-a:I-x"]).unwrap()[0];
    let path = states.encode(&["I-a:I-x", "I-a", "I-a:I-x"]).unwrap();
    let begin_x = path[2];
    assert_eq!(states.matching("I-a:I-x").len(), 3);
    assert!(!states.may_follow(begin_both, begin_x));
    assert!(states.may_follow(begin_both, states.matching("I-b:I-x")[0]));
}

#[test]
fn labels_match_states_that_differ_in_role_only_if_none_is_written_so() {
    let states = learn(Scheme::Bio, &["B-x I-x B-y O"]);
    assert_eq!(states.matching("I-x"), [1]);
    assert_eq!(states.matching("I-y"), [2]);
    assert!(states.matching("S-x").is_empty(), "no label of the scheme");
    assert!(states.matching("x").is_empty());
    assert_eq!(states.matching("O"), [3]);
    assert!(states.matching("z").is_empty());
    assert!(learn(Scheme::Bio, &["B-x"]).matching("O").is_empty());
    let states = learn(Scheme::Io, &["x x O"]);
    assert_eq!(states.matching("x"), [0, 1]);
    assert!(["I-x", "B-x", "E-x", "S-x"].iter().all(|label| states.matching(label).is_empty()));
    assert_eq!(learn(Scheme::Iobes, &["B-x E-x O"]).matching("S-x"), [0, 1]);
    assert_eq!(learn(Scheme::Bilou, &["B-x L-x O"]).matching("S-x"), [0, 1]);
}

#[test]
fn labels_without_state_are_named_in_canonical_form() {
    let states = learn(Scheme::Bio, &["B-x O"]);
    let error = states.encode(&["O", "I-y"]).unwrap_err();
    assert_eq!(error, LabelError::UnknownLabel { label: "B-y".into(), position: 1 });
    assert_eq!(error.to_string(), "token 1: the label \"B-y\" is not one of the training labels");
    assert!(states.encode(&[""]).is_err());
    assert_eq!(states.encode(&[]), Ok(vec![]));
}

#[test]
fn there_is_nothing_to_learn_from_tokens_without_label() {
    let error = States::learn(Scheme::Bio, [vec!["O"], vec!["O", ""]]).unwrap_err();
    assert_eq!(error, LabelError::EmptyLabel { sequence: 1, position: 1 });
    let error = States::learn(Scheme::Bio, Vec::<Vec<&str>>::new()).unwrap_err();
    assert_eq!(error, LabelError::NoLabels);
}

#[test]
fn segments_are_labelled_as_the_scheme_writes_them() {
    let states = |scheme, labels: &[&str]| States::learn(scheme, [labels]).unwrap();
    let bio = states(Scheme::Bio, &["B-x", "I-x", "O", "bare"]);
    assert_eq!(bio.segment_labels("x", 3).unwrap(), ["B-x", "I-x", "I-x"]);
    assert_eq!(bio.segment_labels("bare", 1).unwrap(), ["B-bare"]);
    assert_eq!(bio.segment_labels("", 2).unwrap(), ["O", "O"]);
    assert_eq!(bio.segment_labels("y", 1), None);
    let iobes = states(Scheme::Iobes, &["B-x", "I-x", "E-x", "S-x"]);
    assert_eq!(iobes.segment_labels("x", 3).unwrap(), ["B-x", "I-x", "E-x"]);
    assert_eq!(iobes.segment_labels("x", 1).unwrap(), ["S-x"]);
    assert_eq!(iobes.segment_labels("", 1), None, "nothing is outside");
    let bilou = states(Scheme::Bilou, &["B-x", "I-x", "L-x", "U-x"]);
    assert_eq!(bilou.segment_labels("x", 3).unwrap(), ["B-x", "I-x", "L-x"]);
    assert_eq!(bilou.segment_labels("x", 1).unwrap(), ["U-x"]);
    assert_eq!(states(Scheme::Io, &["I-x"]).segment_labels("x", 2).unwrap(), ["I-x", "I-x"]);
    assert_eq!(states(Scheme::Plain, &["x"]).segment_labels("x", 2).unwrap(), ["x", "x"]);
}
