//! Few cells: discs whose area is the count, rings of what was observed, bent arrows and names.

use std::fmt::Write;

use bethe_io::in_markup;

use super::names::{Name, name_places};
use super::{FOOT_LINE, LEFT, round_numbers};
use crate::output::picture::Picture;
use crate::output::picture::map::Map;
use crate::output::{Move, for_people};

/// Radius of the largest disc, and of what is still seen, in pixels.
const RADII: (f64, f64) = (52.0, 11.0);
/// The largest disc takes at most this part of the distance between neighbours.
const PART: f64 = 0.42;
/// Pixels of the widest arrow and of the thinnest.
const WIDTHS: (f64, f64) = (11.0, 1.0);

/// The discs of a map: one scale for all times.
pub(super) struct Discs<'a> {
    map: &'a Map,
    /// Radius of the greatest count.
    largest: f64,
    most: f64,
    strongest: f64,
    /// The greatest count of each cell. `[cells]`
    peaks: Vec<f64>,
}

type Point = (f64, f64);

impl<'a> Discs<'a> {
    pub fn new(picture: &Picture, map: &'a Map) -> Self {
        let cells = picture.cells.len();
        let mut peaks = vec![0.0f64; cells];
        for (at, count) in picture.counts.iter().enumerate() {
            peaks[at % cells] = peaks[at % cells].max(*count);
        }
        let (most, strongest) = (picture.scale.most, picture.scale.strongest);
        let mut own = Self { map, largest: 1.0, most, strongest, peaks };
        let room = own.room().min(PART * map.cell).min(0.16 * map.size.0.max(map.size.1));
        own.largest = room.clamp(RADII.1, RADII.0);
        own
    }

    /// The radius of the greatest count at which no two discs touch.
    fn room(&self) -> f64 {
        let mut room = f64::INFINITY;
        for (cell, &place) in self.map.places.iter().enumerate() {
            for (other, &further) in self.map.places[..cell].iter().enumerate() {
                let both = self.radius(self.peaks[cell]) + self.radius(self.peaks[other]);
                let apart = distance(place, further);
                if apart > 0.0 && both > 0.0 {
                    room = room.min(apart / both);
                }
            }
        }
        room
    }

    fn radius(&self, count: f64) -> f64 {
        let share = if self.most > 0.0 { count / self.most } else { 0.0 };
        self.largest * share.min(1.5).sqrt()
    }

    /// The width of an arrow.
    pub fn width(&self, flow: f64) -> f64 {
        (WIDTHS.0 * (flow / self.strongest).sqrt()).max(WIDTHS.1)
    }

    pub fn cells(&self, svg: &mut String, picture: &Picture, time: usize) {
        let counts = picture.counts_at(time).iter().zip(picture.observations.at(time));
        for (&(x, y), (count, observed)) in self.map.places.iter().zip(counts) {
            let mut disc = |radius: f64, look: &str| {
                let _ =
                    writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {look}/>");
            };
            disc(2.0, "fill=\"#c3ccd4\"");
            disc(self.radius(*count), "fill=\"#3c80b3\"");
            if let Some(observed) = observed {
                disc(
                    self.radius(*observed),
                    "fill=\"none\" stroke=\"#1c2733\" stroke-width=\"1.25\"",
                );
            }
        }
    }

    /// The largest moves, bent to the right so that both ways of a pair are seen, from rim to rim.
    pub fn arrows(&self, svg: &mut String, (picture, time): (&Picture, usize), moves: &[Move]) {
        let most = (3 * picture.cells.len()).min(24);
        let radius = |cell: usize| self.radius(picture.counts_at(time)[cell]);
        svg.push_str("<g stroke=\"#d9480f\" fill=\"none\">\n");
        for own in moves.iter().take(most).rev() {
            let ends = [own.from, own.to].map(|cell| (self.map.places[cell], radius(cell)));
            if distance(ends[0].0, ends[1].0) >= 1.0 {
                let opacity = 0.4 + 0.55 * (own.count / self.strongest).min(1.0).sqrt();
                arrow(svg, ends, self.width(own.count), opacity);
            }
        }
        svg.push_str("</g>\n");
    }

