//! Maps with arrows: a page that plays, and still frames.
//!
//! The page is self-contained, so it works from the file system. Its size is bounded by the arrows
//! kept per step, not by the number of possible moves.

mod frame;
mod map;
mod scale;

use bethe_io::{in_markup, in_script};
use serde_json::{Value, json};

use super::{Movements, rounded};
use crate::data::{Cells, Observations};
use map::Map;
use scale::{COLOURS, POWER, Scale, WIDEST_PART, WIDTHS};

/// Arrows kept per step.
const ARROWS: usize = 400;
/// Arrows in a page, over all steps.
const ALL_ARROWS: usize = 60_000;
/// Beyond this many counts the page shows fewer digits and leaves out observed counts.
const MANY_COUNTS: usize = 400_000;

const PAGE: &str = include_str!("page.html");

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
    scale: Scale,
}

impl<'a> Picture<'a> {
    /// How many of the strongest moves per step a picture can show, for this many steps.
    pub fn arrows(steps: usize) -> usize {
        (ALL_ARROWS / steps.max(1)).clamp(20, ARROWS)
    }

    /// A picture of counts `[times][cells]` and of movements, under a title and a note.
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
        Self { title, note, cells, times, counts, observations, movements, scale }
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
        // Filled in from the end: a title that looks like a gap stays a title.
        let (head, rest) = PAGE.split_once("{{title}}").expect("a gap for the title");
        let (body, script) = rest.split_once("{{data}}").expect("a gap for the data");
        let (title, data) = (in_markup(self.title), in_script(&self.data().to_string()));
        [head, &title, body, &data, script].concat()
    }

    fn data(&self) -> Value {
        let many = self.counts.len() > MANY_COUNTS;
        let digits = if many { 2 } else { 4 };
        let number = |value: f64| -> Value {
            rounded(value, digits).parse().ok().and_then(serde_json::Number::from_f64).map_or(
                Value::Null,
                |number| match number.as_f64() {
                    Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => {
                        Value::from(whole as i64)
                    }
                    _ => Value::Number(number),
                },
            )
        };
        let map = Map::new(self.cells, (1000.0, 1000.0));
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        let places: Vec<Value> =
            map.places.iter().flat_map(|(x, y)| [json!(tenth(*x)), json!(tenth(*y))]).collect();
        let times = 0..self.times.len();
        let counts = times
            .clone()
            .map(|time| self.counts_at(time).iter().map(|c| number(*c)).collect::<Value>());
        let observed = times.map(|time| {
            let own = self.observations.at(time).iter();
            own.map(|count| count.map_or(Value::Null, number)).collect::<Value>()
        });
        let observed: Value = if many { Value::Null } else { observed.collect() };
        let moves = self.movements.strongest.iter().map(|moves| {
            let flat = moves.iter().flat_map(|m| [json!(m.from), json!(m.to), number(m.count)]);
            flat.collect::<Value>()
        });
        json!({
            "title": self.title,
            "note": self.note,
            "names": self.cells.names(),
            "times": self.times,
            "places": places,
            "size": [tenth(map.size.0), tenth(map.size.1)],
            "cell": map.cell,
            "grid": map.is_grid,
            "counts": counts.collect::<Value>(),
            "observed": observed,
            "moves": moves.collect::<Value>(),
            "most": self.scale.most,
            "strongest": self.scale.strongest,
            "marks": self.scale.marks(),
            "colours": COLOURS,
            "power": POWER,
            "widths": [WIDTHS.0, WIDTHS.1, WIDEST_PART],
        })
    }
}
