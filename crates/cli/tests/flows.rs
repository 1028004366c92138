//! `bethe flows` on simulated birds: what it writes, and what its flags change.

mod common;

use common::{Folder, close, error};
use serde_json::Value;

/// A grid of 4 × 4 cells, row after row.
pub fn cells() -> String {
    let row = |n: usize| format!("r{},{},{}\n", n, n % 4, n / 4);
    "cell,x,y\n".to_string() + &(0..16).map(row).collect::<String>()
}

/// Some hundred birds that go from one corner to the opposite one, a few cells at a time.
pub fn counts() -> String {
    let mut text = "day".to_string();
    (0..16).for_each(|n| text += &format!(",r{n}"));
    for day in 0..7 {
        text += &format!("\n{}", day + 1);
        for n in 0..16 {
            let along = (n % 4 + n / 4) as f64;
            let count = (60.0 * (-(along - f64::from(day)).powi(2)).exp()).round();
            let seen = if day == 3 && n == 5 { "NA".to_string() } else { count.to_string() };
            text += &format!(",{seen}");
        }
    }
    text + "\n"
}

fn folder() -> Folder {
    Folder::new().with("cells.csv", &cells()).with("counts.csv", &counts())
}

const FIXED: [&str; 6] = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "400"];

fn run(folder: &Folder, further: &[&str]) -> String {
    folder.succeeds(&[&FIXED, further].concat())
}

/// The rows of a table, without its header.
fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

fn summary(folder: &Folder, further: &[&str]) -> Value {
    serde_json::from_str(&run(folder, &[&["--quiet"], further].concat())).unwrap()
}

#[test]
fn without_a_folder_the_summary_goes_to_standard_output() {
    let folder = folder();
    let output = folder.bethe(&FIXED);
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], "converged");
    assert_eq!(answer["solver"], "dual");
    assert_eq!(
        (&answer["cells"], &answer["times"], &answer["observed"]),
        (&16.into(), &7.into(), &111.into())
    );
    assert_eq!(answer["fit"].as_array().unwrap().len(), 7);
    assert!(answer["gap"].as_f64().unwrap() <= 1e-6 * answer["objective"].as_f64().unwrap().abs());
    assert!(answer["correlation"].as_f64().unwrap() > 0.9);
    assert!(error(&output).contains("\nconverged: gap "), "{}", error(&output));
    assert_eq!(folder.files(), ["cells.csv", "counts.csv"]);
    assert_eq!(error(&folder.bethe(&[&FIXED[..], &["--quiet"]].concat())), "");
}

#[test]
fn tables_of_one_run_agree_with_each_other() {
    let folder = folder();
    let flags = ["--out", "out", "--threshold", "0", "--quiet", "--forecast", "2"];
    let more = ["--sample", "30", "--seed", "4", "--from", "r5", "--at", "4"];
    assert_eq!(run(&folder, &[&flags[..], &more].concat()), "");
    let counts = rows(&folder.read("out/counts.csv"));
    let count = |time: usize, cell: usize| number(&counts[time][cell + 1]);
    assert_eq!(counts.len(), 7);
    for row in &counts {
        let total: f64 = row[1..].iter().map(|cell| number(cell)).sum();
        assert!((total - 400.0).abs() < 1e-2);
    }
    let flows = rows(&folder.read("out/flows.csv"));
    let index = |name: &str| name[1..].parse::<usize>().unwrap();
    let key = |row: &[String]| (number(&row[0]) as usize, index(&row[1]), index(&row[2]));
    assert!(flows.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])), "sorted");
    for time in 0..6 {
        for cell in 0..16 {
            let own = flows.iter().filter(|row| key(row).0 == time + 1 && key(row).1 == cell);
            let left: f64 = own.map(|row| number(&row[3])).sum();
            assert!((left - count(time, cell)).abs() < 1e-2);
        }
    }
    for row in rows(&folder.read("out/net.csv")) {
        let (time, cell) = (number(&row[0]) as usize, index(&row[1]));
        let change = count(time, cell) - count(time - 1, cell);
        assert!((number(&row[4]) - change).abs() < 1e-2);
        assert!((number(&row[2]) - number(&row[3]) - number(&row[4])).abs() < 1e-3);
    }
    let routes = rows(&folder.read("out/routes.csv"));
    assert_eq!((routes.len(), routes[0].len()), (30, 8));
    let forecast = rows(&folder.read("out/forecast.csv"));
    assert_eq!(forecast.iter().map(|row| &row[0]).collect::<Vec<_>>(), ["8", "9"]);
    let given = rows(&folder.read("out/given.csv"));
    assert!((number(&given[3][6]) - count(3, 5)).abs() < 1e-3);
    let total: f64 = given[0][1..].iter().map(|cell| number(cell)).sum();
    assert!((total - count(3, 5)).abs() < 1e-3);
    let answer: Value = serde_json::from_str(&folder.read("out/summary.json")).unwrap();
    assert_eq!(answer["status"], "converged");
    let page = folder.read("out/index.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    for frame in 1..=7 {
        let frame = folder.read(&format!("out/frames/00{frame}.svg"));
        assert!(frame.starts_with("<svg") && frame.trim_end().ends_with("</svg>"));
    }
    let again = run(&folder, &[&["--out", "again"], &flags[2..], &more].concat());
    assert_eq!(again, "");
    for name in ["flows.csv", "routes.csv", "index.html"] {
        assert_eq!(folder.read(&format!("out/{name}")), folder.read(&format!("again/{name}")));
    }
}

