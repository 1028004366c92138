//! An answer in words, for people at a terminal.

use bethe_core::solve::Status;
use bethe_core::{Answer, Model, OracleKind, Problem, Request, Settings, Tables};
use bethe_terminal::{counted, shown};

use super::observer;
use super::problems::NamedProblem;
use crate::wrap::wrapped;

/// How many marginals are listed.
const LISTED: usize = 10;
/// A marginal that moved by less is not worth a line.
const LEAST_CHANGE: f64 = 0.0005;
/// Characters of a line of the assignment.
const WIDTH: usize = 78;
/// An assignment is cut after this many variables.
const ASSIGNED: usize = 24;

/// The answer, what its energies changed most, and the best assignment.
pub fn of(named: &NamedProblem, answer: &Answer) -> String {
    let mut text = verdict(named, answer);
    if answer.status == Status::Infeasible {
        return text;
    }
    let model = named.problem.model();
    let before = without_energies(&named.problem, answer);
    text.push_str(&match before {
        Some(before) => changes(model, &before, answer),
        None => marginals(model, answer),
    });
    text + &assignment(model, answer) + &energies(answer)
}

/// How far the answer can be trusted, and how it was found.
fn verdict(named: &NamedProblem, answer: &Answer) -> String {
    let source = shown(&named.source).into_owned();
    let found = format!(
        "by {} on {} in {} ({})",
        answer.solver,
        oracle(answer.oracle),
        seconds(answer.seconds),
        counted(answer.oracle_calls, "oracle call"),
    );
    let first = match answer.status {
        Status::Converged => format!("{source}: solved {found}"),
        Status::Stationary => format!(
            "{source}: a stationary point, found {found}; the problem is not convex, and a better \
             one may exist"
        ),
        Status::Infeasible => {
            return format!("{source}: infeasible: its hard measurements cannot hold together\n");
        }
        Status::IterationLimit => {
            let why = "stopped at --max-iterations or where nothing better was found";
            format!("{source}: not converged: {why}, {found}")
        }
        Status::TimeLimit => format!("{source}: not converged: stopped at --time-limit, {found}"),
        Status::RoundingLimit => {
            format!("{source}: solved as far as rounding allows, {found}")
        }
        Status::Stopped => format!("{source}: stopped before the end, {found}"),
    };
    format!("{first}\n{}\n", trust(answer))
}

/// What is proved about the marginals.
fn trust(answer: &Answer) -> String {
    let gap = answer.gap.map_or(String::new(), |gap| format!(" (gap {})", small(gap)));
    match (answer.entropy, answer.marginal_error_bound) {
        ("exact", Some(bound)) if bound < 1.0 => {
            format!("No marginal is off by more than {}{gap}.", rounded_up(bound))
        }
        ("exact", Some(_)) => format!("There is no useful bound on the marginals{gap}."),
        ("exact", None) => "Nothing is proved about its error.".to_string(),
        ("tree-reweighted", Some(bound)) if bound < 1.0 => format!(
            "Inference is approximate: the tree-reweighted problem is solved to within {}{gap}.\nHow \
             far its marginals are from the true ones is not known.",
            rounded_up(bound)
        ),
        ("tree-reweighted", _) => {
            "Inference is approximate (tree-reweighted). Nothing is proved about its error.".into()
        }
        _ => "Inference is approximate (loopy belief propagation). Nothing is proved about its \
              error."
            .into(),
    }
}

/// A gap in two digits, without an exponent where it is not small.
fn small(gap: f64) -> String {
    if (1e-3..1e4).contains(&gap) {
        let digits = (1 - gap.log10().floor() as i32).max(0) as usize;
        return format!("{gap:.digits$}");
    }
    format!("{gap:.1e}")
}

