//! Flows as lines of a map: GeoJSON (RFC 7946).

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Move, rounded};
use crate::data::{Cells, Geometry};

/// Decimals of a degree: centimetres.
const DECIMALS: f64 = 1e7;
/// Significant digits of numbers.
const DIGITS: usize = 6;

/// A file of lines, while it is being written.
pub struct Lines<W> {
    output: W,
    is_first: bool,
}

impl<W: Write> Lines<W> {
    /// Begins the file. The EPSG code names the coordinates if they are not longitude and latitude:
    /// GDAL and QGIS read it, RFC 7946 has no field for it.
    pub fn new(mut output: W, epsg: Option<u32>) -> io::Result<Self> {
        output.write_all(b"{\"type\":\"FeatureCollection\",")?;
        if let Some(code) = epsg {
            let name = format!("urn:ogc:def:crs:EPSG::{code}");
            let crs = json!({"type": "name", "properties": {"name": name}});
            write!(output, "\"crs\":{crs},")?;
        }
        output.write_all(b"\"features\":[")?;
        Ok(Self { output, is_first: true })
    }

    /// Adds the moves of one step between different cells; `errors` has one for each, or is empty.
    pub fn write(
        &mut self,
        cells: &Cells,
        time: &str,
        moves: &[Move],
        errors: &[f64],
    ) -> io::Result<()> {
        for (place, own) in moves.iter().enumerate().filter(|(_, own)| own.from != own.to) {
            let mut feature = json!({
                "type": "Feature",
                "geometry": line(cells, own),
                "properties": {
                    "time": time,
                    "from": cells.name(own.from),
                    "to": cells.name(own.to),
                    "count": number(own.count),
                },
            });
            if let Some(error) = errors.get(place) {
                feature["properties"]["standard_error"] = number(*error);
            }
            let separator = if self.is_first { "\n" } else { ",\n" };
            self.is_first = false;
            write!(self.output, "{separator}{feature}")?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.write_all(b"\n]}\n")
    }
}

fn number(value: f64) -> Value {
    let rounded: f64 = rounded(value, DIGITS).parse().expect("written by us");
    json!(rounded)
}

fn line(cells: &Cells, own: &Move) -> Value {
    let [from, to] = [own.from, own.to].map(|cell| cells.place(cell));
    if cells.geometry() == Geometry::Plane {
        return json!({"type": "LineString", "coordinates": [[from.0, from.1], [to.0, to.1]]});
    }
    let [(x, y), (u, v)] = [from, to].map(|(lon, lat)| (in_turn(lon), lat));
    let point = |lon: f64, lat: f64| [lon, lat].map(|d| (d * DECIMALS).round() / DECIMALS);
    if (u - x).abs() <= 180.0 {
        return json!({"type": "LineString", "coordinates": [point(x, y), point(u, v)]});
    }
    // The short way crosses the date line, where the line is cut.
    let edge = 180f64.copysign(x);
    let (before, after) = ((edge - x).abs(), (180.0 - u.abs()).abs());
    let all = before + after;
    let middle = if all > 0.0 { y + (v - y) * before / all } else { y };
    json!({
        "type": "MultiLineString",
        "coordinates": [[point(x, y), point(edge, middle)], [point(-edge, middle), point(u, v)]],
    })
}

/// A longitude between -180 and 180 degrees.
fn in_turn(longitude: f64) -> f64 {
    let turned = (longitude + 180.0).rem_euclid(360.0) - 180.0;
    if longitude == 180.0 { longitude } else { turned }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Lines, Move};
    use crate::data::{Cells, Geometry};

    fn written(geometry: Geometry, epsg: Option<u32>, errors: &[f64]) -> Value {
        let named = [("a\"<", (179.0, 10.0)), ("b", (183.0, 14.0)), ("c", (-10.0, 0.5))];
        let named = named.map(|(name, place)| (name.to_string(), place));
        let cells = Cells::new(geometry, named).unwrap();
        let moves = [(0, 0), (0, 1), (1, 2), (1, 0)];
        let moves = moves.map(|(from, to)| Move { from, to, count: 1.0 / 3.0 });
        let mut bytes = Vec::new();
        let mut lines = Lines::new(&mut bytes, epsg).unwrap();
        lines.write(&cells, "w 1", &moves[..2], &errors[..errors.len().min(2)]).unwrap();
        lines.write(&cells, "w 2", &moves[2..], &[]).unwrap();
        lines.finish().unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn lines_are_cut_at_the_date_line() {
        let file = written(Geometry::Globe, None, &[0.5, 0.25]);
        assert_eq!(file["features"].as_array().unwrap().len(), 3, "those who stay have no line");
        let cut = json!([[[179.0, 10.0], [180.0, 11.0]], [[-180.0, 11.0], [-177.0, 14.0]]]);
        let first = &file["features"][0];
        assert_eq!(first["geometry"], json!({"type": "MultiLineString", "coordinates": cut}));
        let known = json!({
            "time": "w 1", "from": "a\"<", "to": "b", "count": 0.333333, "standard_error": 0.25
        });
        assert_eq!(first["properties"], known);
        assert_eq!(file["features"][1]["geometry"]["coordinates"][0], json!([-177.0, 14.0]));
        let back = json!([[[-177.0, 14.0], [-180.0, 11.0]], [[180.0, 11.0], [179.0, 10.0]]]);
        assert_eq!(file["features"][2]["geometry"]["coordinates"], back);
        assert_eq!(file.get("crs"), None);
    }

    #[test]
    fn coordinates_of_a_plane_stay_and_have_a_name() {
        let file = written(Geometry::Plane, Some(5070), &[]);
        assert_eq!(file["crs"]["properties"]["name"], "urn:ogc:def:crs:EPSG::5070");
        let line = json!({"type": "LineString", "coordinates": [[179.0, 10.0], [183.0, 14.0]]});
        assert_eq!(file["features"][0]["geometry"], line);
        assert_eq!(file["features"][0]["properties"].get("standard_error"), None);
    }
}
