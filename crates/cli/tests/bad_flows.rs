//! Everything that `bethe flows` refuses: exit code 2, one line, nothing written.

mod common;

use common::{Folder, error};

const CELLS: &str = "cell,x,y\na,0,0\nb,1,0\nc,2,0\n";
const COUNTS: &str = "time,a,b,c\n1,5,1,0\n2,2,3,1\n";

fn folder() -> Folder {
    Folder::new().with("cells.csv", CELLS).with("counts.csv", COUNTS)
}

fn refusal(folder: &Folder, further: &[&str]) -> String {
    let before = folder.files();
    let fixed = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "6"];
    let message = folder.refusal(&[&fixed, further].concat());
    assert_eq!(folder.files(), before, "{message}");
    message
}

#[test]
fn mistakes_in_files_are_named_with_their_place() {
    let cases = [
        (
            "counts.csv",
            "time,a,b,c\n1,5,-1,0\n",
            "counts.csv:2, column b: found \"-1\", expected a number of at least 0, or nothing or NA where it was not observed",
        ),
        (
            "counts.csv",
            "time,a,b,c\n1,5,x,0\n",
            "counts.csv:2, column b: found \"x\", expected a number of at least 0, or nothing or NA where it was not observed",
        ),
        (
            "counts.csv",
            "time,a,b\n1,5,1\n",
            "counts.csv: found no column for the cell \"c\", expected one for each cell of cells.csv",
        ),
        (
            "counts.csv",
            "time,a,b,c,d\n1,5,1,1,1\n",
            "counts.csv:1, column 5: found the cell \"d\", expected one of the 3 cells of cells.csv",
        ),
        (
            "counts.csv",
            "time,a,b,b\n1,5,1,1\n",
            "counts.csv:1, column 4: found the column \"b\" a second time, expected each once",
        ),
        ("counts.csv", "", "counts.csv: the file is empty, expected a header"),
        (
            "cells.csv",
            "cell,x,y\na,0,0\nb,1,0\na,2,0\n",
            "cells.csv:4: found the cell \"a\" a second time, expected each once",
        ),
        (
            "cells.csv",
            "cell,x,y\na,0,zero\n",
            "cells.csv:2, column y: found \"zero\", expected a finite number",
        ),
    ];
    for (file, content, message) in cases {
        assert_eq!(refusal(&folder().with(file, content), &[]), message);
        assert_eq!(refusal(&folder().with(file, content), &["--out", "out"]), message);
    }
    let folder = folder();
    let message =
        folder.refusal(&["flows", "none.csv", "--cells", "cells.csv", "--population", "6"]);
    assert!(message.starts_with("none.csv: there is no such file"), "{message}");
    let message = refusal(&folder, &["--coordinates", "lonlat"]);
    assert_eq!(message, "cells.csv:1: found the columns cell, x, y, expected cell, lon and lat");
}

#[test]
fn a_first_line_of_numbers_is_no_header() {
    let expected = "counts.csv:1: found numbers, expected names: the first line must name the \
                    columns, in a file of counts the time and the cells";
    for counts in ["1,5,0,5\n2,5,5,5\n", "2024-01-01,5,7,6\n2024-01-02,5,5,5\n"] {
        assert_eq!(refusal(&folder().with("counts.csv", counts), &[]), expected);
    }
}

#[test]
fn counts_that_are_all_missing_are_refused() {
    let message = "counts.csv: found no count at any time, expected counts of two times or more";
    for content in ["time,a,b,c\n1,,,\n2,NA,NA,NA\n", "time,cell,count\n1,a,NA\n2,b,\n"] {
        let folder = folder().with("counts.csv", content);
        assert_eq!(refusal(&folder, &["--out", "out"]), message);
        assert_eq!(refusal(&folder, &["--noise", "squared"]), message);
    }
}

#[test]
fn wind_without_a_file_of_it_says_what_it_needs() {
    let expected = "--features: wind needs --covariates FILE.csv";
    for features in ["wind", "wind=1", "stay=1,wind"] {
        assert_eq!(refusal(&folder(), &["--features", features]), expected);
    }
}

