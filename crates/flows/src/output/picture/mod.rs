//! Maps with arrows: an animated page, and still frames.
//!
//! The page is self-contained, so it works from the file system. Its size is bounded by the moves
//! kept per step, not by the number of possible moves.

mod data;
mod frame;
mod map;
mod regions;
mod scale;

use bethe_io::{in_markup, in_script};

use super::{Kept, Movements};
use crate::data::{Cells, Observations};
use crate::uncertainty::StandardErrors;
use map::Map;
use scale::Scale;

/// The largest moves that a page keeps of a step.
const STRONGEST: usize = 400;
/// The same in a page, over all steps.
const ALL_STRONGEST: usize = 60_000;
/// The largest moves that a page keeps of a cell at a step, in each direction.
const PER_CELL: usize = 12;
/// The same in a page, over all cells and steps.
const ALL_PER_CELL: usize = 120_000;

/// Up to this many cells are discs with arrows between them; more are tiles, and arrows say where
/// the individuals of a region go on average.
const FEW_CELLS: usize = 60;
/// The map of a page fits into this.
const SIZE: (f64, f64) = (1000.0, 1000.0);

/// The parts of the page, in the order of the gaps of `page.html`.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("state.js"),
    include_str!("draw.js"),
    include_str!("panel.js"),
    include_str!("zoom.js"),
    include_str!("controls.js"),
];

/// What pictures show.
pub struct Picture<'a> {
    title: &'a str,
    note: &'a str,
    cells: &'a Cells,
    times: &'a [String],
    /// `[times][cells]`
    counts: &'a [f64],
    observations: &'a Observations,
    movements: &'a Movements,
    errors: Option<&'a StandardErrors>,
    scale: Scale,
}

impl<'a> Picture<'a> {
    /// What a picture needs of the moves of this many steps.
    pub fn kept(steps: usize, cells: &Cells, threshold: f64) -> Kept {
        let (steps, cells, map) = (steps.max(1), cells.len(), Map::new(cells, SIZE));
        Kept {
            threshold,
            strongest: (ALL_STRONGEST / steps).clamp(20, STRONGEST),
            per_cell: (ALL_PER_CELL / (2 * steps * cells)).min(PER_CELL),
            places: if cells > FEW_CELLS { map.places } else { Vec::new() },
        }
    }

    /// A picture of counts `[times][cells]` and of movements, under a title and a note.
    /// Observations are in individuals, as counts are.
    pub fn new(
        (title, note): (&'a str, &'a str),
        cells: &'a Cells,
        observations: &'a Observations,
        counts: &'a [f64],
        movements: &'a Movements,
    ) -> Self {
        let times = observations.times();
        let most = counts.iter().copied().fold(0.0, f64::max);
        let strongest = movements.strongest.iter().filter_map(|moves| moves.first());
        let strongest = strongest.map(|own| own.count).fold(0.0, f64::max);
        let scale = Scale { most, strongest };
        Self { title, note, cells, times, counts, observations, movements, errors: None, scale }
    }

    /// The same, with a view of how sure counts and flows are.
    pub fn with_errors(self, errors: Option<&'a StandardErrors>) -> Self {
        Self { errors, ..self }
    }

    fn counts_at(&self, time: usize) -> &[f64] {
        &self.counts[time * self.cells.len()..][..self.cells.len()]
    }

    /// A time as an SVG document.
    pub fn frame(&self, time: usize) -> String {
        frame::draw(self, time)
    }

    /// All times as one HTML page.
    pub fn page(&self) -> String {
        let (title, data) = (in_markup(self.title), in_script(&self.data().to_string()));
        let script = SCRIPTS.concat();
        let mut parts = Vec::new();
        let mut rest = PAGE;
        for (gap, part) in [
            ("{{title}}", &title[..]),
            ("{{style}}", STYLE),
            ("{{data}}", &data),
            ("{{script}}", &script),
        ] {
            // Only our own text is searched: a title that looks like a gap stays a title.
            let (before, after) = rest.split_once(gap).expect("a gap in the page");
            parts.extend([before, part]);
            rest = after;
        }
        parts.push(rest);
        parts.concat()
    }
}
