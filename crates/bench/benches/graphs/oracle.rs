//! One call of the oracle: from potentials to the marginals of the same tables.

use std::time::Instant;

use bethe_core::Oracle;
use bethe_core::oracle::JunctionTree;
use bethe_io::results::{Table, duration, grouped, rounded};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::models::Shape;
use crate::peer::{Folder, run};
use crate::usage::{forget_peak_memory, peak_memory, processor_seconds};

pub const TABLE: &str = "graphs-oracle";
/// Marginals of both sides agree to this, or their times are not comparable.
const AGREEMENT: f64 = 1e-9;
/// Seconds for which calls are repeated; the least time counts.
const REPEAT: f64 = 4.0;
/// What is timed at once takes at least so long: the processor's clock ticks.
const BATCH: f64 = 0.02;

/// What a call took.
pub struct Call {
    seconds: f64,
    /// The fastest oracle of `mbi`, where it ran.
    theirs: Option<f64>,
}

pub fn compare(shapes: &[Shape]) -> Vec<Call> {
    println!("one call of the oracle, potentials to marginals, one thread");
    shapes.iter().map(compare_one).collect()
}

fn compare_one(shape: &Shape) -> Call {
    let folder = Folder::new();
    let potentials = potentials(shape);
    folder.write("potentials.f64", &potentials);
    folder.write_json("model.json", &json!({"sizes": shape.sizes, "scopes": shape.scopes}));
    let (seconds, marginals) = ours(shape, &potentials);
    println!(
        "  {}: {} tables of {} cells, cliques of {}; bethe {:.3} ms a call, {:.2} ns a cell",
        shape.name,
        shape.scopes.len(),
        shape.table_cells(),
        shape.clique_cells(),
        1e3 * seconds,
        1e9 * seconds / shape.clique_cells() as f64,
    );
    let path = folder.path().display().to_string();
    let Some(theirs) = run("private_pgm.py", &["oracle", &path]) else {
        return Call { seconds, theirs: None };
    };
    show(&theirs);
    let apart = farthest(&folder.read("marginals.f64"), &marginals);
    assert!(apart <= AGREEMENT, "{}: marginals differ by {apart:.1e}", shape.name);
    let best = theirs["best"].as_str().expect("a name");
    let theirs = Some(theirs["oracles"][best]["seconds"].as_f64().expect("a number"));
    Call { seconds, theirs }
}

/// Calls and memory, if `mbi` ran on all models.
pub fn table(shapes: &[Shape], calls: &[Call], memory: &[Option<f64>]) -> Option<Table> {
    let columns =
        ["model", "clique cells", "bethe", "`mbi` over bethe", "memory over clique tables"];
    let mut table = Table::new(TABLE, &columns);
    for ((shape, call), memory) in shapes.iter().zip(calls).zip(memory) {
        table.push([
            shape.name.to_string(),
            grouped(shape.clique_cells() as f64),
            duration(call.seconds),
            rounded(call.theirs? / call.seconds),
            memory.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    Some(table)
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
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

/// Memory of an oracle over that of the tables of its cliques, each in a process of its own; for
/// the models that are large enough to tell.
pub fn memory(shapes: &[Shape]) -> Vec<Option<f64>> {
    println!("memory of the oracle");
    let one = |(index, shape): (usize, &Shape)| {
        if index < 2 {
            return None;
        }
        let program = std::env::current_exe().expect("this program");
        let mut job = std::process::Command::new(program);
        // What is freed goes back at once, or it would hide what the oracle takes.
        job.args(["--memory", &index.to_string()]).env("MIMALLOC_PURGE_DELAY", "0");
        let output = job.output().expect("this program starts again");
        let text = String::from_utf8_lossy(&output.stdout);
        let bytes: f64 = text.trim().parse().expect("a number of bytes");
        let tables = 8.0 * shape.clique_cells() as f64;
        println!("  {}: {:.1} MB for tables of {:.1} MB", shape.name, bytes / 1e6, tables / 1e6);
        bytes.is_finite().then_some(bytes / tables)
    };
    shapes.iter().enumerate().map(one).collect()
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
    let before = if forget_peak_memory() { peak_memory() } else { None };
    let mut tree = JunctionTree::new(&base, &support).expect("narrow enough");
    tree.tilted(&potentials, &mut marginals);
    let most = before.and_then(|before| Some(peak_memory()? - before));
    println!("{}", most.unwrap_or(f64::NAN));
}

/// The same marginals by another library's junction tree: a table of one row, if it is there.
pub fn compare_with(library: &str, shape: &Shape) -> Option<Table> {
    let folder = Folder::new();
    let potentials = potentials(shape);
    folder.write("potentials.f64", &potentials);
    folder.write_json("model.json", &json!({"sizes": shape.sizes, "scopes": shape.scopes}));
    let (seconds, marginals) = ours(shape, &potentials);
    let path = folder.path().display().to_string();
    let theirs = run(&format!("{library}_tree.py"), &[&path])?;
    let apart = farthest(&folder.read("marginals.f64"), &marginals);
    let slow = theirs["seconds"].as_f64().expect("a number");
    let over = format!("`{library}` over bethe");
    let columns = ["model", "bethe", library, &over, "marginals differ by at most"];
    let mut table = Table::new(&format!("graphs-{library}"), &columns);
    table.push([
        shape.name.to_string(),
        duration(seconds),
        duration(slow),
        rounded(slow / seconds),
        format!("{apart:.0e}"),
    ]);
    Some(table)
}
