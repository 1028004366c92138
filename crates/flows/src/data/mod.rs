//! Cells and counts, and their CSV files.
//!
//! | file | columns |
//! | --- | --- |
//! | cells | `cell`, then `x,y` (any unit) or `lon,lat` (degrees); others are ignored |
//! | observations | times, under any name, then one column per cell; or `time,cell,count`, or `time`,
//! coordinates and `count`. Empty or `NA` is not observed |
//! | pairs | `time_from,cell_from,time_to,cell_to`, of individuals that were seen twice |
//! | covariates | `time,wind` or `time,u,v` · `cell,<name>…` · `from,to[,time],<name>…` |
//!
//! Columns and rows are matched by name, in any order. Values stand between commas, semicolons or
//! tabs. Gzip is unpacked.

mod calendar;
mod cells;
mod counts;
mod covariates;
mod error;
mod observations;
mod pairs;
mod places;
mod read;
mod table;
mod wind;

pub use calendar::{TimeOrder, UnevenSteps, time_order, uneven_steps};
pub use cells::{CellError, Cells, Geometry};
pub use counts::{Layout, Unlisted, read_observations};
pub use covariates::{Covariate, read_covariates};
pub use error::TableError;
pub use observations::Observations;
pub use pairs::{Pair, read_pairs};
pub use read::{read_cell_values, read_cells};
