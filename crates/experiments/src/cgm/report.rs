//! The comparison for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use bethe_io::plot::{Chart, curves};

use super::birds::Score;
use super::run::Report;
use super::trial::Row;

/// Trials of one solver on problems of one kind.
pub(super) struct Group<'a> {
    /// Cardinality of an edge table.
    pub size: usize,
    pub family: String,
    pub solver: &'a str,
    pub rows: Vec<&'a Row>,
}

impl Report {
    /// The tables, in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "# Flows from counts: our solvers and interior point\n\n\
             Means over trials. Set-up is timed separately: our solvers take exponentials of all \
             tables of moves, interior point writes its program. After that, our seconds are \
             wall-clock time, the best of up to twenty runs on one thread; those of interior \
             point are processor time on its core. Errors are relative to the optimum's size. \
             Failures are counted, not hidden: a mean is over the trials that succeeded.\n\n\
             | family | moves | solver | set-up | to 1e-4 | to 1e-6 | certified 1e-6 | calls | \
             true error | speed-up | \
             paper | succeeded |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | \
             --- | --- |\n",
        );
        for Group { size, family, solver, rows } in self.groups() {
            let mean =
                |value: &dyn Fn(&Row) -> Option<f64>| mean(rows.iter().filter_map(|r| value(r)));
            let arrived = rows.iter().filter(|row| row.seconds_to_1e_6.is_some()).count();
            let _ = writeln!(
                text,
                "| {family} | {size} | {solver} | {} | {} | {} | {} | {} | {} | {} | {} | {arrived}/{} |",
                seconds(mean(&|row| Some(row.ready_seconds))),
                seconds(mean(&|row| row.seconds_to_1e_4)),
                seconds(mean(&|row| row.seconds_to_1e_6)),
                seconds(mean(&|row| row.certified_seconds_to_1e_6)),
                number(mean(&|row| row.oracle_calls.map(|calls| calls as f64)), 1),
                small(mean(&|row| row.true_error)),
                number(mean(&|row| row.speedup), 0),
                seconds(mean(&|row| row.paper)),
                rows.len(),
            );
        }
        self.add_accuracies(&mut text);
        self.add_learned(&mut text);
        if !self.skipped.is_empty() {
            let _ =
                write!(text, "\nLeft out, since their data are missing: {}.\n", self.skipped.len());
            self.skipped.iter().take(5).for_each(|what| text.push_str(&format!("- {what}\n")));
        }
        text
    }

    /// Rows by size, family and solver, in the order in which solvers ran.
    pub(super) fn groups(&self) -> Vec<Group<'_>> {
        let mut order: Vec<&str> = Vec::new();
        let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            if !order.contains(&&*row.solver) {
                order.push(&row.solver);
            }
            let place = order.iter().position(|name| *name == row.solver).expect("it is there");
            groups.entry((row.size, family(&row.instance), place)).or_default().push(row);
        }
        let groups = groups.into_iter();
        let named = groups.map(|((size, family, place), rows)| Group {
            size,
            family,
            solver: order[place],
            rows,
        });
        named.collect()
    }

    fn add_accuracies(&self, text: &mut String) {
        text.push_str(
            "\n## Against the truth\n\nNormalised absolute errors, `Σ |estimate − truth| / Σ truth`, means over \
             trials.\n\n| family | flows, ours | flows, no counts | counts, ours | counts, as observed | \
             counts, no observations |\n| --- | --- | --- | --- | --- | --- |\n",
        );
        let mut families: BTreeMap<String, Vec<&super::Accuracy>> = BTreeMap::new();
        for one in &self.accuracies {
            families.entry(family(&one.instance)).or_default().push(one);
        }
        for (family, all) in families {
            let of = |value: &dyn Fn(&super::Accuracy) -> f64| {
                number(mean(all.iter().map(|one| value(one))), 3)
            };
            let _ = writeln!(
                text,
                "| {family} | {} | {} | {} | {} | {} |",
                of(&|one| one.flows),
                of(&|one| one.flows_without_counts),
                of(&|one| one.counts),
                of(&|one| one.observed_counts),
                of(&|one| one.counts_without_observations),
            );
        }
    }

    fn add_learned(&self, text: &mut String) {
        if !self.challenges.is_empty() {
            text.push_str(
                "\n## Weights learned by hard EM\n\nTraining seasons of the public challenge data; truth \
                 (5, 10, 10, 10), rate 1.\n\n| data | stride | goal | wind | stay | largest error | rate | \
                 rounds |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
            );
        }
        for one in &self.challenges {
            let weights: Vec<String> =
                one.weights.iter().map(|weight| format!("{weight:.3}")).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} % | {:.4} | {} |",
                one.data,
                weights.join(" | "),
                100.0 * one.largest_error,
                one.rate,
                one.rounds
            );
        }
        let Some(birds) = &self.birds else { return };
        let (cost, power, weight) = birds.chosen;
        let [least, most] = [f64::min as fn(f64, f64) -> f64, f64::max]
            .map(|pick| birds.correlations.iter().copied().reduce(pick).unwrap_or(f64::NAN));
        let _ = write!(
            text,
            "\n## Real birds: {}\n\nMean log-probability of a ringed bird's second cell given the first, on \
             {} birds; weights (cost {cost}, power {power}, error {weight}) were chosen on the others. \
             Correlation of the fitted weeks with the given ones: {least:.4} to {most:.4}, gap {}.\n\n\
             | | all | seen elsewhere ({}) |\n| --- | --- | --- |\n",
            birds.species,
            birds.pairs,
            small(birds.gap),
            birds.moved_pairs,
        );
        for Score { name, all, moved } in birds.scores() {
            let _ = writeln!(text, "| {name} | {all:.3} | {moved:.3} |");
        }
    }

    /// Certified seconds against the size, on logarithmic scales.
    pub fn picture(&self) -> String {
        let base: Vec<&Row> =
            self.rows.iter().filter(|row| family(&row.instance) == "base").collect();
        let mut sizes: Vec<usize> = base.iter().map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut solvers: Vec<&str> = Vec::new();
        for row in &base {
            if !solvers.contains(&&*row.solver) {
                solvers.push(&row.solver);
            }
        }
        let log = |seconds: Option<f64>| seconds.map(f64::log10);
        let series: Vec<(&str, Vec<Option<f64>>)> = solvers
            .into_iter()
            .map(|solver| {
                let at = |&size: &usize| {
                    let own = base.iter().filter(|row| row.size == size && row.solver == solver);
                    log(mean(own.filter_map(|row| row.seconds_to_1e_6)))
                };
                (solver, sizes.iter().map(at).collect())
            })
            .collect();
        let x: Vec<f64> = sizes.iter().map(|&size| (size as f64).log10()).collect();
        curves(&Chart {
            title: "Time to flows within 1e-6 of the optimum",
            note: "simulated birds, 20 days, means over trials that succeeded",
            across: "log10 of the moves between two days",
            up: "log10 of seconds",
            x: &x,
            series: &series,
        })
    }
}

/// A name without its seed.
fn family(instance: &str) -> String {
    match instance.rsplit_once('-') {
        Some((family, seed)) if seed.bytes().all(|b| b.is_ascii_digit()) => family.to_string(),
        _ => instance.to_string(),
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

fn seconds(value: Option<f64>) -> String {
    match value {
        None => "–".to_string(),
        Some(value) if value < 0.1 => format!("{:.3} ms", 1e3 * value),
        Some(value) => format!("{value:.2} s"),
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.digits$}"))
}

fn small(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.1e}"))
}
