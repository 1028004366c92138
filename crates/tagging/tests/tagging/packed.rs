//! Opening files: packed or not, there or not.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bethe_tagging::data::{DataError, Format, Sequences};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

fn pack(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.conll");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn tokens(bytes: &[u8]) -> Result<Vec<String>, DataError> {
    let (_folder, path) = file(bytes);
    let mut found = Vec::new();
    for sequence in Sequences::open(&path, Format::Columns)? {
        let sequence = sequence?;
        found.extend((0..sequence.len()).map(|t| sequence.cell(t, 0).unwrap().to_string()));
    }
    Ok(found)
}

fn long_text() -> String {
    (0..20_000).map(|token| format!("{} O\n", token * token % 7919)).collect()
}

#[test]
fn gzip_is_known_by_its_bytes_and_not_by_its_name() {
    assert_eq!(tokens(&pack("a O\n\nb O\n")).unwrap(), ["a", "b"]);
    assert_eq!(tokens(b"a O\n\nb O\n").unwrap(), ["a", "b"]);
    assert_eq!(tokens(b"a").unwrap(), ["a"]);
    assert!(tokens(b"").unwrap().is_empty());
    assert!(tokens(&pack("")).unwrap().is_empty());
}

#[test]
fn gzip_files_put_together_are_one_text() {
    let parts = [pack("a O\n"), pack("b O\n")].concat();
    assert_eq!(tokens(&parts).unwrap(), ["a", "b"]);
}

#[test]
fn gzip_that_ends_early_says_so() {
    let packed = pack(&long_text());
    for kept in [2, 9, 100, packed.len() / 2, packed.len() - 1] {
        let error = tokens(&packed[..kept]).unwrap_err().to_string();
        assert!(error.ends_with("cannot read: the gzip data is cut off"), "{error}");
        assert!(error.contains("train.conll:"), "{error}");
    }
}

#[test]
fn gzip_with_a_wrong_byte_says_so() {
    let packed = pack(&long_text());
    let checksum = packed.len() - 8;
    for wrong in [2, checksum] {
        let mut packed = packed.clone();
        packed[wrong] ^= 0x55;
        let error = tokens(&packed).unwrap_err().to_string();
        assert!(error.ends_with("cannot read: the gzip data is corrupt"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named_as_it_was_given() {
    let error = Sequences::open("no/such.conll", Format::Columns).unwrap_err();
    assert!(error.to_string().starts_with("no/such.conll: there is no such file"), "{error}");
}

#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = Sequences::open(folder.path(), Format::Columns).unwrap_err();
    assert!(error.to_string().ends_with(": found a folder, expected a file"), "{error}");
}