fn oracle(name: &str) -> &str {
    match name {
        "chain" => "a chain",
        "junction-tree" => "a junction tree",
        "brute-force" => "all assignments",
        "trw" | "loopy" => "a graph",
        other => other,
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// A bound with two digits that is not below it.
fn rounded_up(bound: f64) -> String {
    if bound == 0.0 {
        return "0".to_string();
    }
    let unit = 10f64.powi(bound.log10().floor() as i32 - 1);
    let above = (bound / unit).ceil() * unit;
    if above < 1e-3 {
        format!("{above:.1e}")
    } else {
        format!("{above:.5}").trim_end_matches('0').to_string()
    }
}

/// The marginals of the variables under the model alone; `None` if there are no energies, or they
/// cannot be computed.
fn without_energies(problem: &Problem, answer: &Answer) -> Option<Answer> {
    if problem.energies().is_empty() {
        return None;
    }
    let plain = Problem::new(problem.model().clone(), Vec::new()).ok()?;
    let oracle = match answer.oracle {
        "trw" => OracleKind::TreeReweighted,
        "loopy" => OracleKind::Loopy,
        _ => OracleKind::Exact,
    };
    let request = Request { oracle, marginals: Tables::Nodes, map_budget: 0, ..Request::default() };
    plain.solve_with(&Settings::default(), &request, &mut observer(&mut |_| {})).ok()
}

/// The states whose probability the energies changed most.
fn changes(model: &Model, before: &Answer, answer: &Answer) -> String {
    let mut moved: Vec<(usize, usize, [f64; 2])> = Vec::new();
    for variable in 0..model.variables().len() {
        let states = before.marginal(variable).iter().zip(answer.marginal(variable));
        // One line per variable: its states' changes add up to 0, so one says most.
        let most = states
            .map(|(&before, &after)| [before, after])
            .enumerate()
            .max_by(|(_, a), (_, b)| (a[1] - a[0]).abs().total_cmp(&(b[1] - b[0]).abs()));
        moved.extend(most.map(|(state, change)| (variable, state, change)));
    }
    let size = |&(_, _, [before, after]): &(usize, usize, [f64; 2])| (after - before).abs();
    moved.retain(|change| size(change) >= LEAST_CHANGE);
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    if model.variables().is_empty() {
        return String::new();
    }
    if moved.is_empty() {
        return "\nThe energies change no marginal.\n".to_string();
    }
    let count = moved.len();
    let rows = moved.iter().take(LISTED).map(|&(variable, state, [before, after])| {
        (place(model, variable, state), format!("{before:.3} → {after:.3}"))
    });
    let title = "\nWhat the energies change most (without → with):\n";
    title.to_string() + &table(rows.collect()) + &more(count)
}

/// The most probable state of each variable.
fn marginals(model: &Model, answer: &Answer) -> String {
    if model.variables().is_empty() {
        return String::new();
    }
    let rows = (0..model.variables().len()).take(LISTED).map(|variable| {
        let (state, probability) = answer
            .marginal(variable)
            .iter()
            .copied()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("a variable has a state");
        (place(model, variable, state), format!("{probability:.3}"))
    });
    let title = "\nThe most probable state of each variable:\n";
    title.to_string() + &table(rows.collect()) + &more(model.variables().len())
}

fn more(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("  … and {}\n", counted(more, "more variable")),
    }
}

fn table(rows: Vec<(String, String)>) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
}

/// `variable=state`, by name where there are names.
fn place(model: &Model, variable: usize, state: usize) -> String {
    match &model.variables()[variable].names {
        Some(names) => format!("{}={}", shown(&names.variable), shown(&names.states[state])),
        None => format!("{variable}={state}"),
    }
}

fn assignment(model: &Model, answer: &Answer) -> String {
    let map = &answer.map;
    if map.assignment.is_empty() {
        return String::new();
    }
    // It is the best one under these tilts: at the optimum only once that is reached.
    let title = match (map.violated.is_empty(), map.proved, answer.status) {
        (false, true, _) => "Best assignment (none keeps every hard measurement):",
        (false, false, _) => "Best assignment found (it breaks hard measurements):",
        (true, true, Status::Converged | Status::RoundingLimit) => "Best assignment (proved):",
        (true, true, Status::Stationary) => "Best assignment at this point:",
        (true, true, _) => "Best assignment so far:",
        (true, false, _) => "Best assignment found:",
    };
    let states = map.assignment.iter().enumerate().take(ASSIGNED);
    let mut places: Vec<String> =
        states.map(|(variable, &state)| place(model, variable, state)).collect();
    if map.assignment.len() > ASSIGNED {
        places.push("…".to_string());
    }
    let lines = wrapped(places.iter().map(String::as_str), ("  ", ""), WIDTH);
    format!("\n{title}\n{lines}\n")
}

/// What the energies cost, the largest first.
fn energies(answer: &Answer) -> String {
    let mut values: Vec<(usize, f64)> = answer
        .energies
        .iter()
        .enumerate()
        .filter_map(|(at, energy)| Some((at, energy.value?)))
        .collect();
    if values.is_empty() {
        return String::new();
    }
    let total: f64 = values.iter().map(|(_, value)| value).sum();
    values.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let largest: Vec<String> =
        values.iter().take(3).map(|(at, value)| format!("energies[{at}] {value:.4}")).collect();
    let objective =
        answer.objective.map_or(String::new(), |value| format!("Objective {value:.6}. "));
    let all = match answer.energies.len() {
        1 => "The energy costs".to_string(),
        count => format!("The {count} energies cost"),
    };
    let largest = match values.len() {
        1 => String::new(),
        _ => format!("; the largest: {}", largest.join(", ")),
    };
    format!("\n{objective}{all} {total:.4}{largest}.\n")
}
