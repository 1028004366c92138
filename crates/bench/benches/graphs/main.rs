//! Junction trees and estimation from noisy tables, beside PyPI `mbi` on the same models in one
//! run.
//!
//! `PYTHON=… cargo bench -p bethe-bench --bench graphs [-- oracle|memory|estimate|pgmpy|pyagrum]`,
//! with a Python that has `mbi`, `pgmpy` and `pyagrum`; without them `bethe` is timed alone. One
//! thread each; times are of the processor. Compiling the estimators of `mbi` takes an hour;
//! `-- estimate --model 50` is for the models whose name has `50` in it.
//!
//! With `--results DIR`, `oracle memory` write one table and `estimate` of all models another; the
//! others are printed.

mod estimation;
mod models;
mod oracle;
mod peer;

use bethe_bench::{Report, print, usage, value_of};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [job, index] = &arguments[..]
        && job == "--memory"
    {
        return oracle::memory_of(index.parse().expect("the number of a model"));
    }
    let parts: Vec<&str> =
        arguments.iter().map(String::as_str).take_while(|word| !word.starts_with("--")).collect();
    let is_wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let model = value_of("--model");
    let mut names = Vec::new();
    if is_wanted("oracle") && is_wanted("memory") {
        names.push(oracle::TABLE);
    }
    if is_wanted("estimate") && model.is_none() {
        names.push(estimation::TABLE);
    }
    let report = Report::new("graphs", &names);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (mut tables, mut printed) = (Vec::new(), Vec::new());
    let shapes = models::all();
    one_thread.install(|| {
        let calls = is_wanted("oracle").then(|| oracle::compare(&shapes));
        let memory = is_wanted("memory").then(|| oracle::memory(&shapes));
        if let (Some(calls), Some(memory)) = (calls, memory) {
            tables.extend(oracle::table(&shapes, &calls, &memory));
        }
        if is_wanted("estimate") {
            let name = model.as_deref().unwrap_or_default();
            let named: Vec<_> = shapes[..3].iter().filter(|s| s.name.contains(name)).collect();
            let outcomes: Vec<_> = named.into_iter().map(estimation::compare).collect();
            let table = estimation::table(&outcomes);
            if model.is_none() { &mut tables } else { &mut printed }.extend(table);
        }
        for library in ["pgmpy", "pyagrum"].into_iter().filter(|library| is_wanted(library)) {
            printed.extend(oracle::compare_with(library, &shapes[0]));
        }
    });
    print(&printed);
    report.finish(&tables);
}