#[test]
fn a_long_file_gives_what_a_wide_one_gives() {
    let wide = folder();
    let flags = ["--out", "out", "--quiet"];
    run(&wide, &flags);
    let text = counts();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let mut long = "day;cell;count\n".to_string();
    // By cells, so that times come in another order, and without what was not observed.
    for column in (1..names.len()).rev() {
        for row in rows(&text).iter().rev().filter(|row| row[column] != "NA") {
            long += &format!("{};{};{},0\n", row[0], names[column], row[column]);
        }
    }
    let folder = Folder::new().with("cells.csv", &cells()).with("counts.csv", &long);
    let output = folder.bethe(&[&FIXED[..], &flags[..2]].concat());
    let warning = "warning: counts.csv: 1 of 112 pairs of a time and a cell have no row and count as \
                   not observed; if nobody was there, add --unlisted zero";
    assert!(error(&output).starts_with(warning), "{}", error(&output));
    for name in ["flows.csv", "counts.csv"] {
        let name = format!("out/{name}");
        assert_eq!(folder.read(&name), wide.read(&name));
    }
    let zero = summary(&folder, &["--unlisted", "zero"]);
    assert_eq!(zero["observed"], 112);
    assert!(!zero["warnings"].to_string().contains("have no row"), "{}", zero["warnings"]);
    let message = wide.refusal(&[&FIXED[..], &["--unlisted", "zero"]].concat());
    assert!(
        message.starts_with("counts.csv: --unlisted is for counts as time,cell,count; found a")
    );
}

#[test]
fn lines_and_transitions_hold_the_flows() {
    let folder = folder();
    run(&folder, &["--out", "out", "--geojson", "--transitions", "--threshold", "0", "--quiet"]);
    let lines: Value = serde_json::from_str(&folder.read("out/flows.geojson")).unwrap();
    let lines = lines["features"].as_array().unwrap();
    let flows = rows(&folder.read("out/flows.csv"));
    let moving: Vec<&Vec<String>> = flows.iter().filter(|row| row[1] != row[2]).collect();
    assert_eq!(lines.len(), moving.len());
    for (line, row) in lines.iter().zip(moving) {
        let known = &line["properties"];
        assert_eq!([&known["time"], &known["from"], &known["to"]], [&row[0], &row[1], &row[2]]);
        assert!(close(&known["count"], number(&row[3]), 0.0));
    }
    assert_eq!(lines[0]["geometry"]["coordinates"], serde_json::json!([[0.0, 0.0], [1.0, 0.0]]));
    let counts = rows(&folder.read("out/counts.csv"));
    let index = |name: &str| name[1..].parse::<usize>().unwrap();
    let transitions = rows(&folder.read("out/transitions.csv"));
    for row in &flows {
        let (time, from) = (number(&row[0]) as usize - 1, index(&row[1]));
        let expected = number(&row[3]) / number(&counts[time][from + 1]);
        let own = transitions.iter().find(|own| own[..3] == row[..3]);
        let found = own.map_or(0.0, |own| number(&own[3]));
        assert!((found - expected).abs() < 1e-4, "{row:?} {found} {expected}");
    }
}

#[test]
fn lines_say_what_their_coordinates_are() {
    let folder = folder().with("both.csv", &both());
    let flags = ["--out", "out", "--geojson"];
    let warning = "warning: cells.csv: flows.geojson has x and y of the cells, which maps take for";
    assert!(error(&folder.bethe(&[&FIXED[..], &flags].concat())).starts_with(warning));
    let crs = folder.bethe(&[&FIXED[..], &flags, &["--crs", "epsg:3035"]].concat());
    assert!(!error(&crs).contains("flows.geojson has"), "{}", error(&crs));
    assert!(folder.read("out/flows.geojson").contains("urn:ogc:def:crs:EPSG::3035"));
    // Longitude and latitude of the same file are taken, whatever distances are of.
    let cells = ["flows", "counts.csv", "--cells", "both.csv", "--population", "400"];
    let degrees = folder.bethe(&[&cells[..], &flags].concat());
    assert!(!error(&degrees).contains("flows.geojson has"), "{}", error(&degrees));
    let lines: Value = serde_json::from_str(&folder.read("out/flows.geojson")).unwrap();
    assert_eq!(lines["features"][0]["geometry"]["coordinates"][0], serde_json::json!([10.0, 50.0]));
    let further = ["--coordinates", "lonlat", "--crs", "EPSG:3035"];
    let message = folder.refusal(&[&cells[..], &flags, &further].concat());
    assert_eq!(message, "--crs is for x and y; the cells of both.csv have longitude and latitude");
}

