//! How close the chain oracle comes to the matrix–vector products it must do.
//!
//! `cargo bench -p bethe-bench --bench chain --features peers [-- --results DIR]` prints what was
//! measured. Alternatives are timed in turn within one run; a time is the least of many. Without
//! `peers` there is no table of dense transitions.

use std::hint::black_box;
use std::sync::Arc;

use bethe_bench::{Library, Report, exponent, time};
use bethe_core::oracle::Oracle;
use bethe_core::oracle::chain::bench::Products;
use bethe_core::oracle::chain::{Chain, ChainModel, Storage};
use bethe_core::support::Support;
use bethe_io::results::Table;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

fn main() {
    let names = ["chain-sparse", "chain-dense"];
    let report = Report::new("chain", if Library::IS_PRESENT { &names } else { &names[..1] });
    let dense = forward_backward();
    let sparse = sparse();
    growth();
    match Library::IS_PRESENT {
        true => report.finish(&[dense, sparse]),
        false => {
            println!(
                "skipped, the table chain-dense: faer is not built in, --features peers adds it"
            );
            report.finish(&[sparse]);
        }
    }
}

/// The length that the tables are about.
const LENGTH: usize = 50;

/// A sequence of a homogeneous chain and a tilt, with the support that its marginals are for.
struct Workload {
    chain: Chain,
    tilt: Vec<f64>,
    marginals: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Tilted {
    /// A tilt and a marginal for every state of every position.
    Everything,
    /// Only the counts of labels.
    Counts,
}

impl Workload {
    fn new(model: &Arc<ChainModel>, length: usize, tilted: Tilted) -> Self {
        let mut rng = StdRng::seed_from_u64(7);
        let states = model.states(0);
        let scores: Vec<f64> = (0..length * states).map(|_| rng.random_range(-3.0..3.0)).collect();
        let mut support = Support::new();
        match tilted {
            Tilted::Everything => {
                for t in 0..length {
                    support.add(vec![t], states);
                }
            }
            Tilted::Counts => {
                support.add((0..length).collect(), states);
            }
        }
        let tilt = (0..support.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
        let marginals = vec![0.0; support.len()];
        let chain = Chain::new(model.clone(), &scores, support).unwrap();
        Self { chain, tilt, marginals }
    }

    fn run(&mut self) {
        black_box(self.chain.tilted(black_box(&self.tilt), &mut self.marginals));
    }
}

/// Random transitions between the states for which `allowed` holds.
fn transitions(states: usize, allowed: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(3);
    let entry = |cell: usize| {
        let value = rng.random_range(-2.0..2.0);
        if allowed(cell / states, cell % states) { value } else { f64::NEG_INFINITY }
    };
    (0..states * states).map(entry).collect()
}

fn dense_model(states: usize) -> Arc<ChainModel> {
    Arc::new(ChainModel::homogeneous(states, &transitions(states, |_, _| true)).unwrap())
}

/// The same as probabilities, so that products of any number stay in range.
fn stochastic(states: usize) -> Vec<f64> {
    let mut table: Vec<f64> = transitions(states, |_, _| true).iter().map(|x| x.exp()).collect();
    for row in table.chunks_exact_mut(states) {
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x /= total);
    }
    table
}

/// A call against its bare products, and these against a tuned library's.
fn forward_backward() -> Table {
    heading();
    let columns = ["labels", "µs per call", "call over bare products", "bare products over `faer`"];
    let mut found = Table::new("chain-dense", &columns);
    for states in [8, 26, 64, 128, 256] {
        let model = dense_model(states);
        let table = stochastic(states);
        for length in [20, LENGTH, 200] {
            let mut all = Workload::new(&model, length, Tilted::Everything);
            let mut counts = Workload::new(&model, length, Tilted::Counts);
            let mut bare = Products::new(states, &table);
            let mut alone = Products::new(states, &table);
            let mut library = Library::new(states, &table);
            let times = time(&mut [
                &mut || all.run(),
                &mut || counts.run(),
                &mut || bare.run(black_box(length - 1), true),
                &mut || alone.run(black_box(length - 1), false),
                &mut || library.run(black_box(length - 1)),
            ]);
            black_box((bare.result(), alone.result(), library.result()));
            let [all, counts, bare, alone, library] = times[..] else { unreachable!() };
            let flops = 4.0 * (states * states * (length - 1)) as f64;
            println!(
                "{states:>5} {length:>5} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>8.1} {:>8.1} {:>7.2} {:>7.2} {:>7.2}",
                all * 1e6,
                counts * 1e6,
                bare * 1e6,
                alone * 1e6,
                library * 1e6,
                flops / all * 1e-9,
                flops / bare * 1e-9,
                all / bare,
                counts / bare,
                if Library::IS_PRESENT { bare / library } else { f64::NAN }
            );
            if length == LENGTH {
                let numbers = [all * 1e6, all / bare, bare / library];
                let cells = numbers.map(|number| format!("{number:.2}"));
                found.push(std::iter::once(states.to_string()).chain(cells));
            }
        }
    }
    found
}

fn heading() {
    println!("forward–backward against its 2(T−1) bare products, and these against faer's");
    println!(
        "    µs per call; counts: one tilt for all positions; alone: no product waits for another"
    );
    println!(
        "{:>5} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7} {:>7} {:>7}",
        "K",
        "T",
        "all",
        "counts",
        "bare",
        "alone",
        "faer",
        "GF/s",
        "bareGF/s",
        "all/b",
        "cnt/b",
        "b/faer"
    );
}

/// Sparse storage against dense storage of the same chain.
///
/// A tenth of the transitions is allowed: scattered at random, which is the worst case, or those
/// within reach on a grid, where neighbouring columns share rows.
fn sparse() -> Table {
    println!(
        "\na tenth of the transitions allowed, T = {LENGTH}, label counts tilted: µs per call"
    );
    println!(
        "{:>10} {:>5} {:>8} {:>9} {:>9} {:>9} {:>14} {:>9} {:>9}",
        "", "K", "allowed", "dense", "sparse", "chosen", "ns/transition", "d/sparse", "d/chosen"
    );
    let columns = ["allowed transitions", "64 labels", "128 labels", "256 labels", "512 labels"];
    let mut found = Table::new("chain-sparse", &columns);
    let mut rows =
        ["scattered at random", "neighbours on a grid"].map(|name| vec![name.to_string()]);
    for (states, width, reach) in [(64, 8, 1), (128, 16, 1), (256, 16, 2), (512, 32, 3)] {
        let mut rng = StdRng::seed_from_u64(11);
        let scattered: Vec<bool> = (0..states * states).map(|_| rng.random_bool(0.1)).collect();
        let near = |a: usize, b: usize| a.abs_diff(b) <= reach;
        let grid = |i: usize, j: usize| near(i / width, j / width) && near(i % width, j % width);
        let patterns = [
            ("scattered", transitions(states, |i, j| i == j || scattered[i * states + j])),
            ("grid", transitions(states, grid)),
        ];
        for ((pattern, table), row) in patterns.into_iter().zip(&mut rows) {
            let stored = table.iter().filter(|value| value.is_finite()).count();
            let workload = |storage| {
                let model = ChainModel::homogeneous_stored(states, &table, storage).unwrap();
                Workload::new(&Arc::new(model), LENGTH, Tilted::Counts)
            };
            let mut dense = workload(Storage::Dense);
            let mut sparse = workload(Storage::Sparse);
            let mut chosen = workload(Storage::Automatic);
            let times =
                time(&mut [&mut || dense.run(), &mut || sparse.run(), &mut || chosen.run()]);
            assert!(!sparse.chain.used_log_domain());
            let [dense, sparse, chosen] = times[..] else { unreachable!() };
            println!(
                "{pattern:>10} {states:>5} {:>7.1}% {:>9.2} {:>9.2} {:>9.2} {:>14.3} {:>9.2} {:>9.2}",
                100.0 * stored as f64 / (states * states) as f64,
                dense * 1e6,
                sparse * 1e6,
                chosen * 1e6,
                sparse * 1e9 / (2 * (LENGTH - 1) * stored) as f64,
                dense / sparse,
                dense / chosen
            );
            row.push(format!("{:.2}", dense / chosen));
        }
    }
    rows.into_iter().for_each(|row| found.push(row));
    found
}

/// How time grows with the length and with the number of states.
fn growth() {
    println!("\ngrowth");
    let call = |states: usize, length: usize| {
        let model = dense_model(states);
        let mut workload = Workload::new(&model, length, Tilted::Everything);
        let seconds = time(&mut [&mut || workload.run()])[0];
        println!("  K = {states:>4}  T = {length:>6}  {:>10.2} µs", seconds * 1e6);
        seconds
    };
    let lengths = [50, 200, 800, 3200];
    let times = lengths.map(|length| call(26, length));
    let in_length = exponent(&lengths, &times);
    println!("  time ~ T^{in_length:.2} at K = 26");
    // Tables of 128 to 512 KiB, too large for the first cache and not for the second: each cache
    // that a table outgrows adds a step of its own, as the last line shows.
    let states = [128, 181, 256];
    let times = states.map(|states| call(states, 50));
    let in_states = exponent(&states, &times);
    println!("  time ~ K^{in_states:.2} at T = 50");
    call(512, 50);
}
