//! Squares of a map, with the mean way of the individuals in each.

use super::map::Map;

/// About this many regions fill a map.
const MOST: f64 = 300.0;

pub(super) struct Regions {
    /// Length of a side.
    pub side: f64,
    /// The region of each cell. `[cells]`
    of_cell: Vec<usize>,
    number: usize,
}

/// How the individuals of a region move on average.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RegionFlow {
    /// The mean place of its individuals.
    pub middle: (f64, f64),
    pub number: f64,
    pub way: (f64, f64),
}

impl Regions {
    pub fn new(map: &Map) -> Self {
        let (width, height) = map.size;
        // A whole number of cells of a grid, so that regions are alike.
        let side = map.cell * ((width * height / MOST).sqrt() / map.cell).ceil().max(1.0);
        let columns = (width / side) as usize + 1;
        let region = |&(x, y): &(f64, f64)| (y / side) as usize * columns + (x / side) as usize;
        let of_cell = map.places.iter().map(region).collect();
        Self { side, of_cell, number: columns * ((height / side) as usize + 1) }
    }

    /// The regions with individuals; `counts` and the sums of their ways are `[cells]`.
    pub fn flows(
        &self,
        places: &[(f64, f64)],
        counts: &[f64],
        drift: &[(f64, f64)],
    ) -> Vec<RegionFlow> {
        let mut flows = vec![RegionFlow::default(); self.number];
        for (cell, &region) in self.of_cell.iter().enumerate() {
            let (own, count) = (&mut flows[region], counts[cell]);
            let add = |sum: &mut (f64, f64), (x, y): (f64, f64), times: f64| {
                *sum = (sum.0 + times * x, sum.1 + times * y);
            };
            own.number += count;
            add(&mut own.middle, places[cell], count);
            add(&mut own.way, drift[cell], 1.0);
        }
        flows.retain(|own| own.number > 0.0);
        for own in &mut flows {
            for sum in [&mut own.middle, &mut own.way] {
                *sum = (sum.0 / own.number, sum.1 / own.number);
            }
        }
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::Regions;
    use crate::data::Cells;
    use crate::output::picture::map::Map;

    #[test]
    fn regions_hold_everybody_and_their_mean_way() {
        let cells = Cells::grid(40, 40);
        let map = Map::new(&cells, (1000.0, 1000.0));
        let regions = Regions::new(&map);
        assert!(regions.number <= 484, "{}", regions.number);
        let counts: Vec<f64> = (0..1600).map(|cell| f64::from(cell % 3)).collect();
        let drift: Vec<(f64, f64)> = counts.iter().map(|count| (2.0 * count, -count)).collect();
        let flows = regions.flows(&map.places, &counts, &drift);
        let all: f64 = flows.iter().map(|own| own.number).sum();
        assert_eq!(all, counts.iter().sum::<f64>());
        for own in &flows {
            assert!((own.way.0 - 2.0).abs() < 1e-9 && (own.way.1 + 1.0).abs() < 1e-9);
            assert!((0.0..=1000.0).contains(&own.middle.0), "{:?}", own.middle);
        }
    }
}
