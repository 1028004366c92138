use std::fmt::Write;

use super::axis::{Axis, Scale};
use super::panel::{Line, Panel};
use super::{COLUMNS, GAP, LOWER_BOUND, OBJECTIVE, ROWS, head};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const FRAME_WIDTH: f64 = 620.0;
const FRAME_HEIGHT: f64 = 300.0;
const COLOURS: [&str; 5] = [OBJECTIVE, LOWER_BOUND, GAP, "#7d3c98", "#777777"];

/// The content of a chart of several series.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart<'a> {
    /// Above the picture.
    pub title: &'a str,
    /// A line below the title.
    pub note: &'a str,
    /// Label of the horizontal axis.
    pub across: &'a str,
    /// Label of the vertical axis.
    pub up: &'a str,
    /// Horizontal positions of the values. `[values]`
    pub x: &'a [f64],
    /// Names and values; `None` for missing ones. `[series][values]`
    pub series: &'a [(&'a str, Vec<Option<f64>>)],
}

/// Draws each series as a curve. The result is a whole SVG document.
pub fn curves(chart: &Chart) -> String {
    let values = chart.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let y_axis = Axis::new(chart.up, Scale::Linear, values);
    draw(chart, &y_axis, |panel, svg, lines| panel.draw(svg, chart.x, lines))
}

/// Draws each series as bars from zero up, side by side. The result is a whole SVG document.
pub fn bars(chart: &Chart) -> String {
    let values = chart.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let y_axis = Axis::new(chart.up, Scale::Linear, values.chain([0.0]));
    draw(chart, &y_axis, |panel, svg, lines| {
        panel.draw(svg, &[], lines);
        draw_bars(panel, svg, chart.x, lines);
    })
}

fn draw(chart: &Chart, y_axis: &Axis, content: impl Fn(&Panel, &mut String, &[Line])) -> String {
    let mut svg = head((WIDTH, HEIGHT), chart.title, chart.note);
    let x_axis = Axis::new(chart.across, Scale::Linear, chart.x.iter().copied());
    let lines: Vec<Line> = chart
        .series
        .iter()
        .zip(COLOURS.iter().cycle())
        .map(|((name, values), colour)| Line {
            name: name.to_string(),
            colour,
            values: values.iter().map(|value| value.filter(|v| v.is_finite())).collect(),
        })
        .collect();
    let (left, top) = (COLUMNS[0], ROWS[0]);
    let panel =
        Panel { left, top, width: FRAME_WIDTH, height: FRAME_HEIGHT, x_axis: &x_axis, y_axis };
    content(&panel, &mut svg, &lines);
    svg.push_str("</svg>\n");
    svg
}

fn draw_bars(panel: &Panel, svg: &mut String, x: &[f64], lines: &[Line]) {
    let width = panel.width / (x.len().max(1) * (lines.len() + 1)) as f64;
    let floor = panel.top + panel.height * (1.0 - panel.y_axis.position(0.0).unwrap_or(0.0));
    for (series, line) in lines.iter().enumerate() {
        let offset = (series as f64 - 0.5 * lines.len() as f64) * width;
        for (&x, value) in x.iter().zip(&line.values) {
            let place = panel.x_axis.position(x).zip(value.and_then(|v| panel.y_axis.position(v)));
            let Some((across, up)) = place else { continue };
            let (left, top) =
                (panel.left + across * panel.width + offset, panel.top + (1.0 - up) * panel.height);
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
                 fill=\"{}\"/>",
                (floor - top).max(0.0),
                line.colour
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart<'a>(series: &'a [(&'a str, Vec<Option<f64>>)]) -> Chart<'a> {
        let x = &[1.0, 2.0, 3.0];
        Chart { title: "a & b", note: "n", across: "calls", up: "F1", x, series }
    }

    #[test]
    fn curves_have_a_path_for_each_series_and_no_nonsense() {
        let series = [("one", vec![Some(1.0), None, Some(2.0)]), ("two", vec![Some(f64::NAN); 3])];
        let svg = curves(&chart(&series));
        assert!(svg.contains("a &amp; b") && svg.contains(">one<") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<circle").count(), 2, "a dot for each value");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn bars_stand_on_zero_and_are_as_high_as_their_values() {
        let series = [("one", vec![Some(1.0), Some(2.0), Some(4.0)])];
        let svg = bars(&chart(&series));
        let heights: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("fill=\"#1f5fa8\""))
            .map(|line| {
                let rest = line.split("height=\"").nth(1).expect("a height");
                rest.split('"').next().expect("a number").parse().expect("a number")
            })
            .collect();
        assert_eq!(heights.len(), 3);
        assert!((heights[2] / heights[0] - 4.0).abs() < 0.01, "{heights:?}");
        assert!((heights[1] / heights[0] - 2.0).abs() < 0.01, "{heights:?}");
    }
}
