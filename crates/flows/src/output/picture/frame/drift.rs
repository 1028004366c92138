//! The mean movement of the individuals of each region: long for far, wide for many.

use std::fmt::Write;

use super::{ARROWS_LEFT, FOOT_LINE, round_numbers};
use crate::output::for_people;
use crate::output::picture::map::Map;
use crate::output::picture::regions::{RegionFlow, Regions};
use crate::output::picture::{Picture, SIZE};

/// Kilometres of a degree.
const DEGREE: f64 = 111.195;
/// The longest arrow stands for the way of all but this part of the individuals.
const BEYOND: f64 = 0.03;

/// The movement of one step, on the map of a frame.
pub(super) struct Drift {
    flows: Vec<RegionFlow>,
    /// Pixels of the frame for each unit of the map that ways are on.
    scale: f64,
    /// Pixels of the longest arrow, and the way that it stands for.
    longest: (f64, f64),
    /// What a unit of the map is: its number and name.
    unit: (f64, &'static str),
}

impl Drift {
    /// Nothing after the last time.
    pub fn new(picture: &Picture, map: &Map, time: usize) -> Option<Self> {
        let cells = picture.cells.len();
        let drift = picture.movements.drift.chunks(cells).nth(time)?;
        // Ways are on the map of the page.
        let page = Map::new(picture.cells, SIZE);
        let regions = Regions::new(&page);
        let flows = regions.flows(&page.places, picture.counts_at(time), drift);
        let scale = map.cell / page.cell;
        let unit = match &page.degrees {
            Some(degrees) => (DEGREE / degrees.down, "km"),
            None => (1.0 / page.cell, "cells"),
        };
        let longest = (0.95 * scale * regions.side, far(&flows));
        (longest.1 > 0.0).then_some(Self { flows, scale, longest, unit })
    }

    pub fn draw(&self, svg: &mut String) {
        let most = self.flows.iter().map(|own| own.number).fold(0.0, f64::max);
        svg.push_str("<g fill=\"#d9480f\" stroke=\"#fff\" stroke-width=\"0.5\">\n");
        for own in &self.flows {
            self.arrow(svg, own, own.number / most);
        }
        svg.push_str("</g>\n");
    }

    /// The arrow of a region with this part of the individuals of the fullest one.
    fn arrow(&self, svg: &mut String, own: &RegionFlow, part: f64) {
        let (room, far) = self.longest;
        let (right, down) = (own.way.0 * room / far, own.way.1 * room / far);
        let long = right.hypot(down);
        let length = long.min(1.4 * room);
        if length < 2.5 || part < 1e-3 {
            return;
        }
        let (x, y) = (right / long, down / long);
        let half = (5.5 * part.sqrt()).max(0.7).min(0.12 * room).min(0.16 * length);
        let head = (3.0 + 3.4 * half).min(0.6 * length);
        let wing = (1.4 + 2.0 * half).min(0.45 * head);
        let middle = (self.scale * own.middle.0, self.scale * own.middle.1);
        // Along the way from its middle, and aside of it.
        let point = |along: f64, aside: f64| {
            let (a, b) = (middle.0 + along * x - aside * y, middle.1 + along * y + aside * x);
            format!("{a:.1} {b:.1}")
        };
        let (start, tip) = (-length / 2.0, length / 2.0);
        let neck = tip - head;
        let outline = [
            point(start, 0.4 * half),
            point(neck, half),
            point(neck, wing),
            point(tip, 0.0),
            point(neck, -wing),
            point(neck, -half),
            point(start, -0.4 * half),
        ];
        let opacity = 0.3 + 0.65 * part.powf(0.4);
        let _ =
            writeln!(svg, "<path d=\"M{}Z\" fill-opacity=\"{opacity:.2}\"/>", outline.join("L"));
    }

    pub fn legend(&self, svg: &mut String) {
        let ((room, far), (number, name)) = (self.longest, self.unit);
        let Some(&long) = round_numbers(far * number).first() else { return };
        let pixels = long / number / far * room;
        let head = (0.5 * pixels).min(6.0);
        let name = if long == 1.0 { name.trim_end_matches('s') } else { name };
        let _ = writeln!(
            svg,
            "<text x=\"{ARROWS_LEFT:.0}\" y=\"{:.0}\" fill=\"#5b6875\">length: mean distance moved</text>\
             <path d=\"M{ARROWS_LEFT:.0} {FOOT_LINE:.0}h{pixels:.1}m-{head:.1} -{wing:.1}l{head:.1} {wing:.1}l-{head:.1} {wing:.1}\" \
             fill=\"none\" stroke=\"#d9480f\" stroke-width=\"2\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\">{} {name}; width: how many individuals</text>",
            FOOT_LINE - 13.0,
            ARROWS_LEFT + pixels + 8.0,
            FOOT_LINE + 4.0,
            for_people(long, 3),
            wing = 0.7 * head,
        );
    }
}

/// The way of all but few individuals.
fn far(flows: &[RegionFlow]) -> f64 {
    let mut ways: Vec<(f64, f64)> =
        flows.iter().map(|own| (own.way.0.hypot(own.way.1), own.number)).collect();
    ways.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = BEYOND * ways.iter().map(|own| own.1).sum::<f64>();
    let found = ways.into_iter().find(|&(_, number)| {
        left -= number;
        left <= 0.0
    });
    found.map_or(0.0, |own| own.0)
}

#[cfg(test)]
mod tests {
    use super::far;
    use crate::output::picture::regions::RegionFlow;

    #[test]
    fn a_few_individuals_do_not_shorten_the_arrows_of_all_others() {
        let flow =
            |number: f64, right: f64| RegionFlow { number, way: (right, 0.0), middle: (0.0, 0.0) };
        assert_eq!(far(&[flow(98.0, 3.0), flow(2.0, 40.0)]), 3.0);
        assert_eq!(far(&[flow(90.0, 3.0), flow(10.0, 40.0)]), 40.0);
        assert_eq!(far(&[]), 0.0);
    }
}
