//! Junction trees and estimation from noisy tables, beside PyPI `mbi` on the same models in one
//! run.
//!
//! `PYTHON=… cargo bench -p bethe-bench --bench graphs [-- oracle|estimate|memory|pgmpy]`, with a
//! Python that has `mbi` and `pgmpy`; without them ours are timed alone. One thread each; times are
//! of the processor. Compiling the other side's estimators takes an hour; `-- estimate --model 50`
//! is for the models whose name has `50` in it.

mod estimation;
mod models;
mod oracle;
mod peer;

use bethe_bench::{Verdicts, usage};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [job, index] = &arguments[..]
        && job == "--memory"
    {
        return oracle::memory_of(index.parse().expect("the number of a model"));
    }
    let flag = arguments.iter().position(|a| a == "--model");
    let parts = &arguments[..flag.unwrap_or(arguments.len())];
    let is_asked_for = |part: &str| parts.is_empty() || parts.iter().any(|a| a == part);
    let name = flag.map_or("", |at| arguments.get(at + 1).expect("a name after --model"));
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut verdicts = Verdicts::default();
    let shapes = models::all();
    one_thread.install(|| {
        if is_asked_for("oracle") {
            oracle::compare(&shapes, &mut verdicts);
        }
        if is_asked_for("memory") {
            oracle::memory(&shapes, &mut verdicts);
        }
        if is_asked_for("estimate") {
            let named = shapes[..3].iter().filter(|shape| shape.name.contains(name));
            estimation::compare(named, &mut verdicts);
        }
        if is_asked_for("pgmpy") {
            oracle::compare_with_pgmpy(&shapes[0]);
        }
    });
    verdicts.print();
}
