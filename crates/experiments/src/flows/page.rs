//! The tables of the results page.

use bethe_flows::validate::Scores;
use bethe_io::results::{Table, grouped, rounded, signed};

use super::{Fitted, Report};

/// Names of all tables that the page has.
pub const TABLES: [&str; 5] =
    ["flows-learned", "flows-bias", "flows-birdflow", "flows-ringed", "flows-made"];

impl Report {
    /// The tables of the page, without those for which nothing was run.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if !self.learned.is_empty() {
            tables.push(self.learned());
        }
        if !self.biases.is_empty() {
            tables.push(self.biases());
        }
        if !self.fitted.is_empty() {
            tables.push(fits(
                TABLES[2],
                "weights",
                self.fitted.iter().map(|own| (own.weights.to_string(), own.clone())),
            ));
        }
        tables.extend(self.ringed());
        if !self.large.is_empty() {
            tables.push(fits(
                TABLES[4],
                "cells",
                self.large.iter().map(|own| {
                    let (loss, relative_gap) = (own.loss, own.relative_gap);
                    let (calls, seconds) = (own.calls, own.seconds);
                    let told = Fitted { weights: "", loss, relative_gap, calls, seconds };
                    (grouped(own.cells as f64), told)
                }),
            ));
        }
        tables
    }

    /// All tables as text.
    pub fn markdown(&self) -> String {
        let tables = self.tables();
        let texts: Vec<String> = tables.iter().map(ToString::to_string).collect();
        texts.join("\n")
    }

    fn learned(&self) -> Table {
        let columns = [
            "cells",
            "movement",
            "error of flows",
            "of counts",
            "deviance per count",
            "counts covered",
            "flows covered",
            "counts, bootstrap",
            "flows, bootstrap",
            "solves",
        ];
        let mut table = Table::new(TABLES[0], &columns);
        for own in &self.learned {
            let share = |share: f64| format!("{:.0} %", 100.0 * share);
            table.push([
                format!("{0} × {0}", own.side),
                own.movement.to_string(),
                format!("{:.2}", own.flows),
                format!("{:.3}", own.counts),
                rounded(own.deviance),
                share(own.counts_covered),
                share(own.flows_covered),
                share(own.counts_bootstrapped),
                share(own.flows_bootstrapped),
                grouped(own.solves),
            ]);
        }
        table
    }

    fn biases(&self) -> Table {
        let columns = [
            "individuals",
            "weight",
            "truth",
            "mean error of hard EM",
            "corrected",
            "standard deviation between populations",
            "within two standard errors",
        ];
        let mut table = Table::new(TABLES[1], &columns);
        for own in &self.biases {
            table.push([
                grouped(own.population as f64),
                own.feature.to_string(),
                signed(own.truth, 1),
                signed(own.hard, 3),
                signed(own.corrected, 3),
                format!("{:.3}", own.spread),
                format!("{:.0} % of {}", 100.0 * own.covered, own.trials),
            ]);
        }
        table
    }

    fn ringed(&self) -> Option<Table> {
        let tuned = self.tuned.as_ref()?;
        let all = tuned.validation.all;
        let elsewhere = tuned.validation.elsewhere?;
        let heads = [
            format!("all {}", grouped(all.individuals as f64)),
            format!("seen elsewhere: {}", grouped(elsewhere.individuals as f64)),
        ];
        let mut table = Table::new(TABLES[3], &["", &heads[0], &heads[1]]);
        let mut push = |name: &str, of: fn(&Scores) -> f64| {
            table.push([name.to_string(), signed(of(&all), 2), signed(of(&elsewhere), 2)]);
        };
        push(&format!("flows, the best of {} weights", tuned.tried), |own| own.flows);
        push("the second week's distribution alone", |own| own.counts_alone);
        push("persistence", |own| own.persistence);
        Some(table)
    }
}

/// Fits of BirdFlow's loss.
fn fits(name: &'static str, first: &str, rows: impl Iterator<Item = (String, Fitted)>) -> Table {
    let columns = [first, "loss", "certified gap, relative", "oracle calls", "seconds"];
    let mut table = Table::new(name, &columns);
    for (label, own) in rows {
        table.push([
            label,
            format!("{:.4}", own.loss),
            format!("{:.0e}", own.relative_gap),
            grouped(own.calls as f64),
            rounded(own.seconds),
        ]);
    }
    table
}
