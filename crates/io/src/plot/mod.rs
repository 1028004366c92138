//! Charts as self-contained SVG documents.
//!
//! [`curves`] draws values against numbers, [`bars`] counts side by side. [`convergence`] draws the
//! objective and lower bound above their gap, against iterations on the left and time on the right.
//! If there is no gap (a non-convex problem), the residual takes its place.

mod axis;
mod chart;
mod panel;

pub use chart::{Chart, bars, curves};

use std::fmt::Write;

use axis::{Axis, Scale};
use bethe_core::solve::Record;
use panel::{Line, Panel};

use crate::in_markup;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 640.0;
/// Left edge of each column's frame, and its width.
const COLUMNS: [f64; 2] = [92.0, 566.0];
const FRAME_WIDTH: f64 = 368.0;
/// Top edge of each row's frame, and its height.
const ROWS: [f64; 2] = [92.0, 384.0];
const FRAME_HEIGHT: f64 = 206.0;

/// Beyond this many iterations the horizontal axes are logarithmic.
const LINEAR_ITERATIONS: usize = 100;

const OBJECTIVE: &str = "#1f5fa8";
const LOWER_BOUND: &str = "#d1662a";
const GAP: &str = "#2d7d46";

/// Draws the records of one solve. The result is a whole SVG document.
pub fn convergence(title: &str, records: &[Record]) -> String {
    let mut svg = head((WIDTH, HEIGHT), title, &summary(records));
    let objective =
        |r: &Record| Some(r.objective.min(r.average_objective.unwrap_or(f64::INFINITY)));
    let progress = [
        Line::new("objective", OBJECTIVE, records, objective),
        Line::new("lower bound", LOWER_BOUND, records, |r| r.lower_bound),
    ];
    let progress_axis = Axis::linear_over("F(μ), nats", progress_range(&progress));
    let has_gap = records.iter().any(|r| r.gap.is_some_and(|g| g > 0.0));
    let (label, error) = if has_gap {
        ("gap, nats", Line::new("gap", GAP, records, |r| r.gap))
    } else {
        ("residual", Line::new("residual", GAP, records, |r| Some(r.residual)))
    };
    let error_axis = Axis::new(label, Scale::Log, error.values.iter().flatten().copied());

    // A linear axis begins at the origin; a logarithmic one has none.
    let origin = || std::iter::once(0.0);
    let scale = if records.len() > LINEAR_ITERATIONS { Scale::Log } else { Scale::Linear };
    let iterations: Vec<f64> = records.iter().map(|r| r.iteration as f64).collect();
    let (unit, per_second) = time_unit(records.last().map_or(0.0, |r| r.seconds));
    let times: Vec<f64> = records.iter().map(|r| r.seconds * per_second).collect();
    let across = [
        (Axis::new("iteration", scale, origin().chain(iterations.iter().copied())), iterations),
        (Axis::new(&format!("time, {unit}"), scale, origin().chain(times.iter().copied())), times),
    ];
    for ((x_axis, x), left) in across.iter().zip(COLUMNS) {
        let shown: [(&Axis, &[Line]); 2] =
            [(&progress_axis, &progress), (&error_axis, std::slice::from_ref(&error))];
        for ((y_axis, lines), top) in shown.into_iter().zip(ROWS) {
            Panel { left, top, width: FRAME_WIDTH, height: FRAME_HEIGHT, x_axis, y_axis }
                .draw(&mut svg, x, lines);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The beginning of a picture: its size, a title and a line below it.
fn head((width, height): (f64, f64), title: &str, below: &str) -> String {
    let left = COLUMNS[0];
    let (title, below) = (in_markup(title), in_markup(below));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{left}\" y=\"30\" font-size=\"16\" font-weight=\"bold\">{title}</text>\n\
         <text x=\"{left}\" y=\"50\" fill=\"#555\">{below}</text>\n"
    )
}

fn summary(records: &[Record]) -> String {
    let Some(last) = records.last() else { return "no iteration".to_string() };
    let mut text = format!(
        "{} iterations, {} oracle calls, objective {:.6}",
        last.iteration, last.oracle_calls, last.objective
    );
    if let Some(gap) = last.gap {
        let _ = write!(text, ", gap {gap:.1e}");
    }
    text
}

/// The range of the upper panels. Extreme first bounds and objectives would flatten the rest, so
/// they are clipped.
fn progress_range(lines: &[Line; 2]) -> (f64, f64) {
    let quantile = |line: &Line, share: f64| {
        let mut values: Vec<f64> = line.evenly_shown().collect();
        values.sort_by(f64::total_cmp);
        let index = (share * values.len().saturating_sub(1) as f64).round() as usize;
        values.get(index).copied()
    };
    let (lowest, highest) = (quantile(&lines[0], 0.0), quantile(&lines[0], 0.95));
    let bound = quantile(&lines[1], 0.15);
    let lowest = lowest.into_iter().chain(bound).fold(f64::INFINITY, f64::min);
    let highest = highest.into_iter().chain(bound).fold(f64::NEG_INFINITY, f64::max);
    (lowest, highest)
}

fn time_unit(seconds: f64) -> (&'static str, f64) {
    match seconds {
        s if s < 2e-3 => ("µs", 1e6),
        s if s < 2.0 => ("ms", 1e3),
        _ => ("s", 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(iteration: usize, gap: Option<f64>) -> Record {
        Record {
            iteration,
            objective: -6.0 + 1.0 / iteration as f64,
            average_objective: None,
            lower_bound: gap.map(|gap| -6.0 - gap),
            gap,
            residual: 1.0 / iteration as f64,
            oracle_calls: iteration,
            products: 0,
            seconds: 1e-4 * iteration as f64,
        }
    }

    #[test]
    fn a_solve_with_a_gap_shows_it() {
        let records: Vec<Record> =
            (1..=20).map(|i| record(i, Some(0.5f64.powi(i as i32)))).collect();
        let svg = convergence("a & b", &records);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        for text in ["a &amp; b", "objective", "lower bound", "gap, nats", "iteration", "time, "] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn without_a_gap_the_residual_is_shown() {
        let records: Vec<Record> = (1..=300).map(|i| record(i, None)).collect();
        let svg = convergence("t", &records);
        assert!(svg.contains("residual") && !svg.contains("lower bound"));
    }

    #[test]
    fn empty_flat_and_single_records_are_drawn_without_nonsense() {
        let flat = vec![Record { objective: 2.0, ..record(1, Some(0.0)) }; 3];
        for records in [Vec::new(), vec![record(1, None)], flat] {
            let svg = convergence("t", &records);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
