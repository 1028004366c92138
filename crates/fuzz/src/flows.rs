//! The CSV files of flows.

use std::path::Path;
use std::sync::OnceLock;

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, MemoryLimit, Settings, Status};
use bethe_flows::data::{
    Cells, Covariate, Geometry, Layout, Observations, Unlisted, read_cell_values, read_cells,
    read_covariates, read_observations,
};
use bethe_flows::energy::Noise;
use bethe_flows::infer::FlowProblem;
use bethe_flows::model::{Feature, FeatureKind, Movement};
use bethe_flows::output::{Movements, Picture};

use crate::scratch::with_file;
use crate::{Verdict, refused, verdict};

/// More than this is refused: a fuzzer has little memory.
const MEMORY: MemoryLimit = MemoryLimit::of(256 << 20);

/// More cells are read, not looked at in pairs.
const MOST_CELLS: usize = 50;
/// More times are read, not solved.
const MOST_TIMES: usize = 20;
const POPULATION: f64 = 10.0;

/// Cells that the other files refer to.
fn three() -> &'static Cells {
    static CELLS: OnceLock<Cells> = OnceLock::new();
    CELLS.get_or_init(|| {
        let named = [("a", (0.0, 0.0)), ("b", (1.0, 0.0)), ("c2", (0.0, 1.0))];
        let named = named.map(|(name, place)| (name.to_string(), place));
        Cells::new(Geometry::Plane, named).expect("valid cells")
    })
}

/// `cell,x,y` or `cell,lon,lat`: distances and neighbours are numbers.
pub fn cells(bytes: &[u8]) -> Verdict {
    let geometries = [None, Some(Geometry::Plane), Some(Geometry::Globe)];
    let geometry = geometries[bytes.len() % geometries.len()];
    match with_file("cells.csv", bytes, |path| read_cells(path, geometry, MEMORY)) {
        Ok(cells) => {
            assert!(cells.spacing() > 0.0);
            if cells.len() <= MOST_CELLS {
                use_cells(&cells);
            }
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

fn use_cells(cells: &Cells) {
    for (from, near) in cells.within(cells.spacing()).iter().enumerate() {
        assert_eq!(cells.find(cells.name(from)), Some(from));
        assert!(near.contains(&from));
        for to in 0..cells.len() {
            assert!(!cells.distance(from, to).is_nan());
            if let Some((east, north)) = cells.direction(from, to) {
                assert!(east.abs() <= 1.0 + 1e-9 && north.abs() <= 1.0 + 1e-9);
            }
        }
    }
    draw(cells);
}

/// A map of the cells has any name, and numbers for places.
fn draw(cells: &Cells) {
    let mut observations = Observations::new(cells.len());
    observations.push(cells.name(0), (0..cells.len()).map(|cell| Some(cell as f64)));
    let counts: Vec<f64> = (0..cells.len()).map(|cell| cell as f64).collect();
    let movements = Movements::default();
    let title = (cells.name(0), "note");
    let picture = Picture::new(title, cells, &observations, &counts, &movements);
    let (frame, page) = (picture.frame(0), picture.page());
    assert!(!frame.contains("NaN") && !frame.contains("inf\""), "{frame}");
    assert!(!frame.contains(|c: char| c < ' ' && !"\t\n\r".contains(c)));
    let (_, script) = page.split_once("type=\"application/json\">").expect("data");
    let (data, _) = script.split_once("</script>").expect("an end");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["names"], serde_json::json!(cells.names()));
}

/// Times and counts.
pub fn observations(bytes: &[u8]) -> Verdict {
    let source = (three(), Path::new("cells.csv"));
    let meaning = [Unlisted::Unobserved, Unlisted::Zero][bytes.len() % 2];
    let read = |path: &Path| read_observations(path, source, meaning, MEMORY);
    match with_file("observations.csv", bytes, read) {
        Ok((observations, layout)) => {
            if let Layout::Long { unlisted } = layout {
                assert!(unlisted < observations.times().len() * three().len());
            }
            for time in 0..observations.times().len() {
                let counts = observations.at(time).iter().flatten();
                assert!(counts.clone().all(|count| count.is_finite() && *count >= 0.0));
            }
            let features = Feature::parse_list("stay=1,distance=-1", three(), &[]);
            infer(features.expect("valid features"), &observations);
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

/// A number for each cell.
pub fn cell_values(bytes: &[u8]) -> Verdict {
    let read =
        |path: &Path| read_cell_values(path, "share", three(), Path::new("cells.csv"), MEMORY);
    match with_file("values.csv", bytes, read) {
        Ok(values) => {
            assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0));
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

/// Covariates of times, cells and pairs of cells.
pub fn covariates(bytes: &[u8]) -> Verdict {
    let times = ["1", "2"].map(str::to_string);
    let source = (three(), Path::new("cells.csv"));
    verdict(with_file("covariates.csv", bytes, |path| {
        read_covariates(path, source, &times, MEMORY)
    }))
}

/// The list of features on the command line.
pub fn features(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Verdict::Refused };
    let hills = FeatureKind::Destination(vec![0.5, 1.0, 2.0].into());
    let covariates = [Covariate { name: "hills".to_string(), kind: hills }];
    match Feature::parse_list(text, three(), &covariates) {
        Ok(features) => {
            assert!(features.iter().all(|feature| feature.weight.is_finite()));
            let mut observations = Observations::new(three().len());
            observations.push("1", [Some(7.0), Some(0.0), None]);
            observations.push("2", [Some(2.0), Some(5.0), Some(1.0)]);
            infer(features, &observations);
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

/// Everybody is somewhere at every time.
fn infer(features: Vec<Feature>, observations: &Observations) {
    let times = observations.times().len();
    if times > MOST_TIMES {
        return;
    }
    let moves = Movement { features, reach: None, normalised: true }.moves(three(), times - 1);
    let problem = FlowProblem {
        moves: &moves,
        start: None,
        observations,
        noise: &Noise::Poisson { rate: vec![1.0] },
        population: POPULATION,
        cancel: Cancel::never(),
    };
    let settings = Settings { max_iterations: 4, ..Settings::default() };
    match problem.solve(&settings, &mut Ignore) {
        Ok(mut flows) if flows.solution.status != Status::Infeasible => {
            for counts in flows.counts().chunks(three().len()) {
                let sum: f64 = counts.iter().sum();
                assert!((sum - POPULATION).abs() < 1e-6 * POPULATION, "{counts:?}");
            }
        }
        Ok(_) => (),
        Err(error) => drop(refused(error)),
    }
}
