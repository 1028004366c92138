//! One call of the oracle: from potentials to the marginals of the same tables.

use std::time::Instant;

use bethe_bench::Verdicts;
use bethe_core::Oracle;
use bethe_core::oracle::JunctionTree;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::models::Shape;
use crate::peer::{Folder, run};
use crate::usage::{peak_memory, processor_seconds};

/// How much faster a call should be than the best of the other side's.
const TARGETS: [f64; 4] = [13.0, 13.0, 5.0, 5.0];
/// Seconds for which calls are repeated; the least time counts.
const REPEAT: f64 = 4.0;
/// What is timed at once takes at least so long: the processor's clock ticks.
const BATCH: f64 = 0.02;

pub fn compare(shapes: &[Shape], verdicts: &mut Verdicts) {
    println!("one call of the oracle, potentials to marginals, one thread");
    for (shape, target) in shapes.iter().zip(TARGETS) {
        let folder = Folder::new();
        let potentials = potentials(shape);
        folder.write("potentials.f64", &potentials);
        folder.write_json("model.json", &json!({"sizes": shape.sizes, "scopes": shape.scopes}));
        let (seconds, marginals) = ours(shape, &potentials);
        println!(
            "  {}: {} tables of {} cells, cliques of {}; ours {:.3} ms a call, {:.2} ns a cell",
            shape.name,
            shape.scopes.len(),
            shape.table_cells(),
            shape.clique_cells(),
            1e3 * seconds,
            1e9 * seconds / shape.clique_cells() as f64,
        );
        let path = folder.path().display().to_string();
        let Some(theirs) = run("private_pgm.py", &["oracle", &path]) else { continue };
        show(&theirs);
        let apart = folder
            .read("marginals.f64")
            .iter()
            .zip(&marginals)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        let best = theirs["best"].as_str().expect("a name");
        let best = theirs["oracles"][best]["seconds"].as_f64().expect("a number");
        verdicts.at_least(
            &format!("a call, mbi's best over ours, {}", shape.name),
            best / seconds,
            target,
        );
        verdicts.at_most(&format!("marginals apart, in 1e-9, {}", shape.name), 1e9 * apart, 1.0);
    }
}

fn show(theirs: &Value) {
    println!("    mbi has cliques of {} cells", theirs["cells"]);
    for (name, found) in theirs["oracles"].as_object().expect("oracles by name") {
        match (found["seconds"].as_f64(), found["compile"].as_f64()) {
            (Some(seconds), Some(compile)) => {
                println!(
                    "    mbi, {name:<22}{:>10.3} ms a call; compiled in {compile:.1} s",
                    1e3 * seconds
                );
            }
            _ => println!("    mbi, {name:<22} failed: {}", found["error"]),
        }
    }
}

fn potentials(shape: &Shape) -> Vec<f64> {
    let mut random = StdRng::seed_from_u64(2);
    (0..shape.table_cells()).map(|_| random.random_range(-2.0..2.0)).collect()
}

/// Seconds of a call, and the marginals.
fn ours(shape: &Shape, potentials: &[f64]) -> (f64, Vec<f64>) {
    let base = shape.base();
    let mut tree = JunctionTree::new(&base, &shape.support(&base)).expect("narrow enough");
    let mut marginals = vec![0.0; potentials.len()];
    tree.tilted(potentials, &mut marginals);
    let start = Instant::now();
    tree.tilted(potentials, &mut marginals);
    let repeats = (BATCH / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1e5) as usize;
    let (begun, mut least) = (Instant::now(), f64::INFINITY);
    while begun.elapsed().as_secs_f64() < REPEAT {
        let start = processor_seconds();
        for _ in 0..repeats {
            tree.tilted(potentials, &mut marginals);
        }
        least = least.min((processor_seconds() - start) / repeats as f64);
    }
    (least, marginals)
}

/// What the oracle takes, each in a process of its own.
pub fn memory(shapes: &[Shape], verdicts: &mut Verdicts) {
    println!("memory of the oracle, over what the tables of the cliques take");
    for (index, shape) in shapes.iter().enumerate().skip(2) {
        let program = std::env::current_exe().expect("this program");
        let output =
            std::process::Command::new(program).args(["--memory", &index.to_string()]).output();
        let output = output.expect("this program starts again");
        let text = String::from_utf8_lossy(&output.stdout);
        let Ok(bytes) = text.trim().parse::<f64>() else { continue };
        let tables = 8.0 * shape.clique_cells() as f64;
        println!("  {}: {:.1} MB for tables of {:.1} MB", shape.name, bytes / 1e6, tables / 1e6);
        verdicts.at_most(
            &format!("memory over clique tables, {}", shape.name),
            bytes / tables,
            3.0,
        );
    }
}

/// Prints by how much the most memory grew while an oracle was made and called, the marginals and
/// potentials of the caller apart.
pub fn memory_of(index: usize) {
    let shapes = crate::models::all();
    let shape = &shapes[index];
    let base = shape.base();
    let support = shape.support(&base);
    let potentials = potentials(shape);
    let mut marginals = vec![1.0; potentials.len()];
    let before = peak_memory().unwrap_or(0.0);
    let mut tree = JunctionTree::new(&base, &support).expect("narrow enough");
    tree.tilted(&potentials, &mut marginals);
    println!("{}", peak_memory().unwrap_or(f64::NAN) - before);
}

/// For the record: one variable's marginals by another library's junction tree.
pub fn compare_with_pgmpy(shape: &Shape) {
    let folder = Folder::new();
    let potentials = potentials(shape);
    folder.write("potentials.f64", &potentials);
    folder.write_json("model.json", &json!({"sizes": shape.sizes, "scopes": shape.scopes}));
    let (seconds, marginals) = ours(shape, &potentials);
    let path = folder.path().display().to_string();
    let Some(theirs) = run("pgmpy_tree.py", &[&path]) else { return };
    let found = folder.read("marginals.f64");
    let apart = found.iter().zip(&marginals).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let slow = theirs["seconds"].as_f64().expect("a number");
    println!(
        "pgmpy, {}: {slow:.3} s to calibrate and read all tables, {:.0} times ours; marginals apart by {apart:.1e}",
        shape.name,
        slow / seconds
    );
}
