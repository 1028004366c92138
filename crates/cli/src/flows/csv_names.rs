//! Names as they are written in CSV files.

use bethe_flows::data::Cells;
use bethe_io::as_text;

use super::config::Config;
use super::input::Input;

/// The cells and times of the input, by the names that CSV files have for them.
pub struct CsvNames {
    pub cells: Cells,
    pub times: Vec<String>,
}

impl CsvNames {
    pub fn new(config: &Config, input: &Input) -> Self {
        let (cells, times) = (&input.cells, input.observations.times());
        let names = config.csv_names(cells.names());
        let places = (0..cells.len()).map(|cell| cells.place(cell));
        let renamed = Cells::new(cells.geometry(), names.into_iter().zip(places));
        let cells = renamed.expect("different names stay different");
        Self { cells, times: config.csv_names(times) }
    }
}

impl Config {
    /// Names as CSV files have them: with `--quote-formulas`, none is taken for a formula.
    pub fn csv_names(&self, names: &[String]) -> Vec<String> {
        match self.quote_formulas {
            true => names.iter().map(|name| as_text(name).into_owned()).collect(),
            false => names.to_vec(),
        }
    }
}
