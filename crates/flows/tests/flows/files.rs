//! Files of cells, counts and covariates: what is read, and every message about what is not.

use std::io::Write;
use std::path::PathBuf;

use bethe_core::MemoryLimit;
use bethe_flows::data::{
    Cells, Geometry, Layout, Observations, TableError, Unlisted, read_cell_values, read_cells,
    read_covariates, read_observations,
};
use bethe_flows::model::{Feature, FeatureKind, SpecificationError, Stated};
use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;

const CELLS: &str = "cell,x,y\na,0,0\nb,1,0\nc,0,1\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap()).with("cells.csv", CELLS)
    }

    fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn cells(&self) -> Cells {
        read_cells(&self.path("cells.csv"), None, MemoryLimit::NONE).unwrap()
    }

    fn observations(&self, content: &str) -> Result<Observations, TableError> {
        self.counts(content, Unlisted::Unobserved).map(|(observations, _)| observations)
    }

    fn counts(
        &self,
        content: impl AsRef<[u8]>,
        unlisted: Unlisted,
    ) -> Result<(Observations, Layout), TableError> {
        std::fs::write(self.path("counts.csv"), content).unwrap();
        self.counts_of("counts.csv", unlisted)
    }

    fn counts_of(
        &self,
        name: &str,
        unlisted: Unlisted,
    ) -> Result<(Observations, Layout), TableError> {
        let (cells, at) = (self.cells(), self.path("cells.csv"));
        read_observations(&self.path(name), (&cells, &at), unlisted, MemoryLimit::NONE)
    }

    fn covariates(
        &self,
        content: &str,
        times: &[&str],
    ) -> Result<Vec<(String, FeatureKind)>, TableError> {
        std::fs::write(self.path("more.csv"), content).unwrap();
        let times: Vec<String> = times.iter().map(|time| time.to_string()).collect();
        let cells = self.cells();
        let read = read_covariates(
            &self.path("more.csv"),
            (&cells, &self.path("cells.csv")),
            &times,
            MemoryLimit::NONE,
        );
        read.map(|all| all.into_iter().map(|own| (own.name, own.kind)).collect())
    }

    /// A message without the folder.
    fn message(&self, error: TableError) -> String {
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

#[test]
fn columns_are_matched_by_name_in_any_order() {
    let folder = Folder::new();
    let read = folder.observations("Day,c,a,b\n1,3,1,2\nlater,,NA, 5 \n7\n").unwrap();
    assert_eq!(read.times(), ["1", "later", "7"]);
    assert_eq!(read.at(0), [Some(1.0), Some(2.0), Some(3.0)]);
    assert_eq!(read.at(1), [None, Some(5.0), None]);
    assert_eq!(read.at(2), [None, None, None]);
}

#[test]
fn a_prefix_that_all_columns_have_may_be_left_out() {
    let numbered = "cell,x,y\n0,0,0\n1,1,0\n10,0,1\n";
    let folder = Folder::new().with("cells.csv", numbered);
    let read = folder.observations("week0,c10,c0,c1\n0,3,1,2\n").unwrap();
    assert_eq!(read.at(0), [Some(1.0), Some(2.0), Some(3.0)]);
    let named = "cell,x,y\nCell0,0,0\nCell1,1,0\nCell10,0,1\n";
    let folder = Folder::new().with("cells.csv", named);
    let read = folder.observations("week0,10,0,1\n0,3,1,2\n").unwrap();
    assert_eq!(read.at(0), [Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn gzip_byte_order_marks_and_quotes_are_read() {
    let folder = Folder::new().with("cells.csv", "cell,x,y\n\"a, left\",0,0\nb,1,0\n");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all("\u{feff}time,\"a, left\",b\r\n1,2,3\r\n".as_bytes()).unwrap();
    std::fs::write(folder.path("packed"), packed.finish().unwrap()).unwrap();
    let (read, layout) = folder.counts_of("packed", Unlisted::Unobserved).unwrap();
    assert_eq!((read.at(0), layout), (&[Some(2.0), Some(3.0)][..], Layout::Wide));
}

#[test]
fn long_files_are_told_by_their_header() {
    let folder = Folder::new();
    let headers = ["time,place,count", "date,SITE,n", "Week,cell,Abundance"];
    for header in headers {
        let text = format!("{header}\n10,b,4\n9,a,1\n9,c,NA\n10,c,2.5\n");
        let (read, layout) = folder.counts(&text, Unlisted::Unobserved).unwrap();
        assert_eq!(layout, Layout::Long { unlisted: 2 });
        assert_eq!(read.times(), ["9", "10"], "numbers ascend");
        assert_eq!(read.at(0), [Some(1.0), None, None]);
        assert_eq!(read.at(1), [None, Some(4.0), Some(2.5)]);
        let (read, _) = folder.counts(&text, Unlisted::Zero).unwrap();
        assert_eq!(read.at(0), [Some(1.0), Some(0.0), None], "NA is not observed still");
    }
    let more = "species,count,month,zone\nx,2,2021-10,b\nx,3,2021-09,a\n";
    let (read, _) = folder.counts(more, Unlisted::Unobserved).unwrap();
    assert_eq!(read.times(), ["2021-09", "2021-10"], "so do dates");
    let named = "time,place,count\nspring,a,1\nfall,a,1\nspring,b,1\n";
    let (read, _) = folder.counts(named, Unlisted::Unobserved).unwrap();
    assert_eq!(read.times(), ["spring", "fall"], "others stay as they came");
    // A cell of such a name makes a wide file.
    let folder = Folder::new().with("cells.csv", "cell,x,y\ncount,0,0\nplace,1,0\n");
    let (read, layout) = folder.counts("time,place,count\n1,5,6\n", Unlisted::Zero).unwrap();
    assert_eq!((read.at(0), layout), (&[Some(6.0), Some(5.0)][..], Layout::Wide));
}

#[test]
fn cells_of_rasters_are_found_by_their_coordinates() {
    let folder = Folder::new();
    let text = "time,X,Y,Z\n1,0.000004,1,7\n1,1,0,8\n2,0,0,9\n";
    let (read, _) = folder.counts(text, Unlisted::Unobserved).unwrap();
    assert_eq!(read.at(0), [None, Some(8.0), Some(7.0)]);
    let folder = folder.with("cells.csv", "cell,lon,lat\nw,-170,10\ne,170,10\n");
    for text in ["time,lon,lat,count\n1,190,10,3\n", "time,x,y,count\n1,-170,10,3\n"] {
        let (read, _) = folder.counts(text, Unlisted::Unobserved).unwrap();
        assert_eq!(read.at(0), [Some(3.0), None]);
    }
    let text = "time,lon,lat,count\n1,-1e-12,50,3\n1,359.9999999,51,4\n1,2e-9,52,5\n";
    let meridian =
        Folder::new().with("cells.csv", "cell,lon,lat\na,0,50\nb,0,51\nc,360,52\nd,1,50\n");
    let (read, _) = meridian.counts(text, Unlisted::Unobserved).unwrap();
    assert_eq!(read.at(0), [Some(3.0), Some(4.0), Some(5.0), None]);
    let error = folder.counts("time,lon,lat,count\n1,3,4.5,3\n", Unlisted::Zero).unwrap_err();
    let message = "counts.csv:2: found the coordinates 3, 4.5, expected those of one of the 2 cells of cells.csv";
    assert_eq!(folder.message(error), message);
}

#[test]
fn files_of_european_spreadsheets_are_read() {
    let folder =
        Folder::new().with("cells.csv", "\u{feff}cell;x;y\r\na;0,0;0\r\nb;1;0\r\nc;0;1,0\r\n");
    assert_eq!(folder.cells().place(2), (0.0, 1.0));
    let read = folder.observations("Tag;a;b;\"c\"\n1;1,5;;3\n2;0;2,25;NA\n").unwrap();
    assert_eq!(read.at(0), [Some(1.5), None, Some(3.0)]);
    assert_eq!(read.at(1), [Some(0.0), Some(2.25), None]);
    let read = folder.observations("t\ta\tb\tc\n1\t1.5\t2\t3\n").unwrap();
    assert_eq!(read.at(0)[0], Some(1.5));
    let (read, _) = folder.counts("time;place;count\n1;a;1,5\n", Unlisted::Unobserved).unwrap();
    assert_eq!(read.at(0), [Some(1.5), None, None]);
    let cases = [
        (
            "t,a,b,c\n1,\"1,5\",2,3\n",
            "counts.csv:2, column a: found \"1,5\", expected a number with a decimal point; for decimal commas, separate values with semicolons",
        ),
        (
            "t;a;b;c\n1;1,5;2;3\n2;1.234;1;1\n",
            "counts.csv:3, column a: found \"1.234\", expected a decimal comma as in the numbers before, and no points between thousands",
        ),
        (
            "t;a;b;c\n1;1.5;2;3\n2;1,234;1;1\n",
            "counts.csv:3, column a: found \"1,234\", expected a decimal point as in the numbers before, and no commas between thousands",
        ),
        (
            "t;a;b;c\n1;1.234,5;2;3\n",
            "counts.csv:2, column a: found \"1.234,5\", expected one decimal comma or point, and nothing between thousands",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(folder.message(folder.observations(text).unwrap_err()), message);
    }
    let bytes: Vec<u8> = "t,a,b,c\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = folder.counts([&[0xff, 0xfe][..], &bytes].concat(), Unlisted::Zero).unwrap_err();
    let message = "counts.csv: found UTF-16, expected UTF-8; spreadsheets save it as CSV UTF-8";
    assert_eq!(folder.message(error), message);
}

#[test]
fn wrong_long_files_are_named() {
    let folder = Folder::new();
    let cases = [
        ("time,place,count\n", "counts.csv: found no rows after the header, expected at least one"),
        (
            "time,place,count\n1,d,2\n",
            "counts.csv:2, column 2: found the cell \"d\", expected one of the 3 cells of cells.csv",
        ),
        (
            "time,place,count\n1,a,2\n2,a,2\n1,a,3\n",
            "counts.csv:4: found the cell \"a\" at the time \"1\" a second time, expected each once",
        ),
        (
            "time,place,count\n1,a,-2\n",
            "counts.csv:2, column count: found \"-2\", expected a number of at least 0, or nothing or NA where it was not observed",
        ),
        (
            "time,place,count\n,a,2\n",
            "counts.csv:2, column time: found \"\", expected the name of a time",
        ),
        ("time,place,count\n1,a\n", "counts.csv:2: found 2 values, expected 3 as in the header"),
        (
            "time,place,many\n1,a,2\n",
            "counts.csv:1, column 2: found the cell \"place\", expected one of the 3 cells of cells.csv; for a row per count, name the columns time, cell and count",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(folder.message(folder.observations(text).unwrap_err()), message);
    }
}

#[test]
fn cells_with_both_kinds_of_coordinates_are_read_as_told() {
    let both = "cell,row,x,y,lon,lat\na,1,0,0,10,50\nb,2,3,4,11,50\n";
    let folder = Folder::new().with("cells.csv", both);
    let read =
        |geometry| read_cells(&folder.path("cells.csv"), geometry, MemoryLimit::NONE).unwrap();
    assert_eq!(read(None).distance(0, 1), 5.0);
    assert_eq!(read(Some(Geometry::Plane)), read(None));
    assert!((read(Some(Geometry::Globe)).distance(0, 1) - 71.5).abs() < 0.1);
    let globe = Folder::new().with("cells.csv", "region,site,longitude,latitude\nr,a,1,2\n");
    assert_eq!(globe.cells().names(), ["a"], "the more telling name wins");
    assert_eq!(globe.cells().geometry(), Geometry::Globe);
}

#[test]
fn wrong_cells_are_named() {
    let cases = [
        ("", "cells.csv: the file is empty, expected a header"),
        ("cell,x,y\n", "cells.csv: found no cells, expected at least one"),
        (
            "name,x,y\n",
            "cells.csv:1: found the columns name, x, y, expected cell, x and y, or cell, lon and lat",
        ),
        (
            "cell,x\na,1\n",
            "cells.csv:1: found the columns cell, x, expected cell, x and y, or cell, lon and lat",
        ),
        (
            "cell,x,y\na,1,1\nb,2,2\na,3,3\n",
            "cells.csv:4: found the cell \"a\" a second time, expected each once",
        ),
        ("cell,x,y\na,1\n", "cells.csv:2: found 2 values, expected 3 as in the header"),
        (
            "cell,x,y\na,1,5,2\n",
            "cells.csv:2: found 4 values, expected 3 as in the header; if numbers have decimal commas, \
             put semicolons between values",
        ),
        ("cell,x,y\na,1,far\n", "cells.csv:2, column y: found \"far\", expected a finite number"),
        ("cell,x,y\na,1,inf\n", "cells.csv:2, column y: found \"inf\", expected a finite number"),
        (
            "cell,lon,lat\na,1,91\n",
            "cells.csv:2, column lat: found \"91\", expected a latitude between -90 and 90 degrees",
        ),
        ("cell,x,y\n,1,1\n", "cells.csv:2, column cell: found \"\", expected the name of a cell"),
        (
            "cell,x,y,x\na,1,1,1\n",
            "cells.csv:1, column 4: found the column \"x\" a second time, expected each once",
        ),
    ];
    for (content, message) in cases {
        let folder = Folder::new().with("cells.csv", content);
        let error = read_cells(&folder.path("cells.csv"), None, MemoryLimit::NONE).unwrap_err();
        assert_eq!(folder.message(error), message);
    }
}

#[test]
fn longitudes_beyond_one_turn_are_no_places() {
    let read = |place: &str| {
        let folder = Folder::new().with("globe.csv", &format!("cell,lon,lat\na,{place}\n"));
        let cells = read_cells(&folder.path("globe.csv"), None, MemoryLimit::NONE);
        cells.map_err(|error| folder.message(error))
    };
    for place in ["-180,5", "360,-5"] {
        assert!(read(place).is_ok(), "{place}");
    }
    for (place, found) in [("500,5", "500"), ("-181,5", "-181")] {
        let message = format!(
            "globe.csv:2, column lon: found {found:?}, expected a longitude between -180 and 360 degrees"
        );
        assert_eq!(read(place).unwrap_err(), message);
    }
}

#[test]
fn wrong_counts_are_named() {
    let folder = Folder::new();
    let expected = "expected a number of at least 0, or nothing or NA where it was not observed";
    let cases = [
        ("", "counts.csv: the file is empty, expected a header".to_string()),
        ("t,a,b,c\n", "counts.csv: found no rows after the header, expected at least one".to_string()),
        ("t,a,b\n1,1,1\n", "counts.csv: found no column for the cell \"c\", expected one for each cell of cells.csv".to_string()),
        ("t,a,b,c,d\n1,1,1,1,1\n", "counts.csv:1, column 5: found the cell \"d\", expected one of the 3 cells of cells.csv".to_string()),
        ("t,a,b,a\n1,1,1,1\n", "counts.csv:1, column 4: found the column \"a\" a second time, expected each once".to_string()),
        ("t,a,b,c\n1,1,-2,1\n", format!("counts.csv:2, column b: found \"-2\", {expected}")),
        ("t,a,b,c\n1,1,2,1\n2,1,2,many\n", format!("counts.csv:3, column c: found \"many\", {expected}")),
        ("t,a,b,c\n1,1,NaN,1\n", format!("counts.csv:2, column b: found \"NaN\", {expected}")),
        ("t,a,b,c\n1,1,1e400,1\n", format!("counts.csv:2, column b: found \"1e400\", {expected}")),
        ("t,a,b,c\n1,1,2\n", "counts.csv:2: found 3 values, expected 4 as in the header".to_string()),
        ("t,a,b,c\n1,1,2,3\n1,1,2,3\n", "counts.csv:3: found the time \"1\" a second time, expected each once".to_string()),
    ];
    for (content, message) in cases {
        let error = folder.observations(content).unwrap_err();
        assert_eq!(folder.message(error), message);
    }
    let error = folder.counts(b"t,a,b,c\n1,\xff,2,3\n", Unlisted::Unobserved).unwrap_err();
    assert_eq!(
        folder.message(error),
        "counts.csv:2: found bytes that are not UTF-8, expected text; spreadsheets save it as CSV UTF-8"
    );
    let error = folder.counts_of("none.csv", Unlisted::Unobserved).unwrap_err();
    assert!(folder.message(error).starts_with("none.csv: there is no such file"));
}

#[test]
fn covariates_of_times_cells_and_pairs_are_read() {
    let folder = Folder::new();
    let wind = folder.covariates("Day,wind,extra\n2,W,x\n1,calm,y\n3,90,z\n", &["1", "2", "3"]);
    let (name, FeatureKind::Wind(winds)) = wind.unwrap().remove(0) else { panic!("no wind") };
    assert_eq!(name, "wind");
    assert_eq!(winds[..2], [(0.0, 0.0), (-1.0, 0.0)]);
    assert!((winds[2].0 - 1.0).abs() < 1e-12);
    let wind = folder.covariates("t,u,v\n1,0,-3\n", &["1"]).unwrap();
    assert_eq!(wind[0].1, FeatureKind::Wind([(0.0, -1.0)].into_iter().collect()));
    let of_cells = folder.covariates("cell,wood,lakes\nb,1,2\na,3,4\nc,5,6\n", &[]).unwrap();
    assert_eq!(of_cells[1].0, "lakes");
    assert_eq!(of_cells[0].1, FeatureKind::Destination([3.0, 1.0, 5.0].into_iter().collect()));
    let cells = folder.cells();
    let pairs = folder.covariates("from,to,road\nb,a,2\na,b,1\n", &["1", "2"]).unwrap().remove(0).1;
    assert_eq!([(0, 1), (1, 0), (0, 2)].map(|pair| pairs.value(&cells, 1, pair)), [1.0, 2.0, 0.0]);
    let timed = "time,from,to,ferry\n2,a,b,1\n1,a,b,4\n9,a,b,7\n";
    let timed = folder.covariates(timed, &["1", "2"]).unwrap().remove(0).1;
    assert_eq!([0, 1].map(|step| timed.value(&cells, step, (0, 1))), [4.0, 1.0]);
}

#[test]
fn wrong_covariates_are_named() {
    let folder = Folder::new();
    let cases = [
        (
            "time,rain\n1,2\n",
            "more.csv:1: found the columns time, rain, expected time and wind, time, u and v, cell and others, or from, to and others",
        ),
        (
            "time,wind\n1,N\n",
            "more.csv: found no row for the time \"2\", expected one for each time but the last",
        ),
        (
            "time,wind\n1,up\n",
            "more.csv:2, column wind: found \"up\", expected calm, a point of the compass such as NE, or degrees from north",
        ),
        (
            "time,wind\n1,N\n1,S\n",
            "more.csv:3: found the time \"1\" a second time, expected each once",
        ),
        (
            "cell\na\n",
            "more.csv:1: found the columns cell, expected a column of values beside them",
        ),
        (
            "cell,wood\na,1\nb,2\n",
            "more.csv: found no row for the cell \"c\", expected one for each cell of cells.csv",
        ),
        (
            "cell,wood\na,1\nd,2\n",
            "more.csv:3, column 1: found the cell \"d\", expected one of the 3 cells of cells.csv",
        ),
        (
            "cell,wood\na,1\na,2\n",
            "more.csv:3: found the cell \"a\" a second time, expected each once",
        ),
        (
            "cell,wood\na,thick\n",
            "more.csv:2, column wood: found \"thick\", expected a finite number",
        ),
        (
            "from,to,road\na,z,1\n",
            "more.csv:2, column 2: found the cell \"z\", expected one of the 3 cells of cells.csv",
        ),
        (
            "from,to,road\na,b,1\na,b,2\n",
            "more.csv:3: found the move from \"a\" to \"b\" a second time, expected each once",
        ),
    ];
    for (content, message) in cases {
        let error = folder.covariates(content, &["1", "2"]).unwrap_err();
        assert_eq!(folder.message(error), message);
    }
}

#[test]
fn values_of_cells_are_the_named_column_or_the_only_one() {
    let folder = Folder::new().with("rate.csv", "rate,cell,other\n1,a,x\n2,b,y\n0.5,c,z\n");
    let folder = folder.with("weight.csv", "cell,share\nc,3\na,1\nb,2\n");
    let (cells, at) = (folder.cells(), folder.path("cells.csv"));
    let rate = read_cell_values(&folder.path("rate.csv"), "rate", &cells, &at, MemoryLimit::NONE);
    assert_eq!(rate.unwrap(), [1.0, 2.0, 0.5]);
    let weight =
        read_cell_values(&folder.path("weight.csv"), "weight", &cells, &at, MemoryLimit::NONE);
    assert_eq!(weight.unwrap(), [1.0, 2.0, 3.0]);
    let error =
        read_cell_values(&folder.path("rate.csv"), "weight", &cells, &at, MemoryLimit::NONE)
            .unwrap_err();
    let message = "rate.csv:1: found the columns rate, cell, other, expected cell and weight";
    assert_eq!(folder.message(error), message);
}

#[test]
fn features_are_read_from_words() {
    let cells = Cells::grid(3, 3);
    let read = |text: &str| Feature::parse_list(text, &cells, &[]);
    let features = read("stay=0.5, distance=-2,goal:Cell9=1").unwrap();
    assert_eq!(features.iter().map(|f| f.weight).collect::<Vec<_>>(), [0.5, -2.0, 1.0]);
    assert_eq!(features[2].kind, FeatureKind::Goal(8));
    let twice = |(name, (x, y)): (String, (f64, f64))| (name, (2.0 * x, 2.0 * y));
    let named = (0..9).map(|cell| (cells.name(cell).to_string(), cells.place(cell)));
    let wide = Cells::new(Geometry::Plane, named.map(twice)).unwrap();
    // Distances count in spacings, whatever the unit.
    let far = Feature::parse_list("distance=-2", &wide, &[]).unwrap();
    let length = |cells: &Cells, feature: &Feature| feature.kind.value(cells, 0, (0, 2));
    assert_eq!(length(&wide, &far[0]), length(&cells, &features[1]));
    let bent = Feature::parse_list("distance^0.5=-2", &wide, &[]).unwrap();
    assert!((length(&wide, &bent[0]) - 2f64.sqrt()).abs() < 1e-12);
    let stated = Stated::parse_list("stay,goal:Cell9=1", &cells, &[]).unwrap();
    assert_eq!(stated.iter().map(|own| own.has_weight).collect::<Vec<_>>(), [false, true]);
    let messages = [
        ("stay", "found \"stay\", expected name=weight, such as distance=-1"),
        ("stay=a lot", "stay: found the weight \"a lot\", expected a finite number"),
        ("stay=1,stay=2", "found the feature \"stay\" twice, expected each once"),
        (
            "distance^-1=1",
            "found \"distance^-1\", expected distance^P with a positive number P, such as distance^0.5",
        ),
        ("distance=1,distance^2=2", "found the feature \"distance^2\" twice, expected each once"),
        ("goal:Oz=1", "goal: \"Oz\" is not one of the 9 cells"),
        ("wind=1", "wind needs a file of covariates"),
        (
            "height=1",
            "found the feature \"height\", expected one of stay, distance, distance^P, stride, goal:CELL, wind (which needs a file of covariates)",
        ),
    ];
    for (text, message) in messages {
        let error: SpecificationError = read(text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn times_after_the_last_are_the_next_numbers() {
    let mut observations = Observations::new(1);
    observations.push("19", [None]);
    observations.push("20", [None]);
    assert_eq!(observations.following(2), ["21", "22"]);
    observations.push("spring", [None]);
    assert_eq!(observations.following(2), ["+1", "+2"]);
}
