//! Many cells: squares or dots of one size and a colour.

use std::fmt::Write;

use super::{FOOT_LINE, LEFT};
use crate::output::for_people;
use crate::output::picture::Picture;
use crate::output::picture::map::Map;
use crate::output::picture::scale::{COLOURS, Scale};

/// Beyond this many cells, nearly empty ones are not drawn individually.
const MANY: usize = 3000;

pub(super) fn cells(svg: &mut String, picture: &Picture, map: &Map, time: usize) {
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

pub(super) fn legend(svg: &mut String, scale: &Scale) {
    let (width, top) = (320.0, FOOT_LINE - 6.0);
    svg.push_str("<linearGradient id=\"g\">");
    for (place, colour) in COLOURS.iter().enumerate() {
        let part = place as f64 / (COLOURS.len() - 1) as f64;
        let _ = write!(svg, "<stop offset=\"{part:.3}\" stop-color=\"{colour}\"/>");
    }
    let _ = write!(
        svg,
        "</linearGradient>\n<text x=\"{LEFT}\" y=\"{:.0}\" fill=\"#5b6875\">individuals in a cell</text>\n\
         <rect x=\"{LEFT}\" y=\"{top:.0}\" width=\"{width}\" height=\"12\" fill=\"url(#g)\"/>\n",
        top - 7.0
    );
    for (count, level) in scale.marks() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\" text-anchor=\"middle\">{}</text>",
            LEFT + level * width,
            top + 27.0,
            for_people(count, 3)
        );
    }
}
