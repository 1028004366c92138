//! `bethe-reproduce flows` on populations that it simulates, and on a made season.

mod common;

use std::fmt::Write as _;
use std::io::Write as _;

use common::Folder;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

/// The tables of the results page.
const TABLES: [&str; 5] =
    ["flows-learned", "flows-bias", "flows-birdflow", "flows-ringed", "flows-made"];

fn page(tables: &[&str]) -> String {
    let place = |name: &&str| format!("<!-- begin {name}: run -->\nold\n<!-- end {name} -->\n");
    format!("# Flows\n\n{}\nEnd.\n", tables.iter().map(place).collect::<String>())
}

fn packed(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A season of 1,000 birds on 2 × 2 cells that go from the first to the last, hundred a day.
fn season(folder: &Folder) {
    let (mut counts, mut wind) = ("Day,c1,c2,c3,c4\n".to_string(), "Day,Wind\n".to_string());
    let mut flows = "Day,From,To,Number\n".to_string();
    for day in 1..=6 {
        let gone = 100 * (day - 1);
        writeln!(counts, "{day},{},0,0,{gone}", 1000 - gone).unwrap();
        writeln!(wind, "{day},calm").unwrap();
        if day < 6 {
            writeln!(flows, "{day},1,1,{}\n{day},1,4,100", 900 - gone).unwrap();
        }
        if (2..6).contains(&day) {
            writeln!(flows, "{day},4,4,{gone}").unwrap();
        }
    }
    let place = folder.path("data/flows/synthetic");
    std::fs::create_dir_all(&place).unwrap();
    for (what, text) in
        [("obs", &counts), ("true_counts", &counts), ("wind", &wind), ("true_flows", &flows)]
    {
        let name = format!("L2x2_M1000_T20_s0.{what}.csv.gz");
        std::fs::write(place.join(name), packed(text)).unwrap();
    }
}

#[test]
fn learned_flows_and_weights_are_compared_with_the_truth() {
    let folder = Folder::new().with("flows.md", &page(&TABLES));
    season(&folder);
    let flags = ["flows", "--data", "data", "--out", "report", "--results", ".", "--quiet"];
    let small = ["--grids", "2:1", "--populations", "200", "--trials", "2"];
    let text = folder.succeeds(&[&flags[..], &small].concat());
    assert!(text.contains("| 2 × 2 | learned | "), "{text}");
    let report: Value = serde_json::from_str(&folder.read("report/report.json")).unwrap();
    let error = |way: usize| report["learned"][way]["flows"].as_f64().unwrap();
    assert!(error(1) < error(0), "learning brings flows nearer to the truth: {report}");
    assert!(report["learned"][1]["counts_covered"].as_f64().unwrap() > 0.0);
    let biases = report["biases"].as_array().unwrap();
    assert_eq!(biases.len(), 3);
    assert!(biases.iter().all(|own| own["corrected"].as_f64().unwrap().abs() < 1.5), "{report}");
    assert_eq!(report["skipped"][0], "flows/birds: not found");
    let written = folder.read("flows.md");
    assert!(written.contains("| 2 × 2 | `--fit none` | "), "{written}");
    assert!(written.contains("| 200 | stay | +1.0 | "), "{written}");
    assert!(written.ends_with(&page(&TABLES[2..])["# Flows\n\n".len()..]), "{written}");
}

#[test]
fn wrong_flags_and_folders_are_refused() {
    let folder = Folder::new();
    for (flags, expected) in [
        (["--grids", "5"], "--grids: found \"5\", expected SIDE:N such as 5:5"),
        (["--trials", "0"], "--trials: found 0, expected 1 to 10000"),
        (["--populations", "0"], "--populations: found 0, expected 1 to 100000000"),
        (["--data", "nowhere"], "nowhere: has no folder flows/"),
        (["--results", "nowhere"], "nowhere/flows.md: "),
    ] {
        let message = folder.refusal(&[&["flows"][..], &flags].concat());
        assert!(message.starts_with(expected), "{message}");
    }
}
