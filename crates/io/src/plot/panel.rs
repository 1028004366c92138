use std::fmt::Write;

use super::LINEAR_ITERATIONS;
use super::axis::Axis;
use crate::in_markup;
use bethe_core::solve::Record;

/// Points closer than this to the one before are not drawn, in pixels.
const RESOLUTION: f64 = 0.4;
/// Lines with at most this many points show them as dots.
const DOTTED: usize = 40;

/// One curve: a value, or none, per record.
pub(super) struct Line {
    pub name: String,
    pub colour: &'static str,
    pub values: Vec<Option<f64>>,
}

impl Line {
    pub fn new(
        name: &str,
        colour: &'static str,
        records: &[Record],
        value: impl Fn(&Record) -> Option<f64>,
    ) -> Self {
        let values = records.iter().map(|r| value(r).filter(|v| v.is_finite())).collect();
        Self { name: name.to_string(), colour, values }
    }

    /// Values spaced about evenly in the picture: all of a few, fewer and fewer of many.
    pub fn evenly_shown(&self) -> impl Iterator<Item = f64> + '_ {
        let mut next = 0.0;
        let shown = self.values.iter().enumerate().filter(move |(index, _)| {
            let is_due = *index as f64 >= next;
            if is_due && *index >= LINEAR_ITERATIONS / 4 {
                next = *index as f64 * 1.05;
            }
            is_due
        });
        shown.filter_map(|(_, value)| *value)
    }

    fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }
}

/// A frame with two axes.
pub(super) struct Panel<'a> {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x_axis: &'a Axis,
    pub y_axis: &'a Axis,
}

impl Panel<'_> {
    /// Draws the frame, its axes, the lines at `x`, and a legend of those that have points.
    pub fn draw(&self, svg: &mut String, x: &[f64], lines: &[Line]) {
        self.draw_axes(svg);
        // A nested viewport clips what leaves the frame.
        let _ = writeln!(
            svg,
            "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" overflow=\"hidden\">",
            self.left, self.top, self.width, self.height
        );
        for line in lines {
            self.draw_line(svg, x, line);
        }
        svg.push_str("</svg>\n");
        let shown: Vec<&Line> = lines.iter().filter(|line| !line.is_empty()).collect();
        self.draw_legend(svg, &shown);
    }

    fn draw_axes(&self, svg: &mut String) {
        let Self { left, top, width, height, .. } = *self;
        let (right, bottom) = (left + width, top + height);
        for (at, label) in self.x_axis.ticks() {
            let x = left + at * width;
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#e8e8e8\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 17.0
            );
        }
        for (at, label) in self.y_axis.ticks() {
            let y = bottom - at * height;
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#e8e8e8\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                left - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             fill=\"none\" stroke=\"#888\"/>"
        );
        // The name of the vertical axis stands above it, clear of labels of any length.
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{}</text>\
             <text x=\"{left}\" y=\"{}\" fill=\"#555\">{}</text>",
            left + 0.5 * width,
            bottom + 38.0,
            in_markup(&self.x_axis.label),
            top - 9.0,
            in_markup(&self.y_axis.label)
        );
    }

    fn draw_line(&self, svg: &mut String, x: &[f64], line: &Line) {
        let place = |(x, value): (&f64, &Option<f64>)| {
            let across = self.x_axis.position(*x)?;
            let up = self.y_axis.position((*value)?)?;
            // Just outside is as good as far outside, and keeps the numbers short.
            Some((across * self.width, (1.0 - up.clamp(-2.0, 3.0)) * self.height))
        };
        let points: Vec<(f64, f64)> = x.iter().zip(&line.values).filter_map(place).collect();
        let Some(&last) = points.last() else { return };
        let mut path = String::new();
        let mut drawn = (f64::INFINITY, f64::INFINITY);
        for &point in &points {
            let moved = (point.0 - drawn.0).abs().max((point.1 - drawn.1).abs());
            if moved >= RESOLUTION || point == last {
                let command = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{command}{:.1} {:.1}", point.0, point.1);
                drawn = point;
            }
        }
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\"/>",
            line.colour
        );
        if points.len() <= DOTTED {
            for (x, y) in points {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"/>",
                    line.colour
                );
            }
        }
    }

    /// Names above the frame's right end, where no curve can be.
    fn draw_legend(&self, svg: &mut String, lines: &[&Line]) {
        let mut x = self.left + self.width;
        let y = self.top - 8.0;
        for line in lines.iter().rev() {
            // About the width of the name at this font size.
            let width = 6.6 * line.name.len() as f64;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>\
                 <path d=\"M{:.1} {:.1}h20\" stroke=\"{}\" stroke-width=\"2\"/>",
                x - width,
                in_markup(&line.name),
                x - width - 26.0,
                y - 4.0,
                line.colour
            );
            x -= width + 42.0;
        }
    }
}
