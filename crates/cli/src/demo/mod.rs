//! `bethe demo`: a tour on built-in problems; it needs no files.

mod census;
mod citations;
mod citing;
mod files;
mod flows;
mod page;
mod problems;
mod random;
mod records;
mod report;
mod tagging;

use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use bethe_core::solve::Record;
use bethe_core::{Answer, Method, Problem, Request, Settings, StepSchedule};
use bethe_io::plot::convergence;
use bethe_terminal::{Folder, Interrupt, Outcome, is_coloured, print, show, shown, shown_lines};
use clap::Args;

use problems::{DICTIONARY, LABELS, SIDE, TITLE_BEGIN, TOKENS};
use report::{bar, coloured, reading};

/// Take a tour of built-in problems: what rules do for a tagger, and a bibliography from plain text.
///
/// report.html in its folder has more: how birds that were only counted moved, what energies
/// change, how the solvers compare, and records from noisy tables.
#[derive(Args)]
pub struct Flags {
    /// Folder for the problems, data, models and pictures of the tour
    #[arg(long, short, value_name = "DIR", default_value = "bethe-demo")]
    out: PathBuf,

    /// Show every part of the tour, not just the first two
    #[arg(long)]
    all: bool,
}

/// One part of the tour: its title on a line, an empty line, and what there is to see.
type Part = fn(&Folder) -> Result<String>;

/// The most wanted ones first.
const PARTS: [Part; 7] =
    [tagging::references, citing::bibliography, flows::birds, titles, words, grid, census::census];
/// The title of the part with the solvers.
const TITLES: &str = "A reference that reads as two titles";
/// How many parts are shown without `--all`.
const FIRST: usize = 2;

/// Runs the tour. Its folder appears at the end.
pub fn run(flags: Flags) -> Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let folder = Folder::create(&flags.out)?;
    files::names()?.iter().try_for_each(|name| folder.claim(name))?;
    let is_coloured = is_coloured(&io::stdout());
    let mut parts = Vec::with_capacity(PARTS.len());
    for (at, part) in PARTS.iter().enumerate() {
        let told = part(&folder);
        if interrupt.is_set() {
            return Ok(Outcome::Interrupted);
        }
        let told = format!("{}. {}", at + 1, told?);
        if flags.all || at < FIRST {
            let told = shown_lines(&told);
            print(&if is_coloured { coloured(&told) } else { told.into_owned() })?;
        }
        parts.push(told);
    }
    page::write(&folder, &parts)?;
    folder.publish()?;
    show(&format!(
        "Everything, with pictures and an animated map: {out}/report.html\n\
         Its problems, data and models are in {out}. Try\n  \
         bethe tag {out}/rules.safetensors {out}/references-test.txt --explain\n  \
         bethe cite {out}/citations.txt\n  \
         bethe solve {out}/titles.json\n",
        out = shown(&flags.out.to_string_lossy())
    ))?;
    Ok(Outcome::Done)
}

/// A rule on a count changes the answer; every solver runs on it.
fn titles(out: &Folder) -> Result<String> {
    let problem = problems::titles()?;
    save(out, "titles.json", &problem)?;
    let before = solve(&without_energies(&problem)?, Method::Auto)?.0;
    let after = solve(&problem, Method::Auto)?.0;
    let count = |answer: &Answer| -> f64 {
        answer.marginals[..TOKENS.len()].iter().map(|m| m.values[TITLE_BEGIN]).sum()
    };
    let mut text = format!(
        "{TITLES}\n\n\
         Ten words, five labels, a chain. A chain cannot say \"at most one title\". An\n\
         energy on the expected number of titles can (smoothed hinge, weight 10).\n\n"
    );
    writeln!(text, "  {:<15}{:<28}after", "word", "before")?;
    for (position, token) in TOKENS.iter().enumerate() {
        let column = |answer: &Answer| {
            let label = answer.map.assignment[position];
            let probability = answer.marginals[position].values[label];
            format!("{:<12}{} {probability:.2}", LABELS[label], bar(probability))
        };
        writeln!(text, "  {token:<15}{:<28}{}", column(&before), column(&after))?;
    }
    writeln!(
        text,
        "\n  expected titles: {:.2} before, {:.2} after",
        count(&before),
        count(&after)
    )?;
    writeln!(
        text,
        "\nEvery solver reaches the same point, with a certificate. They differ in cost:\n"
    )?;
    text.push_str(&compare(&problem, out)?);
    Ok(text)
}