#[test]
fn a_reach_that_is_too_short_is_told_once() {
    let folder = folder();
    let message = refusal(&folder, &["--reach", "0.1", "--start", "a"]);
    assert!(message.contains("no sequence of moves leads there from the start"), "{message}");
    // Where it does not fail, the warning is there.
    let arguments = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "6"];
    let output = folder.bethe(&[&arguments[..], &["--reach", "0.1"]].concat());
    assert!(error(&output).starts_with("warning: --reach: found 0.1, less than "));
}

#[test]
#[cfg(not(feature = "parquet"))]
fn a_build_without_parquet_says_so() {
    let expected = "--parquet: this build is without the feature `parquet`; to get it: cargo \
                    install --path crates/cli --features parquet";
    assert_eq!(refusal(&folder(), &["--out", "out", "--parquet"]), expected);
    assert!(!folder().succeeds(&["flows", "--help"]).contains("--parquet"));
}

#[test]
fn pairs_without_a_later_sighting_are_refused() {
    let pairs = "time_from,cell_from,time_to,cell_to\n2,a,1,b\n1,a,1,a\n";
    let message = refusal(&folder().with("pairs.csv", pairs), &["--pairs", "pairs.csv"]);
    assert_eq!(
        message,
        "pairs.csv: found no second sighting that is later than the first, expected at least one"
    );
}

#[test]
fn covariates_that_say_nothing_or_too_much_are_refused() {
    let given = |name: &str, content: &str, features: &str| {
        let folder = folder().with(name, content);
        refusal(&folder, &["--covariates", name, "--features", features])
    };
    let message = given("p.csv", "from,to,distance\na,b,3\n", "distance=-1");
    assert_eq!(
        message,
        "--features: the feature \"distance\" is also a column of a covariates file; rename that \
         column"
    );
    let message = given("p.csv", "time,from,to,ferry\n01,a,b,3\n", "ferry=1");
    assert!(message.starts_with("p.csv: found no row for the time \"1\", expected"), "{message}");
    let message = given("p.csv", "time,from,to,ferry\n1,a,b,3\n7,a,b,x\n", "ferry=1");
    assert_eq!(message, "p.csv:3, column ferry: found \"x\", expected a finite number");
    let message = given("w.csv", "wind,other\nN,1\n", "wind=1");
    assert!(message.ends_with("expected a column of times beside the wind"), "{message}");
}

#[test]
fn times_need_names_and_forecasts_an_end() {
    let nameless = folder().with("counts.csv", "time,a,b,c\n1,5,1,0\n,2,3,1\n");
    let message = refusal(&nameless, &[]);
    assert_eq!(message, "counts.csv:3, column time: found \"\", expected the name of a time");
    let endless = ["--out", "out", "--forecast", "18446744073709551615"];
    let message = refusal(&folder(), &endless);
    assert!(message.ends_with("expected at most 100000 steps"), "{message}");
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    std::fs::create_dir(folder.path("all")).unwrap();
    let folder = folder.with("all/counts.csv", COUNTS);
    let before = folder.files();
    let message = folder.refusal(&[
        "flows",
        "all/counts.csv",
        "--cells",
        "cells.csv",
        "--population",
        "6",
        "--out",
        "all",
    ]);
    assert_eq!(message, "--out: all/counts.csv is an input; choose another file");
    assert_eq!(folder.files(), before);
    assert_eq!(folder.read("all/counts.csv"), COUNTS);
}