/// The cells with longitude and latitude beside `x` and `y`.
fn both() -> String {
    let row = |n: usize| format!("r{n},{},{},{},{}\n", n % 4, n / 4, 10 + n % 4, 50 + n / 4);
    "cell,x,y,lon,lat\n".to_string() + &(0..16).map(row).collect::<String>()
}

#[test]
fn the_map_shows_what_was_observed_as_individuals() {
    let folder = folder();
    let observed = |further: &[&str]| -> f64 {
        run(&folder, &[&["--out", "out", "--quiet"], further].concat());
        let page = folder.read("out/index.html");
        let data = page.split("type=\"application/json\">").nth(1).unwrap();
        let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
        assert_eq!(data["observed"][3][5], Value::Null);
        data["observed"][0][0].as_f64().unwrap()
    };
    assert_eq!(observed(&[]), 60.0);
    assert_eq!(observed(&["--rate", "0.5"]), 120.0);
    assert_eq!(observed(&["--noise", "squared"]), 60.0);
}

#[test]
fn small_flows_are_dropped() {
    let folder = folder();
    run(&folder, &["--out", "out", "--threshold", "2.5", "--quiet"]);
    let flows = rows(&folder.read("out/flows.csv"));
    assert!(!flows.is_empty() && flows.iter().all(|row| number(&row[3]) > 2.5));
}

#[test]
fn old_frames_of_ours_go_and_files_of_others_stay() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("out/frames")).unwrap();
    let folder = folder.with("out/frames/099.svg", "mine").with("out/frames/notes.txt", "mine");
    run(&folder, &["--out", "out", "--sample", "3", "--quiet"]);
    assert!(folder.path("out/frames/007.svg").exists() && folder.path("out/routes.csv").exists());
    let fewer: Vec<String> = counts().lines().take(5).map(|line| format!("{line}\n")).collect();
    let folder = folder.with("counts.csv", &fewer.concat());
    run(&folder, &["--out", "out", "--quiet"]);
    for name in ["frames/004.svg", "frames/099.svg", "frames/notes.txt", "flows.csv"] {
        assert!(folder.path("out").join(name).exists(), "{name}");
    }
    for name in ["frames/005.svg", "frames/007.svg", "routes.csv"] {
        assert!(!folder.path("out").join(name).exists(), "{name}");
    }
    assert_eq!(folder.read("out/frames/099.svg"), "mine");
    assert_eq!(folder.files(), ["cells.csv", "counts.csv", "out"], "nothing is left beside");
}

#[test]
fn a_file_of_others_is_not_replaced() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("out")).unwrap();
    let folder = folder.with("out/index.html", "mine");
    let flags = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "100"];
    let message = folder.refusal(&[&flags[..], &["--out", "out"]].concat());
    assert_eq!(
        message,
        "out/index.html: found a file that an earlier run did not write; move it away or choose \
         another folder"
    );
    assert_eq!(folder.read("out/index.html"), "mine");
    let message = folder.refusal(&[&flags[..], &["--out", "."]].concat());
    assert!(message.contains("cannot write into the current folder itself"), "{message}");
    // An output of an earlier run that is read now.
    run(&folder, &["--out", "again", "--forecast", "2", "--quiet"]);
    let flags = ["flows", "again/forecast.csv", "--cells", "cells.csv", "--population", "100"];
    let message = folder.refusal(&[&flags[..], &["--out", "again"]].concat());
    assert_eq!(message, "--out: again/forecast.csv is an input; choose another folder");
    assert_eq!(folder.files(), ["again", "cells.csv", "counts.csv", "out"]);
}

#[cfg(unix)]
#[test]
fn frames_need_no_open_files() {
    let times: String = (0..300).map(|time| format!("{time},3,4\n")).collect();
    let folder = Folder::new()
        .with("counts.csv", &format!("time,a,b\n{times}"))
        .with("cells.csv", "cell,x,y\na,0,0\nb,1,0\n");
    let command = format!(
        "ulimit -n 40; exec '{}' flows counts.csv --cells cells.csv --population 7 --out out",
        assert_cmd::cargo::cargo_bin("bethe").display()
    );
    let run = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", common::error(&run));
    assert!(folder.path("out/frames/300.svg").exists());
}

#[test]
fn every_solver_finds_the_same_flows() {
    let folder = folder();
    let best = summary(&folder, &[])["objective"].as_f64().unwrap();
    let solvers = ["dual", "rda", "mirror-descent", "accelerated-rda", "adaptive"];
    for solver in solvers {
        let answer = summary(&folder, &["--solver", solver, "--tolerance", "1e-4"]);
        assert_eq!(answer["solver"], solver);
        assert!(close(&answer["objective"], best, 2e-4 * best.abs()), "{solver} {answer}");
        assert_eq!(answer["status"], "converged", "{solver}");
    }
    let answer = summary(&folder, &["--max-iterations", "2"]);
    assert_eq!(answer["status"], "iteration_limit");
    let answer = summary(&folder, &["--solver", "rda", "--time-limit", "1us"]);
    assert_eq!(answer["status"], "time_limit");
}