    /// Names where they fit. The corner is where the map begins.
    pub fn names(&self, svg: &mut String, picture: &Picture, corner: Point) {
        let largest = |cell: usize| {
            let seen = (0..picture.times.len()).filter_map(|t| picture.observations.at(t)[cell]);
            self.radius(seen.fold(self.peaks[cell], f64::max)).max(4.0)
        };
        let radii: Vec<f64> = (0..self.peaks.len()).map(largest).collect();
        let mut order: Vec<usize> = (0..self.peaks.len()).collect();
        order.sort_by(|&a, &b| self.peaks[b].total_cmp(&self.peaks[a]));
        let placed = name_places(picture.cells.names(), (&self.map.places, &radii), &order, corner);
        svg.push_str(
            "<g font-size=\"13\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\" \
             stroke-linejoin=\"round\">\n",
        );
        for Name { words, at: (x, y), anchor } in placed {
            let words = in_markup(&words);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{words}</text>",
                y + 4.5
            );
        }
        svg.push_str("</g>\n");
    }

    pub fn legend(&self, svg: &mut String, picture: &Picture) {
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.0}\" fill=\"#5b6875\">individuals, inferred</text>",
            FOOT_LINE - 13.0
        );
        let mut x = LEFT;
        let middle = FOOT_LINE + 8.0;
        for count in round_numbers(self.most / 4.0) {
            let (radius, words) = (self.radius(count), for_people(count, 3));
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"{radius:.1}\" fill=\"#3c80b3\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"12\">{words}</text>",
                x + radius,
                x + 2.0 * radius + 5.0,
                middle + 4.0
            );
            x += 2.0 * radius + 22.0 + 7.0 * words.len() as f64;
        }
        let observed = (0..picture.times.len())
            .any(|time| picture.observations.at(time).iter().any(Option::is_some));
        if observed {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"8\" fill=\"none\" stroke=\"#1c2733\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"12\">observed</text>",
                x + 10.0,
                x + 24.0,
                middle + 4.0
            );
        }
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (b.0 - a.0).hypot(b.1 - a.1)
}

/// The point so far from the first towards the second.
fn toward(from: Point, to: Point, along: f64) -> Point {
    let part = along / distance(from, to).max(f64::MIN_POSITIVE);
    (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
}

/// An arrow between two discs: their middles and radii.
fn arrow(svg: &mut String, [(from, room), (to, rim)]: [(Point, f64); 2], width: f64, opacity: f64) {
    let length = distance(from, to);
    let width = width.min((0.2 * length).max(1.0));
    let (x, y) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let bend = (0.16 * length).max(width + 2.0).min(70.0);
    let turn = ((from.0 + to.0) / 2.0 - y * bend, (from.1 + to.1) / 2.0 + x * bend);
    let trim = |radius: f64| (radius + 2.0).min(0.42 * length);
    let (start, tip) = (toward(from, turn, trim(room)), toward(to, turn, trim(rim)));
    let head = (4.0 + 2.1 * width).min(0.5 * distance(start, tip));
    let wing = (1.6 + 1.05 * width).min(0.45 * head + 0.35 * width);
    let neck = toward(tip, turn, head);
    let (u, v) = ((tip.0 - neck.0) / head.max(1e-9), (tip.1 - neck.1) / head.max(1e-9));
    let _ = writeln!(
        svg,
        "<g opacity=\"{opacity:.2}\"><path d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" stroke-width=\"{width:.1}\"/>\
         <path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"#d9480f\" stroke=\"none\"/></g>",
        start.0,
        start.1,
        turn.0,
        turn.1,
        neck.0,
        neck.1,
        tip.0,
        tip.1,
        neck.0 - v * wing,
        neck.1 + u * wing,
        neck.0 + v * wing,
        neck.1 - u * wing,
    );
}

#[cfg(test)]
mod tests {
    use super::arrow;

    #[test]
    fn arrows_end_at_the_rims_of_discs() {
        let mut svg = String::new();
        arrow(&mut svg, [((0.0, 0.0), 20.0), ((200.0, 0.0), 40.0)], 4.0, 1.0);
        let tip = svg.split("/><path d=\"M").nth(1).unwrap();
        let tip: Vec<f64> =
            tip.split(['L', ' ']).take(2).map(|number| number.parse().unwrap()).collect();
        let off = (tip[0] - 200.0).hypot(tip[1]);
        assert!((off - 42.0).abs() < 0.2, "{off}: {svg}");
        assert!(tip[1] > 0.0, "bent to the right of its way, down on the screen: {svg}");
    }
}
