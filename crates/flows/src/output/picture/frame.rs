//! One time as an SVG picture.

mod degrees;
mod discs;
mod drift;
mod names;
mod tiles;

use std::fmt::Write;

use bethe_io::in_markup;

use super::map::Map;
use super::{FEW_CELLS, Picture};
use crate::output::for_people;
use discs::Discs;
use drift::Drift;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 700.0;
const LEFT: f64 = 24.0;
/// Room for the title above and the legend below.
const HEAD: f64 = 64.0;
const FOOT: f64 = 76.0;
/// Where the signs of the legend are.
const FOOT_LINE: f64 = HEIGHT - 40.0;
/// Where the legend of arrows begins.
const ARROWS_LEFT: f64 = WIDTH - 330.0;

pub(super) fn draw(picture: &Picture, time: usize) -> String {
    let room = (WIDTH - 2.0 * LEFT, HEIGHT - HEAD - FOOT);
    let map = Map::new(picture.cells, room);
    let corner = (LEFT + (room.0 - map.size.0) / 2.0, HEAD + (room.1 - map.size.1) / 2.0);
    let mut svg = head(picture, time);
    if let Some(own) = &map.degrees {
        degrees::graticule(&mut svg, own, corner);
    }
    let _ = writeln!(svg, "<g transform=\"translate({:.1} {:.1})\">", corner.0, corner.1);
    if picture.cells.len() <= FEW_CELLS {
        let discs = Discs::new(picture, &map);
        let moves = picture.movements.strongest.get(time).map_or(&[][..], |moves| moves);
        discs.arrows(&mut svg, (picture, time), moves);
        discs.cells(&mut svg, picture, time);
        discs.names(&mut svg, picture, corner);
        svg.push_str("</g>\n");
        discs.legend(&mut svg, picture);
        arrows_legend(&mut svg, picture.scale.strongest, |flow| discs.width(flow));
    } else {
        tiles::cells(&mut svg, picture, &map, time);
        let drift = Drift::new(picture, &map, time);
        drift.iter().for_each(|own| own.draw(&mut svg));
        svg.push_str("</g>\n");
        tiles::legend(&mut svg, &picture.scale);
        drift.iter().for_each(|own| own.legend(&mut svg));
    }
    svg.push_str("</svg>\n");
    svg
}

/// The ground, the title and the time.
fn head(picture: &Picture, time: usize) -> String {
    let next = picture.times.get(time + 1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"14\" fill=\"#1c2733\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"32\" font-size=\"20\" font-weight=\"600\">{}</text>\n\
         <text x=\"{LEFT}\" y=\"53\" fill=\"#5b6875\">time {}{}</text>\n",
        in_markup(picture.title),
        in_markup(&picture.times[time]),
        next.map_or(String::new(), |next| format!(", arrows to {}", in_markup(next))),
    )
}

/// Three round numbers up to a greatest one.
fn round_numbers(most: f64) -> Vec<f64> {
    if !(most.is_normal() && most > 0.0) {
        return Vec::new();
    }
    let unit = 10f64.powf(most.log10().floor());
    let lead = [5.0, 2.0, 1.0].into_iter().find(|lead| lead * unit <= most * 1.0001).unwrap_or(1.0);
    let second = if lead == 5.0 { 5.0 } else { 4.0 };
    vec![lead * unit, lead * unit / second, lead * unit / 20.0]
}

/// Three flows, and how wide their arrows are.
fn arrows_legend(svg: &mut String, strongest: f64, width: impl Fn(f64) -> f64) {
    let flows = round_numbers(strongest);
    if flows.is_empty() {
        return;
    }
    let _ = writeln!(
        svg,
        "<text x=\"{ARROWS_LEFT:.0}\" y=\"{:.0}\" fill=\"#5b6875\">individuals that move</text>",
        FOOT_LINE - 13.0
    );
    for (place, flow) in flows.into_iter().enumerate() {
        let x = ARROWS_LEFT + 108.0 * place as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.0} {FOOT_LINE:.0}h34\" stroke=\"#d9480f\" stroke-width=\"{:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\">{}</text>",
            width(flow),
            x + 40.0,
            FOOT_LINE + 4.0,
            for_people(flow, 3),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::round_numbers;

    #[test]
    fn legends_have_round_numbers() {
        assert_eq!(round_numbers(30.0), [20.0, 5.0, 1.0]);
        assert_eq!(round_numbers(5.0), [5.0, 1.0, 0.25]);
        assert!(round_numbers(0.0).is_empty());
    }
}
