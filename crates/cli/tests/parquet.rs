//! `bethe flows --parquet`, in builds with the feature: the same flows as in `flows.csv`.
#![cfg(feature = "parquet")]

mod common;

use common::Folder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

#[test]
fn parquet_holds_the_flows_of_the_table() {
    let folder = Folder::new()
        .with("cells.csv", "cell,x,y\na,0,0\nb,1,0\nc,2,0\n")
        .with("counts.csv", "time,a,b,c\n1,5,1,0\n2,2,3,1\n3,1,3,2\n");
    let flags = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "6"];
    folder.succeeds(&[&flags[..], &["--out", "out", "--parquet", "--quiet"]].concat());
    let file = std::fs::File::open(folder.path("out/flows.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let table = folder.read("out/flows.csv");
    let mut lines = table.lines().skip(1);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let names = [0, 1, 2].map(|column| row.get_string(column).unwrap().clone());
        let line: Vec<&str> = lines.next().expect("as many flows").split(',').collect();
        assert_eq!(names[..], line[..3]);
        let (found, expected) = (row.get_double(3).unwrap(), line[3].parse::<f64>().unwrap());
        assert!((found - expected).abs() <= 1e-5 * expected, "{found} for {expected}");
    }
    assert_eq!(lines.next(), None);
}
