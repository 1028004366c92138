//! Random convex problems.

#[path = "../../../core/tests/promises/cases.rs"]
mod cases;
#[path = "../../../core/tests/promises/checks.rs"]
mod checks;
#[path = "../../../core/tests/promises/double_double.rs"]
mod double_double;
#[path = "../../../core/tests/promises/truth.rs"]
mod truth;

use bethe_bench::value_of;
use bethe_io::results::{Table, grouped};
use cases::Case;
use checks::{Findings, Promise};
use rayon::prelude::*;

use super::Outcome;

pub const TABLE: &str = "promises-problems";

const COUNT: u64 = 20_000;
const SEED: u64 = 1;
/// No more problems are printed.
const PRINTED: usize = 20;

fn number(flag: &str, default: u64) -> u64 {
    let given = value_of(flag).map(|text| text.parse().expect("a whole number"));
    given.unwrap_or(default)
}

pub fn check() -> Outcome {
    let (count, first) = (number("--count", COUNT), number("--seed", SEED));
    let seeds: Vec<u64> = (first..first + count).collect();
    let all: Vec<Findings> =
        seeds.par_iter().map(|&seed| checks::check(&Case::new(seed), seed)).collect();
    let failed = seeds.iter().zip(&all).filter(|(_, found)| !found.broken.is_empty());
    for (&seed, found) in failed.take(PRINTED) {
        for broken in &found.broken {
            println!("seed {seed}, {:?}: {}", broken.promise, broken.words);
        }
        match Case::new(seed).problem.to_json() {
            Ok(json) => println!("{json}"),
            Err(error) => println!("no problem file: {error}"),
        }
    }
    let broken = all.iter().map(|found| found.broken.len()).sum();
    Outcome { table: table(count, &all), broken }
}

fn table(count: u64, all: &[Findings]) -> Table {
    let sum = |of: fn(&Findings) -> usize| all.iter().map(of).sum::<usize>();
    let broken = |promise: Promise| {
        let of = |found: &Findings| found.broken.iter().filter(|b| b.promise == promise).count();
        all.iter().map(of).sum::<usize>()
    };
    let answers = sum(|found| found.answers);
    let contradictions = sum(|found| found.contradictions);
    let mut table = Table::new(TABLE, &["promise", "checked", "broken"]);
    for (promise, words, checked) in [
        (
            Promise::Gap,
            "`gap` is at least `objective − lower_bound` and the distance of `objective` from the optimum",
            sum(|found| found.gaps),
        ),
        (
            Promise::MarginalError,
            "no marginal is off by more than `marginal_error_bound`, without hard rules",
            sum(|found| found.errors),
        ),
        (
            Promise::Agreement,
            "marginals of all tables agree with those of their variables to 1e-14",
            answers,
        ),
        (Promise::LowerBound, "`lower_bound` is at most the optimum", sum(|found| found.bounds)),
        (Promise::Converged, "`converged` means a gap within the tolerance", answers),
        (Promise::Infeasible, "`infeasible` only where rules contradict each other", answers),
        (
            Promise::NestedCaps,
            "an answer is no worse than that of the cap before",
            sum(|found| found.pairs),
        ),
    ] {
        let cells = [checked, broken(promise)].map(|number| grouped(number as f64));
        table.push(std::iter::once(words.to_string()).chain(cells));
    }
    let [converged, rounding, cut] =
        [0, 1, 2].map(|end| all.iter().map(|found| found.ends[end]).sum::<usize>());
    println!(
        "{count} problems, {answers} answers; feasible ones: {converged} converged, {rounding} at \
         the limit of rounding, {cut} at that of iterations; {} of {contradictions} contradictions \
         proved",
        sum(|found| found.proved)
    );
    table
}
