//! `bethe-reproduce demo`: runs anywhere, and what it leaves behind can be solved.

mod common;

use bethe_core::{Problem, Status};
use common::Folder;

#[test]
fn the_demo_reads_drawn_words_and_bounds_a_wide_grid() {
    let folder = Folder::new();
    let text = folder.succeeds(&["demo", "--out", "tour"]);

    // The dictionary makes words come out right that letters alone get wrong.
    let line = text.lines().find(|line| line.contains("words without a mistake")).unwrap();
    let shares: Vec<f64> = line.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
    assert!(shares[1] > shares[0] + 10.0, "{line}");
    assert!(folder.read("tour/contact-sheet.svg").starts_with("<svg"));

    // Bounds on a wide grid's log-partition enclose it.
    let line = text.lines().find(|line| line.contains("log Z is between")).unwrap();
    let bounds: Vec<f64> = line.split([' ', ':']).filter_map(|word| word.parse().ok()).collect();
    let [.., lower, upper] = bounds[..] else { panic!("{line}") };
    assert!(lower < upper && upper < 1.15 * lower, "{line}");

    let problem = Problem::from_json(folder.read("tour/wide.json").as_bytes()).unwrap();
    let answer = problem.solve().unwrap();
    assert_eq!((answer.status, answer.entropy), (Status::Converged, "tree-reweighted"));
}