#[test]
fn noise_rates_and_starts_change_the_answer_as_told() {
    let folder = folder();
    let rates: String = (0..16).map(|n| format!("r{n},2\n")).collect();
    let weights: String = (0..16).map(|n| format!("r{n},{}\n", u8::from(n < 3))).collect();
    let folder = folder
        .with("rates.csv", &format!("cell,rate\n{rates}"))
        .with("start.csv", &format!("cell,weight\n{weights}"));
    let objective = |further: &[&str]| summary(&folder, further)["objective"].as_f64().unwrap();
    assert_eq!(objective(&["--rate", "2"]), objective(&["--rate", "rates.csv"]));
    assert_ne!(objective(&["--rate", "2"]), objective(&[]));
    assert_eq!(objective(&["--rate", "1"]), objective(&[]));
    let gaussian = objective(&["--noise", "gaussian", "--variance", "9"]);
    assert_ne!(gaussian, objective(&["--noise", "gaussian"]));
    assert_ne!(objective(&["--normalise", "no"]), objective(&["--normalise", "yes"]));
    let impossible = folder.refusal(&[&FIXED[..], &["--start", "r0", "--reach", "1"]].concat());
    assert!(impossible.contains("counts.csv: time \"1\", cell"), "{impossible}");
    run(&folder, &["--start", "start.csv", "--noise", "gaussian", "--out", "o", "--quiet"]);
    let first = &rows(&folder.read("o/counts.csv"))[0];
    assert!(first[1..4].iter().all(|cell| number(cell) > 0.0));
    assert!(first[4..].iter().all(|cell| number(cell) == 0.0));
}

#[test]
fn squared_error_takes_shares_and_counts() {
    let folder = folder();
    let of_counts: Vec<Vec<String>> = rows(&counts());
    let mut shares = counts().lines().next().unwrap().to_string();
    for row in &of_counts {
        let value = |cell: &String| match cell.parse::<f64>() {
            Ok(count) => (count / 400.0).to_string(),
            Err(_) => cell.clone(),
        };
        shares +=
            &format!("\n{},{}", row[0], row[1..].iter().map(value).collect::<Vec<_>>().join(","));
    }
    let folder = folder.with("shares.csv", &(shares + "\n"));
    let squared = ["--noise", "squared", "--weight", "500"];
    let counted = summary(&folder, &squared)["objective"].as_f64().unwrap();
    let mut flags = [&FIXED[..], &squared, &["--quiet"]].concat();
    flags[1] = "shares.csv";
    let shared: Value = serde_json::from_str(&folder.succeeds(&flags)).unwrap();
    // Days without the missing cell sum to less than the population in both files.
    assert!(close(&shared["objective"], counted, 1e-5 * counted.abs()), "{counted} {shared}");
    let normalised = summary(&folder, &[&squared[..], &["--shares"]].concat());
    assert_ne!(normalised["objective"].as_f64().unwrap(), counted);
}

#[test]
fn features_read_covariates() {
    let folder = folder();
    let winds: String =
        (1..=9).map(|day| format!("{day},{}\n", ["E", "N", "calm"][day % 3])).collect();
    let wood: String = (0..16).map(|n| format!("r{n},{}\n", n % 5)).collect();
    let folder = folder
        .with("wind.csv", &format!("day,wind\n{winds}"))
        .with("wood.csv", &format!("cell,wood,lakes\n{}", wood.replace('\n', ",1\n")))
        .with("roads.csv", "from,to,road\nr0,r1,1\nr1,r2,1\n");
    let files =
        ["--covariates", "wind.csv", "--covariates", "wood.csv", "--covariates", "roads.csv"];
    let features = "stay=0.5,distance=-1,goal:r15=1,wind=0.7,wood=0.2,road=2";
    let all = summary(&folder, &[&files[..], &["--features", features]].concat());
    let default = summary(&folder, &["--fit", "none"]);
    assert_eq!(all["status"], "converged");
    assert_ne!(all["objective"], default["objective"]);
    let plain = summary(&folder, &["--features", "distance=-1", "--fit", "none"]);
    assert_eq!(plain["objective"], default["objective"]);
    // Only a power of distance is not a part of the name.
    let land: String = (0..16).map(|n| format!("r{n},{},{}\n", n % 3, n % 2)).collect();
    let folder = folder.with("land.csv", &format!("cell,wood^2,wood^3\n{land}"));
    let powers = summary(&folder, &["--covariates", "land.csv", "--features", "wood^2,distance^2"]);
    let weights = powers["learning"]["weights"].as_array().unwrap();
    let names: Vec<&str> = weights.iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["wood^2", "distance^2", "stay", "wood^3"]);
    // The wind of two more nights is there.
    let forecast = ["--out", "out", "--quiet", "--forecast", "2", "--features", "wind=1"];
    run(&folder, &[&forecast[..], &files[..2]].concat());
    assert_eq!(rows(&folder.read("out/forecast.csv")).len(), 2);
}

