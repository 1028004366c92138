//! What the page knows, as JSON.

use serde_json::{Value, json};

use super::map::{Degrees, Map};
use super::regions::Regions;
use super::scale::COLOURS;
use super::{FEW_CELLS, Picture, SIZE};
use crate::output::rounded;

/// Beyond this many counts the page has fewer digits, and neither standard errors nor the numbers of
/// those who come and go.
const MANY_COUNTS: usize = 400_000;
/// Beyond this many counts the page leaves out observed ones.
const TOO_MANY_COUNTS: usize = 2_000_000;

impl Picture<'_> {
    pub(super) fn data(&self) -> Value {
        let map = Map::new(self.cells, SIZE);
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        // Neighbours stay apart where a place far away leaves little room for them.
        let grain = 10f64.powf((1.0 - map.cell.log10().floor()).clamp(1.0, 12.0));
        let fine = |value: f64| (value * grain).round() / grain;
        let places = map.places.iter().flat_map(|(x, y)| [fine(*x), fine(*y)]);
        let moves = self.movements.strongest.iter().map(|moves| {
            let flat =
                moves.iter().flat_map(|m| [json!(m.from), json!(m.to), self.number(m.count)]);
            flat.collect::<Value>()
        });
        let degrees = map.degrees.as_ref().map(|Degrees { west, north, across, down }| {
            json!({"west": west, "north": north, "across": across, "down": down})
        });
        let regions = Regions::new(&map);
        json!({
            "title": self.title,
            "note": self.note,
            "names": self.cells.names(),
            "times": self.times,
            "places": places.collect::<Vec<f64>>(),
            "size": [tenth(map.size.0), tenth(map.size.1)],
            "cell": map.cell,
            "grid": map.is_grid,
            "degrees": degrees,
            "counts": self.rows(self.counts),
            "observed": self.observed(),
            "errors": self.errors.map_or(Value::Null, |errors| self.unless_many(&errors.counts)),
            "moves": moves.collect::<Value>(),
            "moveErrors": self.move_errors(),
            "stayErrors": self.stay_errors(),
            "arrivals": self.unless_many(&self.movements.arrivals),
            "departures": self.unless_many(&self.movements.departures),
            "moved": self.moved(),
            "few": self.cells.len() <= FEW_CELLS,
            "region": regions.side,
            "drift": self.drift(&regions, &map.places),
            "most": self.scale.most,
            "colours": COLOURS,
        })
    }

    fn has_many(&self) -> bool {
        self.counts.len() > MANY_COUNTS
    }

    /// A number as short as the page needs it, whole ones without a point.
    fn number(&self, value: f64) -> Value {
        let digits = if self.has_many() { 2 } else { 4 };
        let number: f64 = rounded(value, digits).parse().expect("written by us");
        match number.fract() == 0.0 && number.abs() < 1e15 {
            true => Value::from(number as i64),
            false => json!(number),
        }
    }

    /// `[times][cells]`
    fn rows(&self, values: &[f64]) -> Value {
        let row = |own: &[f64]| own.iter().map(|value| self.number(*value)).collect::<Value>();
        values.chunks(self.cells.len()).map(row).collect()
    }

    fn unless_many(&self, values: &[f64]) -> Value {
        if self.has_many() || values.is_empty() { Value::Null } else { self.rows(values) }
    }

    /// `[times][cells]`; nothing for times at which nothing was observed.
    fn observed(&self) -> Value {
        if self.counts.len() > TOO_MANY_COUNTS {
            return Value::Null;
        }
        let row = |time: usize| {
            let own = self.observations.at(time);
            if own.iter().all(Option::is_none) {
                return Value::Null;
            }
            own.iter().map(|count| count.map_or(Value::Null, |y| self.number(y))).collect()
        };
        (0..self.times.len()).map(row).collect()
    }

    /// Standard errors of the moves. `[steps][moves]`
    fn move_errors(&self) -> Value {
        let Some(errors) = self.errors.filter(|errors| !errors.flows.is_empty()) else {
            return Value::Null;
        };
        let error = |row: &Option<usize>| {
            row.and_then(|row| errors.flows.get(row)).map_or(Value::Null, |own| self.number(*own))
        };
        self.movements.rows.iter().map(|rows| rows.iter().map(error).collect::<Value>()).collect()
    }

    /// Standard errors of those who stay. `[steps][cells]`
    fn stay_errors(&self) -> Value {
        let rows = &self.movements.stays;
        let Some(errors) = self.errors.filter(|own| !own.flows.is_empty() && !rows.is_empty())
        else {
            return Value::Null;
        };
        if self.has_many() {
            return Value::Null;
        }
        let error = |row: &Option<usize>| {
            row.and_then(|row| errors.flows.get(row)).map_or(Value::Null, |own| self.number(*own))
        };
        rows.chunks(self.cells.len()).map(|own| own.iter().map(error).collect::<Value>()).collect()
    }

    /// Of each region with individuals: the middle of these, how many, and their mean way, as
    /// `x, y, number, right, down`. `[steps][regions × 5]`
    fn drift(&self, regions: &Regions, places: &[(f64, f64)]) -> Value {
        let steps = self.movements.drift.chunks(self.cells.len()).enumerate();
        let tenth = |value: f64| json!((value * 10.0).round() / 10.0);
        let flat = |(time, drift): (usize, &[(f64, f64)])| {
            let flows = regions.flows(places, self.counts_at(time), drift);
            let own = flows.into_iter().flat_map(|flow| {
                let [(x, y), (right, down)] = [flow.middle, flow.way];
                [
                    tenth(x),
                    tenth(y),
                    self.number(flow.number),
                    self.number(right),
                    self.number(down),
                ]
            });
            own.collect::<Value>()
        };
        steps.map(flat).collect()
    }

    /// How many go to another cell. `[steps]`
    fn moved(&self) -> Value {
        let steps = self.movements.departures.chunks(self.cells.len());
        steps.map(|left| self.number(left.iter().sum())).collect()
    }
}
