//! Words as written and as read.

use std::fmt::Write;

use crate::ocr::data::{COLUMNS, Image, ROWS};

/// A word and two readings of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The pictures. `[letters]`
    pub images: Vec<Image>,
    /// The base model's reading.
    pub base: String,
    /// The reading under an energy.
    pub energy: String,
    /// What it says.
    pub truth: String,
}

impl Sample {
    /// Samples on a sheet, at most.
    pub const SHOWN: usize = 24;
}

/// Samples beside each other.
const ACROSS: usize = 3;
/// Side of a pixel.
const PIXEL: f64 = 2.0;
/// Width of a letter with the space after it.
const LETTER: f64 = (COLUMNS as f64 + 1.0) * PIXEL;
/// Width and height of a sample, for words of up to 14 letters.
const CELL: [f64; 2] = [14.0 * LETTER + 110.0, ROWS as f64 * PIXEL + 76.0];
const MARGIN: f64 = 24.0;
/// Height of the title.
const HEAD: f64 = 64.0;

const RIGHT: &str = "#1e7d34";
const WRONG: &str = "#c0271c";

/// Draws samples: pictures above, then both readings, letter under letter, right ones green and
/// wrong ones red, and the truth. The result is a whole SVG document.
pub fn contact_sheet(of: &str, samples: &[Sample]) -> String {
    let longest = samples.iter().map(|sample| sample.images.len()).max().unwrap_or(0);
    let cell = [CELL[0].max(longest as f64 * LETTER + 110.0), CELL[1]];
    let rows = samples.len().div_ceil(ACROSS).max(1);
    let width = 2.0 * MARGIN + ACROSS as f64 * cell[0];
    let height = HEAD + rows as f64 * cell[1] + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" \
         font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"16\" font-weight=\"bold\">Words that the base \
         model gets wrong, {of}</text>\n<text x=\"{MARGIN}\" y=\"50\" fill=\"#555\">the first {}; \
         read by the base model, under the energy of words, and the truth</text>\n",
        samples.len()
    );
    for (at, sample) in samples.iter().enumerate() {
        let x = MARGIN + (at % ACROSS) as f64 * cell[0];
        let y = HEAD + (at / ACROSS) as f64 * cell[1];
        draw(&mut svg, sample, x, y);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, sample: &Sample, x: f64, y: f64) {
    let mut path = String::new();
    for (at, &image) in sample.images.iter().enumerate() {
        trace(&mut path, image, x + at as f64 * LETTER, y);
    }
    let _ = writeln!(svg, "<path d=\"{path}\" fill=\"#111\"/>");
    let lines = [("base", &sample.base), ("energy", &sample.energy), ("truth", &sample.truth)];
    let end = x + sample.images.len() as f64 * LETTER + 8.0;
    for (line, (name, text)) in lines.into_iter().enumerate() {
        let down = y + ROWS as f64 * PIXEL + 16.0 * (line + 1) as f64;
        let verdict = if *text == sample.truth { RIGHT } else { WRONG };
        for (at, (letter, right)) in text.chars().zip(sample.truth.chars()).enumerate() {
            let colour = match name {
                "truth" => "#222",
                _ if letter == right => RIGHT,
                _ => WRONG,
            };
            let across = x + (at as f64 + 0.5) * LETTER;
            let _ = writeln!(
                svg,
                "<text x=\"{across:.1}\" y=\"{down:.1}\" text-anchor=\"middle\" \
                 fill=\"{colour}\">{letter}</text>"
            );
        }
        let colour = if name == "truth" { "#777" } else { verdict };
        let _ = writeln!(
            svg,
            "<text x=\"{end:.1}\" y=\"{down:.1}\" font-size=\"11\" fill=\"{colour}\">{name}</text>"
        );
    }
}

/// Adds the black pixels of a picture, run by run.
fn trace(path: &mut String, image: Image, x: f64, y: f64) {
    for row in 0..ROWS {
        let mut column = 0;
        while column < COLUMNS {
            let run = (column..COLUMNS).take_while(|&c| image.is_black(row, c)).count();
            if run > 0 {
                let (left, top) = (x + column as f64 * PIXEL, y + row as f64 * PIXEL);
                let _ = write!(path, "M{left} {top}h{}v{PIXEL}h-{0}z", run as f64 * PIXEL);
            }
            column += run.max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_shows_pictures_and_colours_readings() {
        let mut image = Image::default();
        image.blacken(1, 2);
        image.blacken(1, 3);
        let sample = Sample {
            images: vec![image; 2],
            base: "ax".into(),
            energy: "ab".into(),
            truth: "ab".into(),
        };
        let svg = contact_sheet("fold 0", &[sample]);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("href"));
        assert_eq!(svg.matches("h4v2h-4z").count(), 2, "one run in each picture");
        let coloured =
            |colour: &str, text: &str| svg.contains(&format!("fill=\"{colour}\">{text}<"));
        assert!(coloured(WRONG, "x") && coloured(RIGHT, "a") && coloured(RIGHT, "b"));
        assert!(coloured(WRONG, "base") && coloured(RIGHT, "energy"));
    }

    #[test]
    fn no_sample_is_still_a_picture() {
        assert!(contact_sheet("fold 0", &[]).contains("the first 0"));
    }
}
