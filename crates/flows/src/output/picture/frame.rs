//! One time as an SVG picture.

use std::fmt::Write;

use bethe_io::in_markup;

use super::Picture;
use super::map::Map;
use super::scale::{COLOURS, Scale};
use crate::output::Move;
use crate::output::number::label;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 700.0;
const MARGIN: f64 = 24.0;
/// Room for the title above and the legend below.
const HEAD: f64 = 64.0;
const FOOT: f64 = 76.0;
/// Beyond this many cells, nearly empty ones are not drawn individually.
const MANY: usize = 3000;
/// Arrows in a frame.
const ARROWS: usize = 200;

pub(super) fn draw(picture: &Picture, time: usize) -> String {
    let room = (WIDTH - 2.0 * MARGIN, HEIGHT - HEAD - FOOT);
    let map = Map::new(picture.cells, room);
    let left = MARGIN + (room.0 - map.size.0) / 2.0;
    let top = HEAD + (room.1 - map.size.1) / 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"14\" fill=\"#1c2733\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{MARGIN}\" y=\"32\" font-size=\"20\" font-weight=\"600\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"53\" fill=\"#5b6875\">time {}{}</text>\n",
        in_markup(picture.title),
        in_markup(&picture.times[time]),
        picture
            .times
            .get(time + 1)
            .map_or(String::new(), |next| format!(", arrows to {}", in_markup(next))),
    );
    let _ = writeln!(svg, "<g transform=\"translate({left:.1} {top:.1})\">");
    cells(&mut svg, picture, &map, time);
    if let Some(moves) = picture.movements.strongest.get(time) {
        arrows(&mut svg, moves, &map, &picture.scale);
    }
    svg.push_str("</g>\n");
    legend(&mut svg, &picture.scale, map.cell);
    svg.push_str("</svg>\n");
    svg
}

fn cells(svg: &mut String, picture: &Picture, map: &Map, time: usize) {
    let counts = picture.counts_at(time);
    let side = (0.94 * map.cell).max(1.5);
    let least = if counts.len() > MANY { 0.02 } else { 0.0 };
    for ((x, y), count) in map.places.iter().zip(counts) {
        if picture.scale.level(*count) < least {
            continue;
        }
        let colour = picture.scale.colour(*count);
        let _ = if map.is_grid {
            let (x, y) = (x - side / 2.0, y - side / 2.0);
            writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" fill=\"{colour}\"/>"
            )
        } else {
            let radius = side / 2.0;
            writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>"
            )
        };
    }
}

fn arrows(svg: &mut String, moves: &[Move], map: &Map, scale: &Scale) {
    svg.push_str(
        "<g fill=\"#e8590c\" fill-opacity=\"0.82\" stroke=\"#fff\" stroke-width=\"0.25\">\n",
    );
    for own in moves.iter().take(ARROWS).rev() {
        let (from, to) = (map.places[own.from], map.places[own.to]);
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let length = across.hypot(down);
        if length == 0.0 {
            continue;
        }
        let (x, y) = (across / length, down / length);
        let half = scale.width(own.count, map.cell) / 2.0;
        // Next to the opposite arrow, not on top of it.
        let aside = (half + 1.0).min(0.2 * map.cell);
        let [from, to] = [from, to].map(|place| (place.0 - y * aside, place.1 + x * aside));
        let head = (3.2 * half + 3.0).min(0.6 * length);
        let neck = (to.0 - x * head, to.1 - y * head);
        let wing = 1.9 * half + 1.6;
        let point =
            |base: (f64, f64), off: f64| format!("{:.1} {:.1}", base.0 - y * off, base.1 + x * off);
        let _ = writeln!(
            svg,
            "<path d=\"M{}L{}L{}L{:.1} {:.1}L{}L{}L{}Z\"/>",
            point(from, half),
            point(neck, half),
            point(neck, wing),
            to.0,
            to.1,
            point(neck, -wing),
            point(neck, -half),
            point(from, -half),
        );
    }
    svg.push_str("</g>\n");
}

fn legend(svg: &mut String, scale: &Scale, cell: f64) {
    let (width, top) = (320.0, HEIGHT - 46.0);
    svg.push_str("<linearGradient id=\"g\">");
    for (place, colour) in COLOURS.iter().enumerate() {
        let part = place as f64 / (COLOURS.len() - 1) as f64;
        let _ = write!(svg, "<stop offset=\"{part:.3}\" stop-color=\"{colour}\"/>");
    }
    let _ = write!(
        svg,
        "</linearGradient>\n<text x=\"{MARGIN}\" y=\"{:.0}\" fill=\"#5b6875\">individuals in a cell</text>\n\
         <rect x=\"{MARGIN}\" y=\"{top:.0}\" width=\"{width}\" height=\"12\" fill=\"url(#g)\"/>\n",
        top - 7.0
    );
    for (count, level) in scale.marks() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\" text-anchor=\"middle\">{}</text>",
            MARGIN + level * width,
            top + 27.0,
            label(count)
        );
    }
    if scale.strongest <= 0.0 {
        return;
    }
    let left = WIDTH - 330.0;
    let _ = writeln!(
        svg,
        "<text x=\"{left:.0}\" y=\"{:.0}\" fill=\"#5b6875\">individuals that move</text>",
        top - 7.0
    );
    for (place, part) in [1.0, 0.25, 0.04].into_iter().enumerate() {
        let (x, flow) = (left + 108.0 * place as f64, part * scale.strongest);
        let width = scale.width(flow, cell);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.0} {y:.0}h34\" stroke=\"#e8590c\" stroke-width=\"{width:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\">{}</text>",
            x + 40.0,
            top + 10.0,
            label(flow),
            y = top + 6.0,
        );
    }
}
