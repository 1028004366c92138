//! The stored inputs of every target, as ordinary tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bethe_fuzz::{TARGETS, Verdict, target};

/// What the stored inputs may take on disk in all.
const MOST_BYTES: u64 = 300_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs every stored input of a target. At least one must be accepted: inputs that are all refused
/// say nothing about what is behind the parser.
fn replay(name: &str) {
    let folder = fuzz().join("corpus").join(name);
    let mut accepted = 0;
    for input in names(&folder) {
        println!("{name}/{input}"); // the last one shown is the one that fails
        let bytes = fs::read(folder.join(&input)).unwrap();
        accepted += usize::from((target(name).run)(&bytes) == Verdict::Accepted);
    }
    assert!(accepted > 0, "{name}: no stored input is accepted");
}

macro_rules! replayed {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_replayed_and_has_a_fuzzer() {
            let replayed: BTreeSet<String> =
                [$(stringify!($name)),*].iter().map(|name| name.to_string()).collect();
            let targets = TARGETS.iter().map(|target| target.name.to_string()).collect();
            assert_eq!(replayed, targets);
            assert_eq!(names(&fuzz().join("corpus")), targets);
            let files = names(&fuzz().join("fuzz_targets"));
            let fuzzers: BTreeSet<String> =
                files.iter().map(|file| file.trim_end_matches(".rs").to_string()).collect();
            assert_eq!(fuzzers, targets);
            let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
            for name in targets {
                assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
            }
        }
    };
}

replayed! {
    archive attributes checkpoint cite_line cite_model columns energies evidence flows_cell_values
    flows_cells flows_covariates flows_features flows_observations gzip lexicons model problem rules
    template time uai
}

#[test]
fn the_stored_inputs_stay_small() {
    let mut bytes = 0;
    for target in TARGETS {
        let folder = fuzz().join("corpus").join(target.name);
        bytes += names(&folder)
            .iter()
            .map(|name| fs::metadata(folder.join(name)).unwrap().len())
            .sum::<u64>();
    }
    assert!(bytes <= MOST_BYTES, "{bytes} bytes: run `fuzz/run minimise`");
}
