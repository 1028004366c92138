//! An answer as a notebook shows it: a few lines, and the marginals as bars.

use std::fmt::Write;

use bethe_core::problem::TableAnswer;
use bethe_core::{Answer, Model};
use bethe_io::in_markup;

/// Variables shown, and states of each.
const VARIABLES: usize = 12;
const STATES: usize = 8;

/// The answer as HTML, with the marginals of single variables. Names are text, never markup.
pub fn answer(model: &Model, found: &Answer, single: &[TableAnswer]) -> String {
    let mut html = String::from("<div>");
    let gap = found.gap.map_or("no bound on the error".into(), |gap| {
        format!("at most {gap:.2e} nats above the optimum")
    });
    let objective = found.objective.map_or("none".into(), |objective| format!("{objective:.6}"));
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<p><b>{}</b> by {} in {} oracle calls: objective {objective}, {gap}</p>",
        found.status.name().replace('_', " "),
        found.solver,
        found.oracle_calls
    );
    html.push_str("<table>");
    for table in single.iter().take(VARIABLES) {
        row(&mut html, model, table);
    }
    html.push_str("</table>");
    if single.len() > VARIABLES {
        let _ = write!(html, "<p>… and {} more variables</p>", single.len() - VARIABLES);
    }
    html.push_str("</div>");
    html
}

fn row(html: &mut String, model: &Model, table: &TableAnswer) {
    let variable = table.scope[0];
    let names = model.variables()[variable].names.as_ref();
    let name = names.map_or_else(|| variable.to_string(), |names| names.variable.clone());
    let _ = write!(html, "<tr><th>{}</th>", in_markup(&name));
    for (state, &probability) in table.values.iter().enumerate().take(STATES) {
        let name = names.map_or_else(|| state.to_string(), |names| names.states[state].clone());
        let width = (probability * 60.0).round();
        let _ = write!(
            html,
            "<td>{} <span style=\"display:inline-block;height:.6em;width:{width}px;\
             background:#1f5fa8\"></span> {probability:.3}</td>",
            in_markup(&name)
        );
    }
    if table.values.len() > STATES {
        let _ = write!(html, "<td>… {} more</td>", table.values.len() - STATES);
    }
    html.push_str("</tr>");
}