#[test]
fn files_of_spreadsheets_are_read_as_they_are() {
    // Rounding puts 0.4 − 0.3 beyond 0.1.
    let cells: String = (0..8).map(|n| format!("s{n},0.{n},0\n")).collect();
    let names: String = (0..8).map(|n| format!(",s{n}")).collect();
    let counts = |end: &str| format!("time{names}\n1,4,4,4,4,4,4,4,4\n2,4,4,4,4,4,4,4,4\n{end}");
    let folder = Folder::new()
        .with("cells.csv", &format!("\u{feff}\"cell\",\"x\",\"y\"\n{cells},,\n"))
        .with("counts.csv", &counts(",,,,,,,,\n,,,,,,,,\n"))
        .with("winds.csv", ",time,wind\n1,2,E\n2,1,W\n")
        .with("plain.csv", "time,wind\n1,W\n2,E\n");
    let flags = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "32"];
    let near = ["--reach", "0.1", "--threshold", "0", "--out", "near", "--quiet"];
    folder.succeeds(&[&flags[..], &near].concat());
    // Seven neighbours in both directions, and eight that stay.
    assert_eq!(rows(&folder.read("near/flows.csv")).len(), 22);
    for (file, out) in [("winds.csv", "winds"), ("plain.csv", "plain")] {
        let winds = ["--covariates", file, "--features", "wind=2", "--out", out, "--quiet"];
        folder.succeeds(&[&flags[..], &winds].concat());
    }
    assert_eq!(folder.read("winds/flows.csv"), folder.read("plain/flows.csv"));
}

#[test]
fn too_small_a_population_is_a_warning_and_a_senseless_one_an_error() {
    let folder = folder();
    let mut flags = FIXED;
    flags[5] = "70";
    let output = folder.bethe(&flags);
    assert_eq!(output.status.code(), Some(0));
    let warning = error(&output);
    let expected = "warning: counts.csv: counts sum to more than a population of 70 explains at";
    assert!(warning.starts_with(expected), "{warning}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The other one says that the movement does not explain the counts.
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2);
    flags[5] = "10";
    let refusal = folder.refusal(&flags);
    assert!(refusal.starts_with("counts.csv: time \"4\": counts sum to "), "{refusal}");
    assert!(refusal.contains("expected at most about 10 for --population 10"), "{refusal}");
}

/// Six cities, five weeks, 200 individuals that go from the first to the others.
fn cities() -> Folder {
    let cells = "cell,x,y\nA,0,0\nB,1,0\nC,2,0\nD,0,1\nE,1,1\nF,2,1\n";
    let counts = "week,A,B,C,D,E,F\n1,180,15,4,0,1,0\n2,120,60,15,3,2,0\n3,60,80,45,10,5,1\n\
                  4,20,60,80,30,8,2\n5,5,30,90,60,12,3\n";
    Folder::new().with("cells.csv", cells).with("counts.csv", counts)
}

const CITIES: [&str; 6] = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "200"];