#[test]
fn potentials_that_leave_nothing_are_no_flows() {
    let values = "cell,height\na,0\nb,-9.96921e36\nc,0\n";
    let folder = folder().with("v.csv", values);
    let output = folder.bethe(&[
        "flows",
        "counts.csv",
        "--cells",
        "cells.csv",
        "--population",
        "6",
        "--covariates",
        "v.csv",
        "--features",
        "height=1",
        "--out",
        "out",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let message = error(&output);
    assert!(message.contains("no movement explains the counts"));
    assert!(!folder.path("out").exists(), "what was made goes again");
}

#[test]
fn counts_that_the_reach_does_not_allow_are_named() {
    let message = refusal(&folder(), &["--start", "a", "--reach", "1", "--out", "out"]);
    assert_eq!(
        message,
        "counts.csv: time \"1\", cell \"b\": found a count of 1, but no sequence of moves leads there from the start; allow more with a longer --reach or another --start"
    );
}

#[test]
fn a_time_that_nobody_can_reach_is_named() {
    let folder = Folder::new()
        .with("cells.csv", "cell,x,y\na,0,0\nb,1,0\nc,9,0\n")
        .with("counts.csv", "time,a,b,c\nmay,3,2,0\njune,1,4,0\njuly,0,0,0\n")
        .with("open.csv", "time,a,b,c\nmay,1,1,0\njune,1,1,0\njuly,0,0,1\n");
    let given = ["--reach", "2", "--extent", "open.csv", "--out", "out"];
    for further in [&[][..], &["--fit", "none"], &["--noise", "squared"]] {
        let message = refusal(&folder, &[&given, further].concat());
        assert_eq!(
            message,
            "counts.csv: time \"july\": found no open cell that a sequence of moves leads to, expected at least one; allow more with a longer --reach, another --start or another --extent"
        );
    }
}

#[test]
fn flags_out_of_range_are_named() {
    let cases: [(&[&str], &str); 26] = [
        (&["--population", "0"], "--population: found 0, expected a number from 1e-6 to 1e15"),
        (&["--population", "nan"], "--population: found NaN, expected a number from 1e-6 to 1e15"),
        (
            &["--population", "1e308"],
            "--population: found 1e308, expected a number from 1e-6 to 1e15",
        ),
        (
            &["--population", "1e-300"],
            "--population: found 1e-300, expected a number from 1e-6 to 1e15",
        ),
        (&["--reach", "-1"], "--reach: found -1, expected a number of at least 0"),
        (&["--rate", "0"], "--rate: found 0, expected a positive number, or a file of cell,rate"),
        (
            &["--rate", "fast"],
            "--rate: found \"fast\", expected a positive number, or a file of cell,rate",
        ),
        (&["--variance", "1"], "--variance needs --noise gaussian, found --noise poisson"),
        (&["--weight", "1"], "--weight needs --noise squared, found --noise poisson"),
        (&["--shares"], "--shares needs --noise squared, found --noise poisson"),
        (
            &["--noise", "squared", "--rate", "1"],
            "--rate needs --noise poisson or gaussian, found --noise squared",
        ),
        (
            &["--noise", "gaussian", "--variance", "0"],
            "--variance: found 0, expected a positive number",
        ),
        (
            &["--features", "luck=1"],
            "--features: found the feature \"luck\", expected one of stay, distance, distance^P, stride, goal:CELL, wind (which needs a file of covariates)",
        ),
        (
            &["--start", "nowhere"],
            "--start: found \"nowhere\", expected free, the name of a cell, or a file of cell,weight",
        ),
        (&["--sample", "3"], "--sample needs --out DIR, the folder for its file"),
        (&["--threshold", "3"], "--threshold needs --out DIR, the folder for its file"),
        (&["--geojson"], "--geojson needs --out DIR, the folder for its file"),
        (&["--transitions"], "--transitions needs --out DIR, the folder for its file"),
        (&["--out", "o", "--crs", "EPSG:1"], "--crs needs --geojson"),
        (
            &["--out", "o", "--geojson", "--crs", "Albers"],
            "--crs: found \"Albers\", expected EPSG:CODE, such as EPSG:3035",
        ),
        (&["--out", "o", "--seed", "3"], "--seed needs --sample or --bootstrap"),
        (&["--out", "o", "--from", "a"], "--from needs --at"),
        (&["--out", "o", "--from", "z", "--at", "1"], "--from: \"z\" is not one of the 3 cells"),
        (
            &["--out", "o", "--from", "a", "--at", "9"],
            "--at: found \"9\", expected one of the times \"1\" to \"2\"",
        ),
        (&["--out", "o", "--forecast", "0"], "--forecast: found 0, expected at least 1"),
        (&["--solver", "dual", "--beta", "1"], "--beta needs --solver rda, found --solver dual"),
    ];
    for (flags, message) in cases {
        let folder = folder();
        let mut all = vec!["flows", "counts.csv", "--cells", "cells.csv"];
        if !flags.contains(&"--population") {
            all.extend(["--population", "6"]);
        }
        all.extend(flags);
        assert_eq!(folder.refusal(&all), message);
        assert_eq!(folder.files(), ["cells.csv", "counts.csv"]);
    }
}

#[test]
fn tuning_by_counts_needs_some_to_hold_out() {
    let sparse = folder().with("counts.csv", "time,a,b,c\n1,5,,\n2,,,\n");
    let message = refusal(&sparse, &["--tune", "counts", "--out", "o"]);
    assert_eq!(
        message,
        "counts.csv: --tune counts holds out a fifth of the counts, found 1, expected more"
    );
}

#[test]
fn errors_need_a_population_and_one_way_to_find_them() {
    let folder = folder();
    let birdflow = ["flows", "counts.csv", "--cells", "cells.csv", "--loss", "birdflow"];
    for flags in [["--bootstrap", "3"], ["--errors", "yes"]] {
        let message = folder.refusal(&[&birdflow[..], &["--out", "o"], &flags].concat());
        assert!(
            message
                .ends_with("needs --population: errors depend on how many individuals there are"),
            "{message}"
        );
    }
    folder.succeeds(&[&birdflow[..], &["--out", "o", "--quiet"]].concat());
    assert!(!folder.path("o/errors.csv").exists());
    for choice in ["yes", "no"] {
        let message = refusal(&folder, &["--out", "p", "--bootstrap", "3", "--errors", choice]);
        assert_eq!(message, "--errors cannot be used with --bootstrap, which computes them");
    }
}

#[test]
fn covariates_that_are_missing_or_of_no_use_are_named() {
    let folder = folder()
        .with("wind.csv", "time,wind\n1,N\n")
        .with("late.csv", "time,wind\n9,N\n")
        .with("wood.csv", "cell,wood\na,1\nb,2\nc,3\n")
        .with("rates.csv", "cell,rate\na,1\nb,0\nc,3\n");
    let with = |file: &str| ["--covariates", file].map(str::to_string);
    let refused = |file: &str, further: &[&str]| {
        let file = with(file);
        refusal(&folder, &[&[&file[0][..], &file[1]], further].concat())
    };
    assert_eq!(
        refused("late.csv", &["--features", "wind=1"]),
        "late.csv: found no row for the time \"1\", expected one for each time but the last"
    );
    assert_eq!(
        refused("wood.csv", &["--features", "distance=-1", "--fit", "none"]),
        "wood.csv: --features uses none of wood; give one of them a weight"
    );
    assert_eq!(
        refused("wood.csv", &["--covariates", "wood.csv", "--features", "wood=1"]),
        "wood.csv: the covariate \"wood\" is also in another file; rename one of them"
    );
    assert_eq!(
        refused("wind.csv", &["--features", "wind=1", "--out", "o", "--forecast", "1"]),
        "wind.csv: found no row for the time \"2\", expected one for each time but the last"
    );
    assert_eq!(
        refusal(&folder, &["--rate", "rates.csv"]),
        "rates.csv: cell \"b\": found the rate 0, expected a positive number"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named_before_any_work() {
    let folder = folder().with("taken", "not a folder");
    let message = refusal(&folder, &["--out", "taken/out"]);
    assert_eq!(message, "taken/out: cannot create: there is no folder taken");
    let message = refusal(&folder, &["--out", "far/out"]);
    assert_eq!(message, "far/out: cannot create: there is no folder far");
    assert!(!folder.path("far").exists());
}

#[test]
fn swapped_files_are_told() {
    let folder = folder();
    let message =
        folder.refusal(&["flows", "cells.csv", "--cells", "counts.csv", "--population", "6"]);
    assert_eq!(
        message,
        "counts.csv:1: found the columns time, a, b, c, expected cell, x and y, or cell, lon and lat; \
         cells.csv has cells: are the files swapped? Counts come first, cells after --cells"
    );
}

#[test]
fn learning_and_inferring_count_against_the_memory_limit() {
    let folder = folder();
    let message = refusal(&folder, &["--memory-limit", "1KiB"]);
    let begin = "cells.csv: learning how individuals move needs 6.1 KiB of memory, expected at most \
                 the limit of 1.0 KiB";
    assert!(message.starts_with(begin), "{message}");
    assert!(message.ends_with("; a shorter --reach or --fit none needs less"), "{message}");
    let message = refusal(&folder, &["--memory-limit", "1KiB", "--fit", "none"]);
    assert!(message.starts_with("cells.csv: inferring flows needs "), "{message}");
    assert!(message.ends_with("; a shorter --reach needs less"), "{message}");
}
