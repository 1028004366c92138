//! Meridians and parallels of a frame, with their names.

use std::fmt::Write;

use super::{FOOT, HEAD, HEIGHT, LEFT, WIDTH};
use crate::output::picture::map::Degrees;

/// Degrees between lines, and what is farthest apart.
const STEPS: [f64; 17] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0,
    60.0,
];
/// Pixels between lines, at least.
const APART: f64 = 90.0;
/// Half of the room for the name of a meridian.
const HALF: f64 = 28.0;

/// Draws lines across the room of the map, whose upper left corner is here.
pub(super) fn graticule(svg: &mut String, degrees: &Degrees, (left, top): (f64, f64)) {
    let Degrees { west, north, across, down } = degrees;
    let (right, bottom) = (WIDTH - LEFT, HEIGHT - FOOT);
    let (mut path, mut names) = (String::new(), String::new());
    let step = every(*across);
    for line in lines(west + (LEFT - left) / across, west + (right - left) / across, step) {
        let x = left + (line - west) * across;
        let _ = write!(path, "M{x:.1} {HEAD:.1}V{bottom:.1}");
        if x - HALF >= LEFT && x + HALF <= right {
            let name = longitude(line, step);
            let _ = write!(
                names,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                bottom - 6.0
            );
        }
    }
    let step = every(*down);
    let (lowest, highest) = (north - (bottom - top) / down, north - (HEAD - top) / down);
    for line in lines(lowest.max(-90.0), highest.min(90.0), step) {
        let y = top + (north - line) * down;
        let _ = write!(path, "M{LEFT:.1} {y:.1}H{right:.1}");
        if y > HEAD + 12.0 && y < bottom - 20.0 {
            let name = latitude(line, step);
            let _ =
                write!(names, "<text x=\"{:.1}\" y=\"{:.1}\">{name}</text>", LEFT + 3.0, y - 4.0);
        }
    }
    let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"#dfe5ea\"/>");
    let _ = writeln!(svg, "<g font-size=\"11\" fill=\"#5b6875\">{names}</g>");
}

/// Degrees between lines where a degree has so many pixels.
fn every(pixels: f64) -> f64 {
    STEPS.into_iter().find(|step| step * pixels >= APART).unwrap_or(STEPS[STEPS.len() - 1])
}

/// Multiples of a step between two degrees.
fn lines(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(move |line| line as f64 * step)
}

fn decimals(step: f64) -> usize {
    [1.0, 0.1, 0.01].iter().take_while(|digit| step < **digit).count()
}

fn longitude(line: f64, step: f64) -> String {
    let turn = (line + 180.0).rem_euclid(360.0) - 180.0;
    let side = match turn {
        east if east > 0.0 => "E",
        west if west < 0.0 && west > -180.0 => "W",
        _ => "",
    };
    format!("{:.*}°{side}", decimals(step), turn.abs())
}

fn latitude(line: f64, step: f64) -> String {
    let side = match line {
        north if north > 0.0 => "N",
        south if south < 0.0 => "S",
        _ => "",
    };
    format!("{:.*}°{side}", decimals(step), line.abs())
}

#[cfg(test)]
mod tests {
    use super::{every, latitude, lines, longitude};

    #[test]
    fn degrees_are_named_by_their_side() {
        let names: Vec<String> =
            lines(160.0, 205.0, 15.0).map(|own| longitude(own, 15.0)).collect();
        assert_eq!(names, ["165°E", "180°", "165°W"]);
        assert_eq!([latitude(-30.0, 30.0), latitude(0.0, 30.0)], ["30°S", "0°"]);
        assert_eq!(latitude(0.25, 0.05), "0.25°N");
        assert_eq!((every(1.0), every(20.0)), (60.0, 5.0));
    }
}