#[test]
fn counts_of_one_time_have_no_moves() {
    let folder = cities().with("counts.csv", "week,A,B,C,D,E,F\n1,180,15,4,0,1,0\n");
    let answer: Value =
        serde_json::from_str(&folder.succeeds(&[&CITIES[..], &["--quiet"]].concat())).unwrap();
    let warning = answer["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("counts.csv: found counts of one time"), "{warning}");
}

/// The warnings of a run on these counts of six cities.
fn warnings(counts: &str, further: &[&str]) -> Vec<String> {
    let folder = cities().with("counts.csv", counts);
    let quick = ["--quiet", "--fit", "none"];
    let answer = folder.succeeds(&[&CITIES[..], &quick, further].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let warnings = answer["warnings"].as_array().unwrap().iter();
    warnings.map(|own| own.as_str().unwrap().to_string()).collect()
}

#[test]
fn counts_of_one_of_three_times_say_nothing_about_movement() {
    let warnings = warnings("week,A,B,C,D,E,F\n1\n2,150,30,15,3,2,0\n3,,,NA,,,\n", &[]);
    assert_eq!(
        warnings,
        [
            "counts.csv: found counts of one of 3 times, so nothing shows how individuals move; give the \
          counts of two times or more"
        ]
    );
}

/// Six cities on these days: nearly nobody moves.
fn days(names: [&str; 3]) -> String {
    let row = |name: &str| format!("{name},100,40,30,20,8,2\n");
    "day,A,B,C,D,E,F\n".to_string() + &names.map(row).concat()
}

#[test]
fn rows_that_go_back_in_time_are_told() {
    let told = |names| warnings(&days(names), &["--noise", "squared"]);
    assert_eq!(
        told(["2024-03-01", "2024-02-01", "2024-01-01"]),
        [
            "counts.csv: rows are in descending order: reverse them; times are taken in the order of \
          rows, so these flows go back in time, from \"2024-03-01\" to \"2024-01-01\""
        ]
    );
    assert_eq!(
        told(["01.01.2024", "01.03.2024", "01.02.2024"]),
        [
            "counts.csv: rows are not in order: \"01.02.2024\" comes after \"01.03.2024\"; sort them, \
          because times are taken in the order of rows"
        ]
    );
    assert_eq!(told(["2024-01-31", "2024-02-29", "2024-03-31"]), [""; 0]);
}

#[test]
fn steps_of_unequal_length_are_told() {
    let squared = ["--noise", "squared"];
    let uneven = days(["2024-01-01", "2024-01-02", "2024-12-31"]);
    assert_eq!(
        warnings(&uneven, &squared),
        ["counts.csv: every step counts as equally long, but the step from \"2024-01-02\" to \
          \"2024-12-31\" is 364 times as long as the one from \"2024-01-01\" to \"2024-01-02\"; add the \
          times in between, without counts"]
    );
    // A season may leave out the months between its end and its beginning.
    let months = days(["2024-01", "2024-02", "2024-03"]) + "2024-04,100,40,30,20,8,2\n";
    let season = [&squared[..], &["--first", "2024-03", "--last", "2024-02"]].concat();
    let told = warnings(&months, &season);
    assert!(told[0].contains("from \"2024-04\" to \"2024-01\" is 8.85 times"), "{told:?}");
    assert_eq!(warnings(&months, &[&squared[..], &["--close-year"]].concat()), [""; 0]);
}

#[test]
fn european_dates_of_a_long_file_are_sorted() {
    let rows: String = ["01.03.2024", "01.02.2024", "15.01.2024"]
        .map(|day| {
            ["A", "B", "C", "D", "E", "F"].map(|city| format!("{day};{city};9,5\n")).concat()
        })
        .concat();
    let folder = cities().with("counts.csv", &format!("Date;site;count\n{rows}"));
    folder.succeeds(&[&CITIES[..], &["--fit", "none", "--quiet", "--out", "out"]].concat());
    let counts = folder.read("out/counts.csv");
    let times: Vec<String> = self::rows(&counts).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(times, ["15.01.2024", "01.02.2024", "01.03.2024"]);
    let ambiguous = rows.replace('.', "/").replace("15/", "02/");
    let told = warnings(&format!("Date;site;count\n{ambiguous}"), &["--noise", "squared"]);
    assert!(told[0].contains("may begin with the day or with the month"), "{told:?}");
}

#[test]
fn places_at_the_same_coordinates_are_named() {
    let cells = "cell,x,y\nA,0,0\nB,1,0\nC,2,0\nD,0,1\nE,1,0\nF,0,1\n";
    let folder = cities().with("cells.csv", cells);
    let answer = folder.succeeds(&[&CITIES[..], &["--quiet"]].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        answer["warnings"][0],
        "cells.csv: cells have the coordinates of another: \"E\" those of \"B\", \"F\" those of \"D\"; \
         flows between such cells cannot be drawn"
    );
}

#[test]
fn second_sightings_that_are_not_later_are_left_out_and_counted() {
    let pairs = "time_from,cell_from,time_to,cell_to\n1,A,3,B\n2,B,2,B\n3,C,1,A\n2,A,4,C\n";
    let folder = cities().with("pairs.csv", pairs);
    let flags = ["--pairs", "pairs.csv", "--quiet"];
    let answer = folder.succeeds(&[&CITIES[..], &flags].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["validation"]["all"]["individuals"], 2);
    assert_eq!(
        answer["warnings"][0],
        "pairs.csv: 2 of 4 individuals are left out: their second sighting is not later than their first"
    );
}

#[test]
fn flows_that_predict_worse_than_both_baselines_are_told() {
    // Individuals go where nobody else goes.
    let pairs = "time_from,cell_from,time_to,cell_to\n1,A,2,F\n1,A,2,F\n2,A,3,F\n1,B,2,D\n";
    let folder = cities().with("pairs.csv", pairs);
    let flags =
        ["--pairs", "pairs.csv", "--fit", "none", "--features", "distance=-9", "--population"];
    let output = folder.bethe(&[&CITIES[..4], &flags, &["200"]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let scores = &answer["validation"]["all"];
    assert!(scores["flows"].as_f64() < scores["counts_alone"].as_f64(), "{scores}");
    let warning = "warning: pairs.csv: the flows predict marked individuals worse (log-likelihood ";
    assert!(error(&output).contains(warning), "{}", error(&output));
    assert!(answer["warnings"].to_string().contains("worse (log-likelihood"), "{answer}");
}

#[test]
fn without_a_folder_people_are_told_the_largest_moves() {
    let folder = cities();
    let text = folder.succeeds(&[&CITIES[..], &["--format", "text"]].concat());
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| *line == "the largest moves:").unwrap();
    assert!(lines[head - 1].starts_with("4 steps: "), "{text}");
    assert!(lines[head - 1].ends_with(" times an individual stayed"), "{text}");
    assert_eq!(
        lines[head + 1].split_whitespace().collect::<Vec<_>>(),
        ["time", "from", "to", "individuals"]
    );
    assert_eq!(lines.len(), head + 13, "ten moves and a hint: {text}");
    // The same as in the file.
    folder.succeeds(&[&CITIES[..], &["--quiet", "--out", "out"]].concat());
    let mut flows: Vec<Vec<String>> = rows(&folder.read("out/flows.csv"));
    flows.retain(|row| row[1] != row[2]);
    flows.sort_by(|a, b| number(&b[3]).total_cmp(&number(&a[3])));
    for (line, row) in lines[head + 2..].iter().zip(&flows[..10]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!([words[0], words[3], words[4]], [&row[0], &row[1], &row[2]], "{text}");
        assert!((number(words[5]) - number(&row[3])).abs() < 0.01 * number(&row[3]), "{text}");
    }
    let one = folder.with("counts.csv", "week,A,B,C,D,E,F\n1,180,15,4,0,1,0\n");
    let text = one.succeeds(&[&CITIES[..], &["--format", "text"]].concat());
    assert!(!text.contains("largest"), "{text}");
}

#[test]
fn what_is_learned_follows_the_counts() {
    let folder = cities();
    let answer = |further: &[&str]| -> Value {
        serde_json::from_str(&folder.succeeds(&[&CITIES[..], &["--quiet"], further].concat()))
            .unwrap()
    };
    let (learned, fixed) = (answer(&[]), answer(&["--fit", "none"]));
    assert!(learned["mean_deviance"].as_f64().unwrap() < 1.0);
    assert_eq!(learned["warnings"].as_array().unwrap().len(), 0);
    assert!(fixed["mean_deviance"].as_f64().unwrap() > 9.0);
    let warning = fixed["warnings"][0].as_str().unwrap();
    assert!(warning.contains("does not explain the counts"), "{warning}");
    let weights = learned["learning"]["weights"].as_array().unwrap();
    assert!(weights.iter().all(|own| own["standard_error"].as_f64().unwrap() > 0.0));
    let given = answer(&["--features", "stay=0.5"]);
    let stay = &given["learning"]["weights"][0];
    assert_eq!((&stay["weight"], &stay["standard_error"]), (&0.5.into(), &Value::Null));
    for noise in ["gaussian", "squared"] {
        let own = answer(&["--noise", noise]);
        assert!(own["correlation"].as_f64().unwrap() > 0.98, "{noise}: {own}");
    }
}

#[test]
fn standard_errors_of_weights_follow_the_scale_of_a_covariate() {
    let land = |scale: f64| -> String {
        (0..16).map(|n| format!("r{n},{}\n", f64::from(n % 5) * scale)).collect()
    };
    let error = |scale: f64| {
        let folder = folder().with("land.csv", &format!("cell,wood\n{}", land(scale)));
        let flags = ["--covariates", "land.csv", "--features", "distance=-1,stay=-1"];
        let weights = summary(&folder, &flags)["learning"]["weights"].take();
        weights[2]["standard_error"].as_f64().unwrap()
    };
    let (plain, large) = (error(1.0), error(1000.0));
    assert!((1000.0 * large / plain - 1.0).abs() < 0.1, "{plain} {large}");
}

#[test]
fn a_bootstrap_out_of_time_gives_what_it_has() {
    let folder = folder();
    let flags = ["--fit", "none", "--bootstrap", "1000000", "--time-limit", "2s", "--out", "out"];
    folder.succeeds(&[&FIXED[..], &flags].concat());
    let answer: Value = serde_json::from_str(&folder.read("out/summary.json")).unwrap();
    let ran = answer["errors"]["replicates"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&ran), "{ran}");
    let warning = answer["warnings"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert_eq!(
        warning,
        format!("--bootstrap: the time limit allowed {ran} of 1000000 populations")
    );
    assert!(folder.read("out/flows.csv").starts_with("time,from,to,count,standard_error\n"));
}

#[test]
fn weights_that_there_is_no_time_to_try_are_left_out() {
    let folder = cities();
    let output =
        folder.bethe(&[&CITIES[..], &["--tune", "counts", "--time-limit", "1ns"]].concat());
    let tuning = "warning: --tune: the time limit allowed 0 of 6 weights; those that were given are \
                  kept\n";
    assert!(error(&output).contains(tuning), "{}", error(&output));
}

#[test]
fn the_summary_is_text_or_json_as_asked() {
    let folder = cities();
    let run = |flags: &[&str]| {
        let output = folder.bethe(&[&CITIES[..], &["--fit", "none"], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), error(&output))
    };
    // A pipe is no terminal.
    let (piped, said) = run(&[]);
    assert_eq!(serde_json::from_str::<Value>(&piped).unwrap()["status"], "converged");
    assert!(said.contains("\nconverged: gap "), "{said}");
    let (text, said) = run(&["--format", "text"]);
    assert!(text.starts_with("converged: gap "), "{text}");
    assert!(text.ends_with("\n--out DIR writes the flows, and a map of them\n"), "{text}");
    assert!(!said.contains("converged"), "said once: {said}");
    assert_eq!(run(&["--out", "out"]).0, "");
    let (json, said) = run(&["--out", "out", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["cells"], 6);
    assert!(said.contains("\nwritten: "), "{said}");
    let (text, _) = run(&["--out", "out", "--format", "text"]);
    assert!(text.contains("\nwritten: summary.json"), "{text}");
}

#[test]
fn seasons_extents_and_a_year_that_closes() {
    let folder = cities().with("open.csv", "week,A,B,C,D,E,F\n1,1,1,1,1,1,1\n2,1,1,1,1,1,0\n3,1,1,1,1,1,1\n4,1,1,1,1,1,1\n5,1,1,1,1,1,1\n");
    let birdflow = ["flows", "counts.csv", "--cells", "cells.csv", "--loss", "birdflow"];
    let weights = "obs=1,distance=0.01,entropy=0.01,power=0.4,unit=1";
    let run = |out: &str, further: &[&str]| {
        let own = ["--weights", weights, "--out", out, "--quiet"];
        folder.succeeds(&[&birdflow[..], &own, further].concat());
        rows(&folder.read(&format!("{out}/counts.csv")))
    };
    let year = run("year", &["--close-year"]);
    assert_eq!(year.last().unwrap()[0], "1 again");
    let short = run("short", &["--last", "4", "--close-year"]);
    assert_eq!(
        short.iter().map(|row| &row[0]).collect::<Vec<_>>(),
        ["1", "2", "3", "4", "1 again"]
    );
    let season = run("season", &["--first", "4", "--last", "2"]);
    assert_eq!(season.iter().map(|row| &row[0]).collect::<Vec<_>>(), ["4", "5", "1", "2"]);
    assert_eq!(number(&run("open", &["--extent", "open.csv"])[1][6]), 0.0);
    assert_eq!(number(&run("counted", &["--extent", "counted"])[0][4]), 0.0);
    // The loss that is told is the one that was minimised, in other units.
    let answer: Value = serde_json::from_str(&folder.read("open/summary.json")).unwrap();
    let routes = answer["birdflow"]["of_routes"].as_f64().unwrap();
    assert!((routes - 0.01 * answer["objective"].as_f64().unwrap()).abs() < 1e-6, "{answer}");
}

#[test]
fn marked_individuals_score_flows_and_tune_weights() {
    let pairs = "time_from,cell_from,time_to,cell_to\n1,A,3,B\n1,A,2,A\n2,B,4,C\n3,C,5,D\n";
    let folder = cities().with("pairs.csv", pairs);
    let flags = ["--pairs", "pairs.csv", "--tune", "pairs", "--out", "out", "--quiet"];
    folder.succeeds(&[&CITIES[..], &flags].concat());
    let answer: Value = serde_json::from_str(&folder.read("out/summary.json")).unwrap();
    assert_eq!(answer["validation"]["all"]["individuals"], 2);
    assert!(answer["validation"]["all"]["flows"].as_f64().unwrap() < 0.0);
    let tried = rows(&folder.read("out/tuning.csv"));
    assert_eq!(tried.iter().filter(|row| row.last().unwrap() == "yes").count(), 1);
    assert!(folder.read("out/tuning.svg").starts_with("<svg"));
    let refusal = folder.refusal(&[&CITIES[..], &["--tune", "pairs"]].concat());
    assert_eq!(refusal, "--tune pairs needs --pairs");
}

#[test]
fn standard_errors_are_written_beside_counts_and_flows() {
    let folder = cities();
    let bootstrap = ["--bootstrap", "20", "--out", "boot", "--quiet"];
    folder.succeeds(&[&CITIES[..], &bootstrap].concat());
    folder.succeeds(&[&CITIES[..], &["--out", "out", "--quiet"]].concat());
    for out in ["out", "boot"] {
        let flows = folder.read(&format!("{out}/flows.csv"));
        assert!(flows.starts_with("time,from,to,count,standard_error\n"), "{out}");
        assert!(rows(&flows).iter().all(|row| number(&row[4]) >= 0.0));
        let errors = rows(&folder.read(&format!("{out}/errors.csv")));
        assert_eq!((errors.len(), errors[0].len()), (5, 7));
        assert!(number(&errors[0][1]) > 0.5 && number(&errors[0][1]) < 40.0, "{errors:?}");
    }
    let answer: Value = serde_json::from_str(&folder.read("boot/summary.json")).unwrap();
    assert_eq!(answer["errors"]["replicates"], 20);
    assert!(answer["errors"]["coverage"].as_f64().unwrap() > 0.5);
}