/// The table of solvers on one problem, and a picture of convergence for each.
fn compare(problem: &Problem, out: &Folder) -> Result<String> {
    let methods = [
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
        Method::Dual,
    ];
    let mut text = String::new();
    writeln!(
        text,
        "  {:<18}{:>10}{:>14}{:>14}{:>11}  status",
        "solver", "iterations", "oracle calls", "objective", "gap"
    )?;
    for method in methods {
        let (answer, records) = solve(problem, method)?;
        writeln!(
            text,
            "  {:<18}{:>10}{:>14}{:>14.7}{:>11.1e}  {}",
            answer.solver,
            answer.iterations,
            answer.oracle_calls,
            answer.objective.unwrap_or(f64::NAN),
            answer.gap.unwrap_or(f64::NAN),
            answer.status.name()
        )?;
        let title = format!("At most one title, solver {}", answer.solver);
        let name = format!("titles-{}.svg", answer.solver);
        out.text(&name, &convergence(&title, &records))?;
    }
    writeln!(text, "\n  pictures: {}/titles-*.svg\n", out.path().display())?;
    Ok(text)
}

/// A dictionary prior, by alternation and by branch and bound.
fn words(out: &Folder) -> Result<String> {
    let problem = problems::words()?;
    save(out, "words.json", &problem)?;
    let before = solve(&without_energies(&problem)?, Method::Auto)?.0;
    let local = solve(&problem, Method::Auto)?.0;
    let best = solve(&problem, Method::Global)?.0;
    let mut text = String::from(
        "A word that is in no dictionary\n\n\
         Five letters are read one by one. An energy pulls them towards the nearest of a\n\
         few words. The minimum over words makes the problem non-convex.\n\n",
    );
    writeln!(text, "  dictionary:     {}", DICTIONARY.join(" "))?;
    let model = problem.model();
    for (name, answer) in [("letters alone", &before), ("nearest word", &local)] {
        writeln!(text, "  {name:<15} {}   {}", reading(model, answer), report::certainty(answer))?;
    }
    writeln!(
        text,
        "  best word       {}   {}   gap {:.1e} over all words\n",
        reading(model, &best),
        report::certainty(&best),
        best.gap.unwrap_or(f64::NAN)
    )?;
    Ok(text)
}

/// Mean field as an energy, against the exact marginals.
fn grid(out: &Folder) -> Result<String> {
    let problem = problems::grid(true)?;
    save(out, "grid.json", &problem)?;
    let rows_alone = solve(&without_energies(&problem)?, Method::Auto)?.0;
    let coupled = solve(&problem, Method::Auto)?.0;
    let exact = solve(&problems::grid(false)?, Method::Auto)?.0;
    let mut text = String::from(
        "Rows of a grid, coupled by their means\n\n\
         An Ising grid of three rows. The rows are chains; couplings between rows act on\n\
         products of marginals (structured mean field). P(up) per site:\n\n",
    );
    writeln!(text, "  {:<24}{:<24}exact (junction tree)", "rows alone", "rows coupled by means")?;
    for row in 0..SIDE {
        let sites = |answer: &Answer| {
            let up = |site: usize| format!("{:.3}", answer.marginals[site].values[1]);
            (SIDE * row..SIDE * (row + 1)).map(up).collect::<Vec<_>>().join("  ")
        };
        let columns = [&rows_alone, &coupled, &exact].map(sites);
        writeln!(text, "  {:<24}{:<24}{}", columns[0], columns[1], columns[2])?;
    }
    writeln!(
        text,
        "\n  status {}: a fixed point of the mean-field equations, {} oracle calls\n",
        coupled.status.name(),
        coupled.oracle_calls
    )?;
    Ok(text)
}

fn without_energies(problem: &Problem) -> Result<Problem> {
    Ok(Problem::new(problem.model().clone(), Vec::new())?)
}

fn solve(problem: &Problem, method: Method) -> Result<(Answer, Vec<Record>)> {
    let mut records = Vec::new();
    let mut observer = |record: &Record, _: &[f64]| {
        records.push(*record);
        ControlFlow::Continue(())
    };
    let settings = Settings { method, ..Settings::default() };
    let answer = problem.solve_with(&settings, &Request::default(), &mut observer)?;
    Ok((answer, records))
}

fn save(out: &Folder, name: &str, problem: &Problem) -> Result<()> {
    out.text(name, &(problem.to_json()? + "\n"))
}
